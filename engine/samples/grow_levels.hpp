// The loop that grows samples, depth by depth: once for both backends, whole graphs and partitions, one rank
// and several. What differs between them is how `Levels` select a depth's edges and keep them.
#pragma once

#include <concepts>
#include <cstdint>

#include "engine/exchange/agreement.hpp"
#include "engine/graph/residency.hpp"

namespace sluice::samples {

/// Levels of a batch whose seeds are planted.
template <class L>
concept GrowingLevels = requires(L levels) {
  { levels.program().sampler.depth() } -> std::convertible_to<std::uint32_t>;
  { levels.entries() } -> std::convertible_to<std::uint64_t>;  // whose edges come next
  levels.advance();                                            // makes the next frontier of the edges
};

/// Calls select(depth) for each depth that has entries, from 1 on, and advances between two of them. All
/// `ranks` call it together; null: this one is alone. Throws BudgetError on all of them, or on none.
template <GrowingLevels Levels, class Select>
void grow_levels(Levels& levels, Communicator* ranks, const Select& select) {
  const std::uint32_t depths = levels.program().sampler.depth();
  for (std::uint32_t depth = 1; depth <= depths; ++depth) {
    // Alone, an instance of a few edges would notice the calls.
    if (ranks ? !any_left(ranks, levels.entries(), "samples under way") : levels.entries() == 0) return;
    select(depth);
    if (depth == depths) return;
    ranks ? together(ranks, [&] { levels.advance(); }) : levels.advance();
  }
}

namespace host {
/// The host's levels, by residency: of an instance at a time, or of a batch.
template <class Program, Residency R>
class Levels;
}  // namespace host
namespace cuda {
/// A GPU's levels of a batch, by residency.
template <class Program, Residency R>
class Levels;
}  // namespace cuda

}  // namespace sluice::samples
