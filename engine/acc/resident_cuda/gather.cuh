// Gathers on a GPU: a kernel a round, over rows sliced as PageRank's are (rank/sliced_rows.cuh), or as they
// are stored: a lane takes short lists alone, a warp the others together. A round that pushes
// differences (host_gather.hpp says when) is one kernel that does and one that ends the round.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/partitioned/team_cuda.cuh"
#include "engine/acc/program.hpp"
#include "engine/core/host_array.hpp"
#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"
#include "engine/pagerank/static/sliced_kernels.cuh"

namespace sluice::cuda {

struct GatherTotals {
  unsigned long long carried = 0, active = 0;
  unsigned long long changed = 0;  ///< edges that lead from vertices that send something else than before
};

/// Vertices by number: where rows are sliced (rank/sliced_rows.cuh) those of most out-edges come first.
template <class Program>
struct GatherView {
  using State = typename Program::State;

  Program program;
  CsrView in;
  const Vertex* order = nullptr;  ///< [vertices] by number; null: each its own
  const EdgeIndex* degrees = nullptr;
  State* states = nullptr;
  const State* sent = nullptr;
  State* next_sent = nullptr;
  State* sums = nullptr;  ///< [vertices] what each heard, by vertex; null: rounds only pull
  GatherTotals* totals = nullptr;

  __device__ Vertex vertex(std::uint64_t number) const {
    return order == nullptr ? static_cast<Vertex>(number) : order[number];
  }
  __device__ void put(std::uint64_t number, State now, GatherTotals& totals) const {
    const std::uint64_t degree = degrees[number];
    const State sends = program.send(now, degree);
    states[number] = now;
    next_sent[number] = sends;
    totals.carried += program.carry(now, degree);
    if (sums != nullptr && sends != sent[number]) totals.changed += degree;
  }
  /// Ends a round for a vertex that has heard `sum`.
  __device__ void finish(std::uint64_t number, State sum, GatherTotals& totals) const {
    const State before = states[number], now = program.finish(before, sum);
    totals.active += program.active(now, before);
    put(number, now, totals);
  }
  /// The same after its whole list was read.
  __device__ void renew(std::uint64_t number, State sum, GatherTotals& totals) const {
    if (sums != nullptr) sums[vertex(number)] = sum;
    finish(number, sum, totals);
  }
};

/// The same as sliced rows are worked on.
template <class Program>
struct SlicedGatherView {
  using Sum = typename Program::State;
  using Totals = GatherTotals;
  static constexpr bool kWeighted = false;  // a program asks for those that it wants

  GatherView<Program> gather;
  AccRound at;
  const float* weights;
  std::uint32_t nobody;

