// Random node sampling (Leskovec and Faloutsos, KDD'06, section 3.3): distinct vertices, and the edges
// between them.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"

namespace sluice::samples {

struct NodeSample {
  static constexpr bool kDrawsVertices = true;

  /// What is drawn from, uniformly and without repetition.
  SLUICE_HD std::uint64_t universe(const GraphView& graph) const { return graph.vertices(); }
};

}  // namespace sluice::samples
