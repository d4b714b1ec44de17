// Rounds of a vote by a grid, as on the host (rounds/vote.hpp). A search of a grid of 2^20 vertices takes an
// H200 25.9 ms in one kernel, and 82.7 with a launch a round (docs/papers.md, Table 2).
#pragma once

#include <type_traits>

#include "engine/acc/resident_cuda/parts.cuh"
#include "engine/acc/resident_cuda/rounds.cuh"
#include "engine/acc/vote_direction.hpp"
#include "engine/traverse/cuda_edges.cuh"

namespace sluice::acc {

/// The state that a round begins with, identical in all threads of the grid.
struct VoteRound {
  std::uint32_t round = 1;
  std::uint32_t pull = 0;
  std::uint32_t blocks = 0;        ///< blocks that run it; 0: all; or kOneCluster
  std::uint32_t small_rounds = 0;  ///< consecutive small rounds so far
  unsigned long long active = 0, active_edges = 0, remaining_edges = 0;

  __device__ AccRound at() const { return {round, 0}; }
  __device__ bool has_work() const { return active > 0; }
  bool ended() const { return active == 0; }
};

/// The same over ranks: `active` and `active_edges` are sums over ranks; remaining_edges still includes this
/// round's edges.
struct PeerVoteRound : VoteRound {
  std::uint32_t swap = 1;    ///< number of the next swap
  std::uint32_t remote_rounds = 0;  ///< rounds that other ranks ran alone
  std::uint32_t isolated = 0;       ///< all active vertices are this rank's, without remote neighbours
  std::uint32_t unsent = 0;  ///< has this rank not sent its active vertices yet?
  unsigned long long own_active = 0;
  PeerWork since_swap;  ///< work of this rank alone since the last swap

  __device__ AccRound at() const { return {round + remote_rounds, 0}; }
  /// Is no vertex active on any rank, but the others have not been told yet?
  SLUICE_HD bool has_unreported_rounds() const { return active == 0 && since_swap.rounds > 0; }
  bool ended() const { return active == 0 && !has_unreported_rounds(); }
};

/// The round is run by a cluster, in a kernel of its own (resident_cuda/small_frontier.cuh).
inline constexpr std::uint32_t kOneCluster = ~0u;
/// A cluster takes over after this many small rounds: a launch takes as long as some of them, and most
/// searches have fewer, at their beginning.
inline constexpr std::uint32_t kSmallRounds = 8;

template <class T, class P = NoPeers>
struct VoteView : RoundsView<T, P, std::conditional_t<P::kSingleRank, VoteRound, PeerVoteRound>> {
  std::uint32_t* settled = nullptr;       ///< bits
  bool clusters = false;                  ///< may clusters run rounds?
  std::uint64_t vertices = 0, edges = 0;  ///< of all ranks

