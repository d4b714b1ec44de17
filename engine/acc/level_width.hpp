// How many levels of a program that joins them (program.hpp: kJoins) a GPU works on at once.
//
// A round takes as long with few edges as with many. So levels are narrow, and grow once they have few edges,
// fewer than those before and looked at once and again; or many thin rounds. Among many edges a wide level
// looks at them again and again, and before edges become many they are few: levels whose edges multiply do
// not grow.
//
// One H200, sssp, beside levels four times as wide throughout (ms): Kronecker 24 27 and 49, 2^22 vertices of
// a uniform graph 7.8 and 20, a grid of 2^22 vertices 88 and 82.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"

namespace sluice::acc {

class LevelWidth {
 public:
  static constexpr std::uint64_t kFewEdges = 1u << 21, kManyEdges = 1u << 24, kThinRound = 3u << 11,
                                 kMost = 1u << 20;
  static constexpr std::uint32_t kFewRounds = 2, kManyRounds = 8;

  /// A round of the levels at work has looked at so many edges, on all ranks.
  SLUICE_HD void count(std::uint64_t edges) { edges_ += edges, ++rounds_; }

  /// Their rounds have ended. Returns how many levels come next.
  SLUICE_HD std::uint64_t next() {
    const bool few = edges_ < kFewEdges && edges_ < edges_before_ && rounds_ <= kFewRounds,
               thin = edges_ < rounds_ * kThinRound && edges_ < 2 * edges_before_ && rounds_ >= kManyRounds;
    if (few || thin) {
      width_ = 2 * width_ < kMost ? 2 * width_ : kMost;
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
