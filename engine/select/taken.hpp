// How a pick finds out that its candidate was taken already (C-SAW section IV.B, "collision"): by comparing
// with all picks so far, or by one bit per candidate. The choice changes counters and speed, never a draw.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/select/options.hpp"

namespace sluice {

/// `automatic` is `linear`: with few picks, comparing is fastest.
SLUICE_HD Collision technique_of(Collision requested) {
  return requested == Collision::automatic ? Collision::linear : requested;
}

/// Counts of a selection's work, for the ablation: C-SAW figures 10 to 12.
struct PickCounters {
  std::uint32_t iterations = 0;  ///< first choices and redraws
  std::uint32_t searches = 0;    ///< comparisons or bit probes
  std::uint64_t bytes_read = 0;  ///< bytes of lists that were read in place

  // The interface of group counters (exec/executor.hpp).
  static constexpr unsigned kSums = 3;
  SLUICE_HD std::uint64_t value(unsigned sum) const {
    return sum == 0 ? iterations : sum == 1 ? searches : bytes_read;
  }
};

/// The picks made so far. `words` (bitmaps only) is all zero before the first pick; clear() makes it so
/// again.
template <class Index>
struct Taken {
  Collision collision;
  std::uint32_t* words;
  std::uint32_t word_count;
  const Index* picks;
  bool exact = true;  ///< every candidate has its own bit; if not, a set bit means that picks are compared

  /// Whether `value` is among the first `count` picks. Each lane may ask for another value.
  SLUICE_HD bool has(Index value, std::uint32_t count, PickCounters& counters) const {
    if (collision != Collision::linear) {
      ++counters.searches;
      const bool set = is_set(value);
      if (exact || !set) return set;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      ++counters.searches;
      if (picks[i] == value) return true;
    }
    return false;
  }

  /// The same by a group of lanes that all ask for the same value; no lane continues before all have read.
  template <class Group>
  SLUICE_HD bool group_has(const Group& group, Index value, std::uint32_t count,
                           PickCounters& counters) const {
    if (collision != Collision::linear) {
      counters.searches += group.rank() == 0;
      const bool set = group.ballot(is_set(value)) != 0;
      if (exact || !set) return set;
    }
    bool found = false;
    for (std::uint32_t i = group.rank(); i < count; i += Group::kSize) {
      ++counters.searches;
      found |= picks[i] == value;
    }
    return group.ballot(found) != 0;
  }

  SLUICE_HD void add(Index value) const {
    if (collision == Collision::linear) return;
    const BitPosition position = position_of(value);
#if defined(__CUDA_ARCH__)
    atomicOr(words + position.word, 1u << position.bit);  // lanes may share a word
#else
    words[position.word] |= 1u << position.bit;
#endif
  }

  SLUICE_HD void clear(Index value) const {
    if (collision != Collision::linear) words[position_of(value).word] = 0;
  }

  /// Clears all words, for memory that was never cleared.
  template <class Group>
  SLUICE_HD void clear_all(const Group& group) const {
    if (collision == Collision::linear) return;
    for (std::uint32_t i = group.rank(); i < word_count; i += Group::kSize) words[i] = 0;
    group.sync();
  }

 private:
  struct BitPosition {
    std::uint32_t word, bit;
  };

  SLUICE_HD bool is_set(Index value) const {
    const BitPosition position = position_of(value);
    return words[position.word] >> position.bit & 1;
  }

  // The strided bitmap puts neighbouring candidates into different words, so that lanes seldom share one.
  SLUICE_HD BitPosition position_of(Index value) const {
    if (collision == Collision::bitmap)
      return {static_cast<std::uint32_t>(value / 32 % word_count), static_cast<std::uint32_t>(value % 32)};
    const std::uint32_t bits = collision == Collision::strided_bytes ? 8 : 32, strides_per_word = 32 / bits;
    const std::uint32_t strides = word_count * strides_per_word;
    const auto stride_index = static_cast<std::uint32_t>(value % strides);
    const auto bit = static_cast<std::uint32_t>(value / strides % bits);
    return {stride_index / strides_per_word, stride_index % strides_per_word * bits + bit};
  }
};

}  // namespace sluice
