// Just-in-time task management (SIMD-X, section 4). A thread notes vertices that it activates in its own bin
// (the online filter); bins become three worklists by degree. If a bin overflows, the marks of all vertices
// are scanned instead, which also sorts the worklists (the ballot filter). The batch filter, the baseline,
// writes an entry for every edge and filters those.
//
// Measured on an H200 (docs/papers.md, Fig. 12): on a grid of 2^20 vertices a search takes 4.7 ms by bins and
// 40.0 by ballots alone. By pushes on Kronecker 22 it takes 3.1 ms by bins, 2.75 by ballots alone, and 99 by
// the batch filter.
#pragma once

#include "engine/acc/program.hpp"
#include "engine/acc/rounds/bits.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/algorithms/places.cuh"
#include "engine/exec/grid.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/traverse/worklists.cuh"
#include "partition/graph.hpp"

namespace sluice::acc {

/// Counts of a round, over all threads.
struct RoundCounts {
  unsigned long long active = 0;        ///< vertices active in the next round
  unsigned long long active_edges = 0;  ///< their edges
  unsigned long long edges = 0;         ///< edges read
  unsigned long long lowest = ~0ull;    ///< lowest remaining level
  unsigned long long batched = 0;       ///< used entries of the batch
  unsigned long long refilled = 0;      ///< vertices of the next level
  unsigned long long refilled_edges = 0;
  unsigned long long remaining = 0;   ///< vertices of this level or later ones
  unsigned later = 0;                 ///< vertices of later levels that were listed
  unsigned overflow = 0;              ///< not 0: a bin overflowed
  unsigned sizes[kDegreeLists] = {};  ///< sizes of the worklists that this round reads
};

/// The buffers of a round. Lists and marks have two copies: one that the round reads, one that it writes.
/// Counts have three: those of the previous round are no longer needed, and are cleared for the round after
/// the next.
struct RoundBuffers {
  unsigned now = 0, next = 1;    ///< indices of lists and marks
  RoundCounts* counts = nullptr;       ///< counts of this round; `sizes` are of the lists it reads
  RoundCounts* next_counts = nullptr;  ///< its `sizes` are of the lists it writes
  RoundCounts* spare_counts = nullptr;
};

/// Number of vertices for each worklist.
struct ListSizes {
  unsigned by_class[kDegreeLists] = {};  ///< vertices by degree class
};

/// Worklists of a whole graph, or of a rank: of its own vertices and those with edges to them. Pointers are
/// to device memory.
struct WorklistView {
  std::uint64_t first = 0, last = 0;   ///< own vertices
  std::uint64_t vertices = 0;          ///< of all ranks
  const EdgeIndex* offsets = nullptr;  ///< offsets[v]: begin of v's list on this device
  const EdgeIndex* degrees = nullptr;  ///< offsets of own vertices' lists on all ranks
  ListSizes begins;                    ///< begin of each worklist in `lists`
  Vertex* lists[2] = {};               ///< [vertices]
  std::uint32_t* bits[2] = {};         ///< bits of active vertices
  Vertex* bins = nullptr;              ///< [bin][threads]
  unsigned bin_capacity = 0;
  std::uint64_t bin_stride = 0;
  Vertex* batch = nullptr;        ///< [edges], batch filter alone
  RoundCounts* counts = nullptr;  ///< [3]
  unsigned* block_counts = nullptr;  ///< [kDegreeLists][blocks] vertices that each block lists
  unsigned* arrived = nullptr;    ///< arrivals at barriers of a few blocks
  AccFilter filter = AccFilter::jit;
  bool few_blocks = true;

  __device__ std::uint64_t degree(Vertex v) const { return offsets[v + 1ull] - offsets[v]; }
  /// Edges of an own vertex on all ranks.
  __device__ std::uint64_t edges(Vertex v) const { return degrees[v + 1ull] - degrees[v]; }
  __device__ Vertex* list(unsigned parity, unsigned which) const {
    return lists[parity] + begins.by_class[which];
  }
  __device__ RoundBuffers buffers(std::uint32_t round) const {
    return {round % 2, (round + 1) % 2, counts + round % 3, counts + (round + 1) % 3,
            counts + (round + 2) % 3};
  }
};

/// The worklists that a round reads, in the form that loops over edges need.
struct ReadLists {
  const WorklistView& view;
  const RoundBuffers& buffers;

  __device__ unsigned size(unsigned which) const { return load(&buffers.counts->sizes[which]); }
  __device__ Vertex at(unsigned which, std::uint64_t i) const { return view.list(buffers.now, which)[i]; }
  __device__ EdgeIndex begin(std::uint64_t v) const { return view.offsets[v]; }
};

/// One thread's counts and bin in a round.
class Finder {
 public:
  __device__ Finder(const WorklistView& view, std::uint64_t rank, const RoundBuffers& buffers)
      : view_(view), rank_(rank), buffers_(buffers) {}

  unsigned long long edges = 0;  ///< edges read

  /// Marks v active in the next round; returns whether it was not yet marked.
  __device__ bool mark(Vertex v) {
    if (!set_bit(view_.bits[buffers_.next], v)) return false;
    count(v);
    return true;
  }

  /// Counts v, which is active in the next round and marked.
  __device__ void count(Vertex v) {
    ++active_;
    active_edges_ += view_.edges(v);
  }

