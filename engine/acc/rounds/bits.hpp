// Sets of vertices as bits, and counters, that many threads change concurrently.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/acc/program.hpp"
#include "engine/core/bits.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice::acc {

/// Number of words with bits of vertices [begin, end).
SLUICE_HD std::uint64_t words_of(std::uint64_t begin, std::uint64_t end) {
  return begin < end ? (end - 1) / kBitsOfWord - begin / kBitsOfWord + 1 : 0;
}

SLUICE_HD bool has_bit(const std::uint32_t* words, Vertex v) {
  return load(words + v / kBitsOfWord) >> (v % kBitsOfWord) & 1;
}

/// Sets a bit atomically. Returns false if it was set.
SLUICE_HD bool set_bit(std::uint32_t* words, Vertex v) {
  std::uint32_t* const word = words + v / kBitsOfWord;
  const std::uint32_t bit = 1u << (v % kBitsOfWord);
#if !defined(__CUDA_ARCH__)
  if ((load(word) & bit) != 0) return false;
#endif
  return (fetch_or(word, bit) & bit) == 0;
}

SLUICE_HD void clear_bit(std::uint32_t* words, Vertex v) {
  std::uint32_t* const word = words + v / kBitsOfWord;
  const std::uint32_t bits = ~(1u << (v % kBitsOfWord));
#if defined(__CUDA_ARCH__)
  atomicAnd(word, bits);
#else
  if ((load(word) & ~bits) != 0) std::atomic_ref(*word).fetch_and(bits, std::memory_order_relaxed);
#endif
}

/// Mask of the bits in `word` that belong to vertices [begin, end); the word must have at least one of them.
SLUICE_HD std::uint32_t range_mask(std::uint64_t word, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t word_begin = word * kBitsOfWord;
  std::uint32_t bits = ~0u;
  if (word_begin < begin) bits &= ~0u << (begin - word_begin);
  if (word_begin + kBitsOfWord > end) bits &= (1u << (end - word_begin)) - 1;
  return bits;
}

}  // namespace sluice::acc
