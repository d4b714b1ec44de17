// Sorting in device memory. Only the .cu files include CUB, so that its headers are compiled once.
#pragma once

#include <cstdint>

#include "engine/exec/memory/buffer.hpp"

namespace sluice::cuda {

/// Sorts pairs stably by the low `bits` of their keys: `size` entries of keys_from and values_from, into
/// keys_to and values_to. `scratch` grows as needed. `stream` is a cudaStream_t.
void sort_by_key(const Device& device, const std::uint32_t* keys_from, std::uint32_t* keys_to,
                 const std::uint32_t* values_from, std::uint32_t* values_to, std::uint64_t size,
                 unsigned bits, Buffer<unsigned char>& scratch, void* stream);

/// Sorts each list by its keys: list i has entries [offsets[i], offsets[i + 1]), where keys_from[0] is entry
/// `first`. The lists have `size` entries in all. values_from may be null. Inputs and outputs must differ.
void sort_segments(const Device& device, const std::uint32_t* keys_from, std::uint32_t* keys_to,
                   const float* values_from, float* values_to, std::uint64_t first, std::uint64_t size,
                   const std::uint64_t* offsets, std::uint64_t lists, Buffer<unsigned char>& scratch,
                   void* stream);

/// Bytes of scratch that sort_by_key() needs for `size` entries.
std::uint64_t sort_scratch_bytes(std::uint64_t size, unsigned bits);

/// Keys in device memory, ascending.
struct DistinctKeys {
  std::uint64_t* keys = nullptr;
  std::uint64_t size = 0;
};

/// Sorts `size` keys and removes repeated ones. Only the low `bits` of a key may be set. The result is in
/// `keys` or in `spare`, which has the same length. Waits for the stream.
DistinctKeys sort_distinct(const Device& device, std::uint64_t* keys, std::uint64_t* spare,
                           std::uint64_t size, unsigned bits, Buffer<unsigned char>& scratch, void* stream);

/// Bytes of scratch that sort_distinct() needs for `size` keys.
std::uint64_t distinct_scratch_bytes(std::uint64_t size, unsigned bits);

}  // namespace sluice::cuda
