#include "engine/exec/algorithms/sort.hpp"

#include <cub/device/device_radix_sort.cuh>

#include "engine/exec/cuda_check.cuh"

namespace sluice::cuda {

std::uint64_t sort_scratch_bytes(std::uint64_t size, unsigned bits) {
  std::size_t bytes = 0;
  const std::uint32_t* from = nullptr;
  std::uint32_t* to = nullptr;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, from, to, from, to, size, 0, static_cast<int>(bits)),
        "measuring a sort");
  return bytes;
}

void sort_by_key(const Device& device, const std::uint32_t* keys_from, std::uint32_t* keys_to,
                 const std::uint32_t* values_from, std::uint32_t* values_to, std::uint64_t size,
                 unsigned bits, Buffer<unsigned char>& scratch, void* stream) {
  std::size_t bytes = sort_scratch_bytes(size, bits);
  scratch.reserve(device, bytes, "scratch of sorts");
  check(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, keys_from, keys_to, values_from, values_to,
                                        size, 0, static_cast<int>(bits), static_cast<cudaStream_t>(stream)),
        "a sort");
}

}  // namespace sluice::cuda
