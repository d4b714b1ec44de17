// Kernels of CudaTraverser over edges. A lane traverses a short list, a warp a longer one, and blocks
// traverse pieces of hubs' lists, in a second kernel. Warps also traverse all lists in mapped host memory, of
// which a lane alone would fetch each sector over the link by itself, and the lists of few vertices.
#pragma once

#include <cstdint>

#include "engine/exec/cuda_lane.cuh"
#include "engine/exec/grid.cuh"
#include "engine/traverse/degree_class.hpp"
#include "engine/traverse/traverser.hpp"

namespace sluice::cuda {

/// A block's work: kGridDegree edges of a hub's list, in the last piece also the rest. (When every block went
/// through every hub, sssp of Kronecker 24 read lists in place at 27 GB/s over a link of 55; now at 48.)
struct HubPiece {
  Vertex vertex;
  std::uint32_t index;
};

/// The pieces for hub_edges_kernel.
struct Hubs {
  HubPiece* pieces = nullptr;  ///< [edges / kGridDegree]
  unsigned long long* count = nullptr;

  __device__ __forceinline__ static EdgeIndex pieces_of(EdgeIndex degree) { return degree / kGridDegree; }
  /// Appends the pieces of a hub's list; one lane calls it.
  __device__ __forceinline__ void append(Vertex u, EdgeIndex degree) const {
    const auto size = static_cast<std::uint32_t>(pieces_of(degree));
    const unsigned long long position = atomicAdd(count, static_cast<unsigned long long>(size));
    for (std::uint32_t k = 0; k < size; ++k) pieces[position + k] = {u, k};
  }
};

template <class Body>
__global__ void __launch_bounds__(kTeamBlock)
    edges_kernel(VertexRange vertices, LaneOutput output, Hubs hubs, Body body) {
  CudaLane out(output);
  const GridTeam grid;
  const unsigned lane = threadIdx.x % kWarp;
  for (std::uint64_t base = grid.rank() / kWarp * kWarp; base < vertices.count; base += grid.size()) {
    const std::uint64_t i = base + lane;
    const Vertex u = i < vertices.count ? vertices[i] : 0;
    const bool sends = i < vertices.count && body.sends(u);
    const EdgeIndex begin = sends ? vertices.offsets[u - vertices.first] : 0,
                    end = sends ? vertices.offsets[u - vertices.first + 1] : 0;
    const std::uint64_t degree = end - begin;
    out.add(0, degree);
    if (degree >= kGridDegree) hubs.append(u, degree);
    if (degree < kWarpDegree) {
      for (EdgeIndex e = begin; e < end; ++e) body.edge(u, e, out);
    }
    __syncwarp();
    const bool by_warp = degree >= kWarpDegree && degree < kGridDegree;
    for (unsigned pending = __ballot_sync(~0u, by_warp); pending != 0; pending &= pending - 1) {
      const int owner = __ffs(static_cast<int>(pending)) - 1;
      const Vertex source = __shfl_sync(~0u, u, owner);
      const EdgeIndex first = __shfl_sync(~0u, begin, owner), last = __shfl_sync(~0u, end, owner);
      for (EdgeIndex e = first + lane; e < last; e += kWarp) body.edge(source, e, out);
      __syncwarp();
    }
  }
  out.report();
}

/// Edges in a line of memory (128 bytes), which a warp reads at once.
inline constexpr unsigned kEdgesOfLine = 128 / sizeof(Vertex);

/// The first edge of the line that has edge `begin`: from there, lanes read a list in mapped memory line by
/// line. Weights are aligned alike if both arrays begin at the same byte of a line; else they take one more
/// line. For lists elsewhere it is `begin`.
__device__ __forceinline__ EdgeIndex line_begin(const VertexRange& vertices, EdgeIndex begin) {
  if (vertices.mapped == nullptr) return begin;
  const auto offset =
      reinterpret_cast<std::uintptr_t>(vertices.mapped + begin) / sizeof(Vertex) % kEdgesOfLine;
  return begin - min(begin, EdgeIndex{offset});
}

/// The most warps, those of a block, that share a list. Each line in mapped memory takes a warp microseconds.
inline constexpr std::uint64_t kMaxWarpsPerList = kTeamBlock / kWarp;

/// For few vertices, or lists in mapped host memory. A warp takes one vertex at a time, so that all vertices
/// in work are neighbours in the worklist: the link's address translations cover limited memory
/// (exec/memory/link.hpp). With fewer vertices than warps, several warps share each vertex, but need not
/// traverse one that stops sending meanwhile.
template <class Body>
__global__ void __launch_bounds__(kTeamBlock)
    warp_edges_kernel(VertexRange vertices, LaneOutput output, Hubs hubs, Body body) {
  CudaLane out(output);
  const GridTeam grid;
  const unsigned lane = threadIdx.x % kWarp;
  const std::uint64_t warps = grid.size() / kWarp;
  const auto warps_per_list =
      static_cast<unsigned>(max(std::uint64_t{1}, min(kMaxWarpsPerList, warps / vertices.count)));
  for (std::uint64_t i = grid.rank() / kWarp; i < vertices.count * warps_per_list; i += warps) {
    const Vertex u = vertices[i / warps_per_list];
    const auto part = static_cast<unsigned>(i % warps_per_list);
    // One lane decides for the warp: the state may change meanwhile.
    if (__shfl_sync(~0u, lane == 0 && body.sends(u), 0) == 0) continue;
    const EdgeIndex begin = vertices.list(u)[0], end = vertices.list(u)[1];
    const bool is_first_lane = part == 0 && lane == 0;
    if (is_first_lane) out.add(0, end - begin);
    if (end - begin >= kGridDegree) {
      if (is_first_lane) hubs.append(u, end - begin);
    } else {
      for (EdgeIndex e = line_begin(vertices, begin) + part * kWarp + lane; e < end;
           e += warps_per_list * kWarp)
        if (e >= begin) body.edge(u, e, out);
    }
    __syncwarp();
  }
  out.report();
}

template <class Body>
__global__ void __launch_bounds__(kTeamBlock)
    hub_edges_kernel(VertexRange vertices, LaneOutput output, Hubs hubs, Body body) {
  CudaLane out(output);
  const unsigned long long count = *hubs.count;
  for (unsigned long long i = blockIdx.x; i < count; i += gridDim.x) {
    const auto [u, index] = hubs.pieces[i];
    const EdgeIndex begin = vertices.list(u)[0], end = vertices.list(u)[1];
    const EdgeIndex piece_begin = line_begin(vertices, begin) + index * kGridDegree;
    const EdgeIndex piece_end = index + 1 == Hubs::pieces_of(end - begin) ? end : piece_begin + kGridDegree;
    for (EdgeIndex e = piece_begin + threadIdx.x; e < piece_end; e += kTeamBlock)
      if (e >= begin) body.edge(u, e, out);
  }
  __syncwarp();
  out.report();
}

/// The first edge of a lane's row [e, end) for which hits(edge) is true, or `end`. Adds the number of edges
/// tested to `edges`. Every lane of the warp must call it. A lane tests the beginning of its row alone, a few
/// edges at a time, so that their reads overlap; the warp tests the rest of long rows without a hit
/// (collaborative early termination).
template <class Hits>
__device__ __forceinline__ EdgeIndex first_hit(EdgeIndex e, EdgeIndex end, unsigned long long& edges,
                                               const Hits& hits) {
  constexpr EdgeIndex kSerialEdges = 16;
  constexpr unsigned kBatchEdges = 2;  // more reads too much: four are 2% slower at scale 25, eight 8%
  const EdgeIndex serial_end = min(end, e + kSerialEdges);
  const unsigned lane = threadIdx.x % kWarp;
  bool done = false;
  while (e < serial_end && !done) {
    unsigned hit_mask = 0;
#pragma unroll
    for (unsigned k = 0; k < kBatchEdges; ++k) {
      if (e + k < serial_end && hits(e + k)) hit_mask |= 1u << k;
    }
    done = hit_mask != 0;
    const EdgeIndex tested = done ? static_cast<unsigned>(__ffs(static_cast<int>(hit_mask)))
                                  : min(EdgeIndex{kBatchEdges}, serial_end - e);
    edges += tested;
    e += tested;
  }
  EdgeIndex hit = done ? e - 1 : end;
  for (unsigned pending = __ballot_sync(~0u, !done && e < end); pending != 0; pending &= pending - 1) {
    const int owner = __ffs(static_cast<int>(pending)) - 1;
    const EdgeIndex last = __shfl_sync(~0u, end, owner);
    for (EdgeIndex base = __shfl_sync(~0u, e, owner); base < last; base += kWarp) {
      const bool in_range = base + lane < last;
      const unsigned hit_mask = __ballot_sync(~0u, in_range && hits(base + lane)),
                     first_hit_bit = hit_mask & (0u - hit_mask);  // the first, or none
      edges += in_range && (hit_mask == 0 || 1u << lane <= first_hit_bit);
      if (hit_mask == 0) continue;
      if (static_cast<int>(lane) == owner)
        hit = base + static_cast<unsigned>(__ffs(static_cast<int>(hit_mask)) - 1);
      break;
    }
  }
  return hit;
}

template <class Body>
__global__ void __launch_bounds__(kTeamBlock) first_edge_kernel(RowRange rows, LaneOutput output, Body body) {
  CudaLane out(output);
  const GridTeam grid;
  unsigned long long edges = 0;
  for (std::uint64_t base = rows.begin + grid.rank() / kWarp * kWarp; base < rows.end; base += grid.size()) {
    const std::uint64_t row = base + threadIdx.x % kWarp;
    const bool wants = row < rows.end && body.wants(row);
    if (!__any_sync(~0u, wants)) continue;
    const EdgeIndex end = wants ? rows.offsets[row + 1] : 0,
                    hit = first_hit(wants ? rows.offsets[row] : 0, end, edges,
                                    [&](EdgeIndex e) { return body.hits(e); });
    if (hit < end) body.accept(row, hit, out);
    __syncwarp();
  }
  out.add(0, edges);
  out.report();
}

}  // namespace sluice::cuda
