// Several iterations in one launch: a grid that synchronises between gather, settle and expand (cooperative
// groups), and goes on for as long as the host would. A log receives the totals of each iteration.
//
//   few        so few affected vertices that a launch and a wait on the host would take longer than their
//              work; any method
//   in phases  any number of affected vertices, from all on residuals: all pull while much changes, and push
//              differences once little does. A kernel each, or one for both (SIMD-X's fusion of kernels)
#pragma once

#include <cooperative_groups.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "engine/exec/occupancy.cuh"
#include "engine/pagerank/dynamic/rows_cuda.cuh"
#include "engine/pagerank/stall.hpp"

namespace sluice::pagerank {

/// Most iterations of a launch, all of which it logs: with few members, and in phases.
inline constexpr unsigned kMaxRounds = 32, kMaxPhaseRounds = 512;

/// The totals of each iteration.
struct RoundLog {
  struct Entry {
    IterationTotals totals;
    std::uint64_t pushed;  ///< totals.pushed, while the blocks add it up
    ListSizes next;        ///< of the next list of members
  };
  unsigned rounds;
  bool ends;  ///< the host must check the last one
  Entry entries[kMaxPhaseRounds];

  /// Bytes of a log of so many iterations.
  static constexpr std::size_t bytes(unsigned rounds) {
    return offsetof(RoundLog, entries) + rounds * sizeof(Entry);
  }
};

/// The members for which iterations share a launch: at most so many, and whether long rows may be among them.
/// Here one block takes a long row, which a launch of its own would cut among blocks.
struct SmallFrontier {
  std::uint64_t max_members = 0;
  bool long_rows = false;

  SLUICE_HD bool contains(const ListSizes& sizes) const {
    const std::uint64_t count = total_size(sizes);
    return count > 0 && count <= max_members && (long_rows || sizes.count[3] == 0);
  }
};

/// When a launch returns to the host.
struct RoundLimits {
  unsigned rounds = 0;   ///< most iterations
  SmallFrontier small_frontier;  ///< members of an iteration
  double tolerance = 0;  ///< of the residual
  double best = 0;       ///< smallest residual so far; the host decides once they no longer shrink
  FixedRank total = 0;   ///< sum of all ranks
  Dangling dangling = Dangling::uniform;
  bool pulls = false;  ///< all vertices pull in the first iteration
  /// The L1 change above which a residual that no longer shrinks is no reason to return.
  double stall_floor = std::numeric_limits<double>::infinity();
};

inline __device__ void clear_sizes(const VertexList& list) {
  for (unsigned c = 0; c < kListClasses; ++c) list.sizes[c] = 0;
}

/// Writes the totals of a block.
inline __device__ void store_totals(IterationTotals& done, RankNorm norm, IterationTotals* partial,
                                    RoundLog::Entry& entry) {
  join_totals(done, norm);
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = done;
  if (done.pushed > 0) fetch_add(&entry.pushed, done.pushed);
}

/// One block logs the totals of all blocks, and whether the host must check them. Its thread 0 updates
/// `limits`.
inline __device__ void log_round(const IterationTotals* partial, RankNorm norm, RoundLimits& limits,
                                 RoundLog* log, RoundLog::Entry& entry) {
  const IterationTotals sum = fold_partials(partial, gridDim.x, norm);
  if (threadIdx.x != 0) return;
  entry.totals = sum;
  limits.total += sum.growth;
  const double change = residual_of(sum, norm, limits.dangling, limits.total);
  log->ends = change <= limits.tolerance || (change >= limits.best && sum.change.l1() <= limits.stall_floor);
  limits.best = min(limits.best, change);
}

/// The phases that a kernel of iterations contains: few members, of any method; or, on residuals, pulls by
/// all vertices, and pushes of differences to members. Phases that it does not contain take no registers.
enum RankPhase : unsigned { kSmall = 0, kPulls = 1, kPushes = 2 };

/// Blocks of such a kernel on a multiprocessor: with one more, registers would be spilled.
template <unsigned kPhases>
inline constexpr unsigned kPhaseBlocks = kPhases == kPulls ? 3 : 2;

/// Finds the sums of few members; a block takes a long row.
template <class Share>
__device__ void gather_small(const GatheredRows<Share>& rows) {
  for (std::uint64_t i = std::uint64_t{threadIdx.x} * gridDim.x + blockIdx.x; i < rows.count(3);
       i += std::uint64_t{kRowBlock} * gridDim.x)
    rows.clear_long(i);  // of this block
  __syncthreads();
  visit_all_rows(rows, {{blockIdx.x, gridDim.x}, {0, 1}});
}

/// Finds the sums of all vertices, which are on the list `all`.
template <class Share>
__device__ void pull_rows(const cooperative_groups::grid_group& grid, const DynamicView<Share>& view,
                          const VertexList& all, const ListSizes& sizes) {
  for (std::uint64_t v = std::uint64_t{blockIdx.x} * kRowBlock + threadIdx.x; v < total_size(sizes);
       v += std::uint64_t{gridDim.x} * kRowBlock)
    view.sum_known[v] = 0, view.sums[v] = 0;
  grid.sync();
  visit_all_rows(GatheredRows<Share>{view, all, sizes}, LongRowParts::in_groups());
}

/// Updates the listed members, which on residuals never stay.
template <unsigned kPhases, class Share>
__device__ IterationTotals settle_listed(const DynamicView<Share>& view, const ListedMembers& now,
                                         const VertexList& next, const VertexList& sources) {
  IterationTotals done;
  cuda::CudaLane lane(LaneOutput{});
  if constexpr (kPhases == kSmall) {
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * kRowBlock + threadIdx.x; i < now.size();
         i += std::uint64_t{gridDim.x} * kRowBlock)
      settle_member(view, now(i), next, sources, done, lane);
  } else {
    append_members<1>(now.size(), now, {sources}, [&](Vertex v, std::uint32_t* keys) {
      if (settle_member(view, v, done, lane).spreads) keys[0] = sources.number + view.class_of_source(v);
    });
  }
  return done;
}

