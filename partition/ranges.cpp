#include "partition/ranges.hpp"

namespace sluice {

std::vector<std::uint64_t> balanced_ranges(const EdgeIndex* offsets, std::uint64_t vertices,
                                           std::uint64_t parts) {
  if (vertices == 0) return std::vector<std::uint64_t>(parts + 1, 0);
  std::vector<std::uint64_t> boundaries{0};
  const auto cost = [&](std::uint64_t v) { return offsets[v] - offsets[0] + v * kEdgesPerVertex; };
  for (std::uint64_t part = 1; part < parts; ++part) {
    const std::uint64_t wanted = cost(vertices) / parts * part;
    std::uint64_t low = boundaries.back(), high = vertices;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      cost(middle) < wanted ? low = middle + 1 : high = middle;
    }
    boundaries.push_back(low);
  }
  boundaries.push_back(vertices);
  return boundaries;
}

}  // namespace sluice
