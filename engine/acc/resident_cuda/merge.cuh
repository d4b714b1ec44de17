// Merges on a GPU: as on the host (host_merge.hpp), a kernel a phase. A warp takes 32 vertices at a time, and
// their lists one after the other, together.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/forest.hpp"
#include "engine/acc/options.hpp"
#include "engine/exec/grid.cuh"
#include "engine/exec/stream.cuh"

namespace sluice::acc {

template <class Program>
struct MergeView {
  Program program;
  CsrView out;
  Vertex* states = nullptr;
  unsigned long long* counts = nullptr;  ///< vertices that had edges to look at, and those edges
};

// ---- kernels

template <class Program>
__global__ void __launch_bounds__(cuda::kTeamBlock) merge_start_kernel(MergeView<Program> view) {
  for (std::uint64_t v = cuda::GridTeam{}.rank(); v < view.out.vertices; v += cuda::GridTeam{}.size())
    view.states[v] = view.program.init(static_cast<Vertex>(v), view.out.offsets[v + 1] - view.out.offsets[v]);
}

__device__ __forceinline__ void add_counts(unsigned long long* counts, unsigned long long active,
                                           unsigned long long edges) {
  active = cuda::warp_sum(active), edges = cuda::warp_sum(edges);
  if (threadIdx.x % cuda::kWarp != 0 || active == 0) return;
  atomicAdd(counts, active);
  atomicAdd(counts + 1, edges);
}

template <class Program>
__device__ void join_edge(const MergeView<Program>& view, Vertex v, EdgeIndex e, const AccRound& at) {
  const AccEdge<Vertex> edge{v, view.out.targets[e], e, at, view.states, view.out.weights};
  if (view.program.compute(edge)) join(view.program, view.states, v, edge.target);
}

/// The edge of every vertex at place `round` - 1 of its list.
template <class Program>
__global__ void __launch_bounds__(cuda::kTeamBlock)
    merge_sampled_kernel(MergeView<Program> view, AccRound at) {
  unsigned long long joined = 0;
  for (std::uint64_t v = cuda::GridTeam{}.rank(); v < view.out.vertices; v += cuda::GridTeam{}.size()) {
    const EdgeIndex e = view.out.offsets[v] + at.round - 1;
    if (e >= view.out.offsets[v + 1]) continue;
    join_edge(view, static_cast<Vertex>(v), e, at);
    ++joined;
  }
  add_counts(view.counts, joined, joined);
}

/// All edges behind those, of vertices outside of the largest tree where `skip`.
template <class Program>
__global__ void __launch_bounds__(cuda::kTeamBlock)
    merge_rest_kernel(MergeView<Program> view, AccRound at, bool skip, Vertex largest) {
  unsigned long long active = 0, edges = 0;
  const unsigned lane = threadIdx.x % cuda::kWarp;
  const cuda::GridTeam grid;
  for (std::uint64_t base = grid.rank() / cuda::kWarp * cuda::kWarp; base < view.out.vertices;
       base += grid.size()) {
    const std::uint64_t v = base + lane;
    const bool valid = v < view.out.vertices;
    const EdgeIndex begin = valid ? view.out.offsets[v] + kSampledEdges : 0,
                    end = valid ? view.out.offsets[v + 1] : 0;
    const bool takes = begin < end && (!skip || view.program.active(load(view.states + v), largest));
    active += takes;
    edges += takes ? end - begin : 0;
    for (unsigned left = __ballot_sync(~0u, takes); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const EdgeIndex last = __shfl_sync(~0u, end, owner);
      for (EdgeIndex e = __shfl_sync(~0u, begin, owner) + lane; e < last; e += cuda::kWarp)
        join_edge(view, static_cast<Vertex>(base + static_cast<unsigned>(owner)), e, at);
    }
  }
  add_counts(view.counts, active, edges);
}

__global__ inline void __launch_bounds__(cuda::kTeamBlock)
    merge_compress_kernel(Vertex* states, std::uint64_t vertices) {
  for (std::uint64_t v = cuda::GridTeam{}.rank(); v < vertices; v += cuda::GridTeam{}.size())
    compress(states, static_cast<Vertex>(v));
}

__global__ inline void __launch_bounds__(cuda::kTeamBlock)
    merge_sample_roots_kernel(const Vertex* states, std::uint64_t vertices, std::uint64_t stride,
                              Vertex* roots) {
  const std::uint64_t i = cuda::GridTeam{}.rank();
  if (i * stride < vertices) roots[i] = states[i * stride];
}

// ---- launcher

template <class Program>
class CudaMerge {
 public:
  CudaMerge(const AccGraph& graph, const Program& program)
      : graph_(graph),
        device_(graph.device()),
        states_(device_, graph.vertices(), "vertex states"),
        counts_(device_, 2, "counts"),
        view_{program, graph.out(), states_.data(), counts_.data()} {}

