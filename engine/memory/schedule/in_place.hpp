// Which partitions a round reads in place, over the link, and which it brings, if the round knows what it
// reads of each. Kernels read mapped host memory in whole lines (cuda_edges.cuh), as EMOGI does (Min et al.,
// VLDB 2021). EMOGI reads everything in place, so repeated reads cross the link repeatedly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/function_ref.hpp"
#include "partition/plan.hpp"

namespace sluice {

/// What a round reads of a partition.
struct ListDemand {
  std::uint64_t lists = 0, edges = 0;
};

/// Costs are in bytes that the link could copy in the same time: a PCIe link of the fifth generation copies
/// 50 to 55 GB/s.
class InPlaceChoice {
 public:
  /// Cost of a list beside its edges. Its first and last lines are read in part, in sectors of 32 bytes, of
  /// which 28 bytes are wasted. The link serves some 0.6 G reads a second, so one read takes the time of 85
  /// copied bytes, even if a list has a single sector of 32.
  static constexpr std::uint64_t kListCost = 64;
  /// Reads in place of up to this share of a partition are preferred to a copy. Whole lines cross the link
  /// about as fast as a copy, but a copy overlaps with kernels, and may be used again.
  static constexpr double kMaxInPlaceShare = 0.75;
  /// As kMaxInPlaceShare, if no list is needed twice. A run's first copy takes a millisecond beside its
  /// bytes.
  static constexpr double kMaxInPlaceShareOnce = 1.5;
  /// Cost of working on a partition in a slot: separate launches, some 10 microseconds.
  static constexpr std::uint64_t kLaunchCost = 1u << 19;

  /// For lists of `edge_bytes` bytes an edge. `always`: no partition is ever brought. Keeps a reference.
  InPlaceChoice(const PartitionPlan& plan, std::uint64_t edge_bytes, bool always)
      : plan_(plan), edge_bytes_(edge_bytes), always_(always), read_cost_(plan.size()) {}

  /// The partitions [partitions] that a round reads in place, never one of which it reads nothing. While one
  /// of `empty_slots` slots is left, a partition is brought once its reads in place have cost as much as a
  /// copy; not if only this round needs it (`single_use`).
  std::vector<bool> choose(std::span<const ListDemand> demand, FunctionRef<bool(std::uint32_t)> resident,
                           std::uint64_t empty_slots, bool single_use = false);

 private:
  std::uint64_t cost(const ListDemand& demand) const {
    const std::uint64_t columns = edge_bytes_ / sizeof(Vertex);
    return demand.edges * edge_bytes_ + demand.lists * columns * kListCost;
  }

  const PartitionPlan& plan_;
  std::uint64_t edge_bytes_;
  bool always_;
  std::vector<std::uint64_t> read_cost_;  ///< [partitions] on reads in place, since it was last present
};

/// A worklist by partition, in which partitions that are read in place come first.
struct InPlaceFirst {
  std::vector<std::uint64_t> begins;  ///< [partitions] first item of each
  std::uint64_t count = 0;            ///< items that are read in place

  InPlaceFirst() = default;
  /// `ordered`: [partitions + 1], the first item of each partition in order of partitions.
  InPlaceFirst(std::span<const std::uint64_t> ordered, const std::vector<bool>& in_place);
};

/// Partitions [begin, end).
struct PartitionRun {
  std::uint32_t begin, end;
  bool operator==(const PartitionRun&) const = default;
};
/// The partitions that are read in place, as runs of adjacent ones.
std::vector<PartitionRun> runs_of(const std::vector<bool>& in_place);

}  // namespace sluice