  __device__ bool is_settled(Vertex v) const { return is_marked(settled, v); }
  __device__ bool is_at_level(typename T::State, const AccRound&) const { return true; }
};

// ---- kernels

/// Does the round after `previous` pull? `previous_active` vertices were active in `previous`, `frontier` is
/// active next, and `remaining` edges remain. All ranks get the same answer.
template <class View>
__device__ bool should_pull(const View& view, const VoteRound& previous, unsigned long long previous_active,
                            const FrontierSize& frontier, unsigned long long remaining) {
  if (view.in.offsets == nullptr) return false;
  if (view.direction != AccDirection::automatic) return view.direction == AccDirection::pull;
  return should_pull_next(previous.pull != 0, frontier, previous_active, remaining, view.vertices);
}

template <class Program>
__device__ VoteRound next_round(const VoteView<Program>& view, const VoteRound& previous,
                                const RoundCounts& found) {
  VoteRound next;
  next.round = previous.round + 1;
  next.active = found.active;
  next.active_edges = found.active_edges;
  next.remaining_edges = previous.remaining_edges - min(previous.remaining_edges, found.active_edges);
  next.pull = should_pull(view, previous, previous.active, {found.active, found.active_edges},
                          previous.remaining_edges);
  next.blocks = next.pull ? 0 : blocks_for(view.work, found.active, found.active_edges);
  next.small_rounds = next.blocks == 0 ? 0 : previous.small_rounds + 1;
  if (view.clusters && next.small_rounds > kSmallRounds) next.blocks = kOneCluster;
  return next;
}

/// One thread for each unsettled vertex, which takes the value of the first active in-neighbour. No other
/// lane changes the vertex or the word of marks that a warp's vertices share, so neither needs atomics.
template <class View, class Team>
__device__ void pull(const Team& team, const View& view, const AccRound& at, const RoundBuffers& buffers,
                     Finder& finder) {
  const auto is_active = [&](EdgeIndex e) {
    return is_marked(view.work.bits[buffers.now], view.in.targets[e]);
  };
  over_vertices(team, view.work, [&](Vertex v, bool valid) {
    const unsigned lane = threadIdx.x % cuda::kWarp;
    const bool unsettled = valid && !(view.settled[v / 32] >> lane & 1);
    if (!__any_sync(~0u, unsettled)) return;
    const EdgeIndex end = unsettled ? view.in.offsets[v + 1ull] : 0,
                    e = cuda::first_hit(unsettled ? view.in.offsets[v] : 0, end, finder.edges, is_active);
    const bool active =
        e < end && combine_exclusive(
                       view.program, view.states + v,
                       view.program.compute({view.in.targets[e], v, e, at, view.states, view.in.weights}), at)
                       .active;
    if (active) finder.count(v);
    const unsigned marks = __ballot_sync(~0u, active);
    if (marks != 0 && lane == 0) view.work.bits[buffers.next][v / 32] = marks;
  });
}

/// Settles the vertices reached in this round.
template <class View, class Team>
__device__ void settle(const Team& team, const View& view, const RoundBuffers& buffers) {
  for (std::uint64_t w = view.work.first / 32 + team.rank(); w < (view.work.last + 31) / 32; w += team.size())
    view.settled[w] |= view.work.bits[buffers.next][w];
}

template <class View>
__device__ void settle_binned(const View& view, const Finder& finder) {
  for (unsigned i = 0; i < finder.bin_size(); ++i) set_bit(view.settled, finder.bin_entry(i));
}

/// Runs one round; returns the state that the next begins with.
template <unsigned kPhases, class Program, class Team>
__device__ VoteRound vote_round(const Team& team, const VoteView<Program>& view, const VoteRound& now) {
  const RoundBuffers buffers = view.work.buffers(now.round);
  const AccRound at{now.round, 0};
  Finder finder(view.work, team.rank(), buffers);
  if (team.rank() == 0) *buffers.spare_counts = RoundCounts{};
  const bool pulled = pulls<kPhases>(now.pull);
  pulled ? pull(team, view, at, buffers, finder) : push(team, view, at, buffers, finder);
  finder.report();
  team.sync();
  const RoundCounts found = *buffers.counts;
  const VoteRound next = next_round(view, now, found);
  const bool binned = !pulled && view.work.filter == AccFilter::jit && found.overflow == 0;
  binned ? settle_binned(view, finder) : settle(team, view, buffers);
  pulled ? clear_marks(team, view.work, buffers) : clear_listed(team, view.work, buffers);
  if (!pulled || !next.pull) collect(team, view.work, buffers, finder, pulled);
  // Counts are read again: holding them while lists are made would take more registers than pushes have.
  if (const RoundBuffers counted = view.work.buffers(now.round); team.rank() == 0)
    view.trace.add({.pull = pulled,
                    .refilled = pulled ? !next.pull : needs_ballot(view.work, counted),
                    .active = now.active,
                    .edges = load(&counted.counts->edges)});
  team.sync();
  return next;
}

}  // namespace sluice::acc
