// How partitions that are worked on side by side share the device (C-SAW's thread-block based workload
// balancing), and how evenly they ended.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/memory/paging.hpp"

namespace sluice {

/// Blocks (or threads) of `total` for each partition, one at least: in proportion to its work where that is
/// balanced, else the same for all.
std::vector<unsigned> shares_of(std::span<const std::uint64_t> work, unsigned total, Balance balance);

/// How long partitions' kernels ran side by side, over all rounds in which several did.
struct KernelTimes {
  std::uint64_t rounds = 0;
  double mean_seconds = 0;       ///< of a partition's kernel; summed over the rounds
  double deviation_seconds = 0;  ///< standard deviation over the partitions of a round; summed likewise

  /// A round, with the seconds of each partition; one alone is not counted.
  void add(std::span<const double> seconds);
  void operator+=(const KernelTimes& other);
  /// Deviation as a share of the mean: 0 where all end together.
  double imbalance() const { return mean_seconds > 0 ? deviation_seconds / mean_seconds : 0; }
};

}  // namespace sluice
