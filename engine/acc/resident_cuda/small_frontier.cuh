// Rounds of a vote with small frontiers, in one cluster of thread blocks: road graphs have thousands of them,
// each with so little to do that a grid's barriers and the worklists on the way to them take longer than the
// work. Here a round is a chain of as few reads as there can be, and one barrier: active vertices and where
// their lists begin stay in shared memory, four lanes take a vertex's edges, and a minimum settles a target
// at once (kEarliest in program.hpp), so that there are no marks and nothing to collect or to clear. On an
// H200 a round of a search over a grid of 4096 x 4096 vertices takes 3.4 us so, and took 15.9 by the whole
// grid of blocks. Over ranks a cluster makes rounds of a rank that alone has active vertices, none of them a
// neighbour of another rank's: the others wait in their kernels.
#pragma once

#include "engine/acc/resident_cuda/cluster.cuh"
#include "engine/acc/resident_cuda/vote.cuh"

namespace sluice::acc {

/// Lanes that share a vertex: what a road or a mesh has of neighbours.
inline constexpr unsigned kVertexLanes = 4;
/// A cluster takes rounds up to so many vertices, and so many edges.
inline constexpr unsigned kMostClusterVertices = 16384, kMostClusterEdges = 4 * kMostClusterVertices;
/// So many vertices are four warps' of one block, which wait for themselves alone.
inline constexpr unsigned kMostBlockVertices = 32, kBlockThreads = kMostBlockVertices * kVertexLanes;
/// Vertices on a block's list: four times its share, and so many that a block has a processor of its own.
inline constexpr unsigned kClusterList = 4 * kMostClusterVertices / kClusterBlocks;

/// An active vertex, and its list.
struct FrontierVertex {
  Vertex vertex = 0;
  unsigned degree = 0;
  EdgeIndex begin = 0;
};

/// What a block has found for the next round.
struct FrontierCount {
  unsigned active = 0;  ///< sent to all: and kTooLarge, where `too_large`
  unsigned edges = 0;
};

struct CountedFrontier : FrontierCount {
  unsigned too_large = 0;  ///< is some of it no cluster's work?
};

/// Above the sum of what all blocks find, and so low that their flags have a sum.
inline constexpr unsigned kTooLarge = 1u << 20;

/// A block's shared memory.
template <class Round>
struct SmallFrontierMemory {
  FrontierVertex lists[2][kClusterList];  ///< what a round reads, and what it makes
  FrontierCount sent[2][kClusterBlocks];  ///< by all blocks, of those lists
  CountedFrontier made[3];                ///< by this block so far; of the round after the next, cleared
  unsigned over[2];                       ///< is the first block through alone, by the round?
  Round last;                             ///< that the first block has made alone
  FrontierCount found;                    ///< in it
  TimedTotals totals;                     ///< the first block's
};

// ---- kernels

/// A block's part.
template <class View>
class SmallFrontierRounds {
  using Round = typename View::Round;

 public:
  __device__ SmallFrontierRounds(const View& view, SmallFrontierMemory<Round>& memory)
      : view_(view), memory_(memory), block_(team_.block()), lane_(threadIdx.x % cuda::kWarp) {}

  /// From a round that has work on, until none is active or a round is none for a cluster.
  __device__ void run() {
    Round was, now = *view_.state;
    take_lists(now);
    do {
      was = now;
      now = now.active <= kMostBlockVertices ? alone(was) : together(now);
    } while (now.blocks > 0);
    hand_over(was, now);
  }

 private:
  /// The vertices of a round that this block works on: of its own list, or of all lists, one after the other.
  struct Part {
    bool own = true;
    unsigned first = 0, count = 0;
    unsigned up_to = 0;  ///< how many the lists up to that of block `lane` have
  };

  __device__ FrontierVertex* list(unsigned round) const { return memory_.lists[round % 2]; }
  __device__ CountedFrontier& made(unsigned round) const { return memory_.made[round % 3]; }

  __device__ static unsigned share_of(unsigned size) { return (size + kClusterBlocks - 1) / kClusterBlocks; }

  /// Each block takes its share of the worklist, whose vertices are then no longer marked.
  __device__ void take_lists(const Round& now) {
    const RoundPlace place = view_.work.place(now.round);
    const unsigned size = place.found->sizes[0], share = share_of(size);
    const unsigned first = min(block_ * share, size);
    for (unsigned i = threadIdx.x; i < min(share, size - first); i += kClusterBlock) {
      const Vertex v = view_.work.list(place.now, 0)[first + i];
      view_.work.bits[place.now][v / 32] = 0;
      const EdgeIndex begin = view_.work.offsets[v];
      list(now.round)[i] = {v, static_cast<unsigned>(view_.work.offsets[v + 1ull] - begin), begin};
    }
    if (threadIdx.x < 3) memory_.made[threadIdx.x] = {};
    if (threadIdx.x < 2) memory_.over[threadIdx.x] = 0;
    if (threadIdx.x == 0) memory_.totals = *view_.trace.totals;
    if (threadIdx.x < kClusterBlocks)
      memory_.sent[now.round % 2][threadIdx.x] = {min(share, size - min(threadIdx.x * share, size)), 0};
    team_.sync();
    if (block_ == 0 && threadIdx.x < 3) view_.work.counts[threadIdx.x] = {};  // all have read sizes
    team_.sync();
  }

