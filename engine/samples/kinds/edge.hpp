// Random edge sampling (Leskovec and Faloutsos, KDD'06, section 3.3): distinct stored edges.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"

namespace sluice::samples {

struct EdgeSample {
  static constexpr bool kDrawsVertices = false;

  /// What is drawn from, uniformly and without repetition.
  SLUICE_HD std::uint64_t universe(const GraphView& graph) const { return graph.edges(); }
};

}  // namespace sluice::samples
