#include "partition/plan.hpp"

#include <algorithm>
#include <utility>

#include "engine/core/search.hpp"
#include "partition/even_offsets.hpp"

namespace sluice {

PartitionPlan::PartitionPlan(std::span<const EdgeIndex> offsets, const PartitionBytes& bytes,
                             std::uint64_t slot_bytes)
    : slot_bytes_(slot_bytes) {
  const std::uint64_t vertices = offsets.empty() ? 0 : offsets.size() - 1;
  const OffsetReader at(offsets.data());
  // A range of k vertices needs k + 1 offsets.
  const auto range_bytes = [&](std::uint64_t begin, std::uint64_t end) {
    return (end - begin + 1) * bytes.vertex + (at[end] - at[begin]) * bytes.edge;
  };
  std::vector<std::uint64_t> begins{0};
  for (std::uint64_t begin = 0; begin < vertices;) {
    const std::uint64_t first_end = begin + 1;  // at least one vertex, however long its list
    const auto fits = [&](std::uint64_t more) {
      return range_bytes(begin, first_end + more + 1) <= slot_bytes;
    };
    const std::uint64_t end = first_end + count_while(vertices - first_end, fits);
    begins.push_back(end);
    bytes_.push_back(range_bytes(begin, end));
    begin = end;
  }
  ranges_ = Ownership(std::move(begins));
}

PartitionPlan PartitionPlan::of_count(std::span<const EdgeIndex> offsets, const PartitionBytes& bytes,
                                      std::uint64_t partitions) {
  const std::uint64_t vertices = offsets.empty() ? 0 : offsets.size() - 1;
  const std::uint64_t total_bytes =
      (vertices + 1) * bytes.vertex + (vertices ? offsets[vertices] - offsets[0] : 0) * bytes.edge;
  const std::uint64_t wanted = std::max<std::uint64_t>(partitions, 1);
  // The smallest slot that gives at most the wanted number of partitions.
  const std::uint64_t min_bytes = std::max<std::uint64_t>(total_bytes / wanted, 1),
                      max_bytes = std::max<std::uint64_t>(total_bytes, 1);
  const auto too_many = [&](std::uint64_t more) {
    return PartitionPlan(offsets, bytes, min_bytes + more).size() > wanted;
  };
  return PartitionPlan(offsets, bytes, min_bytes + count_while(max_bytes - min_bytes, too_many));
}

PartitionPlan PartitionPlan::outline(std::uint64_t vertices, std::uint64_t partitions,
                                     std::uint64_t largest) {
  PartitionPlan plan;
  plan.slot_bytes_ = largest;
  plan.ranges_ = Ownership::even(vertices, std::max<std::uint64_t>(partitions, 1));
  plan.bytes_.assign(plan.size(), largest);
  return plan;
}

std::uint64_t PartitionPlan::largest() const {
  return bytes_.empty() ? 0 : *std::max_element(bytes_.begin(), bytes_.end());
}

}  // namespace sluice
