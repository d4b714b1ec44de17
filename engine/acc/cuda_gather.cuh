// Gathers on a GPU: a kernel a round. A lane takes short lists alone, a warp the others together.
#pragma once

#include <algorithm>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/cuda_team.cuh"
#include "engine/acc/options.hpp"
#include "engine/acc/program.hpp"
#include "engine/exec/stream.cuh"

namespace sluice::cuda {

struct GatherTotals {
  unsigned long long carried = 0, active = 0;
};

template <class Program>
struct GatherView {
  using State = typename Program::State;

  Program program;
  CsrView in;
  const EdgeIndex* out_offsets = nullptr;
  State* states = nullptr;
  const State* sent = nullptr;
  State* next_sent = nullptr;
  GatherTotals* totals = nullptr;

  __device__ void put(std::uint64_t v, State now, unsigned long long& carried) const {
    const std::uint64_t degree = out_offsets[v + 1] - out_offsets[v];
    states[v] = now;
    next_sent[v] = program.send(now, degree);
    carried += program.carry(now, degree);
  }
};

// ---- kernels
// -------------------------------------------------------------------------------------------------

__device__ __forceinline__ void add_totals(GatherTotals* totals, unsigned long long carried,
                                           unsigned long long active) {
  carried = warp_sum(carried), active = warp_sum(active);
  if (threadIdx.x % kWarp != 0) return;
  if (carried > 0) atomicAdd(&totals->carried, carried);
  if (active > 0) atomicAdd(&totals->active, active);
}

template <class Program>
__global__ void __launch_bounds__(kTeamBlock) gather_start_kernel(GatherView<Program> view) {
  const GridTeam grid;
  unsigned long long carried = 0;
  for (std::uint64_t v = grid.rank(); v < view.in.vertices; v += grid.size()) {
    const std::uint64_t degree = view.out_offsets[v + 1] - view.out_offsets[v];
    view.put(v, view.program.init(static_cast<Vertex>(v), degree), carried);
  }
  add_totals(view.totals, carried, 0);
}

template <class Program>
__global__ void __launch_bounds__(kTeamBlock) gather_round_kernel(GatherView<Program> view, AccRound at) {
  using State = typename Program::State;
  const GridTeam grid;
  const unsigned lane = threadIdx.x % kWarp;
  const auto gathered = [&](std::uint64_t v, EdgeIndex begin, EdgeIndex end, unsigned step) {
    State sum{};
    for (EdgeIndex e = begin; e < end; e += step) {
      const AccEdge<State> edge{view.in.targets[e], static_cast<Vertex>(v), e, at,
                                view.sent,          view.in.weights};
      sum = view.program.combine(sum, view.program.compute(edge));
    }
    return sum;
  };
  unsigned long long carried = 0, active = 0;
  for (std::uint64_t base = grid.rank() / kWarp * kWarp; base < view.in.vertices; base += grid.size()) {
    const std::uint64_t v = base + lane;
    const bool mine = v < view.in.vertices;
    const EdgeIndex begin = mine ? view.in.offsets[v] : 0, end = mine ? view.in.offsets[v + 1] : 0;
    const bool together = end - begin >= kWarpDegree;
    State sum = together ? State{} : gathered(v, begin, end, 1);
    for (unsigned left = __ballot_sync(~0u, together); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const EdgeIndex first = __shfl_sync(~0u, begin, owner), last = __shfl_sync(~0u, end, owner);
      State part = gathered(base + static_cast<unsigned>(owner), first + lane, last, kWarp);
      for (unsigned step = kWarp / 2; step > 0; step /= 2)
        part = view.program.combine(part, __shfl_xor_sync(~0u, part, static_cast<int>(step)));
      if (static_cast<int>(lane) == owner) sum = part;
    }
    if (!mine) continue;
    const State before = view.states[v], now = view.program.finish(before, sum);
    active += view.program.active(now, before);
    view.put(v, now, carried);
  }
  add_totals(view.totals, carried, active);
}

// ---- driver
// --------------------------------------------------------------------------------------------------

template <class Program>
class CudaGather {
  using State = typename Program::State;

 public:
  CudaGather(const AccGraph& graph, const Program& program, const AccOptions& options)
      : graph_(graph),
        device_(graph.device()),
        options_(options),
        states_(device_, graph.vertices(), "vertex states"),
        sent_{{device_, graph.vertices(), "what vertices send"},
              {device_, graph.vertices(), "what vertices send"}},
        totals_(device_, 1, "totals"),
        view_{program, graph.in(), graph.out().offsets, states_.data(), nullptr, nullptr, totals_.data()} {}

  void run(AccStats& stats) {
    AccRound at{0, 0};
    const unsigned grid = std::min(grid_for(graph_.vertices(), kTeamBlock), kMostBlocks);
    finish_round(at, stats, [&] { gather_start_kernel<<<grid, kTeamBlock, 0, stream_.get()>>>(view_); });
    stats.converged = false;
    while (!stats.converged && at.round < options_.most_rounds) {
      ++at.round;
      const auto active = finish_round(
          at, stats, [&] { gather_round_kernel<<<grid, kTeamBlock, 0, stream_.get()>>>(view_, at); });
      stats.converged = active == 0;
      AccRoundTrace trace;
      trace.pull = true;
      trace.active = active;
      trace.edges = graph_.in().edges;
      stats.add(trace);
    }
  }

  const State* states() const { return states_.data(); }

 private:
  static constexpr unsigned kMostBlocks = 4096;  ///< beyond them blocks take further vertices

  /// Returns how many vertices are still active.
  template <class Launch>
  std::uint64_t finish_round(const AccRound& at, AccStats& stats, Launch&& launch) {
    view_.sent = sent_[(at.round + 1) % 2].data(), view_.next_sent = sent_[at.round % 2].data();
    check(cudaMemsetAsync(totals_.data(), 0, totals_.bytes(), stream_.get()), "clearing totals");
    launch();
    check_launch("a round of a gather");
    ++stats.kernel_launches;
    stream_.wait("a round of a gather");
    GatherTotals totals;
    copy_to_host(device_, &totals, totals_.data(), sizeof totals);
    view_.program.begin(static_cast<State>(totals.carried));
    return totals.active;
  }

  const AccGraph& graph_;
  const Device& device_;
  AccOptions options_;
  Stream stream_;
  Buffer<State> states_;
  Buffer<State> sent_[2];
  Buffer<GatherTotals> totals_;
  GatherView<Program> view_;
};

}  // namespace sluice::cuda
