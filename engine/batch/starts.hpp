// Starts of instances (CONTRACT section 4, Starts).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/types.hpp"

namespace sluice {

/// Instances [begin, end).
struct InstanceRange {
  Instance begin = 0, end = 0;
};

/// The most instances of a job: sums of a few instance numbers fit 64 bits, and each number the i64 of files.
inline constexpr Instance kMaxInstances = Instance{1} << 62;
/// Samples from this number on would repeat the draws of the first ones (random/streams.hpp).
inline constexpr Instance kMaxSamples = Instance{1} << 48;

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
  std::vector<Vertex> vertices;        ///< listed; the engine checks them against the graph (InputError)
  std::vector<std::uint64_t> offsets;  ///< listed; [instances + 1], or empty: one vertex per instance
  std::vector<double> weights;         ///< listed, of queries: one per vertex, or empty: all equal

  /// Throws UsageError above kMaxInstances.
  Instance instances(std::uint64_t graph_vertices) const;
  /// The existing instances of [first, last) (`--instance-range`).
  InstanceRange range(std::uint64_t graph_vertices, Instance first, Instance last) const {
    const Instance total = instances(graph_vertices), begin = std::min(first, total);
    return {begin, std::clamp(last, begin, total)};
  }
  /// As range(), for samples; throws UsageError for instances from kMaxSamples on.
  InstanceRange sample_range(std::uint64_t graph_vertices, Instance first, Instance last) const;
  /// A copy in which each instance's list has each vertex once, at its first position.
  Starts distinct() const;
  /// The most seeds of an instance, if `drawn` seeds are drawn for each random one.
  std::uint64_t max_seeds(std::uint64_t drawn = 1) const {
    std::uint64_t largest = mode == Mode::random ? drawn : 1;
    for (std::size_t i = 1; i < offsets.size(); ++i) largest = std::max(largest, offsets[i] - offsets[i - 1]);
    return largest;
  }
};

}  // namespace sluice