  /// What block `lane` has sent of a round's list.
  __device__ FrontierCount sent(unsigned round) const {
    return lane_ < kClusterBlocks ? memory_.sent[round % 2][lane_] : FrontierCount{};
  }

  /// What this block has found for a round.
  __device__ FrontierCount found_for(unsigned round) const {
    const CountedFrontier& count = made(round);
    return {count.active + (count.too_large != 0 ? kTooLarge : 0), count.edges};
  }

  /// The round behind the one that has found so much. Its `blocks` are 0 where it is none for a cluster.
  __device__ Round next_of(const Round& was, const FrontierCount& all) const {
    RoundCounts found;
    found.active = all.active % kTooLarge, found.active_edges = all.edges;
    Round next = after(view_, was, found);
    next.blocks = next.active > 0 && !next.pull && all.active < kTooLarge &&
                  next.active <= kMostClusterVertices && next.active_edges <= kMostClusterEdges;
    return next;
  }

  __device__ Round next_of(const Round& was) const {
    const FrontierCount of_lane = sent(was.round + 1);
    return next_of(was, {__reduce_add_sync(~0u, of_lane.active), __reduce_add_sync(~0u, of_lane.edges)});
  }

  __device__ Round together(const Round& now) {
    const auto active = static_cast<unsigned>(now.active), share = share_of(active);
    const unsigned first = min(block_ * share, active);
    push(now, {false, first, min(share, active - first), up_to(sent(now.round).active)});
    __syncthreads();
    if (threadIdx.x < kClusterBlocks)
      team_.of(memory_.sent[(now.round + 1) % 2], threadIdx.x)[block_] = found_for(now.round + 1);
    if (block_ == 0 && threadIdx.x == kClusterBlock - 1) trace(now);  // others have more to do
    team_.sync();
    return next_of(now);
  }

  /// The first block goes on until it has too much for itself; `was` becomes the last round that it made.
  __device__ Round alone(Round& was) {
    if (block_ == 0) {
      Round now = was;
      Part part{false, 0, static_cast<unsigned>(now.active), up_to(sent(now.round).active)};
      for (unsigned round = now.round;; ++round) {
        const bool works = threadIdx.x < kBlockThreads;
        if (works) push(now, part);
        __syncthreads();
        if (memory_.over[round % 2] != 0) break;
        if (!works) continue;
        if (threadIdx.x == kBlockThreads - 1) trace(now);
        const Round next = next_of(now, found_for(now.round + 1));
        if (next.blocks != 0 && next.active <= kMostBlockVertices) {
          now = next;
          part = {true, 0, static_cast<unsigned>(next.active), 0};
        } else {  // which the other warps see behind one more barrier
          part = {};
          if (threadIdx.x == 0) memory_.over[(round + 1) % 2] = 1;
        }
      }
      if (threadIdx.x < kClusterBlocks) {
        *team_.of(&memory_.last, threadIdx.x) = now;
        *team_.of(&memory_.found, threadIdx.x) = found_for(now.round + 1);
      }
    }
    team_.sync();
    was = memory_.last;
    if (threadIdx.x < kClusterBlocks)
      memory_.sent[(was.round + 1) % 2][threadIdx.x] = threadIdx.x == 0 ? memory_.found : FrontierCount{};
    if (threadIdx.x < 3) memory_.made[threadIdx.x] = {};
    if (threadIdx.x < 2) memory_.over[threadIdx.x] = 0;
    __syncthreads();
    return next_of(was);
  }

  /// The sum of what lanes up to this one have.
  __device__ unsigned up_to(unsigned of_lane) const {
    for (unsigned step = 1; step < kClusterBlocks; step *= 2) {
      const unsigned more = __shfl_up_sync(~0u, of_lane, step);
      if (lane_ >= step) of_lane += more;
    }
    return of_lane;
  }

  /// Vertex i of a part, with no edges where it has none; every lane of the warp must come.
  __device__ FrontierVertex vertex(unsigned round, const Part& part, unsigned i) const {
    const bool valid = i < part.count;
    if (part.own) return valid ? list(round)[i] : FrontierVertex{};
    unsigned owner = 0, before = 0;
    for (unsigned b = 0; b < kClusterBlocks; ++b) {
      const unsigned up_to_b = __shfl_sync(~0u, part.up_to, static_cast<int>(b));
      if (part.first + i >= up_to_b) owner = b + 1, before = up_to_b;
    }
    return valid ? team_.of(list(round), owner)[part.first + i - before] : FrontierVertex{};
  }

