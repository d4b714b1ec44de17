// Just-in-time task management (SIMD-X, section 4). A thread notes what it has made active in a bin of its
// own (the online filter); bins become three worklists by degree. Where a bin overflows, the marks of all
// vertices are looked through instead, which sorts the worklists (the ballot filter). The batch filter, the
// baseline, writes something for every edge and filters that.
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

/// What a round has found, of all threads.
struct RoundCounts {
  unsigned long long active = 0;        ///< vertices for the next round
  unsigned long long active_edges = 0;  ///< and their edges
  unsigned long long edges = 0;         ///< looked at
  unsigned long long lowest = ~0ull;    ///< of the levels that are left
  unsigned long long batched = 0;       ///< places of the batch that are taken
  unsigned long long refilled = 0;      ///< vertices of the next level
  unsigned long long refilled_edges = 0;
  unsigned long long left = 0;        ///< vertices of this or a later level
  unsigned rest = 0;                  ///< those of later ones that were listed
  unsigned overflow = 0;              ///< a bin was full
  unsigned sizes[kDegreeLists] = {};  ///< of the worklists that this round reads
};

/// What a round uses. Lists and marks are there twice: what it reads, and what it makes. Counts are there
/// three times: what the round before has found is done with, and is cleared for the round after the next.
struct RoundPlace {
  unsigned now = 0, next = 1;    ///< which lists and marks
  RoundCounts* found = nullptr;  ///< what this round finds; its sizes are of the lists it reads
  RoundCounts* made = nullptr;   ///< its sizes are of the lists it makes
  RoundCounts* spare = nullptr;
};

/// What worklists have a vertex for.
struct ListSizes {
  unsigned of[kDegreeLists] = {};  ///< vertices whose lists are of each degree
};

/// Of a whole graph's vertices, or of a rank's own and of those that lead to them. Pointers are to device
/// memory.
struct WorklistView {
  std::uint64_t first = 0, last = 0;   ///< own vertices
  std::uint64_t vertices = 0;          ///< of all ranks
  const EdgeIndex* offsets = nullptr;  ///< offsets[v] is where the list of v begins that is here
  const EdgeIndex* degrees = nullptr;  ///< the same of own vertices' lists, those of all ranks together
  ListSizes begins;                    ///< of each worklist in `lists`
  Vertex* lists[2] = {};               ///< [vertices]
  std::uint32_t* bits[2] = {};         ///< of active ones, by vertex
  Vertex* bins = nullptr;              ///< [bin][threads]
  unsigned bin = 0;
  std::uint64_t bin_stride = 0;
  Vertex* batch = nullptr;        ///< [edges], batch filter alone
  RoundCounts* counts = nullptr;  ///< [3]
  unsigned* of_blocks = nullptr;  ///< [kDegreeLists][blocks] what each puts on a list
  unsigned* arrived = nullptr;    ///< at barriers of a few blocks
  AccFilter filter = AccFilter::jit;
  bool few_blocks = true;

  __device__ std::uint64_t degree(Vertex v) const { return offsets[v + 1ull] - offsets[v]; }
  /// Of an own vertex, on all ranks.
  __device__ std::uint64_t edges(Vertex v) const { return degrees[v + 1ull] - degrees[v]; }
  __device__ Vertex* list(unsigned parity, unsigned which) const { return lists[parity] + begins.of[which]; }
  __device__ RoundPlace place(std::uint32_t round) const {
    return {round % 2, (round + 1) % 2, counts + round % 3, counts + (round + 1) % 3,
            counts + (round + 2) % 3};
  }
};

/// The worklists that a round reads, as loops over edges ask for them.
struct ReadLists {
  const WorklistView& view;
  const RoundPlace& place;

  __device__ unsigned size(unsigned which) const { return load(&place.found->sizes[which]); }
  __device__ Vertex at(unsigned which, std::uint64_t i) const { return view.list(place.now, which)[i]; }
  __device__ EdgeIndex begin(std::uint64_t v) const { return view.offsets[v]; }
};

/// One thread's part of a round: what it has found so far.
class Finder {
 public:
  __device__ Finder(const WorklistView& view, std::uint64_t rank, const RoundPlace& place)
      : view_(view), rank_(rank), place_(place) {}

  unsigned long long edges = 0;  ///< looked at

  /// Is it news that v is active in the next round?
  __device__ bool mark(Vertex v) {
    if (!take_bit(view_.bits[place_.next], v)) return false;
    count(v);
    return true;
  }

  /// v is active in the next round, and marked as such.
  __device__ void count(Vertex v) {
    ++active_;
    active_edges_ += view_.edges(v);
  }

  /// Notes v, which was marked.
  __device__ void note(Vertex v) {
    if (view_.filter == AccFilter::ballot || view_.filter == AccFilter::batch) return;
    if (noted_ < view_.bin) {
      view_.bins[noted_++ * view_.bin_stride + rank_] = v;
    } else if (view_.filter == AccFilter::jit) {
      overflow_ = true;
    } else {
      const unsigned which = list_of_degree(view_.degree(v));
      view_.list(place_.next, which)[atomicAdd(&place_.made->sizes[which], 1u)] = v;
    }
  }

