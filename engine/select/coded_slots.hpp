// Alias slots of a coded list (EliasFano), with random access: the first bits of a threshold, and the other
// index in as many bits as the list's length has. If the random bits equal the threshold's first bits, the
// whole threshold decides, which is stored elsewhere: the same draws in a fifth of the bytes.
#pragma once

#include <cstdint>

#include "engine/core/bits.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/select/alias.hpp"

namespace sluice {

/// The layout of the slots of a list of `degree` > 0 targets in words of 32 bits.
struct CodedSlots {
  /// One draw in 2^8 reads the whole threshold.
  static constexpr std::uint32_t kHeadBits = 8;
  /// A slot of a longer list would take more than a word.
  static constexpr std::uint32_t kMaxSlots = (1u << 24) - 1;

  struct Slot {
    std::uint32_t head;   ///< first bits of the threshold
    std::uint32_t other;  ///< index in the list; the list's length: no entry of it has positive bias
  };

  std::uint32_t degree;
  std::uint32_t bits;  ///< per slot

  SLUICE_HD static CodedSlots of(std::uint32_t degree) { return {degree, kHeadBits + bit_width(degree)}; }
  SLUICE_HD static std::uint32_t head(std::uint64_t threshold) {
    return static_cast<std::uint32_t>(threshold >> (64 - kHeadBits));
  }

  SLUICE_HD std::uint64_t words() const { return (std::uint64_t{degree} * bits + 31) / 32; }

  /// Slot i of the list whose slots are at `words`.
  SLUICE_HD Slot read(const std::uint32_t* words, std::uint32_t i) const {
    const std::uint32_t slot = packed_field(words, i, bits);
    return {slot & ((1u << kHeadBits) - 1), slot >> kHeadBits};
  }

  /// Codes slot i into words() words that were zero before the first slot.
  void write(std::uint32_t* words, std::uint32_t i, const AliasSlot& slot) const {
    const std::uint32_t other = slot.other == kNoVertex ? degree : slot.other;
    pack_field(words, i, bits, other << kHeadBits | head(slot.threshold));
  }
};

}  // namespace sluice
