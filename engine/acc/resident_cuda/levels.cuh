// Aggregations on a GPU, level by level, inside one persistent kernel, or in several as --fusion says. Beyond
// the level at work the next one is found from the states of all vertices, by a ballot. Ranks swap entries in
// every round.
#pragma once

#include "engine/acc/resident_cuda/level_pull.cuh"
#include "engine/acc/resident_cuda/level_refill.cuh"

namespace sluice::acc {

// ---- kernels

/// An own vertex takes a value. Is it news that it is active at the level at work? Then it is noted.
template <class View>
__device__ bool take(const View& view, const AccRound& at, Vertex v, typename View::State value,
                     Finder& finder) {
  const auto is = combine_into(view.program, view.states + v, value, at);
  const bool active = is.active && view.program.level(is.now) == at.level && finder.mark(v);
  if (active) finder.note(v);
  return active;
}

template <class View, class Team>
__device__ void take_entries(const Team& team, const View& view, const AccRound& at, unsigned swap,
                             Finder& finder) {
  view.peers.receive(team, swap,
                     [&](Vertex v, typename View::State value) { take(view, at, v, value, finder); });
}

/// Entries that a thread of a few blocks takes; more are left to all blocks.
inline constexpr unsigned kTakenAtOnce = 4;

/// Ranks hand each other what a round has sent. `found` is then of what came, too; returns what all ranks
/// have come to.
template <class View, class Team>
__device__ PeerWork swap_entries(const Team& team, const View& view, const AccRound& at,
                                 const RoundPlace& place, RoundCounts& found, Finder& finder,
                                 LevelRound& next) {
  PeerWork work{.active = next.active,
                .edges = found.edges,
                .found = found.active,
                .found_edges = found.active_edges,
                .sent = view.peers.waiting()};
  if (work.sent > 0) {
    view.peers.template send<typename View::Program>(team, next.swap, view.states, [](Vertex) {});
    team.sync();
  }
  const PeerWork all = view.peers.swap(team, next.swap, work);
  if (team.rank() == 0) view.peers.clear_listed();
  if (all.sent > 0) {
    const unsigned long long came = view.peers.came();
    next.waiting = team.size() < cuda::GridTeam{}.size() && came > kTakenAtOnce * team.size();
    if (next.waiting == 0) take_entries(team, view, at, next.swap, finder);
    finder.report();
    team.sync();
    found = *place.found;
  }
  ++next.swap;
  next.done = view.peers.stopped();
  return all;
}

/// Active vertices send.
template <class View, class Team>
__device__ void push_level(const Team& team, const View& view, const AccRound& at, const RoundPlace& place,
                           Finder& finder) {
  over_edges(team, view.work, place, [&](Vertex u, EdgeIndex e) {
    const Vertex v = view.out.targets[e];
    ++finder.edges;
    const auto value = view.program.compute({u, v, e, at, view.states, view.out.weights});
    if constexpr (!View::Peers::kAlone) {
      if (!view.peers.owns(v)) return view.peers.reach(view.program, view.states, v, value, at);
    }
    const bool active = take(view, at, v, value, finder);
    if (view.work.filter == AccFilter::batch)
      view.work.batch[atomicAdd(&place.found->batched, 1ull)] = active ? v : kNoVertex;
  });
}

template <unsigned kPhases, class View, class Team>
__device__ typename View::Round level_round(const Team& team, const View& view,
                                            const typename View::Round& now) {
  constexpr bool kSorted = (kPhases & kSortedLists) != 0;
  const RoundPlace place = view.work.place(now.round);
  const AccRound at{now.round, now.level};
  Finder finder(view.work, team.rank(), place);
  if (team.rank() == 0) *place.spare = RoundCounts{};
  if constexpr (!View::Peers::kAlone) {
    if (now.waiting != 0) take_entries(team, view, at, now.swap - 1, finder);
  }
  const bool pulled = pulls<kPhases>(pull_of(now));
  if constexpr ((kPhases & kPulls) != 0) {
    if (pulled) LevelPull<View>(view, at, place, finder).run(team);
  }
  if constexpr ((kPhases & kPushes) != 0) {
    if (!pulled) push_level(team, view, at, place, finder);
  }
  finder.report();
  team.sync();
  RoundCounts found = *place.found;
  auto next = now;
  ++next.round;
  next.refilled = next.waiting = 0;
  PeerWork all{
      .active = now.active, .edges = found.edges, .found = found.active, .found_edges = found.active_edges};
  if constexpr (!View::Peers::kAlone) all = swap_entries(team, view, at, place, found, finder, next);
  next.active = found.active;
  next.all_active = all.found + all.sent;
  if constexpr (View::kMayPull) {
    if (!View::Program::kRepeats) next.left_edges -= min(next.left_edges, found.active_edges);
    choose(view, next, found.active_edges);
  }
  next.blocks = next.waiting != 0 || pull_of(next) != 0
                    ? 0
                    : blocks_for(view.work, next.all_active, max(found.active_edges, all.found_edges));
  if (!pulled)
    collect<kSorted>(team, view.work, place, finder);
  else if (pull_of(next) == 0)
    collect_marks<kSorted>(team, view.work, place);
  pulled ? clear_marks(team, view.work, place) : clear_listed(team, view.work, place);
  // What went to other ranks may have changed nothing there.
  if (team.rank() == 0 && all.active > 0) {
    AccRoundTrace trace;
    trace.level = now.level;
    trace.pull = pulled;
    trace.refilled = now.refilled != 0 || (pulled ? pull_of(next) == 0 : needs_ballot(view.work, place));
    trace.active = all.active;
    trace.edges = all.edges;
    view.trace.add(trace);
    view.trace.totals->levels += now.refilled;
  }
  team.sync();
  return next;
}

template <class View, unsigned kPhases>
__global__ void __launch_bounds__(cuda::kTeamBlock) level_rounds_kernel(View view) {
  const cuda::GridTeam grid;
  auto now = *view.state;
  grid.sync();
  const auto round = [&](const auto& team, const typename View::Round& at) {
    return level_round<kPhases>(team, view, at);
  };
  while (!now.done) {
    if (now.all_active == 0) {
      refill<kPhases>(grid, view, view.work.place(now.round - 1), now.level + 1, now);
    } else if (!contains<kPhases>(pull_of(now))) {
      break;
    } else if constexpr ((kPhases & (kPushes | kOneRound)) == kPushes) {
      now = now.blocks > 0 ? on_few_blocks(grid, view.work, view.state, now, round) : round(grid, now);
    } else {
      now = round(grid, now);
    }
    if ((kPhases & kOneRound) != 0) break;
  }
  if (grid.rank() == 0) *view.state = now;
}

template <class View>
struct LevelKernels {
  static constexpr bool kFuses = View::Peers::kAlone;
  static constexpr unsigned kPhases = View::kMayPull ? kPushes | kPulls : kPushes;
  template <unsigned kOf>
  static auto of() {
    return level_rounds_kernel<View, kOf>;
  }
};

/// (Over ranks states are there already.)
template <class View, unsigned kPhases>
__global__ void __launch_bounds__(cuda::kTeamBlock) level_start_kernel(View view) {
  const cuda::GridTeam grid;
  if (grid.rank() < 3) view.work.counts[grid.rank()] = RoundCounts{};
  if constexpr (View::Peers::kAlone) {
    for (std::uint64_t v = grid.rank(); v < view.work.last; v += grid.size())
      view.states[v] = view.program.init(static_cast<Vertex>(v), view.work.degree(static_cast<Vertex>(v)));
  }
  grid.sync();
  typename View::Round now;
  refill<kPhases>(grid, view, view.work.place(0), 0, now);
  if (grid.rank() != 0) return;
  *view.state = now;
  view.trace.begin();
}

// ---- launcher

/// `Part` is a WholePart or a PeerPart; `pulling`, of a WholePart with in-lists: may rounds pull?
template <class Program, class Part = WholePart<typename Program::State>, bool pulling = false>
class CudaLevels {
 public:
  /// Keeps references. A PeerPart is to be connected before run().
  CudaLevels(const Device& device, const AccGraph& graph, const Program& program, const AccOptions& options)
      : device_(device),
        kernels_(options),
        start_kernel_(Part::Peers::kAlone && options.filter == AccFilter::ballot ? level_start_kernel < View,
                      Part::Peers::kAlone ? kSortedLists : 0 > : level_start_kernel<View, 0>),
        start_blocks_(cuda::blocks_at_once(start_kernel_, cuda::kTeamBlock, 0)),
        part_(device, graph),
        state_(device, 1, "the round"),
        left_edges_(device, pulling ? 1 : 0, "the round"),
        rest_{{device, part_.out().vertices / 2, "vertices that are left"},
              {device, part_.out().vertices / 4, "vertices that are left"}},
        worklists_(device, part_.out(), part_.first(), graph.vertices(), options.filter,
                   std::max(start_blocks_, kernels_.most_blocks()), stream_) {
    view_.program = program;
    view_.out = part_.out();
    view_.states = part_.states();
    view_.state = state_.data();
    view_.in = part_.in();
    view_.left_edges = left_edges_.data();
    view_.direction = options.direction;
    for (unsigned i = 0; i < 2; ++i) view_.rest[i] = rest_[i].data();
    view_.work = worklists_.view();
    view_.trace = worklists_.trace();
  }

