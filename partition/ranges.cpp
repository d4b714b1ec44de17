#include "partition/ranges.hpp"

#include <utility>
#include <vector>

#include "engine/core/search.hpp"
#include "partition/even_offsets.hpp"

namespace sluice {

Ownership balanced_ranges(std::span<const EdgeIndex> offsets, std::uint64_t parts) {
  const std::uint64_t vertices = offsets.empty() ? 0 : offsets.size() - 1;
  if (vertices == 0) return Ownership::even(0, parts);
  std::vector<std::uint64_t> begins{0};
  const OffsetReader at(offsets.data());
  const auto cost = [&](std::uint64_t v) { return at[v] - at[0] + v * kEdgesPerVertex; };
  for (std::uint64_t part = 1; part < parts; ++part) {
    const std::uint64_t wanted = cost(vertices) / parts * part;
    const std::uint64_t last = begins.back();
    const auto too_few = [&](std::uint64_t more) { return cost(last + more) < wanted; };
    begins.push_back(last + count_while(vertices - last, too_few));
  }
  begins.push_back(vertices);
  return Ownership(std::move(begins));
}

}  // namespace sluice
