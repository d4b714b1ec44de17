// How partitions that are worked on side by side share the device (C-SAW's thread-block based workload
// balancing), and how evenly their kernels end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/memory/paging.hpp"

namespace sluice {

/// Divides `total` blocks (or threads) between partitions, at least one for each: in proportion to their work
/// if `balance` is on, otherwise equally.
std::vector<unsigned> shares_of(std::span<const std::uint64_t> work, unsigned total, Balance balance);

/// Times of partitions' kernels that ran side by side, over all rounds in which several did.
struct KernelTimes {
  std::uint64_t rounds = 0;
  double mean_seconds = 0;       ///< mean over a round's partitions; summed over the rounds
  double deviation_seconds = 0;  ///< standard deviation over a round's partitions; summed likewise

  /// Adds a round, with the seconds of each partition; a single partition is not counted.
  void add(std::span<const double> seconds);
  void operator+=(const KernelTimes& other);
  /// Deviation as a share of the mean: 0 if all kernels end together.
  double imbalance() const { return mean_seconds > 0 ? deviation_seconds / mean_seconds : 0; }
};

}  // namespace sluice