/// Makes iterations, from the members in `first`. If the method drops members, the next ones are in `second`,
/// then in `first` again, and so on. In phases they begin with all vertices if the first one pulls, else with
/// members of known sums; between two kernels the host makes the last pushes, or lists all vertices. The
/// counts of sources and of next members are 0 before.
template <class Share, unsigned kPhases>
__global__ void __launch_bounds__(kRowBlock, kPhaseBlocks<kPhases>)
    rounds_kernel(DynamicView<Share> view, VertexList first, VertexList second, VertexList sources,
                  ListSizes sizes, RoundLimits limits, IterationTotals* partial, RoundLog* log) {
  constexpr bool kInPhases = kPhases != kSmall;
  const auto grid = cooperative_groups::this_grid();
  const bool drops = kInPhases || drops_members(view.method);
  const bool is_leader = blockIdx.x == 0 && threadIdx.x == 0;
  bool pulls = limits.pulls, swapped = false;
  for (unsigned round = 0;; ++round) {
    const VertexList now = swapped ? second : first, next = swapped != drops ? second : first;
    RoundLog::Entry& entry = log->entries[round];
    if (is_leader) clear_sizes(sources);
    if constexpr (!kInPhases) gather_small(GatheredRows<Share>{view, now, sizes});
    if constexpr ((kPhases & kPulls) != 0) {
      if (pulls) pull_rows(grid, view, now, sizes);
    }
    grid.sync();

    IterationTotals done = settle_listed<kPhases>(view, ListedMembers{now, sizes}, next, sources);
    store_totals(done, view.norm, partial, entry);
    grid.sync();

    if (blockIdx.x == 0) log_round(partial, view.norm, limits, log, entry);
    const Spread spread = spread_of(view, &entry.pushed);
    const bool pulled = pulls;
    pulls = spread == Spread::nothing;
    const bool keeps_list = kInPhases && pulls && pulled;  // the list of all vertices
    if constexpr (kPhases == (kPulls | kPushes)) {
      if (pulls && !keeps_list) list_all_rows(view, next);
    }
    if constexpr (kPhases != kPulls) {
      if (!pulls && (kInPhases || spreads_changes(view.method))) {
        const ExpandedRows<Share> rows{view, sources, next, nullptr, kInPhases ? Spread::pushes : spread};
        visit_all_rows(rows, kInPhases ? LongRowParts::in_groups() : LongRowParts::one_group());
      }
    }
    if (drops && !keeps_list && is_leader)
      clear_sizes(now);  // the list after the next; all threads have its sizes
    grid.sync();

    if (!keeps_list)
      for (unsigned c = 0; c < kListClasses; ++c) sizes.count[c] = next.sizes[c];
    if (is_leader) entry.next = sizes, log->rounds = round + 1;
    const bool has_next = !kInPhases ? !pulls && limits.small_frontier.contains(sizes)
                          : pulls    ? (kPhases & kPulls) != 0
                                     : (kPhases & kPushes) != 0 && total_size(sizes) > 0;
    if (!has_next || log->ends || round + 1 == limits.rounds) return;
    swapped ^= drops && !keeps_list;
  }
}

