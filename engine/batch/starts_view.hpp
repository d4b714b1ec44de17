// The starts of instances, as kernels read them.
#pragma once

#include <cstdint>

#include "engine/batch/starts.hpp"
#include "engine/core/macros.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"

namespace sluice {

struct StartsView {
  Starts::Mode mode = Starts::Mode::per_vertex;
  std::uint64_t graph_vertices = 0;
  std::uint64_t seed = 1;
  const Vertex* listed = nullptr;          ///< in device memory
  const std::uint64_t* offsets = nullptr;  ///< [instances + 1]; null: one listed vertex per instance
  std::uint32_t seeds_per_instance = 1;    ///< random: seeds per instance

  /// Seeds of an instance, with repetitions.
  SLUICE_HD std::uint64_t count(Instance instance) const {
    if (mode == Starts::Mode::listed) return offsets ? offsets[instance + 1] - offsets[instance] : 1;
    return mode == Starts::Mode::random ? seeds_per_instance : 1;
  }
  /// Seeds of instances [first, first + instances) together; one for each instance unless they have offsets.
  SLUICE_HD std::uint64_t total_seeds(Instance first, std::uint64_t instances) const {
    return offsets ? offsets[first + instances] - offsets[first] : instances;
  }
  /// A seed of an instance. Random seeds are successive words of the instance's own start sequence.
  SLUICE_HD Vertex seed_vertex(Instance instance, std::uint64_t index) const {
    if (mode == Starts::Mode::listed) return listed[(offsets ? offsets[instance] : instance) + index];
    if (mode == Starts::Mode::per_vertex) return static_cast<Vertex>(instance % graph_vertices);
    const std::uint64_t word =
        draw_at(WalkDraws{seed, 0, instance}, Stream::start, static_cast<std::uint32_t>(index));
    return static_cast<Vertex>(uniform_index(word, graph_vertices));
  }
  /// The start of a walk.
  SLUICE_HD Vertex start(Instance instance) const { return seed_vertex(instance, 0); }
};

}  // namespace sluice
