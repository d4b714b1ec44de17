// Common code of GPU solvers: worklist memory, launches of persistent kernels until no round is left, and the
// trace of rounds that the kernels write.
//
// Measured against one launch a round of the same code (--fusion none), Kronecker 22 on an H200: bfs 0.46 ms
// in one kernel and 0.63, sssp 13.4 and 21.4, k-core 18.0 and 46.2 (docs/papers.md, Table 2).
#pragma once

#include <algorithm>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/resident_cuda/ballots.cuh"
#include "engine/acc/rounds/bits.hpp"
#include "engine/exec/device_clock.cuh"
#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"

namespace sluice::acc {

/// The kinds of rounds that a kernel contains (--fusion). Code that it lacks takes no registers, so more of
/// its blocks may be resident.
enum Phases : unsigned {
  kPushes = 1,        ///< rounds that push
  kPulls = 2,         ///< rounds that pull
  kOneRound = 4,      ///< ends after one round; else at a round that it does not contain
  kSortedLevels = 8,  ///< next levels in order of vertices (ballot filter); one more barrier
};

/// Resident blocks per multiprocessor of a kernel of rounds, which is bound by memory latency.
inline constexpr unsigned kRoundBlocks = 2;

/// Does a kernel contain rounds of this direction?
template <unsigned kPhases>
__device__ bool contains(std::uint32_t pull) {
  return (kPhases & (pull != 0 ? kPulls : kPushes)) != 0;
}

/// Does a round that the kernel contains pull?
template <unsigned kPhases>
__device__ bool pulls(std::uint32_t pull) {
  if constexpr ((kPhases & kPulls) == 0) return false;
  return (kPhases & kPushes) == 0 || pull != 0;
}

/// Totals that the device counts.
struct TimedTotals : RoundTotals {
  unsigned long long last = 0;  ///< end of the previous round, in nanoseconds
};

struct TraceView {
  TimedTotals* totals = nullptr;
  AccRoundTrace* rounds = nullptr;  ///< [kTracedRounds]

  /// Called by one thread, before the first round.
  __device__ void begin() const { totals->last = cuda::nanoseconds_now(); }

  /// Called by one thread, after a round.
  __device__ void add(AccRoundTrace round) const {
    if (totals->rounds < kTracedRounds) {
      const unsigned long long now = cuda::nanoseconds_now();
      round.seconds = static_cast<double>(now - totals->last) * 1e-9;
      totals->last = now;
      rounds[totals->rounds] = round;
    }
    totals->count(round);
  }
};

/// The data of a program's rounds, each of which begins with an `R`. Views also define is_settled(v), true if
/// v takes no more values, and is_at_level(state, at), true if the state is at the current level.
template <class T, class P, class R>
struct RoundsView {
  using Program = T;
  using Peers = P;
  using Round = R;
  using State = typename Program::State;

  Program program;
  CsrView out, in;
  State* states = nullptr;
  Round* state = nullptr;
  AccDirection direction = AccDirection::push;
  WorklistView work;
  TraceView trace;
  Peers peers;
};

/// Active vertices send values along their edges.
template <class View, class Team>
__device__ void push(const Team& team, const View& view, const AccRound& at, const RoundBuffers& buffers,
                     Finder& finder) {
  using Program = typename View::Program;
  // The edges of a sum read far-apart memory, so their reads should overlap. Bounds need more registers for
  // each edge (unrolled, sssp on Kronecker 24 is a fifth slower).
  constexpr unsigned kUnrolled = SumProgram<Program> ? 4 : 0;
  cuda::for_each_worklist_edge<kUnrolled>(team, ReadLists{view.work, buffers}, [&](Vertex u, EdgeIndex e) {
    const Vertex v = view.out.targets[e];
    ++finder.edges;
    bool active = false;
    if (!view.is_settled(v)) {
      const auto value = view.program.compute({u, v, e, at, view.states, view.out.weights});
      const auto result = combine_atomic(view.program, view.states + v, value, at);
      active = result.active && view.is_at_level(result.now, at) && finder.mark(v);
    }
    if (active) finder.add_to_bin(v);
    if (view.work.filter == AccFilter::batch)
      view.work.batch[atomicAdd(&buffers.counts->batched, 1ull)] = active ? v : kNoVertex;
  });
}

/// Runs rounds on now.blocks blocks, until a round wants another number or none is left: round(team, now)
/// runs one and returns the next. All blocks of the grid must call it; all return the next round.
template <class Round, class Body>
__device__ Round on_few_blocks(const cuda::GridTeam& grid, const WorklistView& work, Round* shared, Round now,
                               Body&& round) {
  const unsigned requested = now.blocks;
  const cuda::FewTeam team{requested <= gridDim.x ? requested : 1, work.arrived};
  if (blockIdx.x < team.members) {
    while (now.has_work() && now.blocks == requested) now = round(team, now);
    if (team.rank() == 0) *shared = now;
  }
  grid.sync();
  now = *shared;
  grid.sync();
  return now;
}

/// The kernels of a solver's rounds, one for pushes and one for pulls, or one for both. `Kernels` has
/// kPhases, all phases that rounds may need, and kernel_for<phases>(), the kernel that contains these.
template <class Kernels>
class RoundKernels {
 public:
  explicit RoundKernels(const AccOptions& options) {
    if constexpr (!Kernels::kFusable) {
      select_kernels<Kernels::kPhases, Kernels::kPhases>();
    } else if (options.filter == AccFilter::ballot) {
      choose<kSortedLevels>(options.fusion);
    } else {
      choose<0>(options.fusion);
    }
  }

