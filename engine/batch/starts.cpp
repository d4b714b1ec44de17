#include "engine/batch/starts.hpp"

#include <string>

#include "engine/core/error.hpp"

namespace sluice {

Instance Starts::instances(std::uint64_t graph_vertices) const {
  switch (mode) {
    case Mode::per_vertex:
      if (graph_vertices > 0 && rounds > kMostInstances / graph_vertices) {
        throw UsageError("--walks-per-vertex: " + std::to_string(rounds) + " for each of " +
                         std::to_string(graph_vertices) +
                         " vertices are more than 2^62 instances; use fewer");
      }
      return rounds * graph_vertices;
    case Mode::random:
      if (count > kMostInstances) throw UsageError("--instances: at most 2^62");
      return count;
    case Mode::listed:
      break;
  }
  return offsets.empty() ? vertices.size() : offsets.size() - 1;
}

InstanceRange Starts::sample_range(std::uint64_t graph_vertices, Instance first, Instance last) const {
  const InstanceRange found = range(graph_vertices, first, last);
  if (found.begin < found.end && found.end > kMostSamples) {
    throw UsageError(
        "samples from number " + std::to_string(kMostSamples) +
        " (2^48) on would repeat the first ones; use a lower --instance-range or fewer instances, "
        "and another --seed for more");
  }
  return found;
}

}  // namespace sluice
