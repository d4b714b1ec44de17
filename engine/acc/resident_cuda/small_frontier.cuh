// Rounds of a vote with small frontiers, in one cluster of thread blocks. Road graphs have thousands of
// rounds, each with so little work that a grid's barriers and worklists take longer. Here a round is a chain
// of as few dependent reads as possible, and one barrier. Active vertices and the begins of their lists stay
// in shared memory, and four lanes take a vertex's edges. A minimum settles a target at once (kEarliest in
// program.hpp), so there are no marks to collect or clear. On an H200 a round of a search over a grid of 4096
// x 4096 vertices takes 3.4 us this way, and 15.9 us by the whole grid of blocks. Over ranks, a cluster runs
// rounds of the only rank with active vertices, none of them a neighbour of another rank's; the others wait
// in their kernels.
#pragma once

#include "engine/acc/resident_cuda/cluster.cuh"
#include "engine/acc/resident_cuda/vote.cuh"

namespace sluice::acc {

/// Lanes that share a vertex: as many as a vertex of a road graph or a mesh has neighbours.
inline constexpr unsigned kVertexLanes = 4;
/// The most vertices and edges of a round that a cluster runs.
inline constexpr unsigned kMaxClusterVertices = 16384, kMaxClusterEdges = 4 * kMaxClusterVertices;
/// Up to this many vertices are left to four warps of one block, without barriers of the cluster.
inline constexpr unsigned kMaxBlockVertices = 32, kBlockThreads = kMaxBlockVertices * kVertexLanes;
/// Capacity of a block's list: four times its share, and so large that each block occupies a multiprocessor.
inline constexpr unsigned kBlockListCapacity = 4 * kMaxClusterVertices / kClusterBlocks;

/// An active vertex, and its list.
struct FrontierVertex {
  Vertex vertex = 0;
  unsigned degree = 0;
  EdgeIndex begin = 0;
};

/// Counts of vertices that a block has activated for the next round.
struct FrontierCount {
  unsigned active = 0;  ///< as sent to all blocks: plus kTooLarge if `too_large`
  unsigned edges = 0;
};

struct CountedFrontier : FrontierCount {
  unsigned too_large = 0;  ///< not 0: too much work for a cluster
};

/// More than all blocks can count, and small enough that the sum of all blocks' flags does not overflow.
inline constexpr unsigned kTooLarge = 1u << 20;

/// A block's shared memory.
template <class Round>
struct SmallFrontierMemory {
  FrontierVertex lists[2][kBlockListCapacity];  ///< lists read and written by a round
  FrontierCount sent[2][kClusterBlocks];  ///< counts sent by all blocks, for those lists
  CountedFrontier counted[3];             ///< of this block; cleared for the round after the next
  unsigned block_ended[2];                ///< by round: has the first block ended its rounds alone?
  Round last;                             ///< last round that the first block ran alone
  FrontierCount found;                    ///< counts of that round
  TimedTotals totals;                     ///< of the first block
};

// ---- kernels

/// One block's part of the rounds.
template <class View>
class SmallFrontierRounds {
  using Round = typename View::Round;

 public:
  __device__ SmallFrontierRounds(const View& view, SmallFrontierMemory<Round>& memory)
      : view_(view), memory_(memory), block_(team_.block()), lane_(threadIdx.x % cuda::kWarp) {}

  /// Runs rounds until no vertex is active, or a round is too large for a cluster.
  __device__ void run() {
    Round previous, now = *view_.state;
    load_lists(now);
    do {
      previous = now;
      now = now.active <= kMaxBlockVertices ? run_block(previous) : run_cluster(now);
    } while (now.blocks > 0);
    export_state(previous, now);
  }

 private:
  /// The vertices that this block processes: on its own list, or on all lists, one after the other.
  struct Part {
    bool own_list = true;
    unsigned first = 0, count = 0;
    unsigned prefix_sum = 0;  ///< total size of the lists of blocks 0 to `lane`
  };

