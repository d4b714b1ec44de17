// Alias slots beside a coded list (EliasFano), any of which can be read alone: the first bits of a threshold,
// and the other index in as many bits as the list's length has. Where random bits equal a threshold's first
// bits, the whole one decides, which is looked up elsewhere: the same draws in a fifth of the bytes.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/select/alias.hpp"

namespace sluice {

/// How the slots of a list of `degree` > 0 targets lie in words of 32 bits.
struct CodedSlots {
  /// One draw in 2^8 looks elsewhere.
  static constexpr std::uint32_t kHeadBits = 8;
  /// Slots of longer lists might lie in three words.
  static constexpr std::uint32_t kMostSlots = (1u << 24) - 1;

  struct Slot {
    std::uint32_t head;   ///< of the threshold
    std::uint32_t other;  ///< index in the list; the list's length: no entry of it has positive bias
  };

  std::uint32_t degree;
  std::uint32_t bits;  ///< of a slot

  SLUICE_HD static CodedSlots of(std::uint32_t degree) { return {degree, kHeadBits + width(degree)}; }
  SLUICE_HD static std::uint32_t head(std::uint64_t threshold) {
    return static_cast<std::uint32_t>(threshold >> (64 - kHeadBits));
  }

  SLUICE_HD std::uint64_t words() const { return (std::uint64_t{degree} * bits + 31) / 32; }

  /// Slot i of the list whose slots are at `words`.
  SLUICE_HD Slot read(const std::uint32_t* words, std::uint32_t i) const {
    const std::uint64_t bit = std::uint64_t{i} * bits;
    const std::uint32_t shift = bit % 32;
    std::uint64_t both = words[bit / 32];
    if (shift + bits > 32) both |= std::uint64_t{words[bit / 32 + 1]} << 32;
    const auto slot = static_cast<std::uint32_t>(both >> shift);
    return {slot & ((1u << kHeadBits) - 1), slot >> kHeadBits & ((1u << (bits - kHeadBits)) - 1)};
  }

  /// Codes slot i into words() words that are zero.
  void write(std::uint32_t* words, std::uint32_t i, const AliasSlot& slot) const {
    const std::uint64_t bit = std::uint64_t{i} * bits;
    const std::uint64_t other = slot.other == kNoVertex ? degree : slot.other;
    const std::uint64_t value = (other << kHeadBits | head(slot.threshold)) << bit % 32;
    words[bit / 32] |= static_cast<std::uint32_t>(value);
    if (value >> 32 != 0) words[bit / 32 + 1] |= static_cast<std::uint32_t>(value >> 32);
  }

 private:
  SLUICE_HD static std::uint32_t width(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
    return 32 - static_cast<std::uint32_t>(__clz(static_cast<int>(value)));
#else
    return static_cast<std::uint32_t>(std::bit_width(value));
#endif
  }
};

}  // namespace sluice