  /// Adds v, which must be marked, to the bin.
  __device__ void add_to_bin(Vertex v) {
    if (view_.filter == AccFilter::ballot || view_.filter == AccFilter::batch) return;
    if (bin_size_ < view_.bin_capacity) {
      view_.bins[bin_size_++ * view_.bin_stride + rank_] = v;
    } else if (view_.filter == AccFilter::jit) {
      overflow_ = true;
    } else {
      const unsigned which = list_of_degree(view_.degree(v));
      view_.list(buffers_.next, which)[atomicAdd(&buffers_.next_counts->sizes[which], 1u)] = v;
    }
  }

  /// Adds the counts since the last call to the round's counts; every lane of the warp must call it.
  __device__ void report() {
    RoundCounts& counts = *buffers_.counts;
    const auto active = cuda::warp_sum(active_), active_edges = cuda::warp_sum(active_edges_),
               edges_read = cuda::warp_sum(edges);
    const bool overflow = __any_sync(~0u, overflow_);
    active_ = active_edges_ = edges = 0;
    if (threadIdx.x % cuda::kWarp != 0) return;
    if (active > 0) atomicAdd(&counts.active, active), atomicAdd(&counts.active_edges, active_edges);
    if (edges_read > 0) atomicAdd(&counts.edges, edges_read);
    if (overflow) atomicOr(&counts.overflow, 1u);
  }

  __device__ unsigned bin_size() const { return bin_size_; }
  __device__ Vertex bin_entry(unsigned i) const { return view_.bins[i * view_.bin_stride + rank_]; }

 private:
  const WorklistView& view_;
  std::uint64_t rank_;
  RoundBuffers buffers_;
  unsigned bin_size_ = 0;
  bool overflow_ = false;
  unsigned long long active_ = 0, active_edges_ = 0;
};

/// Appends v to the list of its degree class, if `valid`; every lane of the warp must call it.
__device__ __forceinline__ void append(const WorklistView& view, const RoundBuffers& buffers, bool valid,
                                       Vertex v) {
  const unsigned which = valid ? list_of_degree(view.degree(v)) : kDegreeLists;
  for (unsigned list = 0; list < kDegreeLists; ++list) {
    const unsigned lanes = __ballot_sync(~0u, which == list);
    if (lanes == 0) continue;
    const unsigned position = cuda::claim_positions(&buffers.next_counts->sizes[list], lanes, ~0u);
    if (which == list) view.list(buffers.next, list)[position] = v;
  }
}

/// Calls body(v, valid) for own vertices. All lanes of a warp call it equally often, for the vertices of one
/// word of bits.
template <class Team, class Body>
__device__ void over_vertices(const Team& team, const WorklistView& view, Body&& body) {
  for (std::uint64_t base = view.first / 32 * 32; base < view.last; base += team.size()) {
    const std::uint64_t v = base + team.rank();
    body(static_cast<Vertex>(v), v >= view.first && v < view.last);
  }
}

/// Default for `visit` below: does nothing beyond listing a vertex.
struct NoVisit {
  __device__ void operator()(bool, Vertex) const {}
};

/// Makes the next round's lists from threads' bins; warps call visit(valid, v) for each vertex.
template <class Visit = NoVisit>
__device__ __forceinline__ void collect_bins(const WorklistView& view, const RoundBuffers& buffers,
                                             const Finder& finder, const Visit& visit = {}) {
  for (unsigned i = 0; __any_sync(~0u, i < finder.bin_size()); ++i) {
    const bool valid = i < finder.bin_size();
    const Vertex v = valid ? finder.bin_entry(i) : 0;
    append(view, buffers, valid, v);
    visit(valid, v);
  }
}

/// Makes the next round's lists from the batch, which has an entry for every edge.
template <class Team>
__device__ void collect_batch(const Team& team, const WorklistView& view, const RoundBuffers& buffers) {
  cuda::for_each_in_warps(team, load(&buffers.counts->batched), [&](std::uint64_t i, bool valid) {
    const Vertex v = valid ? view.batch[i] : kNoVertex;
    append(view, buffers, v != kNoVertex, v);
  });
}

/// Unmarks the vertices of this round's worklists.
template <class Team>
__device__ void clear_listed(const Team& team, const WorklistView& view, const RoundBuffers& buffers) {
  for (unsigned which = 0; which < kDegreeLists; ++which) {
    const unsigned count = load(&buffers.counts->sizes[which]);
    for (std::uint64_t i = team.rank(); i < count; i += team.size())
      view.bits[buffers.now][view.list(buffers.now, which)[i] / 32] = 0;
  }
}

template <class Team>
__device__ void clear_marks(const Team& team, const WorklistView& view, const RoundBuffers& buffers) {
  for (std::uint64_t w = team.rank(); w < (view.vertices + 31) / 32; w += team.size())
    view.bits[buffers.now][w] = 0;
}

/// The number of blocks for a round: one or a few if they finish sooner than a grid's barrier would take; 0:
/// all. (It is computed before the worklists are complete, as a faster block may already change the data that
/// a later call would read.) Filters other than jit scan all marks, which needs the grid.
__device__ __forceinline__ unsigned blocks_for(const WorklistView& view, unsigned long long active,
                                               unsigned long long edges) {
  if (view.filter != AccFilter::jit || !view.few_blocks) return 0;
  const auto fits = [&](unsigned blocks) {
    const unsigned long long threads = std::uint64_t{blocks} * cuda::kTeamBlock;
    return active <= threads && edges <= 4 * threads;
  };
  if (fits(1)) return 1;
  return fits(cuda::kFewBlocks) ? cuda::kFewBlocks : 0;
}

}  // namespace sluice::acc