  __device__ FrontierVertex* list(unsigned round) const { return memory_.lists[round % 2]; }
  __device__ CountedFrontier& counted(unsigned round) const { return memory_.counted[round % 3]; }

  __device__ static unsigned share_of(unsigned size) { return (size + kClusterBlocks - 1) / kClusterBlocks; }

  /// Each block takes its share of the worklist; clears the marks of its vertices.
  __device__ void load_lists(const Round& now) {
    const RoundBuffers buffers = view_.work.buffers(now.round);
    const unsigned size = buffers.counts->sizes[0], share = share_of(size);
    const unsigned first = min(block_ * share, size);
    for (unsigned i = threadIdx.x; i < min(share, size - first); i += kClusterBlock) {
      const Vertex v = view_.work.list(buffers.now, 0)[first + i];
      view_.work.bits[buffers.now][v / 32] = 0;
      const EdgeIndex begin = view_.work.offsets[v];
      list(now.round)[i] = {v, static_cast<unsigned>(view_.work.offsets[v + 1ull] - begin), begin};
    }
    if (threadIdx.x < 3) memory_.counted[threadIdx.x] = {};
    if (threadIdx.x < 2) memory_.block_ended[threadIdx.x] = 0;
    if (threadIdx.x == 0) memory_.totals = *view_.trace.totals;
    if (threadIdx.x < kClusterBlocks)
      memory_.sent[now.round % 2][threadIdx.x] = {min(share, size - min(threadIdx.x * share, size)), 0};
    team_.sync();
    if (block_ == 0 && threadIdx.x < 3) view_.work.counts[threadIdx.x] = {};  // all have read the sizes
    team_.sync();
  }

  /// The counts that block `lane` has sent for a round.
  __device__ FrontierCount sent(unsigned round) const {
    return lane_ < kClusterBlocks ? memory_.sent[round % 2][lane_] : FrontierCount{};
  }

  /// This block's counts for a round.
  __device__ FrontierCount found_for(unsigned round) const {
    const CountedFrontier& count = counted(round);
    return {count.active + (count.too_large != 0 ? kTooLarge : 0), count.edges};
  }

  /// The round after `previous`, which found `total`. Its `blocks` are 0 if it is too large for a cluster.
  __device__ Round next_of(const Round& previous, const FrontierCount& total) const {
    RoundCounts found;
    found.active = total.active % kTooLarge, found.active_edges = total.edges;
    Round next = next_round(view_, previous, found);
    next.blocks = next.active > 0 && !next.pull && total.active < kTooLarge &&
                  next.active <= kMaxClusterVertices && next.active_edges <= kMaxClusterEdges;
    return next;
  }

  __device__ Round next_of(const Round& previous) const {
    const FrontierCount of_lane = sent(previous.round + 1);
    return next_of(previous, {__reduce_add_sync(~0u, of_lane.active), __reduce_add_sync(~0u, of_lane.edges)});
  }

  __device__ Round run_cluster(const Round& now) {
    const auto active = static_cast<unsigned>(now.active), share = share_of(active);
    const unsigned first = min(block_ * share, active);
    push(now, {false, first, min(share, active - first), prefix_sum(sent(now.round).active)});
    __syncthreads();
    if (threadIdx.x < kClusterBlocks)
      team_.remote(memory_.sent[(now.round + 1) % 2], threadIdx.x)[block_] = found_for(now.round + 1);
    if (block_ == 0 && threadIdx.x == kClusterBlock - 1) trace(now);  // other threads have more work
    team_.sync();
    return next_of(now);
  }

