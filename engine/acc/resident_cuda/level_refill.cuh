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
  /// Where vertices not below the last level are found: 0: among all vertices; else on list rest_in - 1 of
  /// `rest`.
  std::uint32_t rest_in = 0;
  unsigned long long level = 0;
  unsigned long long active = 0;
  unsigned long long rest = 0;      ///< size of that list
  unsigned long long left = ~0ull;  ///< scanned vertices not below the last level
  // Over ranks:
  unsigned long long all_active = 0;
  std::uint32_t swap = 1;  ///< number of the next swap

  __device__ bool goes_on() const { return all_active > 0 && done == 0; }
  bool ended() const { return done != 0; }
};

/// The same if rounds may pull.
struct DirectedLevelRound : LevelRound {
  std::uint32_t pull = 0;
  unsigned long long left_edges = 0;   ///< lower bound of edges to vertices that may change
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

  unsigned long long* left_edges = nullptr;  ///< [1] sum of a running count, else 0
  Vertex* rest[2] = {};                      ///< [own vertices / 2], [own vertices / 4]

  __device__ bool refuses(Vertex) const { return false; }
  __device__ bool is_at(typename T::State state, const AccRound& at) const {
    const std::uint64_t level = this->program.level(state);
    return kJoins ? level <= at.level : level == at.level;
  }
};

// ---- kernels

/// Appends v to a list of `*size` entries, if `valid`; every lane of the warp must call it.
__device__ __forceinline__ void keep(Vertex* list, unsigned* size, bool valid, Vertex v) {
  const unsigned lanes = __ballot_sync(~0u, valid);
  if (lanes == 0) return;
  const unsigned at = cuda::claim_positions(size, lanes, ~0u);
  if (valid) list[at] = v;
}

/// Collects vertices that a warp finds one by one, to use 32 at a time: alone, each would wait for its reads,
/// and for a place on a list to which all warps append.
class WarpStage {
 public:
  static constexpr unsigned kAtOnce = 2;  ///< warps of vertices that may be added before use_up()
  static constexpr unsigned kMost = (kAtOnce + 1) * cuda::kWarp;

  /// `memory` [kMost] must be private to the warp.
  __device__ explicit WarpStage(Vertex* memory) : vertices_(memory) {}

