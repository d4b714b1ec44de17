// Worklists of active vertices by degree, for kernels that stay resident (exec/grid.cuh): a thread, a warp or
// a block takes a vertex.
#pragma once

#include <cstdint>

#include "engine/core/types.hpp"
#include "engine/exec/grid.cuh"
#include "engine/traverse/degree_class.hpp"

namespace sluice::cuda {

/// Calls body(v, valid) for every v below `count`; all lanes of a warp call it equally often.
template <class Team, class Body>
__device__ void for_each_in_warps(const Team& team, std::uint64_t count, Body&& body) {
  for (std::uint64_t base = 0; base < count; base += team.size()) {
    const std::uint64_t i = base + team.rank();
    body(i, i < count);
  }
}

/// Calls body(v, marked) for the 32 vertices of each word that has marks. Every lane of a warp gives one of
/// neighbouring words, number `word`, whose `marks` may be 0.
template <class Body>
__device__ void for_each_marked(unsigned word, std::uint32_t marks, Body&& body) {
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned pending = __ballot_sync(~0u, marks != 0); pending != 0; pending &= pending - 1) {
    const int owner = __ffs(static_cast<int>(pending)) - 1;
    const std::uint32_t bits = __shfl_sync(~0u, marks, owner);
    body(__shfl_sync(~0u, word, owner) * 32 + lane, (bits >> lane & 1) != 0);
  }
}

/// Calls visit(e) for every `step`th edge, `unrolled` at a time; 0: the compiler decides.
template <unsigned unrolled, class Visit>
__device__ __forceinline__ void for_each_list_edge(EdgeIndex e, EdgeIndex end, unsigned step,
                                                   const Visit& visit) {
  if constexpr (unrolled == 0) {
    for (; e < end; e += step) visit(e);
  } else {
#pragma unroll unrolled
    for (; e < end; e += step) visit(e);
  }
}

/// Traverses the worklist of warps. Each warp takes its share, up to 32 vertices at a time, whose lists its
/// lanes look up together: otherwise two dependent reads would precede the edges of each list.
template <unsigned unrolled, class Team, class Lists, class Visit>
__device__ __forceinline__ void traverse_by_warps(const Team& team, const Lists& lists, const Visit& visit) {
  const unsigned lane = threadIdx.x % kWarp;
  const std::uint64_t warp = team.rank() / kWarp, warps = team.size() / kWarp, count = lists.size(1),
                      share = min((count + warps - 1) / warps, std::uint64_t{kWarp});
  for (std::uint64_t base = warp * share; base < count; base += warps * share) {
    const auto size = static_cast<unsigned>(min(share, count - base));
    const Vertex lane_vertex = lane < size ? lists.at(1, base + lane) : 0;
    const EdgeIndex begin = lane < size ? lists.begin(lane_vertex) : 0,
                    end = lane < size ? lists.begin(lane_vertex + 1ull) : 0;
    for (unsigned i = 0; i < size; ++i) {
      const auto owner_lane = static_cast<int>(i);
      const Vertex u = __shfl_sync(~0u, lane_vertex, owner_lane);
      for_each_list_edge<unrolled>(__shfl_sync(~0u, begin, owner_lane) + lane,
                                   __shfl_sync(~0u, end, owner_lane), kWarp,
                                   [&](EdgeIndex e) { visit(u, e); });
    }
  }
}

/// Calls visit(u, e) for every edge of the vertices in worklists: a thread, a warp or a block takes a vertex.
template <unsigned unrolled, class Team, class Lists, class Visit>
__device__ void for_each_worklist_edge(const Team& team, const Lists& lists, Visit&& visit) {
  const auto traverse = [&](unsigned degree_list, std::uint64_t worker, std::uint64_t workers, unsigned first,
                            unsigned step) {
    const unsigned count = lists.size(degree_list);
    for (std::uint64_t i = worker; i < count; i += workers) {
      const Vertex u = lists.at(degree_list, i);
      for_each_list_edge<unrolled>(lists.begin(u) + first, lists.begin(u + 1ull), step,
                                   [&](EdgeIndex e) { visit(u, e); });
    }
  };
  traverse(2, team.block(), team.blocks(), threadIdx.x, kTeamBlock);
  traverse_by_warps<unrolled>(team, lists, visit);
  traverse(0, team.rank(), team.size(), 0, 1);
}

}  // namespace sluice::cuda
