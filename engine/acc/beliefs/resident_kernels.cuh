// Kernels of beliefs that lie in the memory of GPUs (beliefs/resident_cuda.cu): where the edges of a graph,
// or of several ranks, are, and what is done to each.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "engine/acc/beliefs/kernels.cuh"
#include "engine/acc/beliefs/start.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/peer_memory.hpp"
#include "engine/exec/memory/shared_words.hpp"

namespace sluice::acc {

/// Lists in which those edges of a rank are looked up that lead to their vertices.
struct ReverseLists {
  CsrView lists;
  Vertex first = 0;                       ///< the vertex of the first list
  const std::uint32_t* places = nullptr;  ///< [edges] of another rank's lists, as PeerEdges has them
  EdgeIndex copies = 0;                   ///< and where copies of that one's messages begin
};

/// A whole graph.
struct OwnEdges {
  static constexpr bool kAlone = true;

  template <unsigned kStates>
  __device__ void send_copy(EdgeIndex, Vertex, const std::int64_t*, unsigned) const {}
};

/// The part of a rank, whose kernels reach the memory of others. What its vertices receive from those of
/// another rank, that one needs to know as well: it has copies of these messages, which lie in the order of
/// this one's lists.
struct PeerEdges {
  static constexpr bool kAlone = false;

  unsigned own = 0;
  OwnershipView owners;
  const std::uint32_t* places = nullptr;  ///< [own edges] among those to vertices of the same rank
  std::int64_t* copies[kMostPeers] = {};  ///< of own messages, in the memory of each other rank

  /// Neighbouring lanes write to neighbouring places, 16 bytes at a time where they can.
  template <unsigned kStates>
  __device__ void send_copy(EdgeIndex e, Vertex target, const std::int64_t* message, unsigned states) const {
    const unsigned rank = owners.owner(target);
    if (rank == own) return;
    std::int64_t* const to = copies[rank] + std::uint64_t{places[e]} * states;
    if constexpr (kStates == 2) {
      *reinterpret_cast<longlong2*>(to) = {message[0], message[1]};
    } else {
      for (unsigned x = 0; x < states; ++x) to[x] = message[x];
    }
  }
};

/// Products and messages of two rounds, which take turns.
struct BeliefMemory {
  LogProduct* products[2];    ///< [vertices][states]
  std::int64_t* messages[2];  ///< [edges and copies][states]

  static std::uint64_t bytes(std::uint64_t vertices, EdgeIndex edges, unsigned states) {
    return 2 * (vertices * states * sizeof(LogProduct) + aligned(edges * states) * sizeof(std::int64_t));
  }
  BeliefMemory(std::byte* memory, std::uint64_t vertices, EdgeIndex edges, unsigned states) {
    products[0] = reinterpret_cast<LogProduct*>(memory), products[1] = products[0] + vertices * states;
    messages[0] = reinterpret_cast<std::int64_t*>(products[1] + vertices * states);
    messages[1] = messages[0] + aligned(edges * states);
  }

  /// Round `round` reads what the one before has left, and leaves its own, of vertices from `first` on.
  SLUICE_HD void bind(BeliefPropagation& program, std::uint64_t round, std::uint64_t first) const {
    const bool odd = round % 2 != 0;
    program.before = odd ? products[0] : products[1];
    program.after = (odd ? products[1] : products[0]) + first * program.states;
    program.received = odd ? messages[0] : messages[1];
    program.incoming = odd ? messages[1] : messages[0];
  }

