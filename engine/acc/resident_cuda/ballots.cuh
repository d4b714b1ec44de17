// Ballots: sorted worklists from the marks of vertices, without atomics (SIMD-X's ballot filter). A warp
// reads its range of words of marks twice: first it counts, then it writes. The steps are count_marked(), a
// sync of the team, scan_marked(), and write_marked(). All threads of the team call each; marks must not
// change meanwhile. Over ranks, a swap runs between the steps, so that a ballot needs no further barrier.
// Vertices from other ranks, and a rank's next level, are appended by lanes: sorting them would take two more
// barriers of the grid, of a microsecond each.
//
// Measured on an H200, Kronecker 22, pushes alone: a search takes 2.75 ms by ballots, and 2.97 where lanes
// append (docs/papers.md, Fig. 12).
#pragma once

#include "engine/acc/resident_cuda/worklist.cuh"

namespace sluice::acc {

/// A range of words of marks.
struct WordRange {
  unsigned begin, end;
};

/// Calls body(v, list) for 32 vertices at a time, for words that have marks; `list` is kDegreeLists if v is
/// not marked.
template <class Body>
__device__ void for_each_marked(const WorklistView& view, unsigned parity, const WordRange& words,
                                Body&& body) {
  const unsigned lane = threadIdx.x % cuda::kWarp;
  for (unsigned base = words.begin; base < words.end; base += cuda::kWarp) {
    const std::uint32_t bits = base + lane < words.end ? view.bits[parity][base + lane] : 0;
    cuda::for_each_marked(base + lane, bits, [&](Vertex v, bool marked) {
      body(v, marked ? list_of_degree(view.degree(v)) : kDegreeLists);
    });
  }
}

/// Vertices that the warps before each warp put on each list; and where the block's parts begin.
struct BallotPositions {
  unsigned warp_counts[kDegreeLists][cuda::kTeamBlock / cuda::kWarp];
  unsigned begins[kDegreeLists];
};

/// The block's places, in shared memory.
__device__ __forceinline__ BallotPositions& ballot_positions() {
  __shared__ BallotPositions positions;
  return positions;
}

/// The warp's range of the words with own vertices. (Not inlined: that saves two registers in pushing
/// kernels.)
template <class Team>
__device__ __noinline__ WordRange words_of_warp(const Team& team, const WorklistView& view) {
  constexpr unsigned kWarps = cuda::kTeamBlock / cuda::kWarp;
  const auto first = static_cast<unsigned>(view.first / 32),
             last = static_cast<unsigned>((view.last + 31) / 32);
  const unsigned warps = team.blocks() * kWarps, share = (last - first + warps - 1) / warps,
                 begin = min(last, first + share * (team.block() * kWarps + threadIdx.x / cuda::kWarp));
  return {begin, min(last, begin + share)};
}

/// First step: counts marked vertices; also calls visit(valid, v) for each.
template <class Team, class Visit = NoVisit>
__device__ void count_marked(const Team& team, const WorklistView& view, const RoundBuffers& buffers,
                             const Visit& visit = {}) {
  BallotPositions& positions = ballot_positions();
  const unsigned lane = threadIdx.x % cuda::kWarp, warp = threadIdx.x / cuda::kWarp;
  unsigned count = 0;  // lane i counts list i
  for_each_marked(view, buffers.next, words_of_warp(team, view), [&](Vertex v, unsigned list) {
    for (unsigned i = 0; i < kDegreeLists; ++i) {
      const unsigned lanes = __ballot_sync(~0u, list == i);
      if (lane == i) count += static_cast<unsigned>(__popc(lanes));
    }
    visit(list != kDegreeLists, v);
  });
  if (lane < kDegreeLists) positions.warp_counts[lane][warp] = count;
  __syncthreads();
  if (threadIdx.x < kDegreeLists) {
    unsigned sum = 0;
#pragma unroll 1  // fewer registers
    for (unsigned& warp_count : positions.warp_counts[threadIdx.x]) {
      const unsigned own_count = warp_count;
      warp_count = sum, sum += own_count;
    }
    view.block_counts[threadIdx.x * team.blocks() + team.block()] = sum;
  }
}

/// Second step: computes places. The lists' sizes are valid after the team's next sync.
template <class Team>
__device__ void scan_marked(const Team& team, const WorklistView& view, const RoundBuffers& buffers) {
  const unsigned lane = threadIdx.x % cuda::kWarp, list = threadIdx.x / cuda::kWarp;
  if (list < kDegreeLists) {
    // The first block has no blocks before it, and computes the total instead.
    const bool first = team.block() == 0;
    const unsigned end = first ? team.blocks() : team.block();
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned block = lane; block < end; block += cuda::kWarp)
      sum += load(view.block_counts + list * team.blocks() + block);
    sum = __reduce_add_sync(~0u, sum);
    if (lane == 0) {
      ballot_positions().begins[list] = first ? 0 : sum;
      if (first) buffers.next_counts->sizes[list] = sum;
    }
  }
  __syncthreads();
}

template <class Team>
__device__ void write_marked(const Team& team, const WorklistView& view, const RoundBuffers& buffers) {
  const BallotPositions& positions = ballot_positions();
  const unsigned lane = threadIdx.x % cuda::kWarp, warp = threadIdx.x / cuda::kWarp;
  unsigned next = lane < kDegreeLists ? positions.begins[lane] + positions.warp_counts[lane][warp] : 0;
  for_each_marked(view, buffers.next, words_of_warp(team, view), [&](Vertex v, unsigned list) {
    unsigned position = __shfl_sync(~0u, next, static_cast<int>(list));
    for (unsigned i = 0; i < kDegreeLists; ++i) {
      const unsigned lanes = __ballot_sync(~0u, list == i);
      if (list == i) position += static_cast<unsigned>(__popc(lanes & ((1u << lane) - 1)));
      if (lane == i) next += static_cast<unsigned>(__popc(lanes));
    }
    if (list != kDegreeLists) view.list(buffers.next, list)[position] = v;
  });
}

template <class Team>
__device__ void collect_sorted(const Team& team, const WorklistView& view, const RoundBuffers& buffers) {
  count_marked(team, view, buffers);
  team.sync();
  scan_marked(team, view, buffers);
  write_marked(team, view, buffers);
}

/// Must the next lists come from a ballot, by the filter or as a bin overflowed?
__device__ __forceinline__ bool needs_ballot(const WorklistView& view, const RoundBuffers& buffers) {
  return view.filter == AccFilter::ballot || load(&buffers.counts->overflow) != 0;
}

/// Makes the next round's lists of a whole graph after a round that `pulled` or pushed. All threads of the
/// team call it.
template <class Team>
__device__ void collect(const Team& team, const WorklistView& view, const RoundBuffers& buffers,
                        const Finder& finder, bool pulled) {
  if (pulled || needs_ballot(view, buffers)) return collect_sorted(team, view, buffers);
  if (view.filter == AccFilter::batch) return collect_batch(team, view, buffers);
  collect_bins(view, buffers, finder);
}

}  // namespace sluice::acc
