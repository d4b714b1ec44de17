// The plan: a graph cut into contiguous vertex ranges (partitions) whose bytes fit a slot. Power-law graphs
// make equal vertex counts useless, so boundaries go by bytes; a neighbour list is never cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice {

/// What a vertex and an edge take in a slot.
struct PartitionBytes {
  std::uint64_t vertex = sizeof(EdgeIndex);
  std::uint64_t edge = sizeof(Vertex);
};

/// The plan's look-up of a vertex's partition; trivially copyable, pointers to the memory of one device.
struct OwnerTable {
  const std::uint64_t* boundaries = nullptr;  ///< [partitions + 1]
  const std::uint32_t* first = nullptr;       ///< [buckets + 1]
  unsigned shift = 0;

  /// The partition that holds v. Constant time: a table of equal buckets of ids names the first and last
  /// partition of each bucket, which are one or two unless partitions are far smaller than usual.
  SLUICE_HD std::uint32_t owner(Vertex v) const {
    const std::uint64_t bucket = v >> shift;
    std::uint32_t low = first[bucket], high = first[bucket + 1];
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (boundaries[middle + 1] <= v) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

class PartitionPlan {
 public:
  /// Cuts as few partitions as fit `slot_bytes` each, filled from the first vertex on. A list that is larger
  /// than a slot becomes a partition of its own. `offsets` has one entry more than there are vertices;
  /// slot_bytes > 0.
  PartitionPlan(std::span<const EdgeIndex> offsets, const PartitionBytes& bytes, std::uint64_t slot_bytes);
  /// Cuts at most `partitions` partitions, as evenly as lists allow.
  static PartitionPlan of_count(std::span<const EdgeIndex> offsets, const PartitionBytes& bytes,
                                std::uint64_t partitions);

  std::uint64_t size() const { return boundaries_.size() - 1; }
  /// Partition p holds vertices [begin(p), end(p)).
  std::uint64_t begin(std::uint64_t p) const { return boundaries_[p]; }
  std::uint64_t end(std::uint64_t p) const { return boundaries_[p + 1]; }
  std::uint64_t bytes(std::uint64_t p) const { return bytes_[p]; }
  /// True where the partition is one list that exceeds the slot.
  bool oversized(std::uint64_t p) const { return bytes_[p] > slot_bytes_; }

  /// The partition that holds v, in constant time.
  std::uint32_t owner(Vertex v) const { return owners().owner(v); }
  OwnerTable owners() const { return {boundaries_.data(), first_.data(), shift_}; }
  std::span<const std::uint64_t> boundaries() const { return boundaries_; }
  /// Buckets of the owner look-up, and one behind the last.
  std::span<const std::uint32_t> buckets() const { return first_; }
  /// Bytes of the largest partition.
  std::uint64_t largest() const;

 private:
  void make_buckets(std::uint64_t vertices);

  std::uint64_t slot_bytes_;
  std::vector<std::uint64_t> boundaries_;  ///< [size + 1]
  std::vector<std::uint64_t> bytes_;       ///< [size]
  std::vector<std::uint32_t> first_;  ///< by bucket: the partition of its first id; one more behind the last
  unsigned shift_ = 0;                ///< a bucket is 2^shift ids
};

}  // namespace sluice