  /// The first block runs rounds alone until one is too large; `previous` becomes the last round that it ran.
  __device__ Round run_block(Round& previous) {
    if (block_ == 0) {
      Round now = previous;
      Part part{false, 0, static_cast<unsigned>(now.active), prefix_sum(sent(now.round).active)};
      for (unsigned round = now.round;; ++round) {
        const bool is_worker = threadIdx.x < kBlockThreads;
        if (is_worker) push(now, part);
        __syncthreads();
        if (memory_.block_ended[round % 2] != 0) break;
        if (!is_worker) continue;
        if (threadIdx.x == kBlockThreads - 1) trace(now);
        const Round next = next_of(now, found_for(now.round + 1));
        if (next.blocks != 0 && next.active <= kMaxBlockVertices) {
          now = next;
          part = {true, 0, static_cast<unsigned>(next.active), 0};
        } else {  // other warps see it after one more barrier
          part = {};
          if (threadIdx.x == 0) memory_.block_ended[(round + 1) % 2] = 1;
        }
      }
      if (threadIdx.x < kClusterBlocks) {
        *team_.remote(&memory_.last, threadIdx.x) = now;
        *team_.remote(&memory_.found, threadIdx.x) = found_for(now.round + 1);
      }
    }
    team_.sync();
    previous = memory_.last;
    if (threadIdx.x < kClusterBlocks)
      memory_.sent[(previous.round + 1) % 2][threadIdx.x] =
          threadIdx.x == 0 ? memory_.found : FrontierCount{};
    if (threadIdx.x < 3) memory_.counted[threadIdx.x] = {};
    if (threadIdx.x < 2) memory_.block_ended[threadIdx.x] = 0;
    __syncthreads();
    return next_of(previous);
  }

  /// Inclusive prefix sum over lanes.
  __device__ unsigned prefix_sum(unsigned value) const {
    for (unsigned step = 1; step < kClusterBlocks; step *= 2) {
      const unsigned lower = __shfl_up_sync(~0u, value, step);
      if (lane_ >= step) value += lower;
    }
    return value;
  }

  /// Vertex i of a part, or one without edges if there is none; every lane of the warp must call it.
  __device__ FrontierVertex vertex(unsigned round, const Part& part, unsigned i) const {
    const bool valid = i < part.count;
    if (part.own_list) return valid ? list(round)[i] : FrontierVertex{};
    unsigned owner = 0, before = 0;
    for (unsigned b = 0; b < kClusterBlocks; ++b) {
      const unsigned block_end = __shfl_sync(~0u, part.prefix_sum, static_cast<int>(b));
      if (part.first + i >= block_end) owner = b + 1, before = block_end;
    }
    return valid ? team_.remote(list(round), owner)[part.first + i - before] : FrontierVertex{};
  }

  __device__ void push(const Round& now, const Part& part) {
    if (threadIdx.x == 0) counted(now.round + 2) = {};
    const unsigned sub = threadIdx.x % kVertexLanes;
    for (unsigned i = threadIdx.x / kVertexLanes; __any_sync(~0u, i < part.count);
         i += kClusterBlock / kVertexLanes) {
      const FrontierVertex u = vertex(now.round, part, i);
      if (sub == 0 && i < part.count) set_bit(view_.settled, u.vertex);
      for (unsigned k = sub; __any_sync(~0u, k < u.degree); k += kVertexLanes)
        visit_edge(now, k < u.degree, u.vertex, u.begin + k);
    }
  }

  /// Has v a neighbour on another rank?
  __device__ bool at_boundary(Vertex v) const {
    if constexpr (View::Peers::kSingleRank)
      return false;
    else
      return has_bit(view_.peers.boundary, v);
  }

  __device__ EdgeIndex offset(std::uint64_t v) const {
    return __ldg(reinterpret_cast<const unsigned long long*>(view_.work.offsets + v));
  }

