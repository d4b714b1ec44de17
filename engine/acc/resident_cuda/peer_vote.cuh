// Rounds of a vote over ranks: a push swaps entries for other ranks' vertices (peers.cuh), a pull the bits of
// all that are active. While one rank alone has active vertices, and reaches no other's, it goes on without a
// swap, as on a long path: the others wait.
#pragma once

#include "engine/acc/resident_cuda/vote.cuh"

namespace sluice::acc {

__device__ inline AccRound round_of(const PeerVoteRound& now) {
  return {now.round + now.ahead, 0};
}

/// The round behind one that a cluster has made alone. It is a push, too: whether rounds pull, all ranks
/// decide.
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

/// The other ranks come to know of rounds that this one has made alone, and that were the last.
template <class View, class Team>
__device__ PeerVoteRound end_alone(const Team& team, const View& view, const PeerVoteRound& now) {
  view.peers.swap(team, now.swap, now.since);
  PeerVoteRound next = now;
  ++next.swap, next.since = {};
  return next;
}

/// Other ranks' active vertices are marked here too, and settled.
template <class View, class Team>
__device__ void take_bits(const Team& team, const View& view, unsigned swap, std::uint32_t* marks) {
  view.peers.receive_bits(team, swap, [&](std::uint64_t word, std::uint32_t bits) {
    atomicOr(marks + word, bits);
    atomicOr(view.settled + word, bits);
  });
}

/// All ranks' marks become known to all; all of the team come.
template <class View, class Team>
__device__ void swap_bits(const Team& team, const View& view, unsigned swap, std::uint32_t* marks) {
  view.peers.send_bits(team, swap, marks);
  team.sync();
  view.peers.swap(team, swap, {});
  take_bits(team, view, swap, marks);
}

/// Edges of the next active vertices, at most.
template <class View>
__device__ unsigned long long most_edges(const View& view, const PeerWork& all, unsigned long long left) {
  if (all.sent > left / max(view.largest_degree, std::uint64_t{1})) return left;
  return all.found_edges + all.sent * view.largest_degree;
}

/// What a rank finds alone is what all have found, unless the next round may pull.
template <class View>
__device__ bool stays_alone(const View& view, const PeerVoteRound& now, const PeerWork& own) {
  if (now.alone == 0 || now.pull != 0 || own.sent > 0 || own.found == 0) return false;
  return view.in.offsets == nullptr || view.direction != AccDirection::automatic ||
         !begins_to_pull(own.found_edges, now.left_edges - min(now.left_edges, own.edges));
}

/// What other ranks have sent is found, too.
template <class View, class Team>
__device__ RoundCounts take_entries(const Team& team, const View& view, const AccRound& at, unsigned swap,
                                    const RoundPlace& place, Finder& finder) {
  view.peers.receive(team, swap, [&](Vertex v, typename View::State value) {
    if (view.settled[v / 32] >> (v % 32) & 1) return;
    if (combine_into(view.program, view.states + v, value, at).active && finder.mark(v)) finder.note(v);
  });
  finder.report();
  team.sync();
  return *place.found;
}

/// The way of the next round, of which `all` is known but for what entries have made active here. All ranks
/// come to the same.
template <class View, class Team>
__device__ void choose(const Team& team, const View& view, const PeerVoteRound& now, const PeerWork& all,
                       const RoundCounts& found, PeerVoteRound& next) {
  next.pull = view.direction == AccDirection::pull && view.in.offsets != nullptr;
  if (view.in.offsets == nullptr || view.direction != AccDirection::automatic) return;
  if (now.pull) {
    next.pull = keeps_pulling(all.found, all.active, view.vertices);
    return;
  }
  if (all.sent > 0 && begins_to_pull(most_edges(view, all, next.left_edges), next.left_edges)) {
    const PeerWork front =
        view.peers.swap(team, next.swap++, {.found = found.active, .found_edges = found.active_edges});
    next.active = front.found, next.active_edges = front.found_edges;
  }
  next.pull = begins_to_pull(next.active_edges, next.left_edges);
}

/// Rounds in the trace, by one thread; those that other ranks made alone are one.
template <class View>
__device__ void note(const View& view, const PeerVoteRound& now, unsigned long long rounds,
                     unsigned long long active, unsigned long long edges) {
  AccRoundTrace trace;
  trace.pull = now.pull != 0;
  trace.active = active;
  trace.edges = edges;
  if (active > 0) view.trace.add(trace);
  view.trace.totals->rounds += rounds - 1;
}

/// One round; returns what the next begins with.
template <class View, class Team>
__device__ PeerVoteRound peer_round(const Team& team, const View& view, const PeerVoteRound& now) {
  const auto& peers = view.peers;
  const RoundPlace place = view.work.place(now.round);
  const AccRound at = round_of(now);
  std::uint32_t* const marks = view.work.bits[place.next];
  Finder finder(view.work, team.rank(), place);
  if (team.rank() == 0) *place.spare = RoundCounts{};
  now.pull ? pull(team, view, at, place, finder) : push(team, view, at, place, finder);
  finder.report();
  team.sync();
  RoundCounts found = *place.found;
  PeerVoteRound next = now;
  ++next.round;
  PeerWork own{.rounds = 1,
               .active = now.own_active,
               .edges = found.edges,
               .found = found.active,
               .found_edges = found.active_edges,
               .sent = now.pull ? 0 : peers.waiting()};
  now.pull || now.marks_of_all ? clear_marks(team, view.work, place) : clear_listed(team, view.work, place);
  PeerWork all = own;
  unsigned long long looked = own.edges;  // on all ranks
  if (stays_alone(view, now, own)) {
    next.since.rounds += 1, next.since.active += own.active, next.since.edges += own.edges;
    if (team.rank() == 0) note(view, now, 1, own.active, own.edges);
  } else {
    own.rounds += now.since.rounds, own.active += now.since.active, own.edges += now.since.edges;
    if (now.pull) peers.send_bits(team, now.swap, marks);
    if (own.sent > 0)
      peers.template send<typename View::Program>(team, now.swap, view.states,
                                                  [&](Vertex v) { take_bit(view.settled, v); });
    if (now.pull || own.sent > 0) team.sync();
    all = peers.swap(team, next.swap++, own);
    next.ahead += static_cast<std::uint32_t>(all.rounds - (peers.ranks - 1) - own.rounds);
    next.since = {};
    looked = all.edges - now.since.edges;
    if (team.rank() == 0) {
      peers.clear_listed();
      note(view, now, all.rounds - (peers.ranks - 1) - now.since.rounds, all.active - now.since.active,
           looked);
    }
    if (now.pull) take_bits(team, view, now.swap, marks);
    if (all.sent > 0) found = take_entries(team, view, at, now.swap, place, finder);
  }
  next.active = all.found + all.sent;
  next.active_edges = all.found_edges;
  next.left_edges -= min(now.left_edges, now.pull ? now.active_edges : looked);
  next.own_active = found.active;
  choose(team, view, now, all, found, next);
  next.alone = all.sent == 0 && found.active == all.found;
  next.marks_of_all = now.pull;
  // Noted vertices are all that a push has marked, unless a bin was full.
  if (!now.pull && !needs_ballot(view.work, place)) {
    settle_noted(view, finder);
  } else {
    settle(team, view, place);
  }
  if (!now.pull) {
    collect<false>(team, view.work, place, finder);
  } else if (next.pull == 0) {
    collect_marks<false>(team, view.work, place);
  }
  if (next.pull != 0 && now.pull == 0) {
    swap_bits(team, view, next.swap++, marks);
    next.marks_of_all = 1;
  }
  next.blocks =
      next.pull != 0 ? 0 : blocks_for(view.work, next.active, max(found.active_edges, next.active_edges));
  next.small_rounds = next.blocks == 0 ? 0 : now.small_rounds + 1;
  if (view.clusters && next.alone != 0 && next.small_rounds > kSmallRounds) next.blocks = kOneCluster;
  if (peers.stopped()) next.active = 0, next.since = {};
  team.sync();
  return next;
}

/// The round before the first: what starts is found, and what is settled.
template <class View>
__device__ PeerVoteRound begin_rounds(const cuda::GridTeam& grid, const View& view, const RoundPlace& place) {
  const RoundCounts found = *place.found;
  for (std::uint64_t v = grid.rank(); v < view.vertices; v += grid.size())
    if (!view.peers.owns(static_cast<Vertex>(v)) && view.program.settled(view.states[v]))
      atomicOr(view.settled + v / 32, 1u << (v % 32));
  PeerVoteRound now;
  const PeerWork all =
      view.peers.swap(grid, now.swap++, {.found = found.active, .found_edges = found.active_edges});
  now.active = all.found, now.active_edges = all.found_edges;
  now.own_active = found.active;
  now.left_edges = view.edges;
  now.alone = found.active == all.found;
  choose(grid, view, now, all, found, now);
  if (now.pull != 0) {
    swap_bits(grid, view, now.swap++, view.work.bits[place.next]);
    now.marks_of_all = 1;
  }
  now.blocks = now.pull != 0 ? 0 : blocks_for(view.work, now.active, now.active_edges);
  return now;
}

}  // namespace sluice::acc
