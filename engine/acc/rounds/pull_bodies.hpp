// Bodies of rounds that pull (exec/executor.hpp). In such a round the marks are the bits of all vertices that
// are active, on any rank.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/acc/rounds/push_bodies.hpp"
#include "engine/core/macros.hpp"

namespace sluice::acc {

/// Own vertices without in-edges are settled: no value ever reaches them.
template <class Program>
struct SettleUnreachable {
  FrontierView<Program> view;
  const EdgeIndex* in_offsets;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane&) const {
    if (in_offsets[row] == in_offsets[row + 1]) take_bit(view.settled, static_cast<Vertex>(view.first + row));
  }
};

/// The front as bits.
struct MarkFront {
  const Vertex* front;
  std::uint32_t* marks;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    take_bit(marks, front[i]);
  }
};

/// Vertices that are active on another rank need no further value.
struct SettleMarked {
  const std::uint32_t* marks;
  std::uint32_t* settled;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t word, Lane&) const {
    settled[word] |= marks[word];
  }
};

/// How many own vertices of each partition are not settled; for every word that has own vertices.
template <class Program>
struct CountUnsettled {
  FrontierView<Program> view;
  OwnershipView partitions;    ///< of rows
  unsigned long long* counts;  ///< [partitions]

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const std::uint64_t word = view.first / kBitsOfWord + i, from = word * kBitsOfWord;
    std::uint64_t begin = from < view.first ? view.first : from;
    const std::uint64_t end = from + kBitsOfWord < view.last ? from + kBitsOfWord : view.last;
    while (begin < end) {
      const unsigned p = partitions.owner(begin - view.first);
      std::uint64_t stop = view.first + partitions.begins[p + 1];
      if (stop > end) stop = end;
      const std::uint32_t there =
          bits_between(static_cast<unsigned>(begin - from), static_cast<unsigned>(stop - from));
      if (const unsigned count = count_bits(~view.settled[word] & there); count > 0)
        fetch_add(counts + p, count);
      begin = stop;
    }
  }
};

/// Own vertices that are not settled take the value of the first active vertex in their list (program.hpp
/// says why that suffices). No other thread touches the state, nor do bits change meanwhile.
template <class Program>
struct PullEdges {
  FrontierView<Program> view;
  AccRound at;
  const Vertex* sources;
  const float* weights;

  SLUICE_HD bool wants(std::uint64_t row) const {
    const std::uint64_t v = view.first + row;
    return (view.settled[v / kBitsOfWord] >> (v % kBitsOfWord) & 1) == 0;
  }
  SLUICE_HD bool hits(EdgeIndex e) const {
    const Vertex u = sources[e];
    return view.marks[u / kBitsOfWord] >> (u % kBitsOfWord) & 1;
  }
  void prefetch(EdgeIndex e) const { __builtin_prefetch(sources + e); }
  template <class Lane>
  SLUICE_HD void take(std::uint64_t row, EdgeIndex e, Lane& lane) const {
    const auto v = static_cast<Vertex>(view.first + row);
    const auto value = view.program.compute({sources[e], v, e, at, view.states, weights});
    const auto before = view.states[v], now = view.program.combine(before, value, at);
    if (now == before) return;
    view.states[v] = now;
    if (view.program.active(now, before, at)) view.list_own(v, lane);
  }
};

}  // namespace sluice::acc
