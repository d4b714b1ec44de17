#include "engine/exec/algorithms/sort.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>

#include "engine/exec/backend.hpp"
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

namespace {

constexpr std::uint64_t kCountAligned = 256;         // bytes for the count of keys, before CUB's scratch
constexpr std::uint64_t kMaxSelected = 1ull << 30;   // keys per call: older versions of CUB count in 31 bits

std::size_t keys_scratch(std::uint64_t size, unsigned bits) {
  std::size_t bytes = 0;
  cub::DoubleBuffer<std::uint64_t> keys;
  check(cub::DeviceRadixSort::SortKeys(nullptr, bytes, keys, size, 0, static_cast<int>(bits)),
        "measuring a sort");
  return bytes;
}

std::size_t select_scratch(std::uint64_t size) {
  std::size_t bytes = 0;
  const std::uint64_t* from = nullptr;
  std::uint64_t *to = nullptr, *count = nullptr;
  check(cub::DeviceSelect::Unique(nullptr, bytes, from, to, count,
                                  static_cast<std::int64_t>(std::min(size, kMaxSelected) + 1)),
        "measuring a selection");
  return bytes;
}

}  // namespace

std::uint64_t distinct_scratch_bytes(std::uint64_t size, unsigned bits) {
  return kCountAligned + std::max(keys_scratch(size, bits), select_scratch(size));
}

DistinctKeys sort_distinct(const Device& device, std::uint64_t* keys, std::uint64_t* spare,
                           std::uint64_t size, unsigned bits, Buffer<unsigned char>& scratch, void* stream) {
  if (size == 0) return {keys, 0};
  const auto cuda_stream = static_cast<cudaStream_t>(stream);
  scratch.reserve(device, distinct_scratch_bytes(size, bits), "scratch of sorts");
  auto* const selected = reinterpret_cast<std::uint64_t*>(scratch.data());
  void* const cub_scratch = scratch.data() + kCountAligned;
  cub::DoubleBuffer<std::uint64_t> sorted(keys, spare);
  std::size_t bytes = keys_scratch(size, bits);
  check(cub::DeviceRadixSort::SortKeys(cub_scratch, bytes, sorted, size, 0, static_cast<int>(bits),
                                       cuda_stream),
        "a sort");
  const std::uint64_t* const from = sorted.Current();
  DistinctKeys distinct{sorted.Alternate(), 0};
  for (std::uint64_t begin = 0; begin < size; begin += kMaxSelected) {
    // A later piece begins one key early, with the last key written so far, and overwrites it.
    const std::uint64_t overlap = begin > 0, count = std::min(kMaxSelected, size - begin) + overlap;
    bytes = select_scratch(size);
    check(cub::DeviceSelect::Unique(cub_scratch, bytes, from + begin - overlap,
                                    distinct.keys + distinct.size - overlap, selected,
                                    static_cast<std::int64_t>(count), cuda_stream),
          "a selection");
    wait_stream(stream, "sorting edges");
    std::uint64_t found = 0;
    copy_to_host(&found, selected, sizeof found);
    distinct.size += found - overlap;
  }
  return distinct;
}

}  // namespace sluice::cuda
