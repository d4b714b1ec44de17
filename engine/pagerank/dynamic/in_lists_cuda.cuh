// The in-edges of affected vertices, brought to a GPU in partitions (in_lists.hpp).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "engine/pagerank/dynamic/in_lists.hpp"
#include "engine/pagerank/dynamic/rows_cuda.cuh"

namespace sluice::pagerank {

/// How many edges of each partition will be read. Sums that are not known begin at 0.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    count_reads_kernel(DynamicView<Share> view, VertexList members, ListSizes sizes, std::uint64_t count,
                       OwnershipView ranges, unsigned partitions, unsigned long long* reads) {
  // All lanes of a warp go round equally often, for they add up together.
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * kListBlock; base < count;
       base += std::uint64_t{gridDim.x} * kListBlock) {
    const std::uint64_t i = base + threadIdx.x;
    unsigned partition = partitions;  // none
    FixedRank own_reads = 0;
    if (i < count) {
      const Vertex v = members.at(sizes, i);
      own_reads = view.reads_of(v);
      if (!view.known[v]) view.sums[v] = 0;
      if (partitions > 0) partition = ranges.owner(v - view.first);
    }
    int same = 0;
    __match_all_sync(~0u, partition, &same);
    if (same) {
      own_reads = add_lanes<32>(own_reads);
      if (threadIdx.x % 32 != 0) own_reads = 0;
    }
    if (own_reads > 0) add_to(reinterpret_cast<FixedRank*>(reads)[partition], own_reads);
  }
}

class CudaInLists : public InLists {
 public:
  CudaInLists(const Device& device, const Graph& graph, bool weighted, std::uint64_t first,
              std::uint64_t last, const PagingOptions& paging)
      : InLists(device, graph, weighted, first, last, paging) {
    if (!come_and_go()) return;
    reads_ = Buffer<unsigned long long>(device, pages().size(), "affected vertices by partition");
    waiting_.resize(pages().size());
    ranges_ = pages().owners();
  }

  /// The sums of all members that are not known, and the new ranks of those with a loop in their list, where
  /// the method wants them in closed form.
  template <class Share>
  void gather(const RankState<Share, cuda::CudaExecutor>& state, const DynamicView<Share>& view) {
    const VertexList members = state.members(state.now());
    if (state.affected() == 0) return;
    state.executor.fill(reads_.data(), 0, reads_.bytes());
    // Without partitions all lists are empty.
    count_reads_kernel<<<list_grid(state.affected()), kListBlock, 0, state.executor.stream().get()>>>(
        view, members, state.sizes, state.affected(), ranges_, static_cast<unsigned>(reads_.size()),
        reads_.data());
    cuda::check_launch("count_reads_kernel");
    if (!come_and_go()) return;
    state.executor.read(waiting_.data(), reads_.data(), reads_.size(), "affected vertices by partition");
    for_each(
        waiting_.data(),
        [&](const SweepPage& page) {
          DynamicView<Share> there = view;
          there.at.in.targets = page.sources, there.at.in.weights = page.weights;
          const ListedRows rows{view.first + page.begin, view.first + page.end};
          gather_members(state, there, members, state.sizes, rows);
          state.renew_loops(there, members, state.sizes, rows);
        },
        [&] { state.executor.wait("partitions of in-edges"); });
  }

 private:
  Buffer<unsigned long long> reads_;    ///< [partitions]
  std::vector<std::uint64_t> waiting_;  ///< the same
  OwnershipView ranges_;                ///< of rows, by partition
};

}  // namespace sluice::pagerank
