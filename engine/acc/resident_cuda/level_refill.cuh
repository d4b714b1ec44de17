// Levels of an aggregation on a GPU: what its rounds begin with, and how the next level is found from the
// states of all vertices, by a ballot.
#pragma once

#include <type_traits>

#include "engine/acc/resident_cuda/parts.cuh"
#include "engine/acc/resident_cuda/rounds.cuh"
#include "engine/acc/vote_direction.hpp"

namespace sluice::acc {

/// What a round begins with; all threads of the grid hold the same.
struct LevelRound {
  std::uint32_t round = 1;
  std::uint32_t blocks = 0;    ///< that work on it; 0: all
  std::uint32_t refilled = 0;  ///< did the worklists come from the states?
  std::uint32_t done = 0;
  /// Where vertices that were not below the last level are: 0, among all; else list rest_in - 1 of `rest`.
  std::uint32_t rest_in = 0;
  unsigned long long level = 0;
  unsigned long long active = 0;
  unsigned long long rest = 0;  ///< how many that list has
  // Over ranks:
  unsigned long long all_active = 0;
  std::uint32_t swap = 1;  ///< the next one

  __device__ bool goes_on() const { return all_active > 0 && done == 0; }
};

/// The same where rounds may pull.
struct DirectedLevelRound : LevelRound {
  std::uint32_t pull = 0;
  unsigned long long left_edges = 0;  ///< that lead to vertices whose states may change
};

SLUICE_HD std::uint32_t pull_of(const LevelRound&) {
  return 0;
}
SLUICE_HD std::uint32_t pull_of(const DirectedLevelRound& round) {
  return round.pull;
}

/// `pulling`: may rounds pull?
template <class T, class P, bool pulling>
struct LevelsView {
  using Program = T;
  using Peers = P;
  using State = typename Program::State;
  using Round = std::conditional_t<pulling, DirectedLevelRound, LevelRound>;
  static constexpr bool kMayPull = pulling;