  Part& part() { return part_; }

  void run(AccStats& stats) {
    view_.peers = part_.peers();
    part_.begin(view_.program);
    if constexpr (pulling)
      cuda::check(cudaMemsetAsync(left_edges_.data(), 0, left_edges_.bytes(), stream_.get()),
                  "clearing edges");
    launch(start_kernel_, start_blocks_, view_);
    stats.kernel_launches = 1;
    kernels_.count_registers(stats);
    for (auto now = read_state(); !now.done; now = read_state()) {
      const bool pull = pull_of(now) != 0;
      launch(kernels_.kernel(pull), kernels_.blocks(pull), view_);
      ++stats.kernel_launches;
    }
    worklists_.read_trace(device_, stats);
  }
  /// Makes all states true on all ranks. All ranks call it.
  void finish(AccStats& stats) { part_.finish(stats); }

  const typename Program::State* states() const { return part_.states(); }

 private:
  using View = LevelsView<Program, typename Part::Peers, pulling>;
  using Round = typename View::Round;

  template <class... Args>
  void launch(void (*kernel)(Args...), unsigned blocks, const std::type_identity_t<Args>&... args) {
    cuda::launch_together(kernel, part_.own_blocks(blocks), cuda::kTeamBlock, stream_.get(), args...);
  }
  Round read_state() {
    part_.wait(stream_, "rounds of an aggregation");
    Round state;
    copy_to_host(device_, &state, state_.data(), sizeof state);
    return state;
  }

  const Device& device_;
  RoundKernels<LevelKernels<View>> kernels_;
  cuda::Stream stream_;
  void (*start_kernel_)(View);
  unsigned start_blocks_;
  Part part_;
  Buffer<Round> state_;
  Buffer<unsigned long long> left_edges_;
  Buffer<Vertex> rest_[2];
  WorklistMemory worklists_;
  View view_;
};

}  // namespace sluice::acc
