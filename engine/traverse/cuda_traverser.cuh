// The traverser of a GPU (traverser.hpp): a kernel for each operation, and one more for hubs' lists.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/cuda_executor.cuh"
#include "engine/traverse/cuda_edges.cuh"
#include "engine/traverse/reduce_rows.cuh"
#include "engine/traverse/traverser.hpp"

namespace sluice::cuda {

class CudaTraverser : public CudaExecutor {
 public:
  /// A GPU finds the next level faster by reading the states of all vertices.
  static constexpr bool kBinsByLevel = false, kPullsIntoBits = false;

  /// `edges`: the number of edges of all lists that for_each_edge() traverses.
  CudaTraverser(const Device& device, std::uint64_t edges)
      : CudaExecutor(device), hubs_(device, edges / kGridDegree + 1, "hubs"), hub_count_(device, 1, "hubs") {}
  ~CudaTraverser() { cudaStreamSynchronize(cuda_stream().get()); }  // running kernels use the list of hubs

  template <class Body>
  void for_each_edge(const VertexRange& vertices, const LaneOutput& output, const Body& body) {
    if (vertices.count == 0) return;
    const Hubs hubs{hubs_.data(), hub_count_.data()};
    fill(hub_count_.data(), 0, hub_count_.bytes());
    if (vertices.mapped != nullptr || vertices.count <= kFewVertices) {
      const auto blocks = std::min<std::uint64_t>(vertices.count, kMaxBlocks);
      warp_edges_kernel<<<static_cast<unsigned>(blocks), kTeamBlock, 0, cuda_stream().get()>>>(
          vertices, output, hubs, body);
    } else {
      edges_kernel<<<grid(vertices.count), kTeamBlock, 0, cuda_stream().get()>>>(vertices, output, hubs,
                                                                                 body);
    }
    count_launch();
    if (hubs_.size() == 1) return;  // too few edges for a hub
    hub_edges_kernel<<<kMaxBlocks, kTeamBlock, 0, cuda_stream().get()>>>(vertices, output, hubs, body);
    count_launch();
  }

  template <class Body>
  void first_edge(const RowRange& rows, const LaneOutput& output, const Body& body) {
    if (rows.begin == rows.end) return;
    first_edge_kernel<<<grid(rows.end - rows.begin), kTeamBlock, 0, cuda_stream().get()>>>(rows, output,
                                                                                           body);
    count_launch();
  }

  template <class Body>
  void reduce_rows(const RowRange& rows, const LaneOutput& output, const Body& body) {
    if (rows.begin == rows.end) return;
    reduce_rows_kernel<<<grid(rows.end - rows.begin), kTeamBlock, 0, cuda_stream().get()>>>(rows, output,
                                                                                            body);
    count_launch();
  }

 private:
  /// Up to this many vertices, the number of warps, a warp takes one vertex; else 32, whatever their lists. A
  /// round of k-core on Kronecker 21, of 5,856 vertices with 11.6 M edges, took 48 ms with 32 per warp and
  /// some partitions in slots, and 2.1 ms with one per warp over the link.
  static constexpr std::uint64_t kFewVertices = kMaxBlocks * (kTeamBlock / kWarp);

  Buffer<HubPiece> hubs_;
  Buffer<unsigned long long> hub_count_;
};

static_assert(Traverser<CudaTraverser>);

}  // namespace sluice::cuda
