// Aggregations on a GPU, level by level, inside one persistent kernel, or in several as --fusion says. Beyond
// the level at work the next one is found from the states of all vertices, by a ballot. Ranks swap entries in
// every round.
#pragma once

#include "engine/acc/resident_cuda/parts.cuh"
#include "engine/acc/resident_cuda/rounds.cuh"

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
  unsigned long long all_active = 0;  ///< at most, on all
  std::uint32_t swap = 1;             ///< the next one
  std::uint32_t waiting = 0;          ///< are entries of the last to be received?

  __device__ bool goes_on() const { return all_active > 0 && done == 0; }
};

template <class T, class P>
struct LevelsView {
  using Program = T;
  using Peers = P;
  using State = typename Program::State;

  Program program;
  CsrView out;
  State* states = nullptr;
  LevelRound* state = nullptr;
  Vertex* rest[2] = {};  ///< memory for a half of the vertices, and for a quarter
  WorklistView work;
  TraceView trace;
  Peers peers;
};

// ---- kernels

/// Puts v behind the `*size` entries of a list, where `valid`; every lane of the warp must come.
__device__ __forceinline__ void keep(Vertex* list, unsigned* size, bool valid, Vertex v) {
  const unsigned lanes = __ballot_sync(~0u, valid), lane = threadIdx.x % cuda::kWarp;
  if (lanes == 0) return;
  unsigned at = 0;
  if (lane == 0) at = atomicAdd(size, static_cast<unsigned>(__popc(lanes)));
  at = __shfl_sync(~0u, at, 0);
  if (valid) list[at + static_cast<unsigned>(__popc(lanes & ((1u << lane) - 1)))] = v;
}

/// Finds the lowest level from `least` on, and makes its vertices the worklists that the round of `place` has
/// made none for. Once half of those it looks through are below, the others are listed for the next time.
template <class View>
__device__ void refill(const cuda::GridTeam& grid, const View& view, const RoundPlace& place,
                       unsigned long long least, LevelRound& next) {
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
  if constexpr (!View::Peers::kAlone) {
    lowest = view.peers.swap(grid, next.swap++, {.lowest = lowest}).lowest;
    if (view.peers.stopped()) lowest = ~0ull;
  }
  next.done = lowest > last_level(view.program);
  if (next.done) return;
  const bool lists = 2 * load(&place.found->left) <= count;
  const std::uint32_t rest_in = next.rest_in == 1 ? 2 : 1;
  unsigned long long active = 0, edges = 0;
  over_all(grid, count, [&](std::uint64_t i, bool valid) {
    const Vertex v = valid ? vertex(i) : 0;
    const unsigned long long level = valid ? level_of(v) : 0;
    const bool takes = valid && level == lowest;
    active += takes;
    edges += takes ? view.work.degree(v) : 0;
    if (__any_sync(~0u, takes)) append(view.work, place, takes, v);
    if (lists) keep(view.rest[rest_in - 1], &place.found->rest, valid && level > lowest, v);
  });
  active = cuda::warp_sum(active), edges = cuda::warp_sum(edges);
  if (threadIdx.x % cuda::kWarp == 0 && active > 0) {
    atomicAdd(&place.found->refilled, active);
    atomicAdd(&place.found->refilled_edges, edges);
  }
  grid.sync();
  next.level = lowest;
  if (lists) next.rest_in = rest_in, next.rest = load(&place.found->rest);
  next.active = load(&place.found->refilled);
  next.refilled = 1;
  next.all_active = View::Peers::kAlone ? next.active : 1;
  next.blocks = blocks_for(view.work, next.active, load(&place.found->refilled_edges));
  grid.sync();  // the next round clears what was read here
}

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

