#include "engine/exec/memory/link.hpp"

#include <algorithm>
#include <cstdint>

#include "engine/exec/cuda_check.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"

namespace sluice::cuda {

namespace {

constexpr unsigned kBlock = 256;
constexpr std::uint64_t kBytes = 4u << 20, kReads = 1u << 18;

__global__ void __launch_bounds__(kBlock)
    read_kernel(const std::uint32_t* memory, std::uint64_t count, std::uint64_t first, std::uint32_t* sums) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kBlock + threadIdx.x;
  sums[i] += memory[__umul64hi((first + i) * 0x9E3779B97F4A7C15ull, count)];  // keeps the read
}

}  // namespace

LinkRates measure_link(const Device& device, std::span<const std::uint32_t> in_place) {
  const Buffer<std::uint32_t> on_device(device, kBytes / sizeof(std::uint32_t), "measuring the link");
  const Staging<std::uint32_t> on_host(device, kBytes / sizeof(std::uint32_t), "measuring the link");
  std::fill_n(on_host.data(), on_host.size(), 0u);
  Stream stream;
  Timer timer;
  LinkRates rates;
  for (int pass = 0; pass < 2; ++pass) {  // the first pass is a warm-up
    timer.start(stream);
    check(cudaMemcpyAsync(on_device.data(), on_host.data(), kBytes, cudaMemcpyHostToDevice, stream.get()),
          "measuring the link");
    timer.stop(stream);
    stream.wait("measuring the link");
    rates.copied_bytes = static_cast<double>(kBytes) / timer.seconds();
    timer.start(stream);
    // Reads other addresses than the pass before, whose data the GPU's cache may hold.
    read_kernel<<<kReads / kBlock, kBlock, 0, stream.get()>>>(in_place.data(), in_place.size(), pass * kReads,
                                                              on_device.data());
    check_launch("read_kernel");
    timer.stop(stream);
    stream.wait("measuring the link");
    rates.mapped_reads = static_cast<double>(kReads) / timer.seconds();
  }
  return rates;
}

}  // namespace sluice::cuda
