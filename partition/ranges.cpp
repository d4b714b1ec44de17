#include "partition/ranges.hpp"

#include "engine/core/search.hpp"
#include "partition/even_offsets.hpp"

namespace sluice {

std::vector<std::uint64_t> balanced_ranges(const EdgeIndex* offsets, std::uint64_t vertices,
                                           std::uint64_t parts) {
  if (vertices == 0) return std::vector<std::uint64_t>(parts + 1, 0);
  std::vector<std::uint64_t> boundaries{0};
  const OffsetsAt at(offsets);
  const auto cost = [&](std::uint64_t v) { return at[v] - at[0] + v * kEdgesPerVertex; };
  for (std::uint64_t part = 1; part < parts; ++part) {
    const std::uint64_t wanted = cost(vertices) / parts * part;
    const std::uint64_t last = boundaries.back();
    const auto too_few = [&](std::uint64_t more) { return cost(last + more) < wanted; };
    boundaries.push_back(last + count_while(vertices - last, too_few));
  }
  boundaries.push_back(vertices);
  return boundaries;
}

}  // namespace sluice
