// The set of vertex ids that occur, one bit each, and the rank of an id in it; compaction uses both.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/core/host_array.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::io {

class IdSet {
 public:
  /// Grows to hold ids below `range`; no thread may call mark() meanwhile.
  void grow(std::uint64_t range) {
    if (range <= this->range()) return;
    HostArray<std::uint64_t> grown(words_for(range), "the set of used ids");
    std::copy(words_.begin(), words_.end(), grown.begin());
    std::fill(grown.begin() + words_.size(), grown.end(), 0);
    words_ = std::move(grown);
  }

  /// Adds an id; thread-safe. Most ids are already present, so a plain load avoids most atomic writes.
  void mark(std::uint64_t id) {
    const std::uint64_t bit = std::uint64_t{1} << (id & 63);
    std::atomic_ref word(words_[id >> 6]);
    if (!(word.load(std::memory_order_relaxed) & bit)) word.fetch_or(bit, std::memory_order_relaxed);
  }

  bool contains(std::uint64_t id) const { return words_[id >> 6] >> (id & 63) & 1; }

  std::uint64_t count(unsigned threads) const {
    std::atomic<std::uint64_t> total{0};
    parallel_blocks(threads, words_.size(), 1u << 16, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      std::uint64_t ones = 0;
      for (std::uint64_t i = begin; i < end; ++i)
        ones += static_cast<std::uint64_t>(std::popcount(words_[i]));
      total += ones;
    });
    return total;
  }

  /// The smallest id; the set must not be empty.
  std::uint64_t first() const {
    std::uint64_t i = 0;
    while (words_[i] == 0) ++i;
    return i * 64 + static_cast<std::uint64_t>(std::countr_zero(words_[i]));
  }

  /// Prepares rank(), for fewer than 2^32 ids; call it once all ids are marked.
  void index() {
    ranks_ = HostArray<std::uint32_t>(words_.size(), "the ranks of used ids");
    std::uint32_t rank = 0;
    for (std::uint64_t i = 0; i < words_.size(); ++i) {
      ranks_[i] = rank;
      rank += static_cast<std::uint32_t>(std::popcount(words_[i]));
    }
  }

  /// The number of smaller ids in the set.
  std::uint32_t rank(std::uint64_t id) const {
    const std::uint64_t smaller = words_[id >> 6] & ((std::uint64_t{1} << (id & 63)) - 1);
    return ranks_[id >> 6] + static_cast<std::uint32_t>(std::popcount(smaller));
  }

  /// Calls visit(id) for every id, ascending.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::uint64_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word; word &= word - 1) {
        visit(i * 64 + static_cast<std::uint64_t>(std::countr_zero(word)));
      }
    }
  }

  /// One bit per id, the lowest id first; ids marked elsewhere may be copied here.
  std::span<std::uint64_t> words() { return words_.span(); }
  /// Ids below this fit.
  std::uint64_t range() const { return words_.size() * 64; }
  /// Bytes held once ids below `range` fit, including the ranks of index(). Growing takes no more: the old
  /// words, held beside the new ones, are at most half as large.
  std::uint64_t bytes(std::uint64_t range = 0) const {
    return words_for(range) * (sizeof(std::uint64_t) + sizeof(std::uint32_t));
  }

  void clear() { words_ = {}, ranks_ = {}; }

 private:
  std::uint64_t words_for(std::uint64_t range) const {
    const std::uint64_t wanted = (range + 63) / 64;
    return wanted <= words_.size() ? words_.size() : std::max<std::uint64_t>(wanted, words_.size() * 2);
  }

  HostArray<std::uint64_t> words_;
  HostArray<std::uint32_t> ranks_;  ///< ids in all earlier words
};

}  // namespace sluice::io