  Program program;
  CsrView out, in;
  State* states = nullptr;
  Round* state = nullptr;
  unsigned long long* left_edges = nullptr;  ///< [1] that a refill counts
  AccDirection direction = AccDirection::push;
  Vertex* rest[2] = {};  ///< memory for a half of the vertices, and for a quarter
  WorklistView work;
  TraceView trace;
  Peers peers;
};

// ---- kernels

/// Puts v behind the `*size` entries of a list, where `valid`; every lane of the warp must come.
__device__ __forceinline__ void keep(Vertex* list, unsigned* size, bool valid, Vertex v) {
  const unsigned lanes = __ballot_sync(~0u, valid);
  if (lanes == 0) return;
  const unsigned at = take_places(size, lanes);
  if (valid) list[at] = v;
}

/// Ranks tell each other of the vertices that they have found, once the team has come; all of it come.
/// Returns what all ranks have come to.
template <class View, class Team>
__device__ PeerWork swap_found(const Team& team, const View& view, const PeerWork& work, LevelRound& next) {
  const PeerWork all = view.peers.swap(team, next.swap++, work);
  if (team.rank() == 0) view.peers.clear_told();
  next.done = view.peers.stopped();
  return all;
}

/// What other ranks told of in the last swap is active, too.
template <class View, class Team>
__device__ void hear_found(const Team& team, const View& view, const RoundPlace& place,
                           const LevelRound& next) {
  view.peers.receive(team, next.swap - 1, [&](bool valid, Vertex v, typename View::State state) {
    if (valid) store(view.states + v, state);
    append(view.work, place, valid, v);
  });
}

/// Decides which way the round `next` goes, whose active vertices have so many edges.
template <class View>
__device__ void choose(const View& view, DirectedLevelRound& next, unsigned long long edges) {
  next.pull = view.direction == AccDirection::pull || less_to_pull(edges, next.left_edges);
}

/// Finds the lowest level from `least` on, and makes its vertices the worklists that the round of `place` has
/// made none for. Once half of those it looks through are below, the others are listed for the next time.
/// Each rank lists its own lowest level, which counts for nothing where another rank's is lower.
template <unsigned kPhases, class View>
__device__ void refill(const cuda::GridTeam& grid, const View& view, const RoundPlace& place,
                       unsigned long long least, typename View::Round& next) {
  constexpr bool kSorted = (kPhases & kSortedLists) != 0;
  const Vertex* const rest = next.rest_in == 0 ? nullptr : view.rest[next.rest_in - 1];
  const std::uint64_t count = rest == nullptr ? view.work.last - view.work.first : next.rest;
  const auto vertex = [&](std::uint64_t i) {
    return rest == nullptr ? static_cast<Vertex>(view.work.first + i) : rest[i];
  };
  const auto level_of = [&](Vertex v) -> unsigned long long {
    return view.program.level(load(view.states + v));
  };
  unsigned long long lowest = ~0ull, left = 0;
  for (std::uint64_t i = grid.rank(); i < count; i += grid.size()) {
    const unsigned long long level = level_of(vertex(i));
    if (level < least) continue;
    ++left;
    if (level < lowest) lowest = level;
  }
  lowest = cuda::warp_min(lowest), left = cuda::warp_sum(left);
  if (threadIdx.x % cuda::kWarp == 0 && left > 0) {
    atomicMin(&place.found->lowest, lowest);
    atomicAdd(&place.found->left, left);
  }
  grid.sync();
  lowest = load(&place.found->lowest);
  const bool any = lowest <= last_level(view.program);
  if constexpr (View::Peers::kAlone) {
    next.done = !any;
    if (!any) return;
  }
  const bool lists = 2 * load(&place.found->left) <= count;
  const std::uint32_t rest_in = next.rest_in == 1 ? 2 : 1;
  unsigned long long active = 0, edges = 0, left_edges = 0;
  over_all(grid, count, [&](std::uint64_t i, bool valid) {
    const Vertex v = valid ? vertex(i) : 0;
    const unsigned long long level = valid ? level_of(v) : 0;
    const bool takes = valid && any && level == lowest;
    active += takes;
    edges += takes ? view.work.edges(v) : 0;
    if constexpr (View::kMayPull) {
      if (valid && level >= lowest_to_change(view.program, lowest))
        left_edges += view.in.offsets[v + 1ull] - view.in.offsets[v];
    }
    if constexpr (View::kMayPull || kSorted) {
      if (takes) atomicOr(view.work.bits[place.next] + v / 32, 1u << (v % 32));
    }
    if constexpr (!kSorted) {
      if (__any_sync(~0u, takes)) {
        append(view.work, place, takes, v);
        view.peers.tell(next.swap, takes, v, view.states);
      }
    }
    if (lists)
      keep(view.rest[rest_in - 1], &place.found->rest,
           valid && (View::Peers::kAlone ? level > lowest : level >= lowest), v);
  });
  active = cuda::warp_sum(active), edges = cuda::warp_sum(edges);
  if (threadIdx.x % cuda::kWarp == 0 && active > 0) {
    atomicAdd(&place.found->refilled, active);
    atomicAdd(&place.found->refilled_edges, edges);
  }
  if constexpr (View::kMayPull) {
    left_edges = cuda::warp_sum(left_edges);
    if (threadIdx.x % cuda::kWarp == 0 && left_edges > 0) atomicAdd(view.left_edges, left_edges);
  }
  grid.sync();
  if constexpr (kSorted) collect_sorted(grid, view.work, place);
  if (lists) next.rest_in = rest_in, next.rest = load(&place.found->rest);
  next.active = load(&place.found->refilled);
  next.refilled = 1;
  next.all_active = next.active;
  unsigned long long refilled_edges = load(&place.found->refilled_edges);
  if constexpr (!View::Peers::kAlone) {
    const PeerWork all =
        swap_found(grid, view, {.found = next.active, .found_edges = refilled_edges, .lowest = lowest}, next);
    if (all.lowest < lowest) {
      if (grid.rank() < cuda::kLists) place.made->sizes[grid.rank()] = 0;
      grid.sync();
      lowest = all.lowest, next.active = 0;
    }
    hear_found(grid, view, place, next);
    next.all_active = all.found, refilled_edges = all.found_edges;
    next.done |= lowest > last_level(view.program);
  }
  next.level = lowest;
  if constexpr (View::kMayPull) {
    next.left_edges = load(view.left_edges);
    choose(view, next, refilled_edges);
  }
  next.blocks = pull_of(next) != 0 ? 0 : blocks_for(view.work, next.all_active, refilled_edges);
  grid.sync();  // the next round clears what was read here
  if constexpr (View::kMayPull) {
    if (grid.rank() == 0) *view.left_edges = 0;
  }
}

}  // namespace sluice::acc