 private:
  static std::uint64_t aligned(std::uint64_t words) { return (words + 1) / 2 * 2; }  // to 16 bytes
};

/// All edges' messages, by a grid.
template <unsigned kStates, class Edges>
__device__ void compute_all(const BeliefPropagation& program, const Vertex* targets, EdgeIndex edges,
                            const Edges& all, BeliefTotals* totals) {
  for (EdgeIndex e = lane_of_grid(); e < edges; e += lanes_of_grid()) {
    if (program.reverse[e] == e) continue;
    if (!program.compute<kStates>(targets[e], e)) totals->take(-1);
    const unsigned states = kStates != 0 ? kStates : program.states;
    all.template send_copy<kStates>(e, targets[e], program.incoming + e * states, states);
  }
}

// ---- kernels

/// Edges that a warp takes one behind the other: it looks up the row of the first.
inline constexpr EdgeIndex kEdgesOfWarp = 1024;

/// The row whose list holds e, which is no row before `row`.
__device__ inline std::uint64_t row_from(const CsrView& lists, std::uint64_t row, EdgeIndex e) {
  std::uint64_t step = 1;
  for (; row + step < lists.vertices && lists.offsets[row + step] <= e; step *= 2) row += step;
  for (step /= 2; step > 0; step /= 2)
    if (row + step < lists.vertices && lists.offsets[row + step] <= e) row += step;
  return row;
}

inline __global__ void __launch_bounds__(kBeliefBlock)
    reverse_kernel(BeliefStart start, ReverseLists others, EdgeIndex* reverse, unsigned* missing) {
  const CsrView& lists = start.lists;
  const unsigned lane = threadIdx.x % cuda::kWarp;
  for (EdgeIndex begin = lane_of_grid() / cuda::kWarp * kEdgesOfWarp; begin < lists.edges;
       begin += lanes_of_grid() / cuda::kWarp * kEdgesOfWarp) {
    const EdgeIndex end = begin + kEdgesOfWarp < lists.edges ? begin + kEdgesOfWarp : lists.edges;
    std::uint64_t row = count_below(lists.offsets, lists.vertices + 1, begin + 1) - 1;
    for (EdgeIndex e = begin + lane; e < end; e += cuda::kWarp) {
      row = row_from(lists, row, e);
      const Vertex target_row = lists.targets[e] - others.first;
      if (target_row >= others.lists.vertices) continue;
      const EdgeIndex back = start.reverse_of(row, e, others.lists, target_row);
      if (back == BeliefStart::kNoEdge) {
        atomicOr(missing, 1u);
      } else {
        reverse[e] = others.places != nullptr ? others.copies + others.places[back] : back;
      }
    }
  }
}

/// Messages that say nothing, and their copies behind the `edges`. Self-loops send nothing: their factors
/// count with the prior.
inline __global__ void __launch_bounds__(kBeliefBlock)
    begin_messages_kernel(const EdgeIndex* reverse, EdgeIndex edges, EdgeIndex copies, unsigned states,
                          std::int64_t uniform, std::int64_t* messages, std::int64_t* next_messages) {
  for (EdgeIndex e = lane_of_grid(); e < edges + copies; e += lanes_of_grid()) {
    const std::int64_t message = e < edges && reverse[e] == e ? 0 : uniform;
    for (unsigned x = 0; x < states; ++x) messages[e * states + x] = next_messages[e * states + x] = message;
  }
}

inline __global__ void __launch_bounds__(kBeliefBlock) begin_vertices_kernel(BeliefStart start) {
  for (std::uint64_t row = lane_of_grid(); row < start.lists.vertices; row += lanes_of_grid())
    start.begin_vertex(row);
}

template <unsigned kStates, class Edges>
__global__ void __launch_bounds__(kBeliefBlock)
    messages_kernel(BeliefPropagation program, const Vertex* targets, EdgeIndex edges, Edges all,
                    BeliefTotals* totals) {
  compute_all<kStates>(program, targets, edges, all, totals);
}

/// Rounds from `first` on in one launch, by a grid that waits for itself: so many, or up to one in which no
/// belief of a whole graph changes by more than `tolerance`.
template <unsigned kStates>
__global__ void __launch_bounds__(kBeliefBlock)
    belief_rounds_kernel(BeliefPropagation program, BeliefMemory memory, CsrView lists, const Vertex* hubs,
                         unsigned hub_count, std::uint64_t first, unsigned rounds, double tolerance,
                         BeliefTotals* totals) {
  const auto grid = cooperative_groups::this_grid();
  for (unsigned round = 0; round < rounds; ++round) {
    BeliefTotals* const own = totals + round;
    memory.bind(program, first + round, 0);
    compute_all<kStates>(program, lists.targets, lists.edges, OwnEdges{}, own);
    grid.sync();
    combine_all(program, lists.offsets, lists.vertices, own);
    combine_hubs(program, lists.offsets, hubs, hub_count, 0, own);
    grid.sync();
    if (load(&own->impossible) != 0 || exact::of_bits(load(&own->change)) <= tolerance) return;
  }
}

}  // namespace sluice::acc
