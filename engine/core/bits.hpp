// Bit operations for host and device: bits and packed fields in arrays of 32-bit words, and bit widths.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice {

/// The number of bits that `value` needs; 0 for 0.
SLUICE_HD std::uint32_t bit_width(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  return 32 - static_cast<std::uint32_t>(__clz(static_cast<int>(value)));
#else
  return static_cast<std::uint32_t>(std::bit_width(value));
#endif
}

SLUICE_HD std::uint32_t bit_width(std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  return 64 - static_cast<std::uint32_t>(__clzll(static_cast<long long>(value)));
#else
  return static_cast<std::uint32_t>(std::bit_width(value));
#endif
}

SLUICE_HD unsigned count_bits(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__popc(word));
#else
  return static_cast<unsigned>(std::popcount(word));
#endif
}

inline constexpr unsigned kBitsOfWord = 32;

/// Whether bit i of `words` is set. The read is not atomic: for words that no thread is changing, or where a
/// stale bit is acceptable.
SLUICE_HD bool is_marked(const std::uint32_t* words, std::uint64_t i) {
  return (words[i / kBitsOfWord] >> (i % kBitsOfWord) & 1) != 0;
}

/// The position of the lowest set bit; `word` must not be 0.
SLUICE_HD unsigned lowest_bit(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__ffs(static_cast<int>(word)) - 1);
#else
  return static_cast<unsigned>(std::countr_zero(word));
#endif
}

/// The field of 1 to 32 bits that begins at `bit`. The second word is read only if the field reaches into it:
/// reading it always costs registers, and node2vec's kernel spilled 24 bytes instead of 8.
SLUICE_HD std::uint32_t field_at(const std::uint32_t* words, std::uint64_t bit, std::uint32_t bits) {
  const std::uint32_t shift = bit % 32;
  std::uint64_t pair = words[bit / 32];
  if (shift + bits > 32) pair |= std::uint64_t{words[bit / 32 + 1]} << 32;
  return static_cast<std::uint32_t>(pair >> shift) & (~0u >> (32 - bits));
}

/// Field i of an array of fields of `bits` bits each.
SLUICE_HD std::uint32_t packed_field(const std::uint32_t* words, std::uint32_t i, std::uint32_t bits) {
  return field_at(words, std::uint64_t{i} * bits, bits);
}

/// Writes a field whose bits are all zero so far.
inline void put_field_at(std::uint32_t* words, std::uint64_t bit, std::uint32_t value) {
  const std::uint64_t shifted = std::uint64_t{value} << bit % 32;
  words[bit / 32] |= static_cast<std::uint32_t>(shifted);
  if (shifted >> 32 != 0) words[bit / 32 + 1] |= static_cast<std::uint32_t>(shifted >> 32);
}

inline void pack_field(std::uint32_t* words, std::uint32_t i, std::uint32_t bits, std::uint32_t value) {
  put_field_at(words, std::uint64_t{i} * bits, value);
}

}  // namespace sluice
