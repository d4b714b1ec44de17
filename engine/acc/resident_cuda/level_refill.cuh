// Levels of an aggregation on a GPU: the state that rounds begin with, and the *refill*, which finds the next
// level from the states of all vertices, by a ballot. A warp stages the vertices that it finds (WarpStage)
// and reads their degrees together: 42,000 vertices, one by one, waited 60 us a level of Kronecker 24 (commit
// db922580).
#pragma once

#include <type_traits>

#include "engine/acc/level_width.hpp"
#include "engine/acc/resident_cuda/parts.cuh"
#include "engine/acc/resident_cuda/rounds.cuh"
#include "engine/acc/vote_direction.hpp"

namespace sluice::acc {

/// The state that a round begins with, identical in all threads of the grid.
struct LevelRound {
  std::uint32_t round = 1;
  std::uint32_t blocks = 0;    ///< blocks that run it; 0: all
  std::uint32_t refilled = 0;  ///< were the worklists found from the states?
  std::uint32_t done = 0;
  /// Where vertices not below the last level are found: 0: among all vertices; else on list later_list - 1 of
  /// `later`.
  std::uint32_t later_list = 0;
  unsigned long long level = 0;
  unsigned long long active = 0;
  unsigned long long later_size = 0;     ///< size of that list
  unsigned long long remaining = ~0ull;  ///< scanned vertices not below the last level
  // Over ranks:
  unsigned long long all_active = 0;
  std::uint32_t swap = 1;  ///< number of the next swap

  __device__ bool has_work() const { return all_active > 0 && done == 0; }
  bool ended() const { return done != 0; }
};

/// The same if rounds may pull.
struct DirectedLevelRound : LevelRound {
  std::uint32_t pull = 0;
  unsigned long long remaining_edges = 0;  ///< lower bound of edges to vertices that may change
  unsigned long long front_edges = 0;  ///< edges of active vertices
};

/// The same if levels may be joined: `level` is the last of the current levels.
struct JoinedLevelRound : LevelRound {
  LevelWidth width;
};

SLUICE_HD std::uint32_t pull_of(const LevelRound&) {
  return 0;
}
SLUICE_HD std::uint32_t pull_of(const DirectedLevelRound& round) {
  return round.pull;
}

/// May several levels be processed at once? Not with pulls, which skip states below the one current level.
template <class T, bool pulling>
inline constexpr bool kJoined = !pulling && JoiningProgram<T>;

template <class T, bool pulling>
using LevelRoundOf =
    std::conditional_t<pulling, DirectedLevelRound,
                       std::conditional_t<kJoined<T, pulling>, JoinedLevelRound, LevelRound>>;

/// `pulling`: may rounds pull?
template <class T, class P, bool pulling>
struct LevelsView : RoundsView<T, P, LevelRoundOf<T, pulling>> {
  static constexpr bool kMayPull = pulling, kJoins = kJoined<T, pulling>;

  unsigned long long* remaining_edges = nullptr;  ///< [1] sum of a running count, else 0
  Vertex* later[2] = {};                          ///< [own vertices / 2], [own vertices / 4]

  __device__ bool is_settled(Vertex) const { return false; }
  __device__ bool is_at_level(typename T::State state, const AccRound& at) const {
    const std::uint64_t level = this->program.level(state);
    return kJoins ? level <= at.level : level == at.level;
  }
};

// ---- kernels

/// Appends v to a list of `*size` entries, if `valid`; every lane of the warp must call it.
__device__ __forceinline__ void append_to_list(Vertex* list, unsigned* size, bool valid, Vertex v) {
  const unsigned lanes = __ballot_sync(~0u, valid);
  if (lanes == 0) return;
  const unsigned position = cuda::claim_positions(size, lanes, ~0u);
  if (valid) list[position] = v;
}

/// Collects vertices that a warp finds one by one, to use 32 at a time: alone, each would wait for its reads,
/// and for a place on a list to which all warps append.
class WarpStage {
 public:
  static constexpr unsigned kAtOnce = 2;  ///< warps of vertices that may be added before flush()
  static constexpr unsigned kCapacity = (kAtOnce + 1) * cuda::kWarp;

