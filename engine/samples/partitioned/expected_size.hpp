// Estimated sizes of samples that grow depth by depth, which no run knows exactly beforehand.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/memory/resident_impl.hpp"
#include "engine/samples/options.hpp"

namespace sluice::samples {

/// A guess of the size to which an instance grows.
struct ExpectedSample {
  double entries = 0, edges = 0;

  /// Device memory of the instance while it grows, in bytes; the first batch corrects the guess. `available`:
  /// bytes of the device for slots and instances.
  std::uint64_t bytes(std::uint64_t available) const {
    constexpr double kEntryBytes = 64, kEdgeBytes = 24;  // of a frontier entry and of an edge, with scratch
    const auto sum = static_cast<std::uint64_t>(64 + entries * kEntryBytes + edges * kEdgeBytes);
    // A guess alone must not refuse a run.
    return std::min(sum, available / 8 + 1);
  }
};

ExpectedSample expected_sample(const Graph& graph, const Options& options, std::uint64_t seeds,
                               std::uint32_t depths);

/// Device memory, in bytes, of the smallest batch on a GPU: one instance of `seeds` seeds, with lists of
/// average length.
std::uint64_t smallest_batch_bytes(const ResidentGraph::Impl& graph, const Options& options,
                                   std::uint64_t seeds);

}  // namespace sluice::samples
