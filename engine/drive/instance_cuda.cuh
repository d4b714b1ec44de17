// Kinds whose instance is grown whole by one warp: layer, node, edge, multidimensional.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/drive/sample_store.hpp"
#include "engine/drive/wave_writer.hpp"
#include "engine/exec/buffer.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/stream.cuh"
#include "engine/residency/resident_graph.hpp"
#include "engine/select/group.cuh"
#include "engine/select/taken.hpp"

namespace sluice::cuda {

inline constexpr unsigned kInstanceBlock = 128;  ///< four instances; small, since instances differ in length

struct InstanceCounters {
  unsigned long long iterations, searches;
};

// ---- kernels
// ---------------------------------------------------------------------------------------------------

/// One warp an index below `count`: body(warp, index, counters).
template <class Body>
__global__ void __launch_bounds__(kInstanceBlock)
    instance_kernel(std::uint64_t count, Body body, InstanceCounters* total) {
  const std::uint64_t index = (static_cast<std::uint64_t>(blockIdx.x) * kInstanceBlock + threadIdx.x) / 32;
  if (index >= count) return;
  PickCounters counters;
  const Tile<32> warp;
  body(warp, index, counters);
  const unsigned iterations = warp.sum(counters.iterations), searches = warp.sum(counters.searches);
  if (warp.rank() == 0 && total) {
    atomicAdd(&total->iterations, iterations);
    atomicAdd(&total->searches, searches);
  }
}

// ---- launchers
// -------------------------------------------------------------------------------------------------

template <class Body>
void launch_instances(std::uint64_t count, const Body& body, InstanceCounters* counters,
                      const Stream& stream) {
  instance_kernel<<<grid_for(count * 32, kInstanceBlock), kInstanceBlock, 0, stream.get()>>>(count, body,
                                                                                             counters);
  check_launch("instance_kernel");
}

/// How many instances of `bytes` each fit at once: all that are wanted, or what half of the free memory
/// holds.
inline std::uint64_t instances_at_once(const Device& device, std::uint64_t bytes, std::uint64_t wanted) {
  constexpr std::uint64_t kEnough = 1u << 16;  // warps; the GPU runs some 8,000 side by side
  const std::uint64_t room = device.memory().available() / 2 / std::max<std::uint64_t>(bytes, 1);
  if (room == 0) {
    throw BudgetError("device memory: one instance needs " + format_size(bytes) + " beside the graph, but " +
                      format_size(device.memory().available()) + " are left (raise --device-memory)");
  }
  return std::max<std::uint64_t>(std::min({room, wanted, kEnough}), 1);
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

/// Drives waves: grow(first, count, stream) computes, collect(first, count, store) brings results.
template <class Grow, class Collect>
void drive_instances(const RunOptions& options, std::uint64_t wave, Instance begin, Instance end,
                     SampleSink* sink, RunStats& stats, Grow&& grow, Collect&& collect) {
  Stream stream;
  Timer timer;
  WaveWriter writer;
  for (Instance first = begin; first < end; first += wave, ++stats.waves) {
    const std::uint64_t count = std::min<std::uint64_t>(wave, end - first);
    timer.start(stream);
    grow(first, count, stream);
    timer.stop(stream);
    stream.wait("samples");
    stats.compute_seconds += timer.seconds();
    const auto store = std::make_shared<SampleStore>();
    store->first = first;
    collect(first, count, *store);
    stats.sampled_edges += store->edge.size();
    const double waiting = seconds_now();
    if (sink) writer.submit([store, sink] { sink->write(store->batch()); });
    stats.write_seconds += seconds_now() - waiting;
    if (options.progress) options.progress(first + count - begin, end - begin);
  }
  const double waiting = seconds_now();
  writer.finish();
  stats.write_seconds += seconds_now() - waiting;
}

}  // namespace sluice::cuda
