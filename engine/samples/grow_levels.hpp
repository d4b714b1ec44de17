// The loop that grows samples depth by depth, for both backends, whole graphs and graphs in partitions, one
// rank and several. They differ in how `Levels` selects a depth's edges and stores them.
#pragma once

#include <concepts>
#include <cstdint>

#include "engine/exchange/agreement.hpp"
#include "engine/graph/residency.hpp"

namespace sluice::samples {

/// Levels of a batch whose first frontier holds its seeds.
template <class L>
concept GrowingLevels = requires(L levels) {
  { levels.program().sampler.depth() } -> std::convertible_to<std::uint32_t>;
  { levels.entries() } -> std::convertible_to<std::uint64_t>;  // entries of the current frontier
  levels.advance();                                            // makes the next frontier from the edges
};

/// Calls select(depth) for each depth from 1 on that has entries, and advances between two depths. All
/// `ranks` call it together; null: a single rank. Throws BudgetError on all ranks or on none.
template <GrowingLevels Levels, class Select>
void grow_levels(Levels& levels, Communicator* ranks, const Select& select) {
  const std::uint32_t depths = levels.program().sampler.depth();
  for (std::uint32_t depth = 1; depth <= depths; ++depth) {
    // A single rank skips the calls, whose cost is noticeable for an instance of a few edges.
    if (ranks ? !any_left(ranks, levels.entries(), "samples under way") : levels.entries() == 0) return;
    select(depth);
    if (depth == depths) return;
    ranks ? agree_on_memory(ranks, [&] { levels.advance(); }) : levels.advance();
  }
}

namespace host {
/// The host's levels: of one instance at a time on a whole graph, of a batch on a graph in partitions.
template <class Program, Residency R>
class Levels;
}  // namespace host
namespace cuda {
/// A GPU's levels of a batch, on a whole graph or a graph in partitions.
template <class Program, Residency R>
class Levels;
}  // namespace cuda

}  // namespace sluice::samples