  /// Adds what was found since the last time to the round's counts; every lane of the warp must come.
  __device__ void report() {
    RoundCounts& counts = *place_.found;
    const auto active = cuda::warp_sum(active_), active_edges = cuda::warp_sum(active_edges_),
               looked = cuda::warp_sum(edges);
    const bool overflow = __any_sync(~0u, overflow_);
    active_ = active_edges_ = edges = 0;
    if (threadIdx.x % cuda::kWarp != 0) return;
    if (active > 0) atomicAdd(&counts.active, active), atomicAdd(&counts.active_edges, active_edges);
    if (looked > 0) atomicAdd(&counts.edges, looked);
    if (overflow) atomicOr(&counts.overflow, 1u);
  }

  __device__ unsigned noted() const { return noted_; }
  __device__ Vertex noted(unsigned i) const { return view_.bins[i * view_.bin_stride + rank_]; }

 private:
  const WorklistView& view_;
  std::uint64_t rank_;
  RoundPlace place_;
  unsigned noted_ = 0;
  bool overflow_ = false;
  unsigned long long active_ = 0, active_edges_ = 0;
};

/// Puts v on the list of its degree, where `valid`; every lane of the warp must come.
__device__ __forceinline__ void append(const WorklistView& view, const RoundPlace& place, bool valid,
                                       Vertex v) {
  const unsigned which = valid ? list_of_degree(view.degree(v)) : kDegreeLists;
  for (unsigned list = 0; list < kDegreeLists; ++list) {
    const unsigned lanes = __ballot_sync(~0u, which == list);
    if (lanes == 0) continue;
    const unsigned at = cuda::take_places(&place.made->sizes[list], lanes, ~0u);
    if (which == list) view.list(place.next, list)[at] = v;
  }
}

/// Calls body(v, valid) for the vertices; all lanes of a warp come equally often, to those of a word of bits.
template <class Team, class Body>
__device__ void over_vertices(const Team& team, const WorklistView& view, Body&& body) {
  for (std::uint64_t base = view.first / 32 * 32; base < view.last; base += team.size()) {
    const std::uint64_t v = base + team.rank();
    body(static_cast<Vertex>(v), v >= view.first && v < view.last);
  }
}

/// What else is done with vertices that are put on lists, by whole warps: nothing.
struct ListOnly {
  __device__ void operator()(bool, Vertex) const {}
};

/// The next round's lists from what threads have noted; also(valid, v) for each.
template <class Also = ListOnly>
__device__ __forceinline__ void collect_bins(const WorklistView& view, const RoundPlace& place,
                                             const Finder& finder, const Also& also = {}) {
  for (unsigned i = 0; __any_sync(~0u, i < finder.noted()); ++i) {
    const bool valid = i < finder.noted();
    const Vertex v = valid ? finder.noted(i) : 0;
    append(view, place, valid, v);
    also(valid, v);
  }
}

/// The next round's lists from what was written for every edge.
template <class Team>
__device__ void collect_batch(const Team& team, const WorklistView& view, const RoundPlace& place) {
  cuda::over_all(team, load(&place.found->batched), [&](std::uint64_t i, bool valid) {
    const Vertex v = valid ? view.batch[i] : kNoVertex;
    append(view, place, v != kNoVertex, v);
  });
}

/// Unmarks what was active in a round that had worklists.
template <class Team>
__device__ void clear_listed(const Team& team, const WorklistView& view, const RoundPlace& place) {
  for (unsigned which = 0; which < kDegreeLists; ++which) {
    const unsigned count = load(&place.found->sizes[which]);
    for (std::uint64_t i = team.rank(); i < count; i += team.size())
      view.bits[place.now][view.list(place.now, which)[i] / 32] = 0;
  }
}

template <class Team>
__device__ void clear_marks(const Team& team, const WorklistView& view, const RoundPlace& place) {
  for (std::uint64_t w = team.rank(); w < (view.vertices + 31) / 32; w += team.size())
    view.bits[place.now][w] = 0;
}

/// How many blocks work on a round: one or a few where they are done sooner than a grid waits for itself; 0:
/// all. (It is asked before the worklists are complete, since a block that is ahead may already change what
/// it would be asked of later.) Other filters than the usual one look through all marks, which is a grid's
/// work.
__device__ __forceinline__ unsigned blocks_for(const WorklistView& view, unsigned long long active,
                                               unsigned long long edges) {
  if (view.filter != AccFilter::jit || !view.few_blocks) return 0;
  const auto hold = [&](unsigned blocks) {
    const unsigned long long threads = std::uint64_t{blocks} * cuda::kTeamBlock;
    return active <= threads && edges <= 4 * threads;
  };
  if (hold(1)) return 1;
  return hold(cuda::kFewBlocks) ? cuda::kFewBlocks : 0;
}

}  // namespace sluice::acc
