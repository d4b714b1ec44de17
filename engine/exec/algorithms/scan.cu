#include "engine/exec/algorithms/scan.hpp"

#include <cub/device/device_scan.cuh>

#include "engine/exec/cuda_check.cuh"

namespace sluice::cuda {

void exclusive_sum(const Device& device, const std::uint64_t* counts, std::uint64_t* sums, std::uint64_t size,
                   Buffer<unsigned char>& scratch, void* stream) {
  const auto cuda_stream = static_cast<cudaStream_t>(stream);
  std::size_t bytes = 0;
  // The scan of one more element gives the total; the value of that element does not matter.
  check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, counts, sums, size + 1, cuda_stream),
        "measuring a scan");
  // An eighth more than needed, so that a slightly larger scan needs no new memory.
  if (bytes > scratch.size()) scratch.reserve(device, bytes + bytes / 8, "scratch of prefix sums");
  if (device.is_planning()) return;
  check(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, counts, sums, size + 1, cuda_stream),
        "a prefix sum");
}

}  // namespace sluice::cuda