/// Makes iterations together, and returns them one by one.
class RankRounds {
 public:
  explicit RankRounds(const Device& device)
      : l2_edges_(std::bit_floor(cuda::gpu_attribute(cudaDevAttrL2CacheSize) / kEdgeBytes)),
        log_(device, 1, "a log of iterations"),
        host_log_(device, 1, "a log of iterations") {}

  /// Begins a batch of at most so many iterations.
  void begin(std::uint32_t max_iterations) {
    remaining_ = max_iterations, returned_ = completed_ = 0, pulls_ = true;
    best_ = std::numeric_limits<double>::infinity();
  }

  /// The next iteration, if it was made already or can be made together with others; the state then has its
  /// next members. Else nothing: the caller makes the iteration.
  template <class Share>
  std::optional<IterationTotals> next(RankState<Share, cuda::CudaExecutor>& state) {
    if (returned_ == completed_) {
      if (has_phases(state.dynamic.fusion)) {
        run_phases(state);
      } else if (small_frontier(state).contains(state.sizes)) {
        run_small(state);
      } else {
        return {};
      }
    }
    const RoundLog::Entry& entry = host_log_.data()->entries[returned_++];
    state.sizes = entry.next;
    const bool keeps_list = pulls_ && all_pull_after(state, entry.totals);
    if (state.drops() && !keeps_list) state.set_current(1 - state.current());
    return entry.totals;
  }

  /// Whether every iteration that was made has been returned.
  bool all_returned() const { return returned_ == completed_; }

  /// The registers of a thread of the largest kernel that pushes, and that pulls.
  template <class Share>
  static std::pair<unsigned, unsigned> registers(RoundFusion fusion) {
    const auto max_registers = [](auto... kernels) { return std::max({cuda::registers_of(kernels)...}); };
    const auto row_registers = [&]<class Rows>(Rows) {
      return max_registers(cut_rows_kernel<Rows>, rows_kernel<kWarpLanes, Rows>,
                           rows_kernel<kTileLanes, Rows>, rows_kernel<1, Rows>);
    };
    switch (fusion) {
      case RoundFusion::none:
        return {row_registers(ExpandedRows<Share>{}), row_registers(GatheredRows<Share>{})};
      case RoundFusion::push_pull:
        return {max_registers(rounds_kernel<Share, kPushes>), max_registers(rounds_kernel<Share, kPulls>)};
      case RoundFusion::all: {
        const unsigned fused_registers = max_registers(rounds_kernel<Share, kPulls | kPushes>);
        return {fused_registers, fused_registers};
      }
      default:
        return {};
    }
  }

  /// Records an iteration of either kind, before its growth is in the state's total.
  template <class Share>
  void record(const RankState<Share, cuda::CudaExecutor>& state, const IterationTotals& totals) {
    --remaining_;
    pulls_ = all_pull_after(state, totals);
    best_ = std::min(
        best_, residual_of(totals, state.options.norm, state.options.dangling, state.total + totals.growth));
  }

 private:
  /// Most members for which iterations are made together: a thread for each on most GPUs.
  static constexpr std::uint64_t kMaxSmallFrontier = std::uint64_t{1} << 16;
  /// Fewer blocks synchronise faster. A launch has at least so many blocks, and so many threads a member,
  /// since it ends when members outnumber threads.
  static constexpr std::uint64_t kMinBlocks = 32, kThreadsPerMember = 8;

  /// Bytes of an edge in the L2: its source, and that vertex's contribution.
  static constexpr std::uint64_t kEdgeBytes = sizeof(Vertex) + sizeof(double);

  template <class Share>
  SmallFrontier small_frontier(const RankState<Share, cuda::CudaExecutor>& state) const {
    if (state.own_rows <= kMaxSmallFrontier && state.in.edges <= l2_edges_) return {kMaxSmallFrontier, true};
    return {std::min(kMaxSmallFrontier, state.own_rows / kDenseFraction), false};
  }