template <unsigned kPhases, class View, class Team>
__device__ LevelRound level_round(const Team& team, const View& view, const LevelRound& now) {
  const RoundPlace place = view.work.place(now.round);
  const AccRound at{now.round, now.level};
  Finder finder(view.work, team.rank(), place);
  if (team.rank() == 0) *place.spare = RoundCounts{};
  if constexpr (!View::Peers::kAlone) {
    if (now.waiting != 0) take_entries(team, view, at, now.swap - 1, finder);
  }
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
  finder.report();
  team.sync();
  RoundCounts found = *place.found;
  LevelRound next = now;
  ++next.round;
  next.refilled = next.waiting = 0;
  PeerWork all{
      .active = now.active, .edges = found.edges, .found = found.active, .found_edges = found.active_edges};
  if constexpr (!View::Peers::kAlone) all = swap_entries(team, view, at, place, found, finder, next);
  next.active = found.active;
  next.all_active = all.found + all.sent;
  next.blocks = next.waiting != 0
                    ? 0
                    : blocks_for(view.work, next.all_active, max(found.active_edges, all.found_edges));
  collect<(kPhases & kSortedLists) != 0>(team, view.work, place, finder);
  clear_listed(team, view.work, place);
  // What went to other ranks may have changed nothing there.
  if (team.rank() == 0 && all.active > 0) {
    AccRoundTrace trace;
    trace.level = now.level;
    trace.refilled = now.refilled != 0 || needs_ballot(view.work, place);
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
  LevelRound now = *view.state;
  grid.sync();
  while (!now.done) {
    if (now.all_active == 0) {
      refill(grid, view, view.work.place(now.round - 1), now.level + 1, now);
    } else if ((kPhases & kOneRound) == 0 && now.blocks > 0) {
      now = on_few_blocks(grid, view.work, view.state, now,
                          [&](const cuda::FewTeam& team, const LevelRound& round) {
                            return level_round<kPhases>(team, view, round);
                          });
    } else {
      now = level_round<kPhases>(grid, view, now);
    }
    if ((kPhases & kOneRound) != 0) break;
  }
  if (grid.rank() == 0) *view.state = now;
}

template <class View>
struct LevelKernels {
  static constexpr bool kFuses = View::Peers::kAlone;
  static constexpr unsigned kPhases = kPushes;
  template <unsigned kOf>
  static auto of() {
    return level_rounds_kernel<View, kOf>;
  }
};

/// (Over ranks states are there already.)
template <class View>
__global__ void __launch_bounds__(cuda::kTeamBlock) level_start_kernel(View view) {
  const cuda::GridTeam grid;
  if (grid.rank() < 3) view.work.counts[grid.rank()] = RoundCounts{};
  if constexpr (View::Peers::kAlone) {
    for (std::uint64_t v = grid.rank(); v < view.work.last; v += grid.size())
      view.states[v] = view.program.init(static_cast<Vertex>(v), view.work.degree(static_cast<Vertex>(v)));
  }
  grid.sync();
  LevelRound now;
  refill(grid, view, view.work.place(0), 0, now);
  if (grid.rank() != 0) return;
  *view.state = now;
  view.trace.begin();
}

// ---- launcher

/// `Part` is a WholePart or a PeerPart.
template <class Program, class Part = WholePart<typename Program::State>>
class CudaLevels {
 public:
  /// Keeps references. A PeerPart is to be connected before run().
  CudaLevels(const Device& device, const AccGraph& graph, const Program& program, const AccOptions& options)
      : device_(device),
        kernels_(options),
        start_blocks_(cuda::blocks_at_once(level_start_kernel<View>, cuda::kTeamBlock, 0)),
        part_(device, graph),
        state_(device, 1, "the round"),
        rest_{{device, part_.out().vertices / 2, "vertices that are left"},
              {device, part_.out().vertices / 4, "vertices that are left"}},
        worklists_(device, part_.out(), part_.first(), graph.vertices(), options.filter,
                   std::max(start_blocks_, kernels_.most_blocks()), stream_) {
    view_.program = program;
    view_.out = part_.out();
    view_.states = part_.states();
    view_.state = state_.data();
    for (unsigned i = 0; i < 2; ++i) view_.rest[i] = rest_[i].data();
    view_.work = worklists_.view();
    view_.trace = worklists_.trace();
  }

  Part& part() { return part_; }

  void run(AccStats& stats) {
    view_.peers = part_.peers();
    part_.begin(view_.program);
    launch(level_start_kernel<View>, start_blocks_, view_);
    stats.kernel_launches = 1;
    kernels_.count_registers(stats);
    while (!read_state().done) {
      launch(kernels_.kernel(false), kernels_.blocks(false), view_);
      ++stats.kernel_launches;
    }
    worklists_.read_trace(device_, stats);
  }
  /// Makes all states true on all ranks. All ranks call it.
  void finish(AccStats& stats) { part_.finish(stats); }

  const typename Program::State* states() const { return part_.states(); }

 private:
  using View = LevelsView<Program, typename Part::Peers>;

  template <class... Args>
  void launch(void (*kernel)(Args...), unsigned blocks, const std::type_identity_t<Args>&... args) {
    cuda::launch_together(kernel, part_.own_blocks(blocks), cuda::kTeamBlock, stream_.get(), args...);
  }
  LevelRound read_state() {
    part_.wait(stream_, "rounds of an aggregation");
    LevelRound state;
    copy_to_host(device_, &state, state_.data(), sizeof state);
    return state;
  }

  const Device& device_;
  RoundKernels<LevelKernels<View>> kernels_;
  cuda::Stream stream_;
  unsigned start_blocks_;
  Part part_;
  Buffer<LevelRound> state_;
  Buffer<Vertex> rest_[2];
  WorklistMemory worklists_;
  View view_;
};

}  // namespace sluice::acc
