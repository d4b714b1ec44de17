// Kernels of belief propagation in GPU memory (beliefs/resident_cuda.cu), for the edges of a whole graph or
// of several ranks.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "engine/acc/beliefs/kernels.cuh"
#include "engine/acc/beliefs/start.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/peer_memory.hpp"
#include "engine/exec/memory/shared_words.hpp"

namespace sluice::acc {

/// Lists in which a rank finds the reverse edges of its edges to their vertices.
struct ReverseLists {
  CsrView lists;
  Vertex first = 0;                       ///< vertex of row 0
  const std::uint32_t* indices = nullptr;  ///< [edges] as PeerEdges::indices, of another rank; else null
  EdgeIndex copies = 0;                   ///< begin of the copies of that rank's messages
};

/// The edges of a whole graph.
struct OwnEdges {
  static constexpr bool kSingleRank = true;

  template <unsigned kStates>
  __device__ void send_copy(EdgeIndex, Vertex, const std::int64_t*, unsigned) const {}
};

/// The edges of a rank, whose kernels access the memory of others. Messages that its vertices receive from
/// another rank's vertices are also copied to that rank, in the order of this rank's lists.
struct PeerEdges {
  static constexpr bool kSingleRank = false;

  unsigned own_rank = 0;
  OwnershipView owners;
  const std::uint32_t* indices = nullptr;  ///< [own edges] index among edges to the same rank
  std::int64_t* copies[kMaxPeers] = {};   ///< copies of own messages in each other rank's memory

  /// Neighbouring lanes write neighbouring places, 16 bytes at a time if there are two states.
  template <unsigned kStates>
  __device__ void send_copy(EdgeIndex e, Vertex target, const std::int64_t* message, unsigned states) const {
    const unsigned rank = owners.owner(target);
    if (rank == own_rank) return;
    std::int64_t* const target_copy = copies[rank] + std::uint64_t{indices[e]} * states;
    if constexpr (kStates == 2) {
      *reinterpret_cast<longlong2*>(target_copy) = {message[0], message[1]};
    } else {
      for (unsigned x = 0; x < states; ++x) target_copy[x] = message[x];
    }
  }
};

/// Products and messages, in double buffers that alternate between rounds.
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

  /// Selects the buffers of round `round`, which reads those of the round before and writes its own, for
  /// vertices from `first` on.
  SLUICE_HD void bind(BeliefPropagation& program, std::uint64_t round, std::uint64_t first) const {
    const bool odd = round % 2 != 0;
    program.old_products = odd ? products[0] : products[1];
    program.products = (odd ? products[1] : products[0]) + first * program.states;
    program.received = odd ? messages[0] : messages[1];
    program.incoming = odd ? messages[1] : messages[0];
  }

 private:
  static std::uint64_t aligned(std::uint64_t words) { return (words + 1) / 2 * 2; }  // to 16 bytes
};

/// Computes all edges' messages with a grid.
template <unsigned kStates, class Edges>
__device__ void compute_all(const BeliefPropagation& program, const Vertex* targets, EdgeIndex edges,
                            const Edges& edge_view, BeliefTotals* totals) {
  for (EdgeIndex e = grid_thread(); e < edges; e += grid_threads()) {
    if (program.reverse[e] == e) continue;
    if (!program.compute<kStates>(targets[e], e)) totals->add_change(-1);
    const unsigned states = kStates != 0 ? kStates : program.states;
    edge_view.template send_copy<kStates>(e, targets[e], program.incoming + e * states, states);
  }
}

// ---- kernels

/// Consecutive edges of a warp, which searches for the row of the first.
inline constexpr EdgeIndex kEdgesOfWarp = 1024;

/// The row whose list contains e; it must be at least `row`.
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
  for (EdgeIndex begin = grid_thread() / cuda::kWarp * kEdgesOfWarp; begin < lists.edges;
       begin += grid_threads() / cuda::kWarp * kEdgesOfWarp) {
    const EdgeIndex end = begin + kEdgesOfWarp < lists.edges ? begin + kEdgesOfWarp : lists.edges;
    std::uint64_t row = count_below(lists.offsets, lists.vertices + 1, begin + 1) - 1;
    for (EdgeIndex e = begin + lane; e < end; e += cuda::kWarp) {
      row = row_from(lists, row, e);
      const Vertex target_row = lists.targets[e] - others.first;
      if (target_row >= others.lists.vertices) continue;
      const EdgeIndex reverse_edge = start.reverse_of(row, e, others.lists, target_row);
      if (reverse_edge == BeliefStart::kNoEdge) {
        atomicOr(missing, 1u);
      } else {
        reverse[e] = others.indices != nullptr ? others.copies + others.indices[reverse_edge] : reverse_edge;
      }
    }
  }
}

/// Sets uniform messages, and their copies after the `edges`. Self-loops send nothing: their factors are part
/// of the prior.
inline __global__ void __launch_bounds__(kBeliefBlock)
    begin_messages_kernel(const EdgeIndex* reverse, EdgeIndex edges, EdgeIndex copies, unsigned states,
                          std::int64_t uniform, std::int64_t* messages, std::int64_t* next_messages) {
  for (EdgeIndex e = grid_thread(); e < edges + copies; e += grid_threads()) {
    const std::int64_t message = e < edges && reverse[e] == e ? 0 : uniform;
    for (unsigned x = 0; x < states; ++x) messages[e * states + x] = next_messages[e * states + x] = message;
  }
}

inline __global__ void __launch_bounds__(kBeliefBlock) begin_vertices_kernel(BeliefStart start) {
  for (std::uint64_t row = grid_thread(); row < start.lists.vertices; row += grid_threads())
    start.begin_vertex(row);
}

template <unsigned kStates, class Edges>
__global__ void __launch_bounds__(kBeliefBlock)
    messages_kernel(BeliefPropagation program, const Vertex* targets, EdgeIndex edges, Edges edge_view,
                    BeliefTotals* totals) {
  compute_all<kStates>(program, targets, edges, edge_view, totals);
}

/// Runs rounds from `first` on in one launch of a whole graph, with grid barriers: `rounds` rounds, or until
/// no belief changes by more than `tolerance`.
template <unsigned kStates>
__global__ void __launch_bounds__(kBeliefBlock)
    belief_rounds_kernel(BeliefPropagation program, BeliefMemory memory, CsrView lists, const Vertex* hubs,
                         unsigned hub_count, std::uint64_t first, unsigned rounds, double tolerance,
                         BeliefTotals* totals) {
  const auto grid = cooperative_groups::this_grid();
  for (unsigned round = 0; round < rounds; ++round) {
    BeliefTotals* const round_totals = totals + round;
    memory.bind(program, first + round, 0);
    compute_all<kStates>(program, lists.targets, lists.edges, OwnEdges{}, round_totals);
    grid.sync();
    combine_all(program, lists.offsets, lists.vertices, round_totals);
    combine_hubs(program, lists.offsets, hubs, hub_count, 0, round_totals);
    grid.sync();
    if (load(&round_totals->impossible) != 0 || exact::from_bits(load(&round_totals->change)) <= tolerance)
      return;
  }
}

}  // namespace sluice::acc
