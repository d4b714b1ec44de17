// Microbenchmarks of one GPU: copies, independent random reads, the links to the host and to another GPU, and
// a grid barrier.
#include "apps/bench/limits.hpp"

#include <cooperative_groups.h>

#include <span>
#include <utility>
#include <vector>

#include "apps/bench/figures.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"

namespace sluice::bench {

namespace {

constexpr unsigned kBlock = 256;
constexpr unsigned kReads = 64;  // per thread; independent, so that many are in flight

constexpr unsigned kBarrierBlock = 512, kBarrierBlocks = 2;  // threads; blocks per multiprocessor
constexpr unsigned kBarriers = 2000;

struct alignas(16) Block16 {
  unsigned words[4];
};
struct alignas(16) Block32 {
  uint4 halves[2];
};

// ---- kernels

__device__ __forceinline__ unsigned fold(unsigned value) {
  return value;
}
__device__ __forceinline__ unsigned fold(const Block16& block) {
  return block.words[0] ^ block.words[3];
}
__device__ __forceinline__ unsigned fold(const Block32& block) {
  return block.halves[0].x ^ block.halves[1].w;
}

template <class T>
__global__ void __launch_bounds__(kBlock)
    random_kernel(const T* data, std::uint64_t count, std::uint64_t salt, unsigned* out) {
  const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * kBlock + threadIdx.x;
  unsigned sum = 0;
#pragma unroll 8
  for (unsigned i = 0; i < kReads; ++i) {
    std::uint64_t mixed = (thread * kReads + i + salt) * 0x9E3779B97F4A7C15ull;
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93ull;
    sum ^= fold(data[__umul64hi(mixed, count)]);
  }
  if (sum == 0x12345678u) *out = sum;  // keeps the reads alive; the data never give this sum
}

__global__ void __launch_bounds__(kBlock) copy_kernel(const uint4* from, uint4* to, std::uint64_t count) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i < count) to[i] = from[i];
}

__global__ void __launch_bounds__(kBarrierBlock, kBarrierBlocks) barrier_kernel(unsigned rounds) {
  const auto grid = cooperative_groups::this_grid();
  for (unsigned i = 0; i < rounds; ++i) grid.sync();
}

// ---- launchers

template <class Work>
double median_seconds(const cuda::Stream& stream, unsigned repetitions, Work&& work) {
  std::vector<double> seconds;
  cuda::Timer timer;
  for (unsigned r = 0; r <= repetitions; ++r) {
    timer.start(stream);
    work(r);
    timer.stop(stream);
    stream.wait("limits");
    if (r > 0) seconds.push_back(timer.seconds());
  }
  return median(std::move(seconds));
}

template <class T>
double random_rate(const cuda::Stream& stream, std::span<const unsigned char> memory, unsigned repetitions,
                   unsigned* out) {
  constexpr std::uint64_t kThreads = 1u << 24;
  const double seconds = median_seconds(stream, repetitions, [&](unsigned r) {
    random_kernel<<<kThreads / kBlock, kBlock, 0, stream.get()>>>(reinterpret_cast<const T*>(memory.data()),
                                                                  memory.size() / sizeof(T), r * 977u, out);
    cuda::check_launch("random_kernel");
  });
  return static_cast<double>(kThreads) * kReads / seconds * 1e-9;
}

/// Seconds to copy `bytes` with kernel reads and writes.
double copy_seconds(const cuda::Stream& stream, const void* from, void* to, std::size_t bytes,
                    unsigned repetitions) {
  const std::uint64_t count = bytes / sizeof(uint4);
  return median_seconds(stream, repetitions, [&](unsigned) {
    copy_kernel<<<cuda::grid_for(count, kBlock), kBlock, 0, stream.get()>>>(static_cast<const uint4*>(from),
                                                                            static_cast<uint4*>(to), count);
    cuda::check_launch("copy_kernel");
  });
}

double barrier_microseconds(const cuda::Stream& stream, unsigned repetitions) {
  const unsigned blocks = cuda::multiprocessors() * kBarrierBlocks;
  return 1e6 / kBarriers * median_seconds(stream, repetitions, [&](unsigned) {
           cuda::launch_cooperative(barrier_kernel, blocks, kBarrierBlock, stream.get(), kBarriers);
         });
}

}  // namespace

Limits cuda_limits(const Device& device, unsigned repetitions) {
  constexpr std::size_t kBytes = std::size_t{4} << 30, kLinkBytes = std::size_t{256} << 20;
  const cuda::Stream stream;
  Limits limits;
  {
    const Buffer<unsigned char> memory(device, kBytes, "memory to measure");
    const Buffer<unsigned> out(device, 1, "memory to measure");
    cuda::check(cudaMemsetAsync(memory.data(), 0x5a, kBytes, stream.get()), "filling memory");
    const std::span<const unsigned char> all(memory.data(), kBytes);
    limits.random4 = random_rate<unsigned>(stream, all, repetitions, out.data());
    limits.random16 = random_rate<Block16>(stream, all, repetitions, out.data());
    limits.random32 = random_rate<Block32>(stream, all, repetitions, out.data());
    limits.copy = static_cast<double>(kBytes) * 1e-9 /
                  copy_seconds(stream, memory.data(), memory.data() + kBytes / 2, kBytes / 2, repetitions);
  }
  const Buffer<unsigned char> device_memory(device, kLinkBytes, "memory to measure");
  const Staging<unsigned char> host_memory(device, kLinkBytes, "memory to measure");
  const auto link = [&](void* to, const void* from, cudaMemcpyKind kind) {
    return static_cast<double>(kLinkBytes) * 1e-9 / median_seconds(stream, repetitions, [&](unsigned) {
             cuda::check(cudaMemcpyAsync(to, from, kLinkBytes, kind, stream.get()), "a copy over the link");
           });
  };
  limits.to_device = link(device_memory.data(), host_memory.data(), cudaMemcpyHostToDevice);
  limits.to_host = link(host_memory.data(), device_memory.data(), cudaMemcpyDeviceToHost);
  limits.barrier = barrier_microseconds(stream, repetitions);
  return limits;
}

PeerLimits cuda_peer_limits(const Device& device, std::span<const unsigned char> peer_memory,
                            unsigned repetitions) {
  const cuda::Stream stream;
  const Buffer<unsigned char> memory(device, peer_memory.size(), "memory to measure");
  const Buffer<unsigned> out(device, 1, "memory to measure");
  PeerLimits limits;
  limits.copy = static_cast<double>(peer_memory.size()) * 1e-9 /
                copy_seconds(stream, peer_memory.data(), memory.data(), peer_memory.size(), repetitions);
  limits.random4 = random_rate<unsigned>(stream, peer_memory, repetitions, out.data());
  return limits;
}

}  // namespace sluice::bench
