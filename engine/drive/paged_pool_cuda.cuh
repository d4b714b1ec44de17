// The GPU's way to work on a wave of pools on a graph in partitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/drive/instance_cuda.cuh"
#include "engine/drive/pool_wave.hpp"
#include "engine/exec/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/sampling/build_namespace.hpp"

namespace sluice {
inline namespace SLUICE_BUILD_NAMESPACE {  // the same template has other code in a file compiled as CUDA

template <class Job>
class CudaPools {
 public:
  CudaPools(const Job& job, RunStats& stats) : job_(job), stats_(stats) {
    if (!job.graph.paging.shard) return;
    edges_ = Buffer<EdgeIndex>(job.graph.device, kAtOnce, "questions of other ranks");
    targets_ = Buffer<Vertex>(job.graph.device, kAtOnce, "questions of other ranks");
  }

  void visit(Instance first, std::uint64_t count, const PoolRows& rows, const PoolVisits& visits) const {
    const auto walk = [=, program = job_.program] __device__(const auto& group, std::uint64_t index,
                                                             PickCounters&) {
      rows.visit(group, program, first + index, index, visits);
      return true;
    };
    const bool wide = job_.program.pool_size > GraphView::kHubDegree;  // every step may look through the pool
    stats_.kernel_launches += wide ? cuda::launch_wide_instances(count, walk, {}, nullptr, stream_)
                                   : cuda::launch_instances(count, walk, nullptr, nullptr, stream_);
    stream_.wait("pools");
  }

  /// Targets of edges of a partition that is here.
  void read(const PageView& page, std::span<const EdgeIndex> positions, std::span<Vertex> targets) const {
    const Device& device = job_.graph.device;
    for (std::size_t from = 0; from < positions.size(); from += kAtOnce) {
      const std::size_t some = std::min(kAtOnce, positions.size() - from);
      copy_to_device(device, edges_.data(), positions.data() + from, some * sizeof(EdgeIndex));
      const auto look = [page, edges = edges_.data(), found = targets_.data()] __device__(
                            const auto& group, std::uint64_t index, PickCounters&) {
        if (group.rank() == 0) found[index] = page.targets[edges[index]];
        return true;
      };
      stats_.kernel_launches += cuda::launch_instances(some, look, nullptr, nullptr, stream_);
      stream_.wait("questions of other ranks");
      copy_to_host(device, targets.data() + from, targets_.data(), some * sizeof(Vertex));
    }
  }

 private:
  static constexpr std::size_t kAtOnce = 1u << 16;

  const Job& job_;
  RunStats& stats_;
  cuda::Stream stream_;
  Buffer<EdgeIndex> edges_;
  Buffer<Vertex> targets_;
};

}  // namespace SLUICE_BUILD_NAMESPACE
}  // namespace sluice
