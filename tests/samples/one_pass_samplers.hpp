// User-defined one-pass samplers.
#pragma once

#include "engine/samples/one_pass/one_pass.hpp"

namespace sluice::test {

/// Draws edges of the first half of the vertices.
struct EarlyEdges {
  static constexpr bool kDrawsVertices = false;
  std::uint64_t sample_size(const Graph&) const { return 40; }
  std::uint64_t universe(const Graph& graph) const { return graph.out.offsets[graph.vertices() / 2]; }
};

/// Draws `size` of the first vertices.
struct Sized {
  static constexpr bool kDrawsVertices = true;
  std::uint64_t size, first;
  std::uint64_t sample_size(const Graph&) const { return size; }
  std::uint64_t universe(const Graph&) const { return first; }
};

}  // namespace sluice::test
