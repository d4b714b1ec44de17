// Bodies of rounds that pull (traverse/traverser.hpp). In these rounds, marks are the bits of all active
// vertices, on any rank. Host threads also write the vertices found as bits: rows then share words, not list
// entries.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/acc/rounds/push_bodies.hpp"
#include "engine/core/macros.hpp"
#include "engine/traverse/traverser.hpp"

namespace sluice::acc {

/// Own vertices without in-edges are settled: no value ever reaches them.
template <class View>
struct SettleUnreachable {
  View view;
  const EdgeIndex* in_offsets;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane&) const {
    if (in_offsets[row] == in_offsets[row + 1]) set_bit(view.settled, static_cast<Vertex>(view.first + row));
  }
};

/// Marks the frontier's sending vertices as bits.
template <class View>
struct MarkSenders {
  View view;
  AccRound at;
  const Vertex* frontier;
  std::uint32_t* bits;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    if (view.sends(frontier[i], at)) set_bit(bits, frontier[i]);
  }
};

/// Settles vertices that are active on another rank: they need no further value.
struct SettleMarked {
  const std::uint32_t* marks;
  std::uint32_t* settled;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t word, Lane&) const {
    settled[word] |= marks[word];
  }
};

/// Counts the unsettled own vertices of each partition; each call takes one word with own vertices.
template <class View>
struct CountUnsettled {
  View view;
  OwnershipView partitions;    ///< ranges of rows
  unsigned long long* counts;  ///< [partitions]

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const std::uint64_t word = view.first / kBitsOfWord + i, word_begin = word * kBitsOfWord;
    std::uint64_t begin = word_begin < view.first ? view.first : word_begin;
    const std::uint64_t end = word_begin + kBitsOfWord < view.last ? word_begin + kBitsOfWord : view.last;
    while (begin < end) {
      const unsigned p = partitions.owner(begin - view.first);
      std::uint64_t range_end = view.first + partitions.begins[p + 1];
      if (range_end > end) range_end = end;
      if (const unsigned count = count_bits(~view.settled[word] & range_mask(word, begin, range_end));
          count > 0)
        fetch_add(counts + p, count);
      begin = range_end;
    }
  }
};

/// Unsettled own vertices take the value of the first active vertex in their list (program.hpp says why that
/// suffices). No other thread changes the state, and bits do not change meanwhile.
template <class View>
struct PullEdges {
  View view;
  AccRound at;
  const Vertex* sources;
  const float* weights;
  std::uint32_t* found_bits =
      nullptr;  ///< the next round's marks, where lanes pull into bits or for a ballot

  SLUICE_HD bool wants(std::uint64_t row) const { return !is_marked(view.settled, view.first + row); }
  SLUICE_HD bool hits(EdgeIndex e) const { return is_marked(view.marks, sources[e]); }
  void prefetch(EdgeIndex e) const { __builtin_prefetch(sources + e); }
  template <class Lane>
  SLUICE_HD bool accept(std::uint64_t row, EdgeIndex e, Lane& lane) const {
    const auto v = static_cast<Vertex>(view.first + row);
    const auto value = view.program.compute({sources[e], v, e, at, view.states, weights});
    if (!combine_exclusive(view.program, view.states + v, value, at).active) return false;
    if constexpr (Lane::kPullsIntoBits) {
      lane.add(1, view.degree(v));
    } else if (view.ballot) {
      set_bit(found_bits, v);
    } else {
      view.list_own(v, lane);
    }
    return true;
  }

  // Words of vertices, for lanes that pull into bits. No two lanes change the same word.
  std::uint64_t word(std::uint64_t row) const { return (view.first + row) / kBitsOfWord; }
  std::uint64_t first_row(std::uint64_t word) const { return word * kBitsOfWord - view.first; }
  std::uint32_t wanted(std::uint64_t word, const RowRange& rows) const {
    return ~view.settled[word] & range_mask(word, view.first + rows.begin, view.first + rows.end);
  }
  template <class Lane>
  void found(std::uint64_t word, std::uint32_t bits, Lane& lane) const {
    found_bits[word] |= bits;
    view.settled[word] |= bits;
    lane.count(view.own_rank, std::popcount(bits));
  }
};

}  // namespace sluice::acc
