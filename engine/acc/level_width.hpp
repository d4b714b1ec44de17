// Number of levels that a GPU processes at once, for programs that join levels (program.hpp: kJoins).
//
// A round with few edges takes as long as one with many. Therefore the width grows if the last levels had few
// edges, fewer than the levels before, and at most two rounds; or if they had many rounds with few edges
// each. Wide levels read dense regions again and again, and edge counts are small before they grow large; so
// the width does not grow while edge counts multiply.
//
// One H200, sssp, beside levels four times as wide throughout (ms): Kronecker 24 27 and 49, 2^22 vertices of
// a uniform graph 7.8 and 20, a grid of 2^22 vertices 88 and 82.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice::acc {

class LevelWidth {
 public:
  static constexpr std::uint64_t kFewEdges = 1u << 21, kManyEdges = 1u << 24, kSmallRound = 3u << 11,
                                 kMaxWidth = 1u << 20;
  static constexpr std::uint32_t kFewRounds = 2, kManyRounds = 8;

  /// Counts a round of the current levels that read `edges` on all ranks.
  SLUICE_HD void count(std::uint64_t edges) { edges_ += edges, ++rounds_; }

  /// Ends the current levels; returns how many levels to process next.
  SLUICE_HD std::uint64_t next() {
    const bool few = edges_ < kFewEdges && edges_ < edges_before_ && rounds_ <= kFewRounds,
               small = edges_ < rounds_ * kSmallRound && edges_ < 2 * edges_before_ && rounds_ >= kManyRounds;
    if (few || small) {
      width_ = 2 * width_ < kMaxWidth ? 2 * width_ : kMaxWidth;
    } else if (edges_ > kManyEdges && width_ > 1) {
      width_ /= 2;
    }
    edges_before_ = edges_, edges_ = 0, rounds_ = 0;
    return width_;
  }

 private:
  std::uint64_t width_ = 1, edges_ = 0, edges_before_ = 0;
  std::uint32_t rounds_ = 0;
};

}  // namespace sluice::acc
