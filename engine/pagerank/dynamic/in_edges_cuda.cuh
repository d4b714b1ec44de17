// The in-edges of affected vertices, brought to a GPU in partitions, of which none without an affected vertex
// comes.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exec/memory/copy_lane.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/pagerank/dynamic/rank_state_cuda.cuh"

namespace sluice::pagerank {

// ---- kernels

/// How many edges of each partition will be read: in-edges of members whose sum is not known, and lists that
/// hold a loop of the others. Sums that are not known begin at 0.
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
      if (view.known[v]) {
        own_reads = view.at.loops[v] == Loop::stored ? 1 : 0;
      } else {
        view.sums[v] = 0;
        own_reads = view.at.in_degree(v);
      }
      if (partitions > 0) partition = ranges.owner(v - view.first);
    }
    int same = 0;
    __match_all_sync(~0u, partition, &same);
    if (same) {
      own_reads = add_lanes<32>(own_reads);
      if (threadIdx.x % 32 != 0) own_reads = 0;
    }
    if (own_reads > 0) atomicAdd(reads + partition, static_cast<unsigned long long>(own_reads));
  }
}

/// New ranks of members that have a loop in their list, which is there, and take it out of their sum.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    renew_loops_kernel(DynamicView<Share> view, VertexList members, ListSizes sizes, std::uint64_t count,
                       ListedRows rows, FixedRank* renewed) {
  for_each_thread(count, [&](std::uint64_t i) {
    const Vertex v = members.at(sizes, i);
    if (!rows.hold(v) || view.at.loops[v] != Loop::stored) return;
    renewed[v] = view.at.renewed(view.update, v, view.sums[v], true);
  });
}

// ---- on the host

class DeviceInLists {
 public:
  /// Of the vertices [first, last). Takes what the device has left. Keeps references. Throws BudgetError
  /// where two partitions do not fit.
  DeviceInLists(const Device& device, const Graph& graph, bool weighted, std::uint64_t first,
                std::uint64_t last, const PagingOptions& paging)
      : first_(first) {
    if (first == last) return;
    const SweepRows rows = in_rows_of(graph, weighted, first, last);
    const CsrView& in = rows.in;
    if (in.edges == 0) return;
    // What comes again and again, or is read in place, is page-locked: that costs about one copy.
    const bool again =
        needs_sweep_pages(device, rows, weighted, paging) && in.edges * sizeof(Vertex) >= kWorthLocking;
    if (rows.file == nullptr && (again || paging.transport == Transport::mapped)) {
      locks_.emplace_back(device, in.targets + in.offsets[0], in.edges * sizeof(Vertex));
      if (weighted) locks_.emplace_back(device, in.weights + in.offsets[0], in.edges * sizeof(float));
    }
    pages_ = std::make_unique<SweepPages>(device, rows, weighted, paging);
    ever_.resize(pages_->size());
    reads_ = Buffer<unsigned long long>(device, pages_->size(), "affected vertices by partition");
    waiting_ = Staging<unsigned long long>(device, pages_->size(), "affected vertices by partition");
    ranges_ = pages_->owners();
  }

  /// The sums of all members that are not known, and the new ranks of those with a loop in their list,
  /// `renewed` (indexed by id), where the method wants them in closed form.
  template <class Share>
  void gather(DeviceRankState<Share>& state, FixedRank* renewed) {
    const VertexList members = state.members(state.now());
    const ListSizes sizes = state.sizes;
    const std::uint64_t count = state.affected();
    if (count == 0) return;
    count_reads(state, members, sizes, count);
    if (!pages_) return;
    pages_->for_each([&](std::uint32_t p) { return std::uint64_t{waiting_.data()[p]}; },
                     [&](std::span<const SweepPage> pages) {
                       for (const SweepPage& page : pages) {
                         DynamicView<Share> view = state.view();
                         view.at.in.targets = page.sources, view.at.in.weights = page.weights;
                         ever_[page.partition] = 1;
                         const ListedRows rows{first_ + page.begin, first_ + page.end};
                         gather_members(view, members, sizes, state.stream, rows);
                         if (state.drops())
                           state.over(count, renew_loops_kernel<Share>, view, members, sizes, count, rows,
                                      renewed);
                       }
                       state.stream.wait("partitions of in-edges");
                     });
  }

  /// What was brought; of the partitions those count that were wanted in some iteration.
  SweepTraffic traffic() const { return pages_ ? pages_->traffic() : SweepTraffic{}; }
  std::uint64_t partitions_read() const {
    return pages_ ? static_cast<std::uint64_t>(std::count(ever_.begin(), ever_.end(), 1)) : 1;
  }

 private:
  template <class Share>
  void count_reads(DeviceRankState<Share>& state, const VertexList& members, const ListSizes& sizes,
                   std::uint64_t count) {
    state.fill(reads_.data(), 0, reads_.bytes());
    // Without pages all lists are empty.
    state.over(count, count_reads_kernel<Share>, state.view(), members, sizes, count, ranges_,
               static_cast<unsigned>(reads_.size()), reads_.data());
    if (!pages_) return;
    cuda::check(cudaMemcpyAsync(waiting_.data(), reads_.data(), reads_.bytes(), cudaMemcpyDeviceToHost,
                                state.stream.get()),
                "copying counts");
    state.stream.wait("affected vertices by partition");
  }

  std::uint64_t first_;
  std::vector<PageLock> locks_;  // before what reads them
  std::unique_ptr<SweepPages> pages_;
  std::vector<std::uint8_t> ever_;  ///< [partitions] 1 where it was wanted
  Buffer<unsigned long long> reads_;
  Staging<unsigned long long> waiting_;
  OwnershipView ranges_;  ///< of rows, by partition
};

}  // namespace sluice::pagerank
