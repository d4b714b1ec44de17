// The GPU's way to work on a batch of pools on a graph in partitions.
#pragma once

#include <cstdint>

#include "engine/core/build_namespace.hpp"
#include "engine/exec/stream.cuh"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/instance_cuda.cuh"
#include "engine/samples/partitioned/items_cuda.cuh"
#include "engine/samples/pool/batch.hpp"

namespace sluice {
inline namespace SLUICE_BUILD_NAMESPACE {  // the same template has other code in a file compiled as CUDA

template <class Job>
class CudaPools {
 public:
  using Items = cuda::PagedItems;

  CudaPools(const Job& job, RunStats& stats) : job_(job), stats_(stats) {}

  void visit(Instance first, std::uint64_t count, const PoolRows& rows, const PoolVisits& visits) const {
    const auto walk = [=, program = job_.program] __device__(const auto& group, std::uint64_t index,
                                                             PickCounters&) {
      rows.visit(group, program, first + index, index, visits);
      return true;
    };
    const bool wide =
        job_.program.sizes().entries > GraphView::kHubDegree;  // every step may look through the pool
    stats_.kernel_launches += wide ? cuda::launch_wide_instances(count, walk, {}, nullptr, stream_)
                                   : cuda::launch_instances(count, walk, nullptr, nullptr, stream_);
    stream_.wait("pools");
  }

 private:
  const Job& job_;
  RunStats& stats_;
  cuda::Stream stream_;
};

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice
