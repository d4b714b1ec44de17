// Rounds of a vote over ranks, which exchange active vertices by swaps (peers.cuh). If only one rank has
// active vertices, and they reach no other rank's, that rank runs rounds without swaps, as on a long path;
// the others wait.
#pragma once

#include "engine/acc/resident_cuda/vote.cuh"

namespace sluice::acc {

/// The round after one that a cluster ran alone. It pushes, too: all ranks decide together whether rounds
/// pull.
template <class Program, class Peers>
__device__ PeerVoteRound next_round(const VoteView<Program, Peers>& view, const PeerVoteRound& previous,
                                    const RoundCounts& found) {
  PeerVoteRound next = previous;
  ++next.round;
  next.since_swap.rounds += 1, next.since_swap.active += previous.active,
      next.since_swap.edges += previous.active_edges;
  next.active = next.own_active = found.active;
  next.active_edges = found.active_edges;
  next.remaining_edges -= min(previous.remaining_edges, previous.active_edges);
  next.blocks = blocks_for(view.work, found.active, found.active_edges);
  next.small_rounds = next.blocks == 0 ? 0 : previous.small_rounds + 1;
  return next;
}

/// Reports this rank's rounds alone to the other ranks, if these rounds were the last.
template <class View, class Team>
__device__ PeerVoteRound report_rounds(const Team& team, const View& view, const PeerVoteRound& now) {
  view.peers.swap(team, now.swap, now.since_swap);
  PeerVoteRound next = now;
  ++next.swap, next.since_swap = {};
  return next;
}

template <class View>
__device__ bool should_pull(const View& view, const PeerVoteRound& now, const PeerWork& total,
                            unsigned long long remaining) {
  return should_pull(view, now, total.active, {total.found, total.found_edges}, remaining);
}

/// Do this rank's active vertices alone ensure that the next round pulls? More active vertices or edges read
/// on other ranks only make a pull likelier (vote_direction.hpp).
template <class View>
__device__ bool will_pull(const View& view, const PeerVoteRound& now, const RoundCounts& found) {
  return should_pull(
      view, now, now.active, {found.active, found.active_edges},
      now.remaining_edges - min(now.remaining_edges, now.pull ? now.active_edges : found.edges));
}

/// May the rank skip the swap after this round? It alone has active vertices, they reached no other rank's
/// vertices, and the next round does not pull.
__device__ inline bool can_skip_swap(const PeerVoteRound& now, const PeerWork& local, bool pulls) {
  return now.isolated != 0 && now.pull == 0 && local.sent == 0 && local.found > 0 && !pulls;
}

/// Do entries of `found` vertices take fewer bytes than bits of all the rank's vertices?
template <class View>
__device__ bool sends_entries(const View& view, unsigned long long found) {
  return found <= (view.work.last - view.work.first) / kBitsOfWord;
}

/// Vertices received from other ranks are active: marks them if the next round pulls, else lists them.
template <class View, class Team>
__device__ void receive_active(const Team& team, const View& view, unsigned swap, const RoundBuffers& buffers,
                               bool pull) {
  std::uint32_t* const marks = view.work.bits[buffers.next];
  view.peers.receive(team, swap, [&](bool valid, Vertex v, typename View::State) {
    if (!pull) return append(view.work, buffers, valid, v);
    if (valid) set_bit(marks, v);
  });
  view.peers.receive_bits(team, swap, [&](std::uint64_t word, std::uint32_t bits) {
    if (!pull)
      return cuda::for_each_marked(static_cast<unsigned>(word), bits,
                                   [&](Vertex v, bool marked) { append(view.work, buffers, marked, v); });
    if (bits != 0) atomicOr(marks + word, bits);
  });
}

/// Adds rounds to the trace; called by one thread. Rounds that other ranks ran alone are one entry.
template <class View>
__device__ void trace_rounds(const View& view, const PeerVoteRound& now, unsigned long long rounds,
                             unsigned long long active, unsigned long long edges, bool binned) {
  const bool pulled = now.pull != 0;
  if (active > 0)
    view.trace.add({.pull = pulled, .refilled = !pulled && !binned, .active = active, .edges = edges});
  view.trace.totals->rounds += rounds - 1;
}

/// Swap at the end of a round, after any rounds that this rank ran alone; own.rounds counts them all.
template <class View, class Team>
__device__ PeerWork swap_round(const Team& team, const View& view, const PeerWork& local, bool bits,
                               PeerVoteRound& next) {
  const auto& peers = view.peers;
  const PeerWork total = peers.swap(team, next.swap++, local, bits);
  next.remote_rounds += static_cast<std::uint32_t>(total.rounds - (peers.ranks - 1) - local.rounds);
  next.since_swap = {};
  if (team.rank() == 0) bits ? peers.count_sent_bits() : peers.clear_sent();
  return total;
}

/// Sends vertices found by a cluster, which sends none itself. Other ranks receive those that have neighbours
/// there, as if a round of the grid had found them.
template <class View>
__device__ PeerVoteRound send_found(const cuda::GridTeam& grid, const View& view, const PeerVoteRound& now) {
  const RoundBuffers buffers = view.work.buffers(now.round - 1);
  PeerVoteRound next = now;
  next.unsent = 0;
  for (unsigned which = 0; which < kDegreeLists; ++which) {
    cuda::for_each_in_warps(grid, load(&buffers.next_counts->sizes[which]), [&](std::uint64_t i, bool valid) {
      view.peers.send(now.swap, valid, valid ? view.work.list(buffers.next, which)[i] : 0, view.states);
    });
  }
  grid.sync();
  PeerWork local = now.since_swap;
  local.found = now.own_active, local.found_edges = now.active_edges, local.sent = view.peers.sent();
  if (local.sent == 0) return next;
  const PeerWork total = swap_round(grid, view, local, false, next);
  next.pull = should_pull(view, now, total, now.remaining_edges), next.isolated = 0;
  next.blocks = next.pull != 0 ? 0 : blocks_for(view.work, next.active, next.active_edges);
  if (view.peers.stopped()) next.active = 0;
  grid.sync();
  return next;
}

/// Runs one round; returns the state that the next begins with.
template <class View, class Team>
__device__ PeerVoteRound peer_round(const Team& team, const View& view, const PeerVoteRound& now) {
  const auto& peers = view.peers;
  const RoundBuffers buffers = view.work.buffers(now.round);
  const AccRound at = now.at();
  Finder finder(view.work, team.rank(), buffers);
  if (team.rank() == 0) *buffers.spare_counts = RoundCounts{};
  now.pull ? pull(team, view, at, buffers, finder) : push(team, view, at, buffers, finder);
  finder.report();
  team.sync();
  const RoundCounts found = *buffers.counts;
  // After a push, bins hold all marked vertices, unless a bin overflowed.
  const bool binned = !now.pull && !needs_ballot(view.work, buffers);
  binned ? settle_binned(view, finder) : settle(team, view, buffers);
  now.pull ? clear_marks(team, view.work, buffers) : clear_listed(team, view.work, buffers);
  const bool entries = sends_entries(view, found.active), listed = entries && binned,
             pulls = will_pull(view, now, found), ballots = !listed && (entries || !pulls);
  const auto send = [&](bool valid, Vertex v) {
    if (entries) peers.send(now.swap, valid, v, view.states);
  };
  if (!entries) peers.send_bits(team, now.swap, view.work.bits[buffers.next]);
  if (listed) collect_bins(view.work, buffers, finder, send);
  if (ballots) count_marked(team, view.work, buffers, send);
  team.sync();
  if (ballots) scan_marked(team, view.work, buffers);
  PeerVoteRound next = now;
  ++next.round;
  PeerWork local{.rounds = 1,
                 .active = now.own_active,
                 .edges = found.edges,
                 .found = found.active,
                 .found_edges = found.active_edges,
                 .sent = entries ? peers.sent() : found.active};
  PeerWork total = local;
  unsigned long long edges_read = local.edges;  // edges read on all ranks
  const bool skips_swap = can_skip_swap(now, local, pulls);
  if (skips_swap) {
    next.since_swap.rounds += 1, next.since_swap.active += local.active, next.since_swap.edges += local.edges;
    if (team.rank() == 0) trace_rounds(view, now, 1, local.active, local.edges, binned);
  } else {
    local.rounds += now.since_swap.rounds, local.active += now.since_swap.active,
        local.edges += now.since_swap.edges;
    total = swap_round(team, view, local, !entries, next);
    edges_read = total.edges - now.since_swap.edges;
    if (team.rank() == 0)
      trace_rounds(view, now, total.rounds - (peers.ranks - 1) - now.since_swap.rounds,
                   total.active - now.since_swap.active, edges_read, binned);
  }
  next.active = total.found, next.active_edges = total.found_edges;
  next.remaining_edges -= min(now.remaining_edges, now.pull ? now.active_edges : edges_read);
  next.own_active = found.active;
  next.pull = should_pull(view, now, total, next.remaining_edges);
  next.isolated = total.sent == 0 && found.active == total.found;
  if (ballots && next.pull == 0) write_marked(team, view.work, buffers);
  if (!skips_swap) receive_active(team, view, now.swap, buffers, next.pull != 0);
  next.blocks = next.pull != 0 ? 0 : blocks_for(view.work, next.active, next.active_edges);
  next.small_rounds = next.blocks == 0 ? 0 : now.small_rounds + 1;
  if (view.clusters && next.isolated != 0 && next.small_rounds > kSmallRounds) next.blocks = kOneCluster;
  if (peers.stopped()) next.active = 0, next.since_swap = {};
  team.sync();
  return next;
}

/// Ends the round before the first one, which found the starting vertices.
template <class View>
__device__ PeerVoteRound begin_rounds(const cuda::GridTeam& grid, const View& view,
                                      const RoundBuffers& buffers) {
  const RoundCounts found = *buffers.counts;
  PeerVoteRound now;
  view.peers.send_bits(grid, now.swap, view.work.bits[buffers.next]);
  grid.sync();
  const unsigned swap = now.swap++;
  const PeerWork total =
      view.peers.swap(grid, swap, {.found = found.active, .found_edges = found.active_edges}, true);
  now.active = total.found, now.active_edges = total.found_edges;
  now.own_active = found.active;
  now.remaining_edges = view.edges;
  now.pull = should_pull(view, now, total, now.remaining_edges);
  receive_active(grid, view, swap, buffers, now.pull != 0);
  now.blocks = now.pull != 0 ? 0 : blocks_for(view.work, now.active, now.active_edges);
  return now;
}

}  // namespace sluice::acc
