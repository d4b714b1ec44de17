// Random node sampling (Leskovec and Faloutsos, KDD'06, section 3.3): distinct vertices, and the edges
// between them.
#pragma once

#include <cstdint>

#include "partition/graph.hpp"

namespace sluice::samples {

struct NodeSample {
  static constexpr bool kDrawsVertices = true;

  std::uint64_t count = 1;

  std::uint64_t sample_size(const Graph&) const { return count; }
};

}  // namespace sluice::samples