  /// Adds v, if `valid`; every lane of the warp must call it.
  __device__ __forceinline__ void add(bool valid, Vertex v) {
    const unsigned lanes = __ballot_sync(~0u, valid), lane = threadIdx.x % cuda::kWarp;
    if (valid) vertices_[size_ + static_cast<unsigned>(__popc(lanes & ((1u << lane) - 1)))] = v;
    size_ += static_cast<unsigned>(__popc(lanes));
  }
  /// Calls use(valid, v) for every 32 vertices; with `all`, also for the remaining ones.
  template <class Use>
  __device__ __forceinline__ void use_up(bool all, const Use& use) {
    __syncwarp();
    for (unsigned some; (some = min(size_, cuda::kWarp)) > (all ? 0 : cuda::kWarp - 1);) {
      size_ -= some;
      const bool valid = threadIdx.x % cuda::kWarp < some;
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
  const PeerWork all = view.peers.swap(team, next.swap++, work);
  if (team.rank() == 0) view.peers.clear_sent();
  next.done = view.peers.stopped();
  return all;
}

/// Takes the active vertices that other ranks sent in the last swap.
template <class View, class Team>
__device__ void receive_found(const Team& team, const View& view, const RoundPlace& place,
                              const LevelRound& next) {
  view.peers.receive(team, next.swap - 1, [&](bool valid, Vertex v, typename View::State state) {
    if (valid) store(view.states + v, state);
    append(view.work, place, valid, v);
  });
}

/// Counts in-edges of vertices whose states may change at `level`. All threads of the team call it.
template <class View, class Team>
__device__ unsigned long long count_left(const Team& team, const View& view, unsigned long long level) {
  unsigned long long edges = 0;
  for (std::uint64_t v = view.work.first + team.rank(); v < view.work.last; v += team.size())
    if (may_change(view.program, load(view.states + v), {0, level}))
      edges += view.in.offsets[v + 1] - view.in.offsets[v];
  __syncwarp();
  edges = cuda::warp_sum(edges);
  if (threadIdx.x % cuda::kWarp == 0 && edges > 0) atomicAdd(view.left_edges, edges);
  team.sync();
  const unsigned long long all = load(view.left_edges);
  team.sync();
  if (team.rank() == 0) store(view.left_edges, 0ull);
  return all;
}

/// Chooses the direction of round `next`, whose active vertices have `edges`. All threads of the team call
/// it, and synchronize before the next call.
template <class View, class Team>
__device__ void choose(const Team& team, const View& view, DirectedLevelRound& next,
                       unsigned long long edges) {
  next.front_edges = edges;
  next.pull = 1;
  if (view.direction == AccDirection::pull) return;
  const std::uint64_t states = view.work.last - view.work.first;
  next.pull = less_to_pull(edges, next.left_edges, states);
  if constexpr (View::Program::kRepeats) {
    if (next.pull == 0) return;
    next.left_edges = count_left(team, view, next.level);
    next.pull = less_to_pull(edges, next.left_edges, states);
  }
}

/// One scan of the states of vertices that may be at level `least` or above.
struct RefillPass {
  static constexpr unsigned long long kNone = ~0ull;

  unsigned long long least;
  unsigned long long wanted;  ///< levels up to it become worklists; kNone: none do
  bool finds;                 ///< find the lowest remaining level, and count remaining vertices?
  bool lists;                 ///< list these vertices?
};

/// Results of a block's scan.
struct RefillFound {
  unsigned long long lowest, edges;
  unsigned left, active;
};

/// Scans states with the whole grid, and adds the results to the counts of `place`.
template <unsigned kPhases, class View>
__device__ void look_through(const cuda::GridTeam& grid, const View& view, const RoundPlace& place,
                             const typename View::Round& now, const RefillPass& pass) {
  constexpr bool kSorted = (kPhases & kSortedLevels) != 0;
  constexpr unsigned kAtOnce = WarpStage::kAtOnce;  // reads in flight together
  __shared__ Vertex staged[cuda::kTeamBlock / cuda::kWarp][WarpStage::kMost];
  __shared__ RefillFound of_block;
  if (threadIdx.x == 0) of_block = {RefillPass::kNone, 0, 0, 0};
  __syncthreads();
  const Vertex* const rest = now.rest_in == 0 ? nullptr : view.rest[now.rest_in - 1];
  const std::uint64_t count = rest == nullptr ? view.work.last - view.work.first : now.rest;
  const auto vertex = [&](std::uint64_t i) {
    return rest == nullptr ? static_cast<Vertex>(view.work.first + i) : rest[i];
  };
  unsigned long long lowest = RefillPass::kNone, edges = 0;
  unsigned left = 0, active = 0;
  const auto take = [&](bool valid, Vertex v) {
    active += valid;
    edges += valid ? view.work.edges(v) : 0;
    if constexpr (View::kMayPull || kSorted) {
      if (valid) take_bit(view.work.bits[place.next], v);
    }
    if constexpr (!kSorted) {
      append(view.work, place, valid, v);
      view.peers.send(now.swap, valid, v, view.states);
    }
  };
  WarpStage stage(staged[threadIdx.x / cuda::kWarp]);
  bool more = count > 0;
  for (std::uint64_t base = grid.rank(); more; base += kAtOnce * grid.size()) {
    more = base - grid.rank() + kAtOnce * grid.size() < count;
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
      const bool valid = vertices[k] != kNoVertex && levels[k] >= pass.least;
      if (pass.finds && valid) {
        ++left;
        if (levels[k] < lowest) lowest = levels[k];
      }
      const bool takes = valid && pass.wanted != RefillPass::kNone && levels[k] <= pass.wanted;
      stage.add(takes, vertices[k]);
      // Over ranks, vertices taken now may be of a higher level than another rank's lowest.
      if (pass.lists)
        keep(view.rest[now.rest_in % 2], &place.found->rest, valid && !(takes && View::Peers::kAlone),
             vertices[k]);
    }
    stage.use_up(!more, take);
  }
  lowest = cuda::warp_min(lowest), edges = cuda::warp_sum(edges);
  left = __reduce_add_sync(~0u, left), active = __reduce_add_sync(~0u, active);
  if (threadIdx.x % cuda::kWarp == 0) {
    atomicMin(&of_block.lowest, lowest);
    atomicAdd(&of_block.edges, edges);
    atomicAdd(&of_block.left, left);
    atomicAdd(&of_block.active, active);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (of_block.left > 0) {
    atomicMin(&place.found->lowest, of_block.lowest);
    atomicAdd(&place.found->left, static_cast<unsigned long long>(of_block.left));
  }
  if (of_block.active > 0) {
    atomicAdd(&place.found->refilled, static_cast<unsigned long long>(of_block.active));
    atomicAdd(&place.found->refilled_edges, of_block.edges);
  }
}

/// Finds the lowest level that is at least `least`, and makes its vertices the worklists that the round of
/// `place` has left empty; or those of several levels from `least` on. Most often that level is `least`, or
/// one of these: then one scan of the states suffices. Once half of the scanned vertices are below, the
/// others are listed for the next time. Each rank lists its own lowest level, which is discarded if another's
/// is lower.
template <unsigned kPhases, class View>
__device__ void refill(const cuda::GridTeam& grid, const View& view, const RoundPlace& place,
                       unsigned long long least, typename View::Round& next) {
  const std::uint64_t count = next.rest_in == 0 ? view.work.last - view.work.first : next.rest;
  const bool lists = next.left <= count / 2;
  const unsigned long long last = last_level(view.program);
  unsigned long long guess = least;
  if constexpr (View::kJoins) {
    const unsigned long long more = next.width.next() - 1;
    guess = least + min(more, last - min(least, last));
  }
  RefillPass pass{least, least <= last ? guess : RefillPass::kNone, true, lists};
  unsigned long long lowest;
  for (;;) {
    look_through<kPhases>(grid, view, place, next, pass);
    grid.sync();
    lowest = load(&place.found->lowest);
    const bool any = lowest <= last;
    if constexpr (View::Peers::kAlone) {
      next.done = !any;
      if (!any) return;
    }
    if (any && lowest <= pass.wanted) lowest = pass.wanted;  // equal on all ranks that have such a level
    if (!any || lowest == pass.wanted) break;
    pass = {lowest, lowest, false, false};
  }
  if constexpr ((kPhases & kSortedLevels) != 0) collect_sorted(grid, view.work, place);
  if (lists) next.rest_in = next.rest_in % 2 + 1, next.rest = load(&place.found->rest);
  next.left = load(&place.found->left);
  next.active = load(&place.found->refilled);
  next.refilled = 1;
  next.all_active = next.active;
  unsigned long long refilled_edges = load(&place.found->refilled_edges);
  if constexpr (!View::Peers::kAlone) {
    const PeerWork all =
        swap_found(grid, view, {.found = next.active, .found_edges = refilled_edges, .lowest = lowest}, next);
    if (all.lowest < lowest) {
      if (grid.rank() < kDegreeLists) place.made->sizes[grid.rank()] = 0;
      grid.sync();
      lowest = all.lowest, next.active = 0;
    }
    receive_found(grid, view, place, next);
    next.all_active = all.found, refilled_edges = all.found_edges;
    next.done |= lowest > last;
  }
  next.level = lowest;
  if constexpr (View::kMayPull) {
    if (!View::Program::kRepeats) next.left_edges -= min(next.left_edges, refilled_edges);
    choose(grid, view, next, refilled_edges);
  }
  next.blocks = pull_of(next) != 0 ? 0 : blocks_for(view.work, next.all_active, refilled_edges);
  grid.sync();  // the next round clears the counts read here
}

}  // namespace sluice::acc
