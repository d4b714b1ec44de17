// Rounds of a vote over ranks, which exchange active vertices by swaps (peers.cuh). If only one rank has
// active vertices, and they reach no other rank's, that rank runs rounds without swaps, as on a long path;
// the others wait.
#pragma once

#include "engine/acc/resident_cuda/vote.cuh"

namespace sluice::acc {

__device__ inline AccRound round_of(const PeerVoteRound& now) {
  return {now.round + now.ahead, 0};
}

/// The round after one that a cluster ran alone. It pushes, too: all ranks decide together whether rounds
/// pull.
template <class Program, class Peers>
__device__ PeerVoteRound after(const VoteView<Program, Peers>& view, const PeerVoteRound& was,
                               const RoundCounts& found) {
  PeerVoteRound next = was;
  ++next.round;
  next.since.rounds += 1, next.since.active += was.active, next.since.edges += was.active_edges;
  next.active = next.own_active = found.active;
  next.active_edges = found.active_edges;
  next.left_edges -= min(was.left_edges, was.active_edges);
  next.blocks = blocks_for(view.work, found.active, found.active_edges);
  next.small_rounds = next.blocks == 0 ? 0 : was.small_rounds + 1;
  return next;
}

/// Reports this rank's rounds alone to the other ranks, if these rounds were the last.
template <class View, class Team>
__device__ PeerVoteRound end_alone(const Team& team, const View& view, const PeerVoteRound& now) {
  view.peers.swap(team, now.swap, now.since);
  PeerVoteRound next = now;
  ++next.swap, next.since = {};
  return next;
}

template <class View>
__device__ bool wants_pull(const View& view, const PeerVoteRound& now, const PeerWork& all,
                           unsigned long long left) {
  return wants_pull(view, now, all.active, {all.found, all.found_edges}, left);
}

/// Do this rank's active vertices alone ensure that the next round pulls? More active vertices or edges read
/// on other ranks only make a pull likelier (vote_direction.hpp).
template <class View>
__device__ bool surely_pulls(const View& view, const PeerVoteRound& now, const RoundCounts& found) {
  return wants_pull(view, now, now.active, {found.active, found.active_edges},
                    now.left_edges - min(now.left_edges, now.pull ? now.active_edges : found.edges));
}

/// May the rank skip the swap after this round? It alone has active vertices, they reached no other rank's
/// vertices, and the next round does not pull.
__device__ inline bool stays_alone(const PeerVoteRound& now, const PeerWork& own, bool pulls) {
  return now.alone != 0 && now.pull == 0 && own.sent == 0 && own.found > 0 && !pulls;
}

/// Do entries of `found` vertices take fewer bytes than bits of all the rank's vertices?
template <class View>
__device__ bool sends_entries(const View& view, unsigned long long found) {
  return found <= (view.work.last - view.work.first) / kBitsOfWord;
}

/// Vertices received from other ranks are active: marks them if the next round pulls, else lists them.
template <class View, class Team>
__device__ void receive_active(const Team& team, const View& view, unsigned swap, const RoundPlace& place,
                               bool pull) {
  std::uint32_t* const marks = view.work.bits[place.next];
  view.peers.receive(team, swap, [&](bool valid, Vertex v, typename View::State) {
    if (!pull) return append(view.work, place, valid, v);
    if (valid) take_bit(marks, v);
  });
  view.peers.receive_bits(team, swap, [&](std::uint64_t word, std::uint32_t bits) {
    if (!pull)
      return cuda::for_each_marked(static_cast<unsigned>(word), bits,
                                   [&](Vertex v, bool marked) { append(view.work, place, marked, v); });
    if (bits != 0) atomicOr(marks + word, bits);
  });
}

/// Adds rounds to the trace; called by one thread. Rounds that other ranks ran alone are one entry.
template <class View>
__device__ void note(const View& view, const PeerVoteRound& now, unsigned long long rounds,
                     unsigned long long active, unsigned long long edges, bool noted) {
  const bool pulled = now.pull != 0;
  if (active > 0)
    view.trace.add({.pull = pulled, .refilled = !pulled && !noted, .active = active, .edges = edges});
  view.trace.totals->rounds += rounds - 1;
}

/// Swap at the end of a round, after any rounds that this rank ran alone; own.rounds counts them all.
template <class View, class Team>
__device__ PeerWork swap_round(const Team& team, const View& view, const PeerWork& own, bool bits,
                               PeerVoteRound& next) {
  const auto& peers = view.peers;
  const PeerWork all = peers.swap(team, next.swap++, own, bits);
  next.ahead += static_cast<std::uint32_t>(all.rounds - (peers.ranks - 1) - own.rounds);
  next.since = {};
  if (team.rank() == 0) bits ? peers.count_sent_bits() : peers.clear_sent();
  return all;
}

/// Sends vertices found by a cluster, which sends none itself. Other ranks receive those that have neighbours
/// there, as if a round of the grid had found them.
template <class View>
__device__ PeerVoteRound send_found(const cuda::GridTeam& grid, const View& view, const PeerVoteRound& now) {
  const RoundPlace place = view.work.place(now.round - 1);
  PeerVoteRound next = now;
  next.unsent = 0;
  for (unsigned which = 0; which < kDegreeLists; ++which) {
    cuda::for_each_in_warps(grid, load(&place.made->sizes[which]), [&](std::uint64_t i, bool valid) {
      view.peers.send(now.swap, valid, valid ? view.work.list(place.next, which)[i] : 0, view.states);
    });
  }
  grid.sync();
  PeerWork own = now.since;
  own.found = now.own_active, own.found_edges = now.active_edges, own.sent = view.peers.sent();
  if (own.sent == 0) return next;
  const PeerWork all = swap_round(grid, view, own, false, next);
  next.pull = wants_pull(view, now, all, now.left_edges), next.alone = 0;
  next.blocks = next.pull != 0 ? 0 : blocks_for(view.work, next.active, next.active_edges);
  if (view.peers.stopped()) next.active = 0;
  grid.sync();
  return next;
}

/// Runs one round; returns the state that the next begins with.
template <class View, class Team>
__device__ PeerVoteRound peer_round(const Team& team, const View& view, const PeerVoteRound& now) {
  const auto& peers = view.peers;
  const RoundPlace place = view.work.place(now.round);
  const AccRound at = round_of(now);
  Finder finder(view.work, team.rank(), place);
  if (team.rank() == 0) *place.spare = RoundCounts{};
  now.pull ? pull(team, view, at, place, finder) : push(team, view, at, place, finder);
  finder.report();
  team.sync();
  const RoundCounts found = *place.found;
  // After a push, bins hold all marked vertices, unless a bin overflowed.
  const bool noted = !now.pull && !needs_ballot(view.work, place);
  noted ? settle_noted(view, finder) : settle(team, view, place);
  now.pull ? clear_marks(team, view.work, place) : clear_listed(team, view.work, place);
  const bool entries = sends_entries(view, found.active), listed = entries && noted,
             pulls = surely_pulls(view, now, found), sorts = !listed && (entries || !pulls);
  const auto send = [&](bool valid, Vertex v) {
    if (entries) peers.send(now.swap, valid, v, view.states);
  };
  if (!entries) peers.send_bits(team, now.swap, view.work.bits[place.next]);
  if (listed) collect_bins(view.work, place, finder, send);
  if (sorts) count_marked(team, view.work, place, send);
  team.sync();
  if (sorts) place_marked(team, view.work, place);
  PeerVoteRound next = now;
  ++next.round;
  PeerWork own{.rounds = 1,
               .active = now.own_active,
               .edges = found.edges,
               .found = found.active,
               .found_edges = found.active_edges,
               .sent = entries ? peers.sent() : found.active};
  PeerWork all = own;
  unsigned long long looked = own.edges;  // edges read on all ranks
  const bool stays = stays_alone(now, own, pulls);
  if (stays) {
    next.since.rounds += 1, next.since.active += own.active, next.since.edges += own.edges;
    if (team.rank() == 0) note(view, now, 1, own.active, own.edges, noted);
  } else {
    own.rounds += now.since.rounds, own.active += now.since.active, own.edges += now.since.edges;
    all = swap_round(team, view, own, !entries, next);
    looked = all.edges - now.since.edges;
    if (team.rank() == 0)
      note(view, now, all.rounds - (peers.ranks - 1) - now.since.rounds, all.active - now.since.active,
           looked, noted);
  }
  next.active = all.found, next.active_edges = all.found_edges;
  next.left_edges -= min(now.left_edges, now.pull ? now.active_edges : looked);
  next.own_active = found.active;
  next.pull = wants_pull(view, now, all, next.left_edges);
  next.alone = all.sent == 0 && found.active == all.found;
  if (sorts && next.pull == 0) write_marked(team, view.work, place);
  if (!stays) receive_active(team, view, now.swap, place, next.pull != 0);
  next.blocks = next.pull != 0 ? 0 : blocks_for(view.work, next.active, next.active_edges);
  next.small_rounds = next.blocks == 0 ? 0 : now.small_rounds + 1;
  if (view.clusters && next.alone != 0 && next.small_rounds > kSmallRounds) next.blocks = kOneCluster;
  if (peers.stopped()) next.active = 0, next.since = {};
  team.sync();
  return next;
}

/// Ends the round before the first one, which found the starting vertices.
template <class View>
__device__ PeerVoteRound begin_rounds(const cuda::GridTeam& grid, const View& view, const RoundPlace& place) {
  const RoundCounts found = *place.found;
  PeerVoteRound now;
  view.peers.send_bits(grid, now.swap, view.work.bits[place.next]);
  grid.sync();
  const unsigned swap = now.swap++;
  const PeerWork all =
      view.peers.swap(grid, swap, {.found = found.active, .found_edges = found.active_edges}, true);
  now.active = all.found, now.active_edges = all.found_edges;
  now.own_active = found.active;
  now.left_edges = view.edges;
  now.pull = wants_pull(view, now, all, now.left_edges);
  receive_active(grid, view, swap, place, now.pull != 0);
  now.blocks = now.pull != 0 ? 0 : blocks_for(view.work, now.active, now.active_edges);
  return now;
}

}  // namespace sluice::acc
