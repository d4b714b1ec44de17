// Sorted edges to the rows of a graph file, a block at a time.
#pragma once

#include <cstdint>
#include <functional>

#include "io/convert/convert.hpp"
#include "io/convert/edge_sorter.hpp"
#include "io/convert/id_set.hpp"
#include "io/graph_file/graph_file.hpp"

namespace sluice::io {

struct AdjacencyOptions {
  std::uint64_t vertices = 0;         ///< of the finished graph
  const IdSet* compaction = nullptr;  ///< ids become their ranks in it; null: they stay
  WeightRule weights = WeightRule::none;
  std::uint64_t seed = 1;
  unsigned threads = 1;
  std::uint64_t block_records = 1u << 16;
  std::function<void(double fraction)> progress;
};

/// Bytes that write_adjacency() takes for blocks of this many records.
std::uint64_t adjacency_bytes(std::uint64_t block_records);

/// Writes /out, or /in.
template <class Record>
void write_adjacency(const EdgeSorter<Record>& edges, const AdjacencyOptions& options, GraphWriter& writer,
                     bool in);

}  // namespace sluice::io
