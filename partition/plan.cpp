#include "partition/plan.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

PartitionPlan::PartitionPlan(std::span<const EdgeIndex> offsets, const PartitionBytes& bytes,
                             std::uint64_t slot_bytes)
    : slot_bytes_(slot_bytes) {
  const std::uint64_t vertices = offsets.empty() ? 0 : offsets.size() - 1;
  // A range of k vertices needs k + 1 offsets.
  const auto range_bytes = [&](std::uint64_t begin, std::uint64_t end) {
    return (end - begin + 1) * bytes.vertex + (offsets[end] - offsets[begin]) * bytes.edge;
  };
  std::vector<std::uint64_t> begins{0};
  for (std::uint64_t begin = 0; begin < vertices;) {
    std::uint64_t fits = begin + 1, too_far = vertices + 1;  // at least one vertex, however long its list
    while (too_far - fits > 1) {
      const std::uint64_t middle = fits + (too_far - fits) / 2;
      (range_bytes(begin, middle) <= slot_bytes ? fits : too_far) = middle;
    }
    begins.push_back(fits);
    bytes_.push_back(range_bytes(begin, fits));
    begin = fits;
  }
  ranges_ = Ownership(std::move(begins));
}

PartitionPlan PartitionPlan::of_count(std::span<const EdgeIndex> offsets, const PartitionBytes& bytes,
                                      std::uint64_t partitions) {
  const std::uint64_t vertices = offsets.empty() ? 0 : offsets.size() - 1;
  const std::uint64_t whole =
      (vertices + 1) * bytes.vertex + (vertices ? offsets[vertices] - offsets[0] : 0) * bytes.edge;
  const std::uint64_t wanted = std::max<std::uint64_t>(partitions, 1);
  // The smallest slot that gives few enough.
  std::uint64_t low = std::max<std::uint64_t>(whole / wanted, 1), high = std::max<std::uint64_t>(whole, 1);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (PartitionPlan(offsets, bytes, middle).size() <= wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return PartitionPlan(offsets, bytes, low);
}

std::uint64_t PartitionPlan::largest() const {
  return bytes_.empty() ? 0 : *std::max_element(bytes_.begin(), bytes_.end());
}

}  // namespace sluice
