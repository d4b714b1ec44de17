// The plan: a graph cut into contiguous vertex ranges (partitions) whose bytes fit a slot. Power-law graphs
// make equal vertex counts useless, so boundaries are set by bytes; a list is never cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/ownership.hpp"
#include "engine/core/types.hpp"

namespace sluice {

/// Bytes of a vertex and of an edge in a slot.
struct PartitionBytes {
  std::uint64_t vertex = sizeof(EdgeIndex);
  std::uint64_t edge = sizeof(Vertex);
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

  /// A plan for lists that do not exist yet: `partitions` partitions of about equally many vertices, each of
  /// at most `largest` bytes.
  static PartitionPlan outline(std::uint64_t vertices, std::uint64_t partitions, std::uint64_t largest);

  std::uint64_t size() const { return ranges_.size(); }
  /// Partition p holds vertices [begin(p), end(p)).
  std::uint64_t begin(std::uint64_t p) const { return ranges_.begin(p); }
  std::uint64_t end(std::uint64_t p) const { return ranges_.end(p); }
  std::uint64_t bytes(std::uint64_t p) const { return bytes_[p]; }
  /// True where the partition is one list that exceeds the slot.
  bool oversized(std::uint64_t p) const { return bytes_[p] > slot_bytes_; }

  /// The partition that holds v, in constant time.
  std::uint32_t owner(Vertex v) const { return ranges_.owner(v); }
  /// Partitions as ranges of vertices.
  const Ownership& ranges() const { return ranges_; }
  /// Bytes of the largest partition.
  std::uint64_t largest() const;

 private:
  PartitionPlan() = default;

  std::uint64_t slot_bytes_ = 0;
  Ownership ranges_;
  std::vector<std::uint64_t> bytes_;  ///< [size]
};

}  // namespace sluice
