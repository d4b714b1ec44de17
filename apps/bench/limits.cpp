// sluice-bench limits: upper bounds for any program on this device.
#include "apps/bench/limits.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "apps/bench/figures.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/resident_impl.hpp"

namespace sluice::bench {

namespace {

struct alignas(32) Block32 {
  std::uint64_t words[4];
};
struct alignas(16) Block16 {
  std::uint64_t words[2];
};

/// G random reads of T a second; each thread has many independent reads in flight.
template <class T>
double host_random(const Device& device, const Buffer<unsigned char>& memory, unsigned repetitions) {
  const T* const data = reinterpret_cast<const T*>(memory.data());
  const std::uint64_t count = memory.size() / sizeof(T), reads = 1u << 24;
  std::vector<double> rates;
  std::vector<std::uint64_t> sums(device.threads());
  for (unsigned r = 0; r < repetitions; ++r) {
    const double begin = seconds_now();
    parallel_blocks(device.threads(), reads, reads / device.threads() + 1,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      std::uint64_t sum = 0;
                      for (std::uint64_t i = from; i < to; ++i) {
                        const std::uint64_t mixed = (i + r * reads) * 0x9E3779B97F4A7C15ull;
                        std::uint64_t word = 0;
                        const std::uint64_t index =
                            static_cast<std::uint64_t>(static_cast<unsigned __int128>(mixed) * count >> 64);
                        std::memcpy(&word, data + index, std::min(sizeof word, sizeof(T)));
                        sum += word;
                      }
                      sums[thread] += sum;
                    });
    rates.push_back(static_cast<double>(reads) / (seconds_now() - begin) * 1e-9);
  }
  // Using the sums keeps the reads from being optimized away; the memory holds zeros, so they add nothing.
  return median(rates) + static_cast<double>(sums[0]) * 0;
}

Limits host_limits(const Device& device, unsigned repetitions) {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  Buffer<unsigned char> memory(device, kBytes, "memory to measure");
  std::memset(memory.data(), 0, kBytes);
  Limits limits;
  std::vector<double> rates;
  for (unsigned r = 0; r < repetitions; ++r) {
    const double begin = seconds_now();
    const std::size_t half = kBytes / 2, grain = half / device.threads() + 1;
    parallel_blocks(device.threads(), half, grain, [&](std::uint64_t from, std::uint64_t to, unsigned) {
      std::memcpy(memory.data() + half + from, memory.data() + from, to - from);
    });
    rates.push_back(static_cast<double>(kBytes) / (seconds_now() - begin) * 1e-9);
  }
  limits.copy = median(rates);
  limits.random4 = host_random<std::uint32_t>(device, memory, repetitions);
  limits.random16 = host_random<Block16>(device, memory, repetitions);
  limits.random32 = host_random<Block32>(device, memory, repetitions);
  return limits;
}

}  // namespace

Limits measure_limits(const Device& device, unsigned repetitions) {
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda()) return cuda_limits(device, repetitions);
#endif
  return host_limits(device, repetitions);
}

std::vector<Figure> run_limits(Device& device, const Options& options) {
  if (options.progress) options.progress("limits");
  const Limits limits = measure_limits(device, options.repetitions);
  std::vector<Figure> figures;
  const auto add = [&](const char* name, double value, const char* unit) {
    figures.push_back({name, value, unit, value, value, {}});
  };
  add("copy, read + write", limits.copy, "GB/s");
  add("independent random 4-byte reads", limits.random4, "G reads/s");
  add("independent random 16-byte reads", limits.random16, "G reads/s");
  add("independent random 32-byte reads", limits.random32, "G reads/s");
  if (!device.is_cuda()) return figures;
  add("host to device, page-locked", limits.to_device, "GB/s");
  add("device to host, page-locked", limits.to_host, "GB/s");
  add("barrier of a grid, 512 threads a block, two a processor", limits.barrier, "us");
  return figures;
}

}  // namespace sluice::bench
