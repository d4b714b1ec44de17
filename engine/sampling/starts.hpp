// Where instances start (CONTRACT section 4, Starts).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/types.hpp"

namespace sluice {

/// Starts of all instances. Walks: one vertex an instance. Samples and `multidimensional`: a list of seeds.
struct Starts {
  enum class Mode {
    per_vertex,  ///< instance r*n + v starts at v, r < rounds
    random,      ///< `count` instances, each start drawn uniformly from the vertices
    listed,      ///< instance i starts at vertices[offsets[i] .. offsets[i+1])
  };

  Mode mode = Mode::per_vertex;
  std::uint64_t rounds = 1;
  std::uint64_t count = 1;
  std::vector<Vertex> vertices;        ///< listed; checked against the graph by the engine (InputError)
  std::vector<std::uint64_t> offsets;  ///< listed; [instances + 1], or empty: one vertex an instance

  Instance instances(std::uint64_t graph_vertices) const {
    if (mode == Mode::per_vertex) return rounds * graph_vertices;
    if (mode == Mode::random) return count;
    return offsets.empty() ? vertices.size() : offsets.size() - 1;
  }
};

}  // namespace sluice
