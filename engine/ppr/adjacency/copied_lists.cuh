// Lists of partitions that come to slots on a GPU, the busiest first: a kernel copies those that are missing
// into the cache (--transport copied).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/exec/device.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/memory/paging.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/ppr/adjacency/list_source.hpp"
#include "engine/ppr/options.hpp"
#include "engine/traverse/cuda_traverser.cuh"
#include "partition/graph.hpp"

namespace sluice::ppr {

class CopiedLists final : public ListSource {
 public:
  /// Keeps references to device, graph and options, and page-locks lists that are in host memory. Throws
  /// BudgetError.
  CopiedLists(const Device& device, const Graph& graph, const Options& options, const PagingOptions& paging);

  void open(std::uint64_t left) override;
  std::uint64_t needs() const override { return pages_ ? 0 : least_; }
  void bring(WantedLists& wanted, const CacheColumns& to) override;
  void close() override;
  std::uint64_t bytes() const override { return counters_.bytes(); }
  ListTraffic traffic() const override;

 private:
  void copy(const SweepPage& page, const CacheColumns& to);

  const Device& device_;
  const Options& options_;
  PagingOptions paging_;
  SweepRows rows_;
  std::uint64_t least_;  ///< bytes of the device for slots
  std::vector<PageLock> locks_;
  std::optional<SweepPages> pages_;
  ListTraffic closed_;                   ///< of pages before
  Buffer<unsigned long long> counters_;  ///< edges that have a place, and what the traverser counts
  cuda::CudaTraverser traverser_;        ///< last: it ends before what it uses
};

}  // namespace sluice::ppr
