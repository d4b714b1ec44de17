// Aggregations on a GPU, level by level, inside one persistent kernel, or in several as --fusion says. Beyond
// the level at work the next one is found from the states of all vertices, by a ballot. Over ranks each works
// on a level until it has no vertex there, then they swap entries, until none has sent any.
#pragma once

#include "engine/acc/resident_cuda/parts.cuh"
#include "engine/acc/resident_cuda/rounds.cuh"

namespace sluice::acc {

/// What is to be done: the worklists' edges, entries for other ranks, their swap, those that came, or the
/// next level.
enum class LevelStep : std::uint32_t { work, send, swap, receive, refill };

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
  LevelStep step = LevelStep::work;
  // Over ranks:
  std::uint32_t swap = 1;                              ///< the next one
  unsigned long long sent = 0;                         ///< entries that were written for it
  unsigned long long sent_active = 0, sent_edges = 0;  ///< what has been worked on since the last

  __device__ bool goes_on() const { return step != LevelStep::refill && done == 0; }
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
  next.step = LevelStep::work;
  next.blocks = blocks_for(view.work, next.active, load(&place.found->refilled_edges));
  grid.sync();  // the next round clears what was read here
}

/// Traces a round, by one thread.
template <class View>
__device__ void note(const View& view, const LevelRound& now, unsigned long long active,
                     unsigned long long edges, bool refilled) {
  AccRoundTrace trace;
  trace.level = now.level;
  trace.refilled = refilled;
  trace.active = active;
  trace.edges = edges;
  view.trace.add(trace);
  view.trace.totals->levels += now.refilled;
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

/// Entries that a thread of a few blocks sends; of more all blocks do.
inline constexpr unsigned kSentAtOnce = 4;

template <class View, class Team>
__device__ void send_entries(const Team& team, const View& view, const LevelRound& now) {
  view.peers.template send<typename View::Program>(team, now.swap, view.states, [](Vertex) {});
}

/// Works on the worklists, or with LevelStep::receive on what came from other ranks.
template <class View, class Team>
__device__ LevelRound level_round(const Team& team, const View& view, const LevelRound& now) {
  const RoundPlace place = view.work.place(now.round);
  const AccRound at{now.round, now.level};
  Finder finder(view.work, team.rank(), place);
  if (team.rank() == 0) *place.spare = RoundCounts{};
  if constexpr (!View::Peers::kAlone) {
    if (now.step == LevelStep::receive)
      view.peers.receive(team, now.swap - 1,
                         [&](Vertex v, typename View::State value) { take(view, at, v, value, finder); });
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
  const RoundCounts found = *place.found;
  LevelRound next = now;
  ++next.round;
  next.active = found.active;
  next.blocks = blocks_for(view.work, found.active, found.active_edges);
  if (found.active > 0) {
    next.step = LevelStep::work;
  } else if constexpr (View::Peers::kAlone) {
    next.step = LevelStep::refill;
  } else {
    next.blocks = now.blocks;
    next.sent = view.peers.waiting();
    const bool sends = next.sent <= kSentAtOnce * team.size();
    next.step = sends ? LevelStep::swap : LevelStep::send;
    sends ? send_entries(team, view, now) : void(next.blocks = 0);
  }
  collect(team, view.work, place, finder);
  clear_listed(team, view.work, place);
  if constexpr (View::Peers::kAlone) {
    next.refilled = 0;
    if (team.rank() == 0)
      note(view, now, now.active, found.edges, now.refilled != 0 || needs_ballot(view.work, place));
  } else {
    next.sent_active += now.active, next.sent_edges += found.edges;
  }
  team.sync();
  return next;
}

/// Ends a level's work on all ranks, or a part of it: they have each other's entries.
template <class View, class Team>
__device__ LevelRound swap_entries(const Team& team, const View& view, const LevelRound& now) {
  const PeerWork all =
      view.peers.swap(team, now.swap, {.active = now.sent_active, .edges = now.sent_edges, .sent = now.sent});
  const unsigned long long came = view.peers.came();
  LevelRound next = now;
  ++next.swap;
  next.refilled = 0, next.sent_active = next.sent_edges = 0;
  next.done = view.peers.stopped();
  next.step = all.sent > 0 ? LevelStep::receive : LevelStep::refill;
  next.blocks = blocks_for(view.work, came, came);
  if (team.rank() == 0) {
    view.peers.clear_listed();
    // What went to other ranks may have changed nothing there.
    if (all.active > 0) note(view, now, all.active, all.edges, now.refilled != 0);
  }
  return next;
}

template <class View, class Team>
__device__ LevelRound level_step(const Team& team, const View& view, const LevelRound& now) {
  if constexpr (!View::Peers::kAlone) {
    if (now.step == LevelStep::swap) return swap_entries(team, view, now);
    if (now.step == LevelStep::send) {
      send_entries(team, view, now);
      team.sync();
      LevelRound next = now;
      next.step = LevelStep::swap;
      return next;
    }
  }
  return level_round(team, view, now);
}

template <class View>
__global__ void __launch_bounds__(cuda::kTeamBlock) level_rounds_kernel(View view, RoundLimit limit) {
  const cuda::GridTeam grid;
  LevelRound now = *view.state;
  grid.sync();
  while (!now.done) {
    if (now.step == LevelStep::refill) {
      refill(grid, view, view.work.place(now.round - 1), now.level + 1, now);
    } else if (now.blocks > 0 && !limit.one) {
      now = on_few_blocks(
          grid, view.work, view.state, now,
          [&](const cuda::FewTeam& team, const LevelRound& round) { return level_step(team, view, round); });
    } else {
      now = level_step(grid, view, now);
    }
    if (limit.one) break;
  }
  if (grid.rank() == 0) *view.state = now;
}

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
        options_(options),
        start_blocks_(cuda::blocks_at_once(level_start_kernel<View>, cuda::kTeamBlock, 0)),
        blocks_(cuda::blocks_at_once(level_rounds_kernel<View>, cuda::kTeamBlock, 0)),
        part_(device, graph),
        state_(device, 1, "the round"),
        rest_{{device, part_.out().vertices / 2, "vertices that are left"},
              {device, part_.out().vertices / 4, "vertices that are left"}},
        worklists_(device, part_.out(), part_.first(), graph.vertices(), options.filter,
                   std::max(start_blocks_, blocks_), stream_) {
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
    stats.registers = registers_of(level_rounds_kernel<View>);
    RoundLimit limit;
    limit.one = options_.fusion == AccFusion::none;
    while (!read_state().done) {
      launch(level_rounds_kernel<View>, blocks_, view_, limit);
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
  AccOptions options_;
  cuda::Stream stream_;
  unsigned start_blocks_, blocks_;
  Part part_;
  Buffer<LevelRound> state_;
  Buffer<Vertex> rest_[2];
  WorklistMemory worklists_;
  View view_;
};

}  // namespace sluice::acc