  auto kernel(bool pull) const { return kernels_[pull]; }
  /// The number of blocks that are resident at once.
  unsigned blocks(bool pull) const { return blocks_[pull]; }
  unsigned max_blocks() const { return std::max(blocks_[0], blocks_[1]); }

  void count_registers(AccStats& stats) const {
    stats.push_registers = cuda::registers_of(kernels_[0]);
    stats.pull_registers = (Kernels::kPhases & kPulls) != 0 ? cuda::registers_of(kernels_[1]) : 0;
  }

 private:
  template <unsigned kExtra>
  void choose(AccFusion fusion) {
    constexpr unsigned kAll = Kernels::kPhases | kExtra;
    if (fusion == AccFusion::none) {
      select_kernels<kPushes | kOneRound | kExtra, kPulls | kOneRound | kExtra>();
    } else if (fusion == AccFusion::push_pull) {
      select_kernels<kPushes | kExtra, kPulls | kExtra>();
    } else {
      select_kernels<kAll, kAll>();
    }
  }

  template <unsigned kPush, unsigned kPull>
  void select_kernels() {
    kernels_[0] = Kernels::template kernel_for<kPush>();
    if constexpr ((Kernels::kPhases & kPulls) != 0) {
      kernels_[1] = Kernels::template kernel_for<kPull>();
    } else {
      kernels_[1] = kernels_[0];
    }
    for (unsigned i = 0; i < 2; ++i) blocks_[i] = cuda::resident_blocks(kernels_[i], cuda::kTeamBlock, 0);
  }

  decltype(Kernels::template kernel_for<Kernels::kPhases>()) kernels_[2];
  unsigned blocks_[2];
};

// ---- kernels

/// Counts lists by degree class.
__global__ inline void __launch_bounds__(cuda::kTeamBlock)
    count_lists_kernel(const EdgeIndex* offsets, std::uint64_t vertices, ListSizes* sizes) {
  cuda::for_each_in_warps(cuda::GridTeam{}, vertices, [&](std::uint64_t v, bool valid) {
    const unsigned which = valid ? list_of_degree(offsets[v + 1] - offsets[v]) : kDegreeLists;
    for (unsigned list = 0; list < kDegreeLists; ++list) {
      const unsigned lanes = __ballot_sync(~0u, which == list);
      if (threadIdx.x % cuda::kWarp == 0 && lanes != 0)
        atomicAdd(&sizes->by_class[list], static_cast<unsigned>(__popc(lanes)));
    }
  });
}

// ---- memory

/// Memory of the worklists.
class WorklistMemory {
 public:
  /// For a part; begin() must precede the first view().
  template <class Part>
  WorklistMemory(const Device& device, const Part& part, const AccOptions& options, unsigned blocks,
                 const cuda::Stream& stream)
      : device_(device),
        lists_{{device, part.vertices(), "worklists"}, {device, part.vertices(), "worklists"}},
        bits_{{device, words_of(0, part.vertices()), "active vertices"},
              {device, words_of(0, part.vertices()), "active vertices"}},
        bins_(device, std::uint64_t{blocks} * cuda::kTeamBlock * options.bin, "bins of threads"),
        batch_(device, options.filter == AccFilter::batch ? part.out().edges : 0, "batch of edges"),
        counts_(device, 3, "worklists"),
        block_counts_(device, std::uint64_t{kDegreeLists} * blocks, "worklists"),
        arrived_(device, 1, "a barrier"),
        totals_(device, 1, "trace"),
        trace_(device, kTracedRounds, "trace"),
        sizes_(device, 1, "worklists") {
    for (unsigned i = 0; i < 2; ++i) view_.lists[i] = lists_[i].data(), view_.bits[i] = bits_[i].data();
    view_.bins = bins_.data();
    view_.bin_stride = std::uint64_t{blocks} * cuda::kTeamBlock;
    view_.batch = batch_.data();
    view_.counts = counts_.data();
    view_.block_counts = block_counts_.data();
    view_.arrived = arrived_.data();
    view_.filter = options.filter, view_.bin_capacity = options.bin, view_.few_blocks = options.few_blocks;
    if (device.is_planning()) return;
    for (const auto& bits : bits_) clear(bits, stream, "clearing marks");
    clear(arrived_, stream, "clearing a barrier");
    clear(totals_, stream, "clearing the trace");
    clear(trace_, stream, "clearing the trace");
    if constexpr (Part::Peers::kSingleRank) begin(part, stream);
  }

