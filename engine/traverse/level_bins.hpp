// The vertices that wait to be processed, by level: threads note them in bins, one per level (the online
// filter; GAPBS's delta-stepping is the model). Bins cover a window of levels. Vertices beyond it wait in one
// more bin, and are sorted into bins by their states once the window is done.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice {

class LevelBins {
 public:
  using List = ChargedVector<Vertex>;
  static constexpr std::uint64_t kMaxBins = 64;
  /// The lowest level if there is no vertex.
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// The bins of one thread.
  struct alignas(64) ThreadBins {
    std::array<List, kMaxBins> levels;
    List beyond;  ///< vertices beyond the window
    std::uint64_t lowest = 0;
  };

  explicit LevelBins(ThreadPool& pool) : pool_(pool), bins_(pool.size()) {}

  /// The number of levels in the window, at most kMaxBins.
  std::uint64_t size() const { return size_; }
  void resize(std::uint64_t size) { size_ = size; }
  ThreadBins& bins_of(unsigned thread) { return bins_[thread]; }
  void add(ThreadBins& bins, Vertex v, std::uint64_t level) const {
    const std::uint64_t bin = level - window_;
    (bin < size_ ? bins.levels[bin] : bins.beyond).push_back(v);
  }
  void add_beyond(ThreadBins& bins, Vertex v) const { bins.beyond.push_back(v); }

  /// The level of the first bin; all lower levels are done.
  std::uint64_t window() const { return window_; }
  std::uint64_t pending(std::uint64_t bin) const {
    std::uint64_t count = 0;
    for (const ThreadBins& bins : bins_) count += bins.levels[bin].size();
    return count;
  }

  /// Moves the vertices in all threads' bins to front(). Returns false if there are none.
  bool collect(std::uint64_t bin) {
    return collect_lists([&](ThreadBins& bins) -> List& { return bins.levels[bin]; });
  }
  std::span<const Vertex> front() const { return {front_.data(), front_size_}; }

  /// The lowest level, from `min_level` on, of the vertices beyond the window, or kNone. level_of(v) is the
  /// level of a vertex.
  template <class LevelOf>
  std::uint64_t lowest_beyond(std::uint64_t min_level, LevelOf&& level_of) {
    collect_lists([](ThreadBins& bins) -> List& { return bins.beyond; });
    min_level_ = min_level;
    for (ThreadBins& bins : bins_) bins.lowest = kNone;
    pool_.for_each_block(front_size_, kStatesPerBlock,
                         [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                           std::uint64_t lowest = bins_[thread].lowest;
                           for (std::uint64_t i = begin; i < end; ++i) {
                             const std::uint64_t level = level_of(front_[i]);
                             if (level >= min_level) lowest = std::min(lowest, level);
                           }
                           bins_[thread].lowest = lowest;
                         });
    std::uint64_t lowest = kNone;
    for (const ThreadBins& bins : bins_) lowest = std::min(lowest, bins.lowest);
    return lowest;
  }

  /// After lowest_beyond(): moves the window to `window` and fills its bins.
  template <class LevelOf>
  void move_window(std::uint64_t window, LevelOf&& level_of) {
    window_ = window;
    pool_.for_each_block(front_size_, kStatesPerBlock,
                         [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                           for (std::uint64_t i = begin; i < end; ++i) {
                             const std::uint64_t level = level_of(front_[i]);
                             if (level >= min_level_) add(bins_[thread], front_[i], level);
                           }
                         });
  }

 private:
  static constexpr std::uint64_t kStatesPerBlock = 1u << 15;

  template <class ListOf>
  bool collect_lists(ListOf&& list_of) {
    front_size_ = 0;
    for (ThreadBins& bins : bins_) front_size_ += list_of(bins).size();
    if (front_.size() < front_size_) front_.resize(std::max(front_size_, 2 * front_.size()));
    auto next = front_.begin();
    for (ThreadBins& bins : bins_) {
      List& list = list_of(bins);
      next = std::copy(list.begin(), list.end(), next);
      list.clear();
    }
    return front_size_ > 0;
  }

  ThreadPool& pool_;
  std::vector<ThreadBins> bins_;  ///< [threads]
  List front_;
  std::size_t front_size_ = 0;
  std::uint64_t size_ = kMaxBins, window_ = 0, min_level_ = 0;
};

}  // namespace sluice
