// The vertices that wait to be worked on, by level: threads note them in bins, one a level (the online
// filter; GAPBS's delta-stepping is the model). Bins cover a window of levels; what lies beyond it waits in
// one more, whose vertices are sorted into bins by their states once the window is worked off.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/acc/program.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice::acc {

template <AggregationProgram Program>
class LevelBins {
 public:
  using List = ChargedVector<Vertex>;
  /// A program that sends once notes nobody but for the level at work: all others wait beyond the window.
  static constexpr std::uint64_t kBins = Program::kRepeats ? 64 : 1;

  /// One thread's.
  struct alignas(64) Mine {
    std::array<List, kBins + 1> bins;  ///< the last: beyond the window
    std::uint64_t lowest = 0;
  };

  explicit LevelBins(Crew& crew) : crew_(crew), mine_(crew.size()) {}

  Mine& of(unsigned thread) { return mine_[thread]; }
  void note(Mine& mine, Vertex v, std::uint64_t level) const {
    mine.bins[std::min<std::uint64_t>(level - window_, kBins)].push_back(v);
  }
  void note_beyond(Mine& mine, Vertex v) const { mine.bins[kBins].push_back(v); }

  /// The first bin's level; all below are done.
  std::uint64_t window() const { return window_; }
  std::uint64_t waiting(std::uint64_t bin) const {
    std::uint64_t all = 0;
    for (const Mine& mine : mine_) all += mine.bins[bin].size();
    return all;
  }

  /// Makes one list of all threads' bins. False: nobody waits there.
  bool take(std::uint64_t bin) {
    front_size_ = waiting(bin);
    if (front_.size() < front_size_) front_.resize(std::max(front_size_, 2 * front_.size()));
    auto at = front_.begin();
    for (Mine& mine : mine_) {
      at = std::copy(mine.bins[bin].begin(), mine.bins[bin].end(), at);
      mine.bins[bin].clear();
    }
    return front_size_ > 0;
  }
  std::span<const Vertex> front() const { return {front_.data(), front_size_}; }

  /// The lowest level, from `least` on, of what waits beyond the window, or kNoLevel. level_of(v) says a
  /// vertex's level.
  template <class LevelOf>
  std::uint64_t lowest_beyond(std::uint64_t least, LevelOf&& level_of) {
    take(kBins);
    least_ = least;
    for (Mine& mine : mine_) mine.lowest = kNoLevel;
    crew_.blocks(front_size_, kStatesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      std::uint64_t lowest = mine_[thread].lowest;
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t level = level_of(front_[i]);
        if (level >= least) lowest = std::min(lowest, level);
      }
      mine_[thread].lowest = lowest;
    });
    std::uint64_t lowest = kNoLevel;
    for (const Mine& mine : mine_) lowest = std::min(lowest, mine.lowest);
    return lowest;
  }

  /// After that: puts the window at `window` and fills its bins.
  template <class LevelOf>
  void open(std::uint64_t window, LevelOf&& level_of) {
    window_ = window;
    crew_.blocks(front_size_, kStatesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t level = level_of(front_[i]);
        if (level >= least_) note(mine_[thread], front_[i], level);
      }
    });
  }

 private:
  static constexpr std::uint64_t kStatesAtOnce = 1u << 15;

  Crew& crew_;
  std::vector<Mine> mine_;  ///< [threads]
  List front_;
  std::size_t front_size_ = 0;
  std::uint64_t window_ = 0, least_ = 0;
};

}  // namespace sluice::acc