  __device__ Sum carried(std::uint64_t number, std::uint32_t source, float, std::uint64_t position) const {
    if (source == nobody) return Sum{};
    const AccEdge<Sum> edge{
        gather.vertex(source), gather.vertex(number), position, at, gather.sent, weights, source, true};
    return gather.program.compute(edge);
  }
  __device__ Sum add(Sum a, Sum b) const { return gather.program.combine(a, b); }
  __device__ void renew(std::uint64_t number, Sum sum, Totals& totals) const {
    gather.renew(number, sum, totals);
  }
};

// ---- kernels
// -------------------------------------------------------------------------------------------------

__device__ __forceinline__ void add_totals(GatherTotals* totals, GatherTotals mine) {
  mine.carried = warp_sum(mine.carried), mine.active = warp_sum(mine.active);
  mine.changed = warp_sum(mine.changed);
  if (threadIdx.x % kWarp != 0) return;
  if (mine.carried > 0) atomicAdd(&totals->carried, mine.carried);
  if (mine.active > 0) atomicAdd(&totals->active, mine.active);
  if (mine.changed > 0) atomicAdd(&totals->changed, mine.changed);
}

inline __global__ void __launch_bounds__(kTeamBlock)
    degrees_kernel(const EdgeIndex* offsets, const Vertex* order, std::uint64_t count, EdgeIndex* degrees) {
  for (std::uint64_t i = GridTeam{}.rank(); i < count; i += GridTeam{}.size()) {
    const std::uint64_t v = order == nullptr ? i : order[i];
    degrees[i] = offsets[v + 1] - offsets[v];
  }
}

/// States by vertex instead of number.
template <class State>
__global__ void __launch_bounds__(kTeamBlock)
    unnumber_kernel(const State* states, const Vertex* order, std::uint64_t count, State* to) {
  for (std::uint64_t i = GridTeam{}.rank(); i < count; i += GridTeam{}.size()) to[order[i]] = states[i];
}

template <class Program>
__global__ void __launch_bounds__(kTeamBlock) gather_start_kernel(GatherView<Program> view) {
  const GridTeam grid;
  GatherTotals totals;
  for (std::uint64_t i = grid.rank(); i < view.in.vertices; i += grid.size())
    view.put(i, view.program.init(view.vertex(i), view.degrees[i]), totals);
  add_totals(view.totals, totals);
}

template <class Program>
__global__ void __launch_bounds__(kSweepBlock, kSlicedBlocks)
    gather_sliced_kernel(SlicedGatherView<Program> view, SlicedView rows, unsigned long long* claimed) {
  GatherTotals totals;
  sweep_sliced(view, rows, claimed, totals);
  add_totals(view.gather.totals, totals);
}

/// Makes the sums of the last round those of this one, by what vertices send otherwise than in the last.
/// Numbers that follow each other go to different blocks, for the first are those of the longest lists.
template <class Program>
__global__ void __launch_bounds__(kTeamBlock) push_differences_kernel(GatherView<Program> view, CsrView out) {
  using State = typename Program::State;
  constexpr std::uint64_t kBlockDegreeOfSums = 4096;
  struct Hub {
    EdgeIndex begin, end;
    State more;
  };
  __shared__ Hub hubs[kTeamBlock];
  __shared__ unsigned hub_count;
  const unsigned lane = threadIdx.x % kWarp;
  const auto tell = [&](EdgeIndex begin, EdgeIndex end, State more, unsigned first, unsigned step) {
    for (EdgeIndex e = begin + first; e < end; e += step) acc::atomic_add(view.sums + out.targets[e], more);
  };
  for (std::uint64_t base = 0; base < out.vertices; base += GridTeam{}.size()) {
    const std::uint64_t number = base + std::uint64_t{threadIdx.x} * gridDim.x + blockIdx.x;
    State more{};
    EdgeIndex begin = 0, end = 0;
    if (number < out.vertices) more = static_cast<State>(view.sent[number] - view.next_sent[number]);
    if (more != 0) {
      const Vertex v = view.vertex(number);
      begin = out.offsets[v], end = out.offsets[v + 1ull];
    }
    if (threadIdx.x == 0) hub_count = 0;
    __syncthreads();
    const bool hub = end - begin >= kBlockDegreeOfSums, together = end - begin >= kWarpDegree && !hub;
    if (hub) hubs[atomicAdd(&hub_count, 1u)] = {begin, end, more};
    if (!hub && !together) tell(begin, end, more, 0, 1);
    for (unsigned left = __ballot_sync(~0u, together); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const EdgeIndex first = __shfl_sync(~0u, begin, owner), last = __shfl_sync(~0u, end, owner);
      tell(first, last, __shfl_sync(~0u, more, owner), lane, kWarp);
    }
    __syncthreads();
    for (unsigned i = 0; i < hub_count; ++i)
      tell(hubs[i].begin, hubs[i].end, hubs[i].more, threadIdx.x, kTeamBlock);
    __syncthreads();
  }
}

/// Ends a round for all vertices by the sums that they have.
template <class Program>
__global__ void __launch_bounds__(kTeamBlock) finish_sums_kernel(GatherView<Program> view) {
  GatherTotals totals;
  for (std::uint64_t i = GridTeam{}.rank(); i < view.in.vertices; i += GridTeam{}.size())
    view.finish(i, view.sums[view.vertex(i)], totals);
  add_totals(view.totals, totals);
}

/// Rows as they are stored, where they cannot lie on the device twice.
template <class Program>
__global__ void __launch_bounds__(kTeamBlock) gather_round_kernel(GatherView<Program> view, AccRound at) {
  using State = typename Program::State;
  const GridTeam grid;
  const unsigned lane = threadIdx.x % kWarp;
  const auto gathered = [&](std::uint64_t v, EdgeIndex begin, EdgeIndex end, unsigned step) {
    State sum{};
    for (EdgeIndex e = begin; e < end; e += step) {
      const Vertex source = view.in.targets[e];
      const AccEdge<State> edge{source,    static_cast<Vertex>(v), e,      at,
                                view.sent, view.in.weights,        source, true};
      sum = view.program.combine(sum, view.program.compute(edge));
    }
    return sum;
  };
  GatherTotals totals;
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
    if (mine) view.renew(v, sum, totals);
  }
  add_totals(view.totals, totals);
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
        degrees_(device_, graph.vertices(), "out-degrees"),
        sums_(device_,
              SumGatherProgram<Program> && options.direction != AccDirection::pull ? graph.vertices() : 0,
              "what vertices heard"),
        totals_(device_, 1, "totals"),
        claimed_(device_, 1, "claimed rows"),
        view_{program, graph.in(), nullptr,      degrees_.data(), states_.data(),
              nullptr, nullptr,    sums_.data(), totals_.data()} {
    slice();
    for (auto& sent : sent_) clear(sent);
    if (!sums_.empty()) clear(sums_);
    degrees_kernel<<<grid(), kTeamBlock, 0, stream_.get()>>>(graph_.out().offsets, view_.order,
                                                             graph_.vertices(), degrees_.data());
    check_launch("degrees_kernel");
  }

