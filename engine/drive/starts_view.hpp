// Where an instance starts, as kernels see it.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"
#include "engine/sampling/starts.hpp"

namespace sluice {

struct StartsView {
  Starts::Mode mode = Starts::Mode::per_vertex;
  std::uint64_t graph_vertices = 0;
  std::uint64_t seed = 1;
  const Vertex* listed = nullptr;  ///< in the device's memory

  /// The start of a walk; random ones are the first word of the instance's own start block.
  SLUICE_HD Vertex start(Instance instance) const {
    if (mode == Starts::Mode::listed) return listed[instance];
    if (mode == Starts::Mode::per_vertex) return static_cast<Vertex>(instance % graph_vertices);
    const PhiloxBlock block = WalkDraws{seed, 0, instance}.block(Stream::start);
    return static_cast<Vertex>(uniform_index(block.low(), graph_vertices));
  }
};

}  // namespace sluice
