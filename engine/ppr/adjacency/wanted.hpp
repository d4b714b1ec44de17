// The lists that current queries lack, a bit per vertex. A list that many queries reach is therefore fetched
// only once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "engine/core/host_array.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/memory/shared_words.hpp"

namespace sluice::ppr {

class WantedLists {
 public:
  explicit WantedLists(std::uint64_t vertices) : words_((vertices + 63) / 64, "which lists are missing") {
    clear();
  }

  void clear() {
    if (!host_budget().counts_only()) std::fill(words_.begin(), words_.end(), 0);
  }
  /// Called by any thread.
  void add(Vertex v) { fetch_or(&words_[v / 64], std::uint64_t{1} << (v % 64)); }
  /// The list has been fetched.
  void remove(Vertex v) { words_[v / 64] &= ~(std::uint64_t{1} << (v % 64)); }
  /// The bits of all vertices, 64 a word.
  std::span<std::uint64_t> words() { return words_.span(); }
  /// Number of wanted lists of vertices [begin, end).
  std::uint64_t count(std::uint64_t begin, std::uint64_t end) const {
    std::uint64_t wanted = 0;
    for (std::uint64_t at = begin; at < end; at = (at / 64 + 1) * 64) wanted += std::popcount(word(at, end));
    return wanted;
  }

  /// Calls use(vertex) for the wanted lists of [begin, end), in order, until it returns false. Returns that
  /// vertex, or `end`.
  template <class Use>
  std::uint64_t for_each_while(std::uint64_t begin, std::uint64_t end, Use&& use) const {
    for (std::uint64_t at = begin; at < end; at = (at / 64 + 1) * 64) {
      for (std::uint64_t bits = word(at, end); bits != 0; bits &= bits - 1) {
        const std::uint64_t v = at / 64 * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
        if (!use(static_cast<Vertex>(v))) return v;
      }
    }
    return end;
  }

 private:
  /// The bits of vertices from `at` to the end of its word, but before `end`.
  std::uint64_t word(std::uint64_t at, std::uint64_t end) const {
    std::uint64_t bits = words_[at / 64] & ~std::uint64_t{0} << (at % 64);
    if (const std::uint64_t left = end - at / 64 * 64; left < 64) bits &= (std::uint64_t{1} << left) - 1;
    return bits;
  }

  HostArray<std::uint64_t> words_;
};

}  // namespace sluice::ppr
