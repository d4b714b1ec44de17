// Sorting in device memory. CUB stays behind this function: its headers are compiled once.
#pragma once

#include <cstdint>

#include "engine/exec/memory/buffer.hpp"

namespace sluice::cuda {

/// Orders values by the low `bits` of their keys, stably: keys[from] and values[from], of `size` entries
/// each, to keys[to] and values[to]. `scratch` grows as needed. `stream` is a cudaStream_t.
void sort_by_key(const Device& device, const std::uint32_t* keys_from, std::uint32_t* keys_to,
                 const std::uint32_t* values_from, std::uint32_t* values_to, std::uint64_t size,
                 unsigned bits, Buffer<unsigned char>& scratch, void* stream);

/// Sorts every list by itself: entries [offsets[i], offsets[i + 1]) of keys, and of values where there are
/// any, where keys[0] is entry `first`, and lists hold `size` entries in all. `to` and `from` must differ.
void sort_segments(const Device& device, const std::uint32_t* keys_from, std::uint32_t* keys_to,
                   const float* values_from, float* values_to, std::uint64_t first, std::uint64_t size,
                   const std::uint64_t* offsets, std::uint64_t lists, Buffer<unsigned char>& scratch,
                   void* stream);

/// Scratch that sort_by_key takes for so many entries.
std::uint64_t sort_scratch_bytes(std::uint64_t size, unsigned bits);

/// Keys in device memory, ascending.
struct DistinctKeys {
  std::uint64_t* keys = nullptr;
  std::uint64_t size = 0;
};

/// Orders `size` keys by their low `bits`, the only ones that are set, and leaves each once: in `keys` or in
/// `spare`, which is as long. Waits for the stream.
DistinctKeys sort_distinct(const Device& device, std::uint64_t* keys, std::uint64_t* spare,
                           std::uint64_t size, unsigned bits, Buffer<unsigned char>& scratch, void* stream);

/// Scratch that sort_distinct takes for so many keys.
std::uint64_t distinct_scratch_bytes(std::uint64_t size, unsigned bits);

}  // namespace sluice::cuda
