#include "engine/batch/starts.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
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

Starts Starts::distinct() const {
  Starts once = *this;
  if (offsets.empty()) return once;
  once.vertices.clear();
  std::vector<std::uint64_t> first;  // first position of each vertex in a list
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    first.resize(offsets[i] - offsets[i - 1]);
    std::iota(first.begin(), first.end(), offsets[i - 1]);
    const auto vertex = [&](std::uint64_t at) { return vertices[at]; };
    std::ranges::stable_sort(first, {}, vertex);
    first.erase(std::ranges::unique(first, {}, vertex).begin(), first.end());
    std::ranges::sort(first);
    std::ranges::transform(first, std::back_inserter(once.vertices), vertex);
    once.offsets[i] = once.vertices.size();
  }
  return once;
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