  __device__ void push(const Round& now, const Part& part) {
    if (threadIdx.x == 0) made(now.round + 2) = {};
    const unsigned sub = threadIdx.x % kVertexLanes;
    for (unsigned i = threadIdx.x / kVertexLanes; __any_sync(~0u, i < part.count);
         i += kClusterBlock / kVertexLanes) {
      const FrontierVertex u = vertex(now.round, part, i);
      if (sub == 0 && i < part.count) take_bit(view_.settled, u.vertex);
      for (unsigned k = sub; __any_sync(~0u, k < u.degree); k += kVertexLanes)
        look(now, k < u.degree, u.vertex, u.begin + k);
    }
  }

  /// Is v a neighbour of another rank's vertex?
  __device__ bool at_boundary(Vertex v) const {
    if constexpr (View::Peers::kAlone)
      return false;
    else
      return has_bit(view_.peers.boundary, v);
  }

  __device__ EdgeIndex offset(std::uint64_t v) const {
    return __ldg(reinterpret_cast<const unsigned long long*>(view_.work.offsets + v));
  }

  /// Sends along an edge, where `valid`; every lane of the warp must come.
  __device__ void look(const Round& now, bool valid, Vertex u, EdgeIndex e) {
    const AccRound at = round_of(now);
    FrontierVertex to;
    bool news = false;
    if (valid) {
      to.vertex = __ldg(view_.out.targets + e);  // what never changes stays near over barriers
      const auto value = view_.program.compute({u, to.vertex, e, at, view_.states, view_.out.weights});
      // Asked for beside the minimum, for then it is there as soon as that is.
      to.begin = offset(to.vertex);
      const EdgeIndex degree = offset(to.vertex + 1ull) - to.begin;
      const auto before = fetch_min(view_.states + to.vertex, value);
      news = value < before && !view_.program.settled(before) && view_.program.active(value, before, at);
      to.degree = static_cast<unsigned>(min(degree, EdgeIndex{kWarpDegree}));
      const bool none_of_cluster = degree >= kWarpDegree || at_boundary(to.vertex);
      if (news && none_of_cluster) atomicExch(&made(now.round + 1).too_large, 1u);
    }
    const unsigned lanes = __ballot_sync(~0u, news);
    if (lanes == 0) return;
    const unsigned edges = __reduce_add_sync(~0u, news ? to.degree : 0);
    unsigned place = 0;
    if (lane_ == 0) {
      place = atomicAdd(&made(now.round + 1).active, static_cast<unsigned>(__popc(lanes)));
      atomicAdd(&made(now.round + 1).edges, edges);
    }
    place = __shfl_sync(~0u, place, 0) + static_cast<unsigned>(__popc(lanes & ((1u << lane_) - 1)));
    if (news && place < kClusterList) {
      list(now.round + 1)[place] = to;
      if (to.degree > 0) asm volatile("prefetch.global.L2 [%0];" ::"l"(view_.out.targets + to.begin));
    }
    if (__any_sync(~0u, news && place >= kClusterList)) {
      if (lane_ == 0) atomicExch(&made(now.round + 1).too_large, 1u);
      hand_over(view_.work.place(now.round), news && place >= kClusterList, to.vertex);
    }
  }

  /// Puts v where a grid's round looks for it, where `valid`; every lane of the warp must come.
  __device__ void hand_over(const RoundPlace& place, bool valid, Vertex v) const {
    if (valid) {
      take_bit(view_.work.bits[place.next], v);
      take_bit(view_.settled, v);
    }
    const auto edges = cuda::warp_sum(valid ? view_.work.edges(v) : 0);
    if (lane_ == 0) atomicAdd(&place.made->active_edges, edges);
    append(view_.work, place, valid, v);
  }

  /// Leaves everything as the grid's rounds do, whose next one `now` is.
  __device__ void hand_over(Round was, const Round& now) {
    const RoundPlace place = view_.work.place(was.round);
    const unsigned of_block = __shfl_sync(~0u, sent(now.round).active, static_cast<int>(block_)),
                   count = min(of_block % kTooLarge, kClusterList);
    for (unsigned i = threadIdx.x; __any_sync(~0u, i < count); i += kClusterBlock)
      hand_over(place, i < count, i < count ? list(now.round)[i].vertex : 0);
    team_.sync();
    if (block_ != 0 || threadIdx.x != 0) return;
    RoundCounts found;
    found.active = now.active;
    found.active_edges = atomicExch(&place.made->active_edges, 0ull);
    was.small_rounds = 0;
    Round next = after(view_, was, found);
    if constexpr (!View::Peers::kAlone) next.unsent = 1;
    *view_.state = next;
    *view_.trace.totals = memory_.totals;
  }

  /// By one thread of the first block.
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