  void run(AccStats& stats) {
    launch(stats,
           [&](unsigned grid) { merge_start_kernel<<<grid, cuda::kTeamBlock, 0, stream_.get()>>>(view_); });
    AccRound at{1, 0};
    for (; at.round <= kSampledEdges; ++at.round) {
      round(stats, [&](unsigned grid) {
        merge_sampled_kernel<<<grid, cuda::kTeamBlock, 0, stream_.get()>>>(view_, at);
      });
    }
    const bool skip = graph_.symmetric();
    const Vertex largest = skip ? frequent_root(stats) : kNoVertex;
    round(stats, [&](unsigned grid) {
      merge_rest_kernel<<<grid, cuda::kTeamBlock, 0, stream_.get()>>>(view_, at, skip, largest);
    });
  }

  const Vertex* states() const { return states_.data(); }

 private:
  template <class Launch>
  void launch(AccStats& stats, Launch&& launch_kernel) {
    constexpr unsigned kMostBlocks = 4096;  // beyond them blocks take further vertices
    launch_kernel(std::min(cuda::grid_for(graph_.vertices(), cuda::kTeamBlock), kMostBlocks));
    cuda::check_launch("a merge's kernel");
    ++stats.kernel_launches;
  }

  template <class Launch>
  void round(AccStats& stats, Launch&& launch_kernel) {
    cuda::check(cudaMemsetAsync(counts_.data(), 0, counts_.bytes(), stream_.get()), "clearing counts");
    launch(stats, launch_kernel);
    launch(stats, [&](unsigned grid) {
      merge_compress_kernel<<<grid, cuda::kTeamBlock, 0, stream_.get()>>>(states_.data(), graph_.vertices());
    });
    stream_.wait("a round of a merge");
    unsigned long long counts[2];
    copy_to_host(device_, counts, counts_.data(), sizeof counts);
    AccRoundTrace trace;
    trace.active = counts[0];
    trace.edges = counts[1];
    stats.add(trace);
  }

  Vertex frequent_root(AccStats& stats) {
    const std::uint64_t stride = graph_.vertices() / kSampledRoots + 1;
    std::vector<Vertex> roots((graph_.vertices() + stride - 1) / stride);
    Buffer<Vertex> sampled(device_, kSampledRoots, "sampled roots");
    launch(stats, [&](unsigned) {
      merge_sample_roots_kernel<<<cuda::grid_for(kSampledRoots, cuda::kTeamBlock), cuda::kTeamBlock, 0,
                                  stream_.get()>>>(states_.data(), graph_.vertices(), stride, sampled.data());
    });
    stream_.wait("sampling roots");
    copy_to_host(device_, roots.data(), sampled.data(), roots.size() * sizeof(Vertex));
    return most_frequent(std::move(roots));
  }

  const AccGraph& graph_;
  const Device& device_;
  cuda::Stream stream_;
  Buffer<Vertex> states_;
  Buffer<unsigned long long> counts_;
  MergeView<Program> view_;
};

}  // namespace sluice::acc
