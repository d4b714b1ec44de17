// Bytes that a draw reads of a list, counted if the list is read in place, in another memory. Every draw
// counts all its bytes, whatever a cache keeps.
#pragma once

#include <cstdint>

#include "engine/core/bits.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice {

/// The most entries that a binary search of `size` entries reads.
SLUICE_HD std::uint32_t search_reads(std::uint32_t size) {
  return bit_width(size);
}

/// The list's total, and the sums that a search of its CTPS reads.
SLUICE_HD std::uint32_t ctps_bytes(std::uint32_t degree) {
  return (1 + search_reads(degree)) * sizeof(std::uint64_t);
}

inline constexpr std::uint32_t kTargetBytes = sizeof(Vertex);
inline constexpr std::uint32_t kWeightBytes = sizeof(float);
/// Threshold and other index.
inline constexpr std::uint32_t kAliasBytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);
/// A coded target, whose row is on the device: a sample, a word of high bits and one of low bits.
inline constexpr std::uint32_t kCodedBytes = 3 * sizeof(std::uint32_t);
/// A coded alias slot.
inline constexpr std::uint32_t kCodedSlotBytes = sizeof(std::uint32_t);
/// A search of a coded list: samples with their low bits, and a sample's entries.
SLUICE_HD std::uint32_t coded_search_bytes(std::uint32_t degree) {
  return (4 + 2 * search_reads(degree / 64)) * sizeof(std::uint32_t);
}

}  // namespace sluice
