// Host memory for the samples of consecutive instances while they grow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/core/clock.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice::samples {

struct SampleStore {
  /// Bytes of one edge, all columns together.
  static constexpr std::uint64_t kEdgeBytes = 2 * sizeof(Vertex) + sizeof(std::int32_t) + sizeof(EdgeIndex);

  Instance first = 0;
  ChargedVector<std::uint64_t> edge_counts, seed_counts, vertex_counts;
  ChargedVector<Vertex> source, target, seeds, vertices;
  ChargedVector<std::int32_t> depth;
  ChargedVector<EdgeIndex> edge;

  void add_edge(const Vertex from, const Vertex to, std::uint32_t at_depth, EdgeIndex position) {
    source.push_back(from);
    target.push_back(to);
    depth.push_back(static_cast<std::int32_t>(at_depth));
    edge.push_back(position);
  }
  std::uint64_t bytes() const {
    return edge.size() * kEdgeBytes + (seeds.size() + vertices.size()) * sizeof(Vertex);
  }
  SampleBatch batch() const {
    return {first, edge_counts.size(), edge_counts, source,        target,  depth,
            edge,  seed_counts,        seeds,       vertex_counts, vertices};
  }
};

/// Bytes of one piece of a batch's results. One is written while the next is filled, in vectors that double.
inline std::uint64_t sample_piece_bytes() {
  constexpr std::uint64_t kMaxBytes = 32u << 20, kMinBytes = 4u << 10;
  return std::clamp(host_budget().available() / 16, kMinBytes, kMaxBytes);
}

/// Writes the results of `count` instances in pieces, so that their host memory does not grow with the batch.
/// fill(i, store) adds instances from first + i on, and returns the next i.
template <class Fill>
void write_in_pieces(Instance first, std::uint64_t count, SampleSink& sink, BatchWriter& writer,
                     RunStats& stats, const Fill& fill) {
  for (std::uint64_t begin = 0; begin < count;) {
    const double start = seconds_now();
    const auto store = std::make_shared<SampleStore>();
    store->first = first + begin;
    begin = fill(begin, *store);
    stats.transfer_seconds += seconds_now() - start;
    writer.submit([store, &sink] { sink.write(store->batch()); });
  }
}

}  // namespace sluice::samples