  void run(AccStats& stats) {
    AccRound at{0, 0};
    GatherTotals totals = finish_round(
        at, stats, [&] { gather_start_kernel<<<grid(), kTeamBlock, 0, stream_.get()>>>(view_); });
    stats.converged = false;
    while (!stats.converged && at.round < options_.most_rounds) {
      ++at.round;
      const std::uint64_t all = graph_.in().edges;
      const bool push = !sums_.empty() && gather_pushes(options_, totals.changed, all);
      AccRoundTrace trace;
      trace.pull = !push;
      trace.edges = push ? totals.changed : all;
      totals = finish_round(at, stats, [&] { push ? push_differences(stats) : launch_round(at); });
      trace.active = totals.active;
      stats.converged = totals.active == 0;
      stats.add(trace);
    }
    if (!rows_) return;
    Buffer<State> by_vertex(device_, graph_.vertices(), "vertex states");
    unnumber_kernel<<<grid(), kTeamBlock, 0, stream_.get()>>>(states_.data(), view_.order, graph_.vertices(),
                                                              by_vertex.data());
    check_launch("unnumber_kernel");
    stream_.wait("states of vertices");
    states_ = std::move(by_vertex);
  }

  const State* states() const { return states_.data(); }

 private:
  unsigned grid() const {
    constexpr unsigned kMostBlocks = 4096;  // beyond them blocks take further vertices
    return std::min(grid_for(graph_.vertices(), kTeamBlock), kMostBlocks);
  }

  /// Rewrites the rows, as the sweep of PageRank has them, if there is room.
  void slice() {
    HostArray<double> degrees;
    if (!graph_.symmetric()) {
      const EdgeIndex* const offsets = graph_.out_offsets();
      degrees = HostArray<double>(graph_.vertices(), "out-degrees");
      for (std::uint64_t v = 0; v < graph_.vertices(); ++v)
        degrees[v] = static_cast<double>(offsets[v + 1] - offsets[v]);
    }
    CsrView in = graph_.in();
    in.offsets = graph_.in_offsets();
    const RowsToSlice from(in, degrees.empty() ? nullptr : degrees.data());
    const std::uint64_t states_at_the_end = states_.bytes();
    if (SlicedRows::most_bytes(from) + states_at_the_end > device_.memory().available()) return;
    rows_.emplace(device_, from, stream_, nullptr);
    view_.order = rows_->order().data();
    blocks_ = blocks_at_once(gather_sliced_kernel<Program>, kSweepBlock, 0);
  }

  void launch_round(const AccRound& at) {
    if (!rows_) {
      gather_round_kernel<<<grid(), kTeamBlock, 0, stream_.get()>>>(view_, at);
      return;
    }
    const SlicedView rows = rows_->view();
    check(cudaMemsetAsync(claimed_.data(), 0, claimed_.bytes(), stream_.get()), "clearing claims");
    gather_sliced_kernel<Program><<<blocks_, kSweepBlock, 0, stream_.get()>>>(
        {view_, at, rows.weights, rows.nobody}, rows, claimed_.data());
  }

  void push_differences(AccStats& stats) {
    push_differences_kernel<<<grid(), kTeamBlock, 0, stream_.get()>>>(view_, graph_.out());
    check_launch("push_differences_kernel");
    ++stats.kernel_launches;
    finish_sums_kernel<<<grid(), kTeamBlock, 0, stream_.get()>>>(view_);
  }

  template <class T>
  void clear(Buffer<T>& buffer) {
    check(cudaMemsetAsync(buffer.data(), 0, buffer.bytes(), stream_.get()), "clearing what vertices send");
  }

  /// Returns what the round came to.
  template <class Launch>
  GatherTotals finish_round(const AccRound& at, AccStats& stats, Launch&& launch) {
    view_.sent = sent_[(at.round + 1) % 2].data(), view_.next_sent = sent_[at.round % 2].data();
    check(cudaMemsetAsync(totals_.data(), 0, totals_.bytes(), stream_.get()), "clearing totals");
    launch();
    check_launch("a round of a gather");
    ++stats.kernel_launches;
    stream_.wait("a round of a gather");
    GatherTotals totals;
    copy_to_host(device_, &totals, totals_.data(), sizeof totals);
    view_.program.begin(static_cast<State>(totals.carried));
    return totals;
  }

  const AccGraph& graph_;
  const Device& device_;
  AccOptions options_;
  Stream stream_;
  std::optional<SlicedRows> rows_;
  unsigned blocks_ = 0;  ///< of a round over sliced rows
  Buffer<State> states_;
  Buffer<State> sent_[2];
  Buffer<EdgeIndex> degrees_;
  Buffer<State> sums_;  ///< by vertex; empty: rounds only pull
  Buffer<GatherTotals> totals_;
  Buffer<unsigned long long> claimed_;
  GatherView<Program> view_;
};

}  // namespace sluice::cuda
