#include "partition/plan.hpp"

#include <algorithm>

namespace sluice {

namespace {

/// Buckets a partition: with more of them, fewer partitions share one.
constexpr std::uint64_t kBucketsPerPartition = 8;

}  // namespace

PartitionPlan::PartitionPlan(std::span<const EdgeIndex> offsets, const PartitionBytes& bytes,
                             std::uint64_t slot_bytes)
    : slot_bytes_(slot_bytes) {
  const std::uint64_t vertices = offsets.empty() ? 0 : offsets.size() - 1;
  // A range of k vertices needs k + 1 offsets.
  const auto range_bytes = [&](std::uint64_t begin, std::uint64_t end) {
    return (end - begin + 1) * bytes.vertex + (offsets[end] - offsets[begin]) * bytes.edge;
  };
  boundaries_.push_back(0);
  for (std::uint64_t begin = 0; begin < vertices;) {
    std::uint64_t fits = begin + 1, too_far = vertices + 1;  // at least one vertex, however long its list
    while (too_far - fits > 1) {
      const std::uint64_t middle = fits + (too_far - fits) / 2;
      (range_bytes(begin, middle) <= slot_bytes ? fits : too_far) = middle;
    }
    boundaries_.push_back(fits);
    bytes_.push_back(range_bytes(begin, fits));
    begin = fits;
  }
  make_buckets(vertices);
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

void PartitionPlan::make_buckets(std::uint64_t vertices) {
  const std::uint64_t wanted = std::max<std::uint64_t>(size(), 1) * kBucketsPerPartition;
  while (vertices >> shift_ > wanted) ++shift_;
  const std::uint64_t buckets = vertices == 0 ? 0 : ((vertices - 1) >> shift_) + 1;
  first_.reserve(buckets + 1);
  std::uint32_t partition = 0;
  for (std::uint64_t bucket = 0; bucket < buckets; ++bucket) {
    while (boundaries_[partition + 1] <= bucket << shift_) ++partition;
    first_.push_back(partition);
  }
  first_.push_back(size() == 0 ? 0 : static_cast<std::uint32_t>(size() - 1));
}

}  // namespace sluice
