// How large samples that grow by depth become, about, where no run knows it beforehand.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/memory/resident_impl.hpp"
#include "engine/samples/options.hpp"

namespace sluice::samples {

/// What an instance grows to, about: a guess.
struct ExpectedSample {
  double entries = 0, edges = 0;

  /// Bytes that it takes under way: what is wrong with that is found out by the first batch. `available` is
  /// what the device has for slots and instances.
  std::uint64_t bytes(std::uint64_t available) const {
    constexpr double kEntryBytes = 64, kEdgeBytes = 24;  // a frontier's entry and edge, with scratch
    const auto sum = static_cast<std::uint64_t>(64 + entries * kEntryBytes + edges * kEdgeBytes);
    // A guess alone shall not say that nothing fits.
    return std::min(sum, available / 8 + 1);
  }
};

ExpectedSample expected_sample(const Graph& graph, const Options& options, std::uint64_t seeds,
                               std::uint32_t depths);

/// The smallest batch on a GPU: bytes of one instance of `seeds` seeds as a GPU grows it, by lists of
/// average length.
std::uint64_t smallest_batch_bytes(const ResidentGraph::Impl& graph, const Options& options,
                                   std::uint64_t seeds);

}  // namespace sluice::samples