  /// Reads the part's lists, which must be on the device.
  template <class Part>
  void begin(const Part& part, const cuda::Stream& stream) {
    const CsrView& out = part.out();
    view_.first = part.first(), view_.last = part.first() + part.own_vertices();
    view_.vertices = out.vertices;
    view_.offsets = out.offsets, view_.degrees = part.degrees();
    clear(sizes_, stream, "counting lists");
    constexpr unsigned kMaxBlocks = 1024;  // with more vertices, blocks loop
    count_lists_kernel<<<std::min(cuda::grid_for(out.vertices, cuda::kTeamBlock), kMaxBlocks),
                         cuda::kTeamBlock, 0, stream.get()>>>(out.offsets, out.vertices, sizes_.data());
    cuda::check_launch("counting lists");
    stream.wait("counting lists");
    ListSizes sizes;
    copy_to_host(device_, &sizes, sizes_.data(), sizeof sizes);
    for (unsigned i = 1; i < kDegreeLists; ++i)
      view_.begins.by_class[i] = view_.begins.by_class[i - 1] + sizes.by_class[i - 1];
  }

  const WorklistView& view() const { return view_; }
  TraceView trace() const { return {totals_.data(), trace_.data()}; }

  /// Called once the device has finished.
  void read_trace(const Device& device, AccStats& stats) const {
    TimedTotals totals;
    copy_to_host(device, &totals, totals_.data(), sizeof totals);
    static_cast<RoundTotals&>(stats) = totals;
    stats.trace.resize(std::min<std::uint64_t>(totals.rounds, kTracedRounds));
    copy_to_host(device, stats.trace.data(), trace_.data(), stats.trace.size() * sizeof(AccRoundTrace));
    // These entries are rounds that another rank ran alone.
    std::erase_if(stats.trace, [](const AccRoundTrace& round) { return round.active == 0; });
  }

 private:
  template <class T>
  static void clear(const Buffer<T>& buffer, const cuda::Stream& stream, const char* label) {
    cuda::check(cudaMemsetAsync(buffer.data(), 0, buffer.bytes(), stream.get()), label);
  }

  const Device& device_;
  Buffer<Vertex> lists_[2];
  Buffer<std::uint32_t> bits_[2];
  Buffer<Vertex> bins_, batch_;
  Buffer<RoundCounts> counts_;
  Buffer<unsigned> block_counts_, arrived_;
  Buffer<TimedTotals> totals_;
  Buffer<AccRoundTrace> trace_;
  Buffer<ListSizes> sizes_;
  WorklistView view_;
};

// ---- launcher

/// Runs a solver's rounds on a `Part`, a WholePart or a PeerPart. A PeerPart must be connected before run().
template <class View, class Kernels, class Part>
class FusedRounds {
 public:
  /// For a PeerPart: connects its ranks. Returns false, on all ranks, if they cannot run rounds this way. All
  /// ranks call it.
  bool connect() {
    if (!part_.connect()) return false;
    worklists_.begin(part_, stream_);
    return true;
  }
  /// Sends every state from its owner to all ranks. All ranks call it.
  void finish(AccStats& stats) { part_.finish(stats); }

  const typename View::State* states() const { return part_.states(); }

 protected:
  /// Keeps references. Kernel `start` prepares the first round.
  FusedRounds(const Device& device, const AccGraph& graph, const typename View::Program& program,
              const AccOptions& options, void (*start)(View), bool pulls = false)
      : part_(device, graph, pulls),
        device_(device),
        kernels_(options),
        start_(start),
        start_blocks_(cuda::resident_blocks(start, cuda::kTeamBlock, 0)),
        state_(device, 1, "the round"),
        worklists_(device, part_, options, std::max(start_blocks_, kernels_.max_blocks()), stream_) {
    view_.program = program;
    view_.states = part_.states();
    view_.state = state_.data();
    view_.trace = worklists_.trace();
    view_.direction = options.direction;
  }

  /// Calls launch_rounds(now) until no round is left; `label` names what the host waits for.
  template <class Launch>
  void run(AccStats& stats, const char* label, const Launch& launch_rounds) {
    view_.peers = part_.peers();
    view_.out = part_.out(), view_.in = part_.in();
    view_.work = worklists_.view();
    part_.begin(view_.program);
    launch(start_, start_blocks_);
    stats.kernel_launches = 1;
    kernels_.count_registers(stats);
    typename View::Round now;
    const auto has_work = [&] {
      part_.wait(stream_, label);
      copy_to_host(device_, &now, state_.data(), sizeof now);
      return !now.ended();
    };
    for (; has_work(); ++stats.kernel_launches) launch_rounds(now);
    worklists_.read_trace(device_, stats);
  }
  void launch(bool pull) { launch(kernels_.kernel(pull), kernels_.blocks(pull)); }

  cuda::Stream stream_;
  Part part_;
  View view_;

 private:
  void launch(void (*kernel)(View), unsigned blocks) {
    cuda::launch_cooperative(kernel, part_.launch_blocks(blocks), cuda::kTeamBlock, stream_.get(), view_);
  }

  const Device& device_;
  RoundKernels<Kernels> kernels_;
  void (*start_)(View);
  unsigned start_blocks_;
  Buffer<typename View::Round> state_;
  WorklistMemory worklists_;
};

}  // namespace sluice::acc
