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
      if (graph_vertices > 0 && rounds > kMaxInstances / graph_vertices) {
        throw UsageError("--walks-per-vertex: " + std::to_string(rounds) + " for each of " +
                         std::to_string(graph_vertices) +
                         " vertices are more than 2^62 instances; use fewer");
      }
      return rounds * graph_vertices;
    case Mode::random:
      if (count > kMaxInstances) throw UsageError("--instances: at most 2^62");
      return count;
    case Mode::listed:
      break;
  }
  return offsets.empty() ? vertices.size() : offsets.size() - 1;
}

Starts Starts::distinct() const {
  Starts result = *this;
  if (offsets.empty()) return result;
  result.vertices.clear();
  std::vector<std::uint64_t> first;  // first position of each vertex in a list
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    first.resize(offsets[i] - offsets[i - 1]);
    std::iota(first.begin(), first.end(), offsets[i - 1]);
    const auto vertex = [&](std::uint64_t position) { return vertices[position]; };
    std::ranges::stable_sort(first, {}, vertex);
    first.erase(std::ranges::unique(first, {}, vertex).begin(), first.end());
    std::ranges::sort(first);
    std::ranges::transform(first, std::back_inserter(result.vertices), vertex);
    result.offsets[i] = result.vertices.size();
  }
  return result;
}

InstanceRange Starts::sample_range(std::uint64_t graph_vertices, Instance first, Instance last) const {
  const InstanceRange found = range(graph_vertices, first, last);
  if (found.begin < found.end && found.end > kMaxSamples) {
    throw UsageError(
        "samples from number " + std::to_string(kMaxSamples) +
        " (2^48) on would repeat the first ones; use a lower --instance-range or fewer instances, "
        "and another --seed for more");
  }
  return found;
}

}  // namespace sluice