  /// `memory` [kCapacity] must be private to the warp.
  __device__ explicit WarpStage(Vertex* memory) : vertices_(memory) {}

  /// Adds v, if `valid`; every lane of the warp must call it.
  __device__ __forceinline__ void add(bool valid, Vertex v) {
    const unsigned lanes = __ballot_sync(~0u, valid), lane = threadIdx.x % cuda::kWarp;
    if (valid) vertices_[size_ + static_cast<unsigned>(__popc(lanes & ((1u << lane) - 1)))] = v;
    size_ += static_cast<unsigned>(__popc(lanes));
  }
  /// Calls use(valid, v) for every 32 vertices; with `all`, also for the remaining ones.
  template <class Use>
  __device__ __forceinline__ void flush(bool all, const Use& use) {
    __syncwarp();
    for (unsigned count; (count = min(size_, cuda::kWarp)) > (all ? 0 : cuda::kWarp - 1);) {
      size_ -= count;
      const bool valid = threadIdx.x % cuda::kWarp < count;
      use(valid, valid ? vertices_[size_ + threadIdx.x % cuda::kWarp] : 0);
      __syncwarp();
    }
  }

 private:
  Vertex* vertices_;
  unsigned size_ = 0;
};

/// Ranks exchange the vertices found; the team must have synchronized since, and all of it calls this.
/// Returns the work of all ranks.
template <class View, class Team>
__device__ PeerWork swap_found(const Team& team, const View& view, const PeerWork& work, LevelRound& next) {
  const PeerWork total = view.peers.swap(team, next.swap++, work);
  if (team.rank() == 0) view.peers.clear_sent();
  next.done = view.peers.stopped();
  return total;
}

/// Takes the active vertices that other ranks sent in the last swap.
template <class View, class Team>
__device__ void receive_found(const Team& team, const View& view, const RoundBuffers& buffers,
                              const LevelRound& next) {
  view.peers.receive(team, next.swap - 1, [&](bool valid, Vertex v, typename View::State state) {
    if (valid) store(view.states + v, state);
    append(view.work, buffers, valid, v);
  });
}

/// Counts in-edges of vertices whose states may change at `level`. All threads of the team call it.
template <class View, class Team>
__device__ unsigned long long count_remaining_edges(const Team& team, const View& view,
                                                    unsigned long long level) {
  unsigned long long edges = 0;
  for (std::uint64_t v = view.work.first + team.rank(); v < view.work.last; v += team.size())
    if (may_change(view.program, load(view.states + v), {0, level}))
      edges += view.in.offsets[v + 1] - view.in.offsets[v];
  __syncwarp();
  edges = cuda::warp_sum(edges);
  if (threadIdx.x % cuda::kWarp == 0 && edges > 0) atomicAdd(view.remaining_edges, edges);
  team.sync();
  const unsigned long long all = load(view.remaining_edges);
  team.sync();
  if (team.rank() == 0) store(view.remaining_edges, 0ull);
  return all;
}

/// Chooses the direction of round `next`, whose active vertices have `edges`. All threads of the team call
/// it, and synchronize before the next call.
template <class View, class Team>
__device__ void choose_direction(const Team& team, const View& view, DirectedLevelRound& next,
                                 unsigned long long edges) {
  next.front_edges = edges;
  next.pull = 1;
  if (view.direction == AccDirection::pull) return;
  const std::uint64_t states = view.work.last - view.work.first;
  next.pull = pull_is_cheaper(edges, next.remaining_edges, states);
  if constexpr (View::Program::kRepeats) {
    if (next.pull == 0) return;
    next.remaining_edges = count_remaining_edges(team, view, next.level);
    next.pull = pull_is_cheaper(edges, next.remaining_edges, states);
  }
}

/// One scan of the states of vertices that may be at level `min_level` or above.
struct RefillPass {
  static constexpr unsigned long long kNone = ~0ull;

