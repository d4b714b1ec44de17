// The loop of walks on the host. Walks propose, settle, scan and store until each has ended, has completed
// its leg, or needs a list that is not present. A thread interleaves many walks and prefetches for all of
// them, since a single walk spends its time waiting for memory (step interleaving; Sun et al., ThunderRW,
// VLDB'21, section 4.2). advance.cuh is the same loop for one lane of a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/exec/group.hpp"
#include "engine/walks/step.hpp"

namespace sluice::walks::host {

inline constexpr std::size_t kInterleavedWalks = 64;  ///< enough to cover a memory access of some 100 ns

/// One of the walks that a thread interleaves.
template <class Walks>
struct WalkLane {
  std::uint64_t item;
  typename Walks::Walker walker;
  Vertex* path;  ///< the walk's row of results
  Proposal proposal;
  Round round;
  bool proposed;
  [[no_unique_address]] typename Walks::StepState state;
};

/// Advances items [begin, end), each as far as possible. `load(lane)` sets walker, path and state of item
/// lane.item; `retire(lane)` receives the state that the item reached. Returns the number of rounds.
template <class Walks, class Load, class Retire>
std::uint64_t advance(const Walks& walks, std::uint64_t begin, std::uint64_t end, const Load& load,
                      const Retire& retire) {
  using Lane = WalkLane<Walks>;
  std::array<Lane, kInterleavedWalks> lanes;
  std::size_t active = 0;
  std::uint64_t rounds = 0;
  const auto propose = [&](Lane& lane) {
    lane.proposed = walks.propose(lane.walker, lane.state, lane.proposal, lane.round);
  };
  const auto admit = [&](Lane& lane) {
    lane.item = begin++;
    lane.state = {};
    load(lane);
    propose(lane);
  };
  /// Makes one round; false if the walk has ended or waits for a list. On a whole graph, Round::absent only
  /// means that a prefetch is under way: the proposal stands until the lane's next turn.
  const auto run_round = [&](Lane& lane) {
    Round round =
        Walks::kComplete || lane.proposed ? walks.settle(lane.walker, lane.state, lane.proposal) : lane.round;
    if constexpr (Walks::WalkProgram::kScans) {
      if (round == Round::scan) {
        walks.count_scan(lane.walker, lane.state);
        round = walks.scan(SingleLane{}, lane.walker, walks.scan_context(lane.state));
      }
    }
    if (round == Round::absent) return Walks::kComplete;  // in partitions the walk waits
    ++rounds;
    if constexpr (!Walks::WalkProgram::kEndsOnly) {
      if (round == Round::moved) lane.path[lane.walker.step - walks.leg_begin] = lane.walker.current;
    }
    if (round != Round::ended && lane.walker.step < walks.leg_end) {
      propose(lane);
      return true;
    }
    walks.end(lane.state);
    return false;
  };
  while (active < lanes.size() && begin < end) admit(lanes[active++]);
  while (active > 0) {
    for (std::size_t i = 0; i < active;) {
      if (run_round(lanes[i])) {
        ++i;
        continue;
      }
      retire(lanes[i]);
      if (begin < end) {
        admit(lanes[i++]);
      } else {
        lanes[i] = lanes[--active];
      }
    }
  }
  return rounds;
}

}  // namespace sluice::walks::host