  template <class Share>
  static bool all_pull_after(const RankState<Share, cuda::CudaExecutor>& state,
                             const IterationTotals& totals) {
    return all_pull_next(state.dynamic, totals.pushed, state.out.edges);
  }

  template <class Share>
  void run_small(RankState<Share, cuda::CudaExecutor>& state) {
    const unsigned max_resident = cuda::resident_blocks(rounds_kernel<Share, kSmall>, kRowBlock, 0);
    const auto blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(
        state.affected() * kThreadsPerMember / kRowBlock, std::min<std::uint64_t>(kMinBlocks, max_resident),
        std::min<std::uint64_t>(kMaxSmallFrontier / kRowBlock, max_resident)));
    RoundLimits limits = limits_of(state, kMaxRounds);
    limits.small_frontier = small_frontier(state);
    limits.small_frontier.max_members =
        std::min(limits.small_frontier.max_members, std::uint64_t{blocks} * kRowBlock);
    launch<kSmall>(state, blocks, limits);
  }

  template <class Share>
  void run_phases(RankState<Share, cuda::CudaExecutor>& state) {
    if (state.dynamic.fusion == RoundFusion::all) return launch_phases<kPulls | kPushes>(state);
    if (!pulls_) return launch_phases<kPushes>(state);
    launch_phases<kPulls>(state);
    RoundLog::Entry& last = host_log_.data()->entries[completed_ - 1];
    if (all_pull_after(state, last.totals)) return;
    expand_sources(state, state.view(), state.own_rows, &log_.data()->entries[completed_ - 1].pushed,
                   state.members(state.next()));
    state.read(state.next());
    last.next = state.sizes;
  }

  template <unsigned kPhases, class Share>
  void launch_phases(RankState<Share, cuda::CudaExecutor>& state) {
    const std::uint64_t max_resident =
        std::min(cuda::resident_blocks(rounds_kernel<Share, kPhases>, kRowBlock, 0), kMaxParts);
    auto blocks = static_cast<unsigned>(
        std::clamp<std::uint64_t>(state.own_rows * kThreadsPerMember / kRowBlock, 1, max_resident));
    if (blocks > kSlices) blocks -= blocks % kSlices;
    RoundLimits limits = limits_of(state, kMaxPhaseRounds);
    limits.pulls = pulls_;
    limits.stall_floor = StallDetector(state.options, state.in.edges, state.vertices()).floor();
    launch<kPhases>(state, blocks, limits);
  }

  /// The limits of a launch of at most so many iterations.
  template <class Share>
  RoundLimits limits_of(const RankState<Share, cuda::CudaExecutor>& state, unsigned max_rounds) const {
    return {std::min(remaining_, max_rounds),
            {},
            state.options.tolerance,
            best_,
            state.total,
            state.options.dangling};
  }

  /// Makes iterations, with an empty log and empty lists for their results, and reads the log.
  template <unsigned kPhases, class Share>
  void launch(RankState<Share, cuda::CudaExecutor>& state, unsigned blocks, const RoundLimits& limits) {
    const cudaStream_t stream = state.executor.cuda_stream().get();
    const std::size_t bytes = RoundLog::bytes(limits.rounds);
    state.clear_lists();
    state.executor.fill(log_.data(), 0, bytes);
    cuda::launch_cooperative(rounds_kernel<Share, kPhases>, blocks, kRowBlock, stream, state.view(),
                             state.members(state.current()), state.members(state.next()), state.sources(),
                             state.sizes, limits, state.partial(), log_.data());
    ++state.launches;
    cuda::check(cudaMemcpyAsync(host_log_.data(), log_.data(), bytes, cudaMemcpyDeviceToHost, stream),
                "copying results of iterations");
    state.read(state.next());
    returned_ = 0, completed_ = host_log_.data()->rounds;
  }

  /// A graph of no more edges fits the L2 as a whole: neither a list's order nor a long row matters. On an
  /// H100 or H200 it is 2^22.
  std::uint64_t l2_edges_;
  Buffer<RoundLog> log_;
  Staging<RoundLog> host_log_;
  std::uint32_t remaining_ = 0;
  double best_ = 0;
  unsigned returned_ = 0, completed_ = 0;
  bool pulls_ = true;  ///< whether all vertices pull in the next iteration
};

}  // namespace sluice::pagerank
