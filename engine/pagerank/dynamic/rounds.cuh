// Several iterations in one launch, for affected vertices so few that a launch and a wait on the host would
// take longer than their work: a grid that waits for itself between gather, settle and expand (cooperative
// groups), and goes on for as long as the host would. What each iteration came to is left in a log.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "engine/exec/occupancy.cuh"
#include "engine/pagerank/dynamic/rows_cuda.cuh"

namespace sluice::pagerank {

/// Iterations of a launch at most, of which the host takes note.
inline constexpr unsigned kRoundsAtOnce = 32;

/// What iterations came to, one by one.
struct RoundLog {
  struct Entry {
    Settled settled;
    std::uint64_t pushed;  ///< as `settled` has it, while the blocks add it up
    ListSizes next;        ///< of the list that it leaves
  };
  unsigned rounds;
  bool ends;  ///< the host must look at the last one
  Entry entries[kRoundsAtOnce];
};

/// Members that one launch had better work on: at most so many, and whether long rows may be among them, of
/// which a block here takes one where a launch of their own cuts them among blocks.
struct Few {
  std::uint64_t most = 0;
  bool long_rows = false;

  SLUICE_HD bool hold(const ListSizes& sizes) const {
    const std::uint64_t count = all_of(sizes);
    return count > 0 && count <= most && (long_rows || sizes.count[3] == 0);
  }
};

/// When a launch hands over to the host.
struct RoundLimits {
  unsigned rounds = 0;   ///< iterations
  Few few;               ///< members of an iteration
  double tolerance = 0;  ///< of the residual
  double best = 0;       ///< the smallest residual so far: once they no longer shrink the host decides
  FixedRank total = 0;   ///< of all ranks
  Dangling dangling = Dangling::uniform;
};

/// Sums of the members with long rows, a block each.
template <class Share>
__device__ void gather_long_rows(const DynamicView<Share>& view, const VertexList& members,
                                 std::uint64_t count) {
  for (std::uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Vertex v = members.at(3, i);
    if (view.known[v]) continue;
    if (threadIdx.x == 0) view.sums[v] = 0;
    __syncthreads();
    const FixedRank sum = sum_lanes<32>(view.at.gather(v, threadIdx.x, kListBlock));
    if (threadIdx.x % 32 == 0) fetch_add(&view.sums[v], sum);
  }
}

/// Iterations from the members of `first`, whose next are in `second`, then in `first` again, and so on
/// where the method drops members. Counts of sources and of next members are 0.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    rounds_kernel(DynamicView<Share> view, VertexList first, VertexList second, VertexList sources,
                  ListSizes sizes, RoundLimits limits, Settled* partial, RoundLog* log) {
  const auto grid = cooperative_groups::this_grid();
  const bool drops = drops_members(view.method), spreads = spreads_changes(view.method);
  const bool leads = blockIdx.x == 0 && threadIdx.x == 0;
  const auto clear = [](const VertexList& list) {
    for (unsigned c = 0; c < kListClasses; ++c) list.sizes[c] = 0;
  };
  VertexList now = first, next = drops ? second : first;
  for (unsigned round = 0;; ++round) {
    RoundLog::Entry& entry = log->entries[round];
    if (leads) clear(sources);
    gather_long_rows(view, now, sizes.count[3]);
    gather_rows<Share, 32>(view, now, 2, sizes.count[2]);
    gather_rows<Share, 8>(view, now, 1, sizes.count[1]);
    gather_rows<Share, 1>(view, now, 0, sizes.count[0]);
    grid.sync();

    Settled done;
    cuda::CudaLane lane(LaneOutput{});
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * kListBlock + threadIdx.x; i < all_of(sizes);
         i += std::uint64_t{gridDim.x} * kListBlock) {
      settle_member(view, now.at(sizes, i), next, sources, done, lane);
    }
    join_block<kListBlock>(done, view.norm);
    if (threadIdx.x == 0) {
      partial[blockIdx.x] = done;
      if (done.pushed > 0) fetch_add(&entry.pushed, done.pushed);
    }
    grid.sync();

    if (blockIdx.x == 0) {
      const Settled sum = fold_parts<kListBlock>(partial, gridDim.x, view.norm);
      if (threadIdx.x == 0) {
        entry.settled = sum;
        limits.total += sum.growth;
        const double change = residual_of(sum, view.norm, limits.dangling, limits.total);
        log->ends = change <= limits.tolerance || change >= limits.best;
        limits.best = change;
      }
    }
    const Spread spread = spread_of(view, &entry.pushed);
    if (spreads && spread != Spread::nothing) {
      expand_long_rows(view, sources, spread, next, {0, 1}, {blockIdx.x, gridDim.x});
      expand_rows<Share, 32>(view, sources, 2, spread, next);
      expand_rows<Share, 8>(view, sources, 1, spread, next);
      expand_rows<Share, 1>(view, sources, 0, spread, next);
    }
    if (drops && leads) clear(now);  // the list after the next one; all have read how long it was
    grid.sync();

    for (unsigned c = 0; c < kListClasses; ++c) sizes.count[c] = next.sizes[c];
    if (leads) entry.next = sizes, log->rounds = round + 1;
    if (log->ends || spread == Spread::nothing || round + 1 == limits.rounds || !limits.few.hold(sizes))
      return;
    if (drops) {
      const VertexList other = now;
      now = next, next = other;
    }
  }
}

