// Random edge sampling (Leskovec and Faloutsos, KDD'06, section 3.3): distinct stored edges.
#pragma once

#include <cstdint>

#include "partition/graph.hpp"

namespace sluice::samples {

struct EdgeSample {
  static constexpr bool kDrawsVertices = false;

  std::uint64_t count = 1;

  std::uint64_t sample_size(const Graph&) const { return count; }
};

}  // namespace sluice::samples
