// The figures that `sluice info` shows of a graph file, each from as little of the file as it needs.
#pragma once

#include <cstdint>
#include <span>

#include "engine/core/types.hpp"
#include "io/graph_file/graph_reader.hpp"

namespace sluice::apps {

/// What the offsets show.
struct DegreeFigures {
  std::uint64_t least = 0, most = 0;
  double median = 0, mean = 0;
  std::uint64_t dead_ends = 0;  ///< vertices without out-edges
};

/// What only the targets show.
struct EdgeFigures {
  std::uint64_t isolated = 0;  ///< vertices that no edge touches
  std::uint64_t self_loops = 0;
};

DegreeFigures degree_figures(std::span<const EdgeIndex> offsets);

/// Reads the targets in pieces, so that memory is taken for the vertices alone. Throws InputError for a
/// target that is no vertex.
EdgeFigures edge_figures(const io::GraphFile& file, std::span<const EdgeIndex> offsets, unsigned threads);

}  // namespace sluice::apps