/// Iterations that have been made, and are handed out one by one.
class RankRounds {
 public:
  explicit RankRounds(const Device& device)
      : log_(device, 1, "a log of iterations"), read_(device, 1, "a log of iterations") {}

  /// For a batch: at most so many iterations.
  void begin(std::uint32_t most) {
    left_ = most, given_ = made_ = 0;
    best_ = std::numeric_limits<double>::infinity();
  }

  /// The next iteration, if it was made already or can be made together with others; its next members are
  /// those of the state then. Otherwise it is for the caller to make.
  template <class Share>
  std::optional<Settled> next(RankState<Share, cuda::CudaExecutor>& state) {
    if (given_ == made_) {
      if (!few(state).hold(state.sizes)) return {};
      make(state);
    }
    const RoundLog::Entry& entry = read_.data()->entries[given_++];
    state.sizes = entry.next;
    if (state.drops()) state.go_on_with(1 - state.now());
    return entry.settled;
  }

  /// Has every iteration that was made been handed out?
  bool all_given() const { return given_ == made_; }

  /// Takes note of an iteration of either kind, before its growth is in the state's total.
  template <class Share>
  void saw(const RankState<Share, cuda::CudaExecutor>& state, const Settled& settled) {
    --left_;
    best_ = std::min(best_, residual_of(settled, state.options.norm, state.options.dangling,
                                        state.total + settled.growth));
  }

 private:
  /// Of how many members, at most, iterations are made together: a thread for each on most GPUs.
  static constexpr std::uint64_t kMembersTogether = std::uint64_t{1} << 16;
  /// Blocks wait for each other the shorter the fewer they are: so many at least, and so many threads a
  /// member, before the launch ends for want of threads.
  static constexpr std::uint64_t kFewestBlocks = 32, kThreadsOfMember = 8;

  /// A graph of no more edges lies in the L2 as a whole: neither a list's order nor a long row matters.
  static constexpr std::uint64_t kFewEdges = std::uint64_t{1} << 22;

  template <class Share>
  static Few few(const RankState<Share, cuda::CudaExecutor>& state) {
    if (state.own <= kMembersTogether && state.in.edges <= kFewEdges) return {kMembersTogether, true};
    return {std::min(kMembersTogether, state.own / kManyPart), false};
  }

  template <class Share>
  void make(RankState<Share, cuda::CudaExecutor>& state) {
    const unsigned now = state.now(), next = state.next();
    const cudaStream_t stream = state.executor.queue().get();
    state.clear_lists();
    state.executor.fill(log_.data(), 0, log_.bytes());
    const auto kernel = rounds_kernel<Share>;
    const unsigned at_once = cuda::blocks_at_once(kernel, kListBlock, 0);
    const auto blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(
        state.affected() * kThreadsOfMember / kListBlock, std::min<std::uint64_t>(kFewestBlocks, at_once),
        std::min<std::uint64_t>(kMembersTogether / kListBlock, at_once)));
    Few members = few(state);
    members.most = std::min(members.most, std::uint64_t{blocks} * kListBlock);
    const RoundLimits limits{
        std::min(left_, kRoundsAtOnce), members, state.options.tolerance, best_, state.total,
        state.options.dangling};
    cuda::launch_together(kernel, blocks, kListBlock, stream, state.view(), state.members(now),
                          state.members(next), state.sources(), state.sizes, limits, state.partial(),
                          log_.data());
    cuda::check(cudaMemcpyAsync(read_.data(), log_.data(), log_.bytes(), cudaMemcpyDeviceToHost, stream),
                "copying what iterations came to");
    state.read(next);
    given_ = 0, made_ = read_.data()->rounds;
  }

  Buffer<RoundLog> log_;
  Staging<RoundLog> read_;
  std::uint32_t left_ = 0;
  double best_ = 0;
  unsigned given_ = 0, made_ = 0;
};

}  // namespace sluice::pagerank
