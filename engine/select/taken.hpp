// How a pick finds out that its candidate was taken already (C-SAW section IV.B, "collision"): by comparing
// with all picks so far, or by one bit a candidate. Which one changes counters and speed, never a draw.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/select/options.hpp"

namespace sluice {

/// What a selection did, for the ablation: C-SAW figures 10 to 12.
struct PickCounters {
  std::uint32_t iterations = 0;  ///< first choices and redraws
  std::uint32_t searches = 0;    ///< comparisons or bit probes
  std::uint64_t read = 0;        ///< bytes of lists that were read in place

  // As groups report them (exec/executor.hpp).
  static constexpr unsigned kSums = 3;
  SLUICE_HD std::uint64_t value(unsigned sum) const {
    return sum == 0 ? iterations : sum == 1 ? searches : read;
  }
};

/// The picks made so far. `words` (bitmaps only) holds one bit a candidate and is all zero before the
/// first pick; clear() makes it so again.
template <class Index>
struct Taken {
  Collision collision;
  std::uint32_t* words;
  std::uint32_t word_count;
  const Index* picks;

  /// Is `value` among the first `count` picks? Each lane may ask for another value.
  SLUICE_HD bool has(Index value, std::uint32_t count, PickCounters& counters) const {
    if (collision != Collision::linear) {
      ++counters.searches;
      return words[word_of(value)] >> bit_of(value) & 1;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      ++counters.searches;
      if (picks[i] == value) return true;
    }
    return false;
  }

  /// The same by a group of lanes that all ask for one value.
  template <class Group>
  SLUICE_HD bool group_has(const Group& group, Index value, std::uint32_t count,
                           PickCounters& counters) const {
    if (collision != Collision::linear) {
      counters.searches += group.rank() == 0;
      return words[word_of(value)] >> bit_of(value) & 1;
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
#if defined(__CUDA_ARCH__)
    atomicOr(words + word_of(value), 1u << bit_of(value));  // lanes may share a word
#else
    words[word_of(value)] |= 1u << bit_of(value);
#endif
  }

  SLUICE_HD void clear(Index value) const {
    if (collision != Collision::linear) words[word_of(value)] = 0;
  }

 private:
  // The strided bitmap puts neighbouring candidates into different words, so that lanes seldom meet in one.
  SLUICE_HD std::uint32_t word_of(Index value) const {
    return static_cast<std::uint32_t>(collision == Collision::strided_bitmap ? value % word_count
                                                                             : value / 32);
  }
  SLUICE_HD std::uint32_t bit_of(Index value) const {
    return static_cast<std::uint32_t>(collision == Collision::strided_bitmap ? value / word_count
                                                                             : value % 32);
  }
};

}  // namespace sluice