  unsigned long long min_level;
  unsigned long long max_level;  ///< levels up to it become worklists; kNone: none do
  bool measures;                 ///< find the lowest remaining level, and count remaining vertices?
  bool lists_remaining;          ///< list these vertices?
};

/// Results of a block's scan.
struct RefillFound {
  unsigned long long lowest, edges;
  unsigned remaining, active;
};

/// Scans states with the whole grid, and adds the results to the counts of `buffers`.
template <unsigned kPhases, class View>
__device__ void scan_states(const cuda::GridTeam& grid, const View& view, const RoundBuffers& buffers,
                            const typename View::Round& now, const RefillPass& pass) {
  constexpr bool kSorted = (kPhases & kSortedLevels) != 0;
  constexpr unsigned kAtOnce = WarpStage::kAtOnce;  // reads in flight together
  __shared__ Vertex staged[cuda::kTeamBlock / cuda::kWarp][WarpStage::kCapacity];
  __shared__ RefillFound block_result;
  if (threadIdx.x == 0) block_result = {RefillPass::kNone, 0, 0, 0};
  __syncthreads();
  const Vertex* const list = now.later_list == 0 ? nullptr : view.later[now.later_list - 1];
  const std::uint64_t count = list == nullptr ? view.work.last - view.work.first : now.later_size;
  const auto vertex = [&](std::uint64_t i) {
    return list == nullptr ? static_cast<Vertex>(view.work.first + i) : list[i];
  };
  unsigned long long lowest = RefillPass::kNone, edges = 0;
  unsigned remaining = 0, active = 0;
  const auto add_active = [&](bool valid, Vertex v) {
    active += valid;
    edges += valid ? view.work.edges(v) : 0;
    if constexpr (View::kMayPull || kSorted) {
      if (valid) set_bit(view.work.bits[buffers.next], v);
    }
    if constexpr (!kSorted) {
      append(view.work, buffers, valid, v);
      view.peers.send(now.swap, valid, v, view.states);
    }
  };
  WarpStage stage(staged[threadIdx.x / cuda::kWarp]);
  bool unfinished = count > 0;
  for (std::uint64_t base = grid.rank(); unfinished; base += kAtOnce * grid.size()) {
    unfinished = base - grid.rank() + kAtOnce * grid.size() < count;
    Vertex vertices[kAtOnce];
    unsigned long long levels[kAtOnce];
#pragma unroll
    for (unsigned k = 0; k < kAtOnce; ++k) {
      const std::uint64_t i = base + k * grid.size();
      vertices[k] = i < count ? vertex(i) : kNoVertex;
      levels[k] = i < count ? view.program.level(load(view.states + vertices[k])) : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < kAtOnce; ++k) {
      const bool valid = vertices[k] != kNoVertex && levels[k] >= pass.min_level;
      if (pass.measures && valid) {
        ++remaining;
        if (levels[k] < lowest) lowest = levels[k];
      }
      const bool selected = valid && pass.max_level != RefillPass::kNone && levels[k] <= pass.max_level;
      stage.add(selected, vertices[k]);
      // Over ranks, vertices taken now may be of a higher level than another rank's lowest.
      if (pass.lists_remaining)
        append_to_list(view.later[now.later_list % 2], &buffers.counts->later,
                       valid && !(selected && View::Peers::kSingleRank), vertices[k]);
    }
    stage.flush(!unfinished, add_active);
  }
  lowest = cuda::warp_min(lowest), edges = cuda::warp_sum(edges);
  remaining = __reduce_add_sync(~0u, remaining), active = __reduce_add_sync(~0u, active);
  if (threadIdx.x % cuda::kWarp == 0) {
    atomicMin(&block_result.lowest, lowest);
    atomicAdd(&block_result.edges, edges);
    atomicAdd(&block_result.remaining, remaining);
    atomicAdd(&block_result.active, active);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (block_result.remaining > 0) {
    atomicMin(&buffers.counts->lowest, block_result.lowest);
    atomicAdd(&buffers.counts->remaining, static_cast<unsigned long long>(block_result.remaining));
  }
  if (block_result.active > 0) {
    atomicAdd(&buffers.counts->refilled, static_cast<unsigned long long>(block_result.active));
    atomicAdd(&buffers.counts->refilled_edges, block_result.edges);
  }
}

/// Finds the lowest level that is at least `min_level`, and makes its vertices the worklists that the round
/// of `buffers` has left empty; or those of several levels from `min_level` on. Most often that level is
/// `min_level`, or one of these: then one scan of the states suffices. Once half of the scanned vertices are
/// below, the others are listed for the next time. Each rank lists its own lowest level, which is discarded
/// if another's is lower.
template <unsigned kPhases, class View>
__device__ void refill(const cuda::GridTeam& grid, const View& view, const RoundBuffers& buffers,
                       unsigned long long min_level, typename View::Round& next) {
  const std::uint64_t count = next.later_list == 0 ? view.work.last - view.work.first : next.later_size;
  const bool lists_remaining = next.remaining <= count / 2;
  const unsigned long long last = last_level(view.program);
  unsigned long long guess = min_level;
  if constexpr (View::kJoins) {
    const unsigned long long extra_levels = next.width.next() - 1;
    guess = min_level + min(extra_levels, last - min(min_level, last));
  }
  RefillPass pass{min_level, min_level <= last ? guess : RefillPass::kNone, true, lists_remaining};
  unsigned long long lowest;
  for (;;) {
    scan_states<kPhases>(grid, view, buffers, next, pass);
    grid.sync();
    lowest = load(&buffers.counts->lowest);
    const bool any = lowest <= last;
    if constexpr (View::Peers::kSingleRank) {
      next.done = !any;
      if (!any) return;
    }
    if (any && lowest <= pass.max_level)
      lowest = pass.max_level;  // equal on all ranks that have such a level
    if (!any || lowest == pass.max_level) break;
    pass = {lowest, lowest, false, false};
  }
  if constexpr ((kPhases & kSortedLevels) != 0) collect_sorted(grid, view.work, buffers);
  if (lists_remaining)
    next.later_list = next.later_list % 2 + 1, next.later_size = load(&buffers.counts->later);
  next.remaining = load(&buffers.counts->remaining);
  next.active = load(&buffers.counts->refilled);
  next.refilled = 1;
  next.all_active = next.active;
  unsigned long long refilled_edges = load(&buffers.counts->refilled_edges);
  if constexpr (!View::Peers::kSingleRank) {
    const PeerWork total =
        swap_found(grid, view, {.found = next.active, .found_edges = refilled_edges, .lowest = lowest}, next);
    if (total.lowest < lowest) {
      if (grid.rank() < kDegreeLists) buffers.next_counts->sizes[grid.rank()] = 0;
      grid.sync();
      lowest = total.lowest, next.active = 0;
    }
    receive_found(grid, view, buffers, next);
    next.all_active = total.found, refilled_edges = total.found_edges;
    next.done |= lowest > last;
  }
  next.level = lowest;
  if constexpr (View::kMayPull) {
    if (!View::Program::kRepeats) next.remaining_edges -= min(next.remaining_edges, refilled_edges);
    choose_direction(grid, view, next, refilled_edges);
  }
  next.blocks = pull_of(next) != 0 ? 0 : blocks_for(view.work, next.all_active, refilled_edges);
  grid.sync();  // the next round clears the counts read here
}

}  // namespace sluice::acc
