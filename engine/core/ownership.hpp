// Which partition or rank owns a vertex. Each owner has one contiguous range of vertices, in ascending order.
// Rows, edges and partitions are assigned to owners in the same way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/macros.hpp"

namespace sluice {

/// A view of the ranges for kernels; trivially copyable, with pointers into the memory of one device.
struct OwnershipView {
  const std::uint64_t* begins = nullptr;  ///< [owners + 1] owner i has vertices [begins[i], begins[i + 1])
  const std::uint32_t* bucket_owners = nullptr;  ///< [buckets + 1] the owner of each bucket's first vertex
  unsigned shift = 0;                     ///< a bucket is 2^shift vertices

  /// The owner of v, which must be in some range. Constant time: the bucket table gives the first and the
  /// last owner of each bucket. A bucket has one or two owners unless ranges are far smaller than usual.
  template <class Id>
  SLUICE_HD std::uint32_t owner(Id v) const {
    const std::uint64_t bucket = v >> shift;
    std::uint32_t low = bucket_owners[bucket], high = bucket_owners[bucket + 1];
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if (begins[middle + 1] <= v) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

/// Owns the ranges, in host memory.
class Ownership {
 public:
  /// No owners and no vertices.
  Ownership() : Ownership(std::vector<std::uint64_t>{0}) {}
  /// `begins`: [owners + 1], ascending from 0 to the number of vertices; ranges may be empty.
  explicit Ownership(std::vector<std::uint64_t> begins);
  /// Splits `items` among `owners`, whose counts differ by at most one; owners > 0.
  static Ownership even(std::uint64_t items, std::uint64_t owners);

  /// Raises the number of vertices to `vertices`; the last owner gets the new ones. Needs at least one owner.
  void grow(std::uint64_t vertices);

  /// The number of owners, and of vertices.
  std::uint64_t size() const { return begins_.size() - 1; }
  std::uint64_t vertices() const { return begins_.back(); }
  /// Owner i has vertices [begin(i), end(i)).
  std::uint64_t begin(std::uint64_t i) const { return begins_[i]; }
  std::uint64_t end(std::uint64_t i) const { return begins_[i + 1]; }
  std::uint64_t count(std::uint64_t i) const { return end(i) - begin(i); }
  /// The owner of v < vertices(), in constant time.
  template <class Id>
  std::uint32_t owner(Id v) const {
    return view().owner(v);
  }

  // A view of a temporary would dangle.
  OwnershipView view() const& { return {begins_.data(), bucket_owners_.data(), shift_}; }
  OwnershipView view() const&& = delete;
  std::span<const std::uint64_t> begins() const& { return begins_; }
  std::span<const std::uint64_t> begins() const&& = delete;
  /// The bucket table, with one entry after the last bucket: [buckets + 1].
  std::span<const std::uint32_t> bucket_owners() const& { return bucket_owners_; }
  std::span<const std::uint32_t> bucket_owners() const&& = delete;
  std::uint64_t bytes() const { return begins().size_bytes() + bucket_owners().size_bytes(); }

 private:
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> bucket_owners_;
  unsigned shift_ = 0;
};

}  // namespace sluice
