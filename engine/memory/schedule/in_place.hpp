// Which partitions a round reads in place, over the link, and which are brought: for rounds that know what
// they want of each. Kernels read mapped host memory in whole lines (cuda_edges.cuh), as EMOGI does (Min
// et al., VLDB 2021); EMOGI reads all in place, so that what is wanted again crosses the link again.
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

/// Costs are bytes that the link could have copied meanwhile: a PCIe link of the fifth generation copies 50
/// to 55 GB/s.
class InPlaceChoice {
 public:
  /// What a list costs beside its edges. Its first and last line come in part, in sectors of 32 bytes: 28
  /// bytes are read in vain. And the link serves some 0.6 G reads a second, so that one takes the time of 85
  /// copied bytes, where a list's only sector would be 32.
  static constexpr std::uint64_t kListCost = 64;
  /// Reads in place up to this share of a partition are preferred to a copy. Whole lines cross the link about
  /// as fast as a copy, but the copy goes on beside kernels, and may be wanted again.
  static constexpr double kMostInPlace = 0.75;
  /// The same where nothing is wanted twice. The first copy of a run takes a millisecond beside its bytes.
  static constexpr double kMostInPlaceOnce = 1.5;
  /// What it costs to work on a partition that is here: launches of its own, some 10 microseconds.
  static constexpr std::uint64_t kLaunchCost = 1u << 19;

  /// Of lists of `edge` bytes an edge. `always`: nothing is ever brought. Keeps a reference.
  InPlaceChoice(const PartitionPlan& plan, std::uint64_t edge, bool always)
      : plan_(plan), edge_(edge), always_(always), spent_(plan.size()) {}

  /// The partitions that a round reads in place [partitions]; never one of which nothing is wanted. Where one
  /// of `empty` slots is left, a partition is brought once reads in place have cost as much as a copy; not if
  /// it is wanted in one round alone: `once`.
  std::vector<bool> choose(std::span<const ListDemand> wanted, FunctionRef<bool(std::uint32_t)> resident,
                           std::uint64_t empty, bool once = false);

 private:
  std::uint64_t cost(const ListDemand& wanted) const {
    const std::uint64_t columns = edge_ / sizeof(Vertex);
    return wanted.edges * edge_ + wanted.lists * columns * kListCost;
  }

  const PartitionPlan& plan_;
  std::uint64_t edge_;
  bool always_;
  std::vector<std::uint64_t> spent_;  ///< [partitions] on reads in place, since it was here
};

/// A worklist by partition, in which what is read in place lies before all else.
struct InPlaceFirst {
  std::vector<std::uint64_t> begins;  ///< [partitions] where the items of each begin
  std::uint64_t count = 0;            ///< items that are read in place

  InPlaceFirst() = default;
  /// `ordered`: [partitions + 1], where items begin in order of partitions.
  InPlaceFirst(std::span<const std::uint64_t> ordered, const std::vector<bool>& in_place);
};

/// Partitions [begin, end).
struct PartitionRun {
  std::uint32_t begin, end;
  bool operator==(const PartitionRun&) const = default;
};
/// The partitions that are read in place, neighbours together.
std::vector<PartitionRun> runs_of(const std::vector<bool>& in_place);

}  // namespace sluice