  /// Sends a value along an edge, if `valid`; every lane of the warp must call it.
  __device__ void visit_edge(const Round& now, bool valid, Vertex u, EdgeIndex e) {
    const AccRound at = now.at();
    FrontierVertex target;
    bool activated = false;
    if (valid) {
      target.vertex = __ldg(view_.out.targets + e);  // read-only loads stay in L1 across barriers
      const auto value = view_.program.compute({u, target.vertex, e, at, view_.states, view_.out.weights});
      // Loaded in parallel with the atomic minimum, to be available at the same time.
      target.begin = offset(target.vertex);
      const EdgeIndex degree = offset(target.vertex + 1ull) - target.begin;
      const auto before = fetch_min(view_.states + target.vertex, value);
      activated = value < before && !view_.program.settled(before) && view_.program.active(value, before, at);
      target.degree = static_cast<unsigned>(min(degree, EdgeIndex{kWarpDegree}));
      const bool leaves_cluster = degree >= kWarpDegree || at_boundary(target.vertex);
      if (activated && leaves_cluster) atomicExch(&counted(now.round + 1).too_large, 1u);
    }
    const unsigned lanes = __ballot_sync(~0u, activated);
    if (lanes == 0) return;
    const unsigned edges = __reduce_add_sync(~0u, activated ? target.degree : 0);
    unsigned position = 0;
    if (lane_ == 0) {
      position = atomicAdd(&counted(now.round + 1).active, static_cast<unsigned>(__popc(lanes)));
      atomicAdd(&counted(now.round + 1).edges, edges);
    }
    position = __shfl_sync(~0u, position, 0) + static_cast<unsigned>(__popc(lanes & ((1u << lane_) - 1)));
    if (activated && position < kBlockListCapacity) {
      list(now.round + 1)[position] = target;
      if (target.degree > 0) asm volatile("prefetch.global.L2 [%0];" ::"l"(view_.out.targets + target.begin));
    }
    if (__any_sync(~0u, activated && position >= kBlockListCapacity)) {
      if (lane_ == 0) atomicExch(&counted(now.round + 1).too_large, 1u);
      export_vertex(view_.work.buffers(now.round), activated && position >= kBlockListCapacity,
                    target.vertex);
    }
  }

  /// Puts v on the grid's worklists, if `valid`; every lane of the warp must call it.
  __device__ void export_vertex(const RoundBuffers& buffers, bool valid, Vertex v) const {
    if (valid) {
      set_bit(view_.work.bits[buffers.next], v);
      set_bit(view_.settled, v);
    }
    const auto edges = cuda::warp_sum(valid ? view_.work.edges(v) : 0);
    if (lane_ == 0) atomicAdd(&buffers.next_counts->active_edges, edges);
    append(view_.work, buffers, valid, v);
  }

  /// Leaves all state as the grid's rounds expect it; `now` is their next round.
  __device__ void export_state(Round previous, const Round& now) {
    const RoundBuffers buffers = view_.work.buffers(previous.round);
    const unsigned sent_count = __shfl_sync(~0u, sent(now.round).active, static_cast<int>(block_)),
                   count = min(sent_count % kTooLarge, kBlockListCapacity);
    for (unsigned i = threadIdx.x; __any_sync(~0u, i < count); i += kClusterBlock)
      export_vertex(buffers, i < count, i < count ? list(now.round)[i].vertex : 0);
    team_.sync();
    if (block_ != 0 || threadIdx.x != 0) return;
    RoundCounts found;
    found.active = now.active;
    found.active_edges = atomicExch(&buffers.next_counts->active_edges, 0ull);
    previous.small_rounds = 0;
    Round next = next_round(view_, previous, found);
    if constexpr (!View::Peers::kSingleRank) next.unsent = 1;
    *view_.state = next;
    *view_.trace.totals = memory_.totals;
  }

  /// Called by one thread of the first block.
  __device__ void trace(const Round& now) {
    TraceView{&memory_.totals, view_.trace.rounds}.add({.active = now.active, .edges = now.active_edges});
  }

  const View& view_;
  SmallFrontierMemory<Round>& memory_;
  ClusterTeam team_;
  unsigned block_, lane_;
};

template <class View>
__global__ void __launch_bounds__(kClusterBlock) small_frontier_kernel(View view) {
  extern __shared__ __align__(16) unsigned char shared[];
  using Memory = SmallFrontierMemory<typename View::Round>;
  SmallFrontierRounds<View>(view, *reinterpret_cast<Memory*>(shared)).run();
}

}  // namespace sluice::acc
