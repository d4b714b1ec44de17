// Kinds whose instance is grown whole by one group: layer, node, edge, multidimensional. The group is a warp,
// or a block where that is known to be too small or turns out to be: a warp that meets a hub whose list it
// would have to walk leaves its instance to a block, which grows it anew. No draw depends on the size of a
// group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/batch/options.hpp"
#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/block_group.cuh"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/group.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/store.hpp"
#include "engine/select/taken.hpp"

namespace sluice::cuda {

inline constexpr unsigned kInstanceBlock = 128;  ///< four instances; small, since instances differ in length
inline constexpr unsigned kWideBlock = 256;  ///< one instance: eight times a warp, and barriers stay cheap

struct InstanceCounters {
  unsigned long long iterations, searches, read;
};

/// Indices that a warp left to a block; their number is not known to the host.
struct LeftView {
  std::uint64_t* indices = nullptr;
  unsigned long long* count = nullptr;
};

class LeftList {
 public:
  LeftList(const Device& device, std::uint64_t capacity)
      : indices_(device, capacity, kPurpose), count_(device, 1, kPurpose) {}

  LeftView view() const { return {indices_.data(), count_.data()}; }
  void clear(const Stream& stream) const {
    check(cudaMemsetAsync(count_.data(), 0, sizeof(unsigned long long), stream.get()), "cudaMemsetAsync");
  }

 private:
  static constexpr const char* kPurpose = "instances left to a block";

  Buffer<std::uint64_t> indices_;
  Buffer<unsigned long long> count_;
};

// ---- kernels

/// Adds what the lanes of a group counted; one lane a group writes.
template <class Group>
__device__ __forceinline__ void add_counters(const Group& group, const PickCounters& counters,
                                             InstanceCounters* total) {
  if (!total) return;
  const auto iterations = group.sum(static_cast<unsigned long long>(counters.iterations));
  const auto searches = group.sum(static_cast<unsigned long long>(counters.searches));
  if (group.rank() != 0) return;
  if (counters.read > 0) atomicAdd(&total->read, static_cast<unsigned long long>(counters.read));
  atomicAdd(&total->iterations, iterations);
  atomicAdd(&total->searches, searches);
}

/// One warp an index below `count`: body(warp, index, counters) is false where it leaves the work to a block.
template <class Body>
__global__ void __launch_bounds__(kInstanceBlock)
    instance_kernel(std::uint64_t count, Body body, LeftView left, InstanceCounters* total) {
  const std::uint64_t index = (static_cast<std::uint64_t>(blockIdx.x) * kInstanceBlock + threadIdx.x) / 32;
  if (index >= count) return;
  PickCounters counters;
  const Tile<32> warp;
  if (body(warp, index, counters)) return add_counters(warp, counters, total);
  if (warp.rank() == 0) left.indices[atomicAdd(left.count, 1ull)] = index;
}

/// One block an index: those that were left, or where there is no list, all below `count`.
template <class Body>
__global__ void __launch_bounds__(kWideBlock)
    wide_instance_kernel(std::uint64_t count, Body body, LeftView left, InstanceCounters* total) {
  __shared__ typename BlockGroup<kWideBlock>::Workspace workspace;
  const BlockGroup<kWideBlock> block(workspace);
  if (left.count) count = *left.count;
  PickCounters counters;
  for (std::uint64_t i = blockIdx.x; i < count; i += gridDim.x) {
    body(block, left.count ? left.indices[i] : i, counters);
    block.sync();
  }
  add_counters(block, counters, total);
}

// ---- launchers

/// A block for every index below `count`, a few for each multiprocessor at a time. Returns the number of
/// launches.
template <class Body>
unsigned launch_wide_instances(std::uint64_t count, const Body& body, const LeftView& left,
                               InstanceCounters* counters, const Stream& stream) {
  const std::uint64_t most = std::uint64_t{multiprocessors()} * 8;
  const auto grid = static_cast<unsigned>(std::clamp<std::uint64_t>(count, 1, most));
  wide_instance_kernel<<<grid, kWideBlock, 0, stream.get()>>>(count, body, left, counters);
  check_launch("wide_instance_kernel");
  return 1;
}

/// A warp for every index below `count`; then, where there is a list, blocks for what they left. Returns the
/// number of launches.
template <class Body>
unsigned launch_instances(std::uint64_t count, const Body& body, const LeftList* left,
                          InstanceCounters* counters, const Stream& stream) {
  if (left) left->clear(stream);
  const LeftView view = left ? left->view() : LeftView{};
  instance_kernel<<<grid_for(count * 32, kInstanceBlock), kInstanceBlock, 0, stream.get()>>>(count, body,
                                                                                             view, counters);
  check_launch("instance_kernel");
  if (!left) return 1;
  return 1 + launch_wide_instances(count, body, view, counters, stream);
}

/// How many instances of `bytes` each fit at once: all that are wanted, or what half of the free memory
/// holds. Where a run is only planned, it takes what one needs.
inline std::uint64_t instances_at_once(const Device& device, std::uint64_t bytes, std::uint64_t wanted) {
  if (device.plans()) {
    device.memory().charge_and_release(2 * bytes, "an instance");
    return 1;
  }
  constexpr std::uint64_t kEnough = 1u << 16;  // warps; the GPU runs some 8,000 side by side
  const std::uint64_t fit = device.memory().available() / 2 / std::max<std::uint64_t>(bytes, 1);
  if (fit == 0) {
    throw BudgetError("device memory: one instance needs " + format_size(bytes) + " beside the graph, but " +
                      format_size(device.memory().available()) + " are left (raise --device-memory)");
  }
  return std::max<std::uint64_t>(std::min({fit, wanted, kEnough}), 1);
}

template <class T>
std::vector<T> download(const Device& device, const Buffer<T>& buffer, std::size_t count, RunStats& stats) {
  std::vector<T> host(count);
  const double begin = seconds_now();
  copy_to_host(device, host.data(), buffer.data(), count * sizeof(T));
  stats.transfer_seconds += seconds_now() - begin;
  stats.device_to_host_bytes += count * sizeof(T);
  return host;
}

/// Makes batches: grow(first, count, stream) computes, collect(first, count, store) brings results.
template <class Grow, class Collect>
void run_instance_batches(const RunOptions& options, std::uint64_t batch, Instance begin, Instance end,
                          SampleSink* sink, RunStats& stats, Grow&& grow, Collect&& collect) {
  Stream stream;
  Timer timer;
  const auto run = [&](Instance first, std::uint64_t count, BatchWriter& writer) {
    timer.start(stream);
    grow(first, count, stream);
    timer.stop(stream);
    stream.wait("samples");
    stats.compute_seconds += timer.seconds();
    const auto store = std::make_shared<SampleStore>();
    store->first = first;
    collect(first, count, *store);
    stats.sampled_edges += store->edge.size();
    if (sink) writer.submit([store, sink] { sink->write(store->batch()); });
  };
  run_batches(EvenBatches{batch, run}, {begin, end}, options.progress, stats);
}

}  // namespace sluice::cuda
