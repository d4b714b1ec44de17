// What a GPU makes of a rank's part of a round, over lists of vertices: the bodies of its kernels, for one
// vertex, edge or entry each. They are the same source on the host, where tests run them (a team of the
// host's threads in place of a GPU: tests/acc/crew_team.hpp). A team says how bodies are run:
//
//   each(count, found, body)              body(i, lane) for every i below `count`
//   over_lists(lists, found, body)        body.edge(u, e, lane) for every edge e of every listed vertex u for
//                                         which body.sends(u); sums[0] counts them
//   over_first(rows, found, body)         of every row for which body.wants(row) the first edge for which
//                                         body.hits(e) goes to body.take(row, e, lane); sums[0] counts the
//                                         edges up to it, or all
//
// all in the order in which they are asked for, each once the one before is done. A body notes what it finds
// through its lane: append(list, v), lowest(value), add(sum, value).
#pragma once

#include <cstdint>

#include "engine/acc/partitioned/round_exchange.hpp"
#include "engine/acc/program.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice::acc {

/// What bodies find; all memory is the device's. Lists lie side by side: that of rank r has what was found of
/// the vertices which r owns, and so room for each of them once, from begins[r] on.
struct Found {
  static constexpr unsigned kSums = 2;

  Vertex* lists = nullptr;                ///< [vertices]
  const std::uint64_t* begins = nullptr;  ///< [ranks + 1]
  unsigned long long* sizes = nullptr;    ///< [ranks] of the lists
  unsigned long long* sums = nullptr;     ///< [kSums]
  unsigned long long* lowest = nullptr;   ///< [1]
};

/// The vertices whose lists are gone through: `vertices`, or, where that is null, those from `begin` on.
struct ListedVertices {
  const Vertex* vertices = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  std::uint64_t first = 0;  ///< the list of u is from offsets[u - first] on
  const EdgeIndex* offsets = nullptr;

  SLUICE_HD Vertex operator[](std::uint64_t i) const {
    return vertices != nullptr ? vertices[i] : static_cast<Vertex>(begin + i);
  }
};

/// Rows [begin, end), row i from offsets[i] on.
struct ListedRows {
  std::uint64_t begin = 0, end = 0;
  const EdgeIndex* offsets = nullptr;
};

// ---- bits
// ----------------------------------------------------------------------------------------------------

inline constexpr unsigned kBitsOfWord = 32;

SLUICE_HD bool has_bit(const std::uint32_t* words, Vertex v) {
  return load(words + v / kBitsOfWord) >> (v % kBitsOfWord) & 1;
}

/// Sets a bit while others are set and taken away. False: it was set.
SLUICE_HD bool take_bit(std::uint32_t* words, Vertex v) {
  std::uint32_t* const word = words + v / kBitsOfWord;
  const std::uint32_t bit = 1u << (v % kBitsOfWord);
#if defined(__CUDA_ARCH__)
  return (atomicOr(word, bit) & bit) == 0;
#else
  return (std::atomic_ref(*word).fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
#endif
}

SLUICE_HD void drop_bit(std::uint32_t* words, Vertex v) {
  std::uint32_t* const word = words + v / kBitsOfWord;
  const std::uint32_t bits = ~(1u << (v % kBitsOfWord));
#if defined(__CUDA_ARCH__)
  atomicAnd(word, bits);
#else
  std::atomic_ref(*word).fetch_and(bits, std::memory_order_relaxed);
#endif
}

/// Adds to a sum while others do, and returns what it was.
SLUICE_HD unsigned long long fetch_add(unsigned long long* at, unsigned long long value) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(at, value);
#else
  return std::atomic_ref(*at).fetch_add(value, std::memory_order_relaxed);
#endif
}

/// Which of several ranges, range i from begins[i] on, holds `at`: of empty ones that begin there none.
SLUICE_HD unsigned range_of(const std::uint64_t* begins, unsigned ranges, std::uint64_t at) {
  unsigned low = 0, high = ranges;
  while (high - low > 1) {
    const unsigned middle = low + (high - low) / 2;
    (begins[middle] <= at ? low : high) = middle;
  }
  return low;
}

// ---- a program's vertices
// ------------------------------------------------------------------------------------

/// Pointers are to the device's memory.
template <class P>
struct ListedView {
  using Program = P;
  using State = typename Program::State;

  Program program;
  std::uint64_t first = 0, last = 0;          ///< own vertices
  const EdgeIndex* offsets = nullptr;         ///< [own vertices + 1]
  State* states = nullptr;                    ///< [vertices] as owned_push.hpp has them
  std::uint32_t* marks = nullptr;             ///< bits of vertices that are on a list
  std::uint32_t* settled = nullptr;           ///< bits of vertices that a vote looks at no more
  const std::uint64_t* boundaries = nullptr;  ///< [ranks + 1]
  unsigned ranks = 1, own = 0;

  SLUICE_HD bool owns(Vertex v) const { return v - first < last - first; }
  SLUICE_HD std::uint64_t degree(Vertex v) const { return offsets[v - first + 1] - offsets[v - first]; }
  SLUICE_HD std::uint64_t level(Vertex v) const { return program.level(load(states + v)); }

  SLUICE_HD bool refuses(Vertex v) const {
    if constexpr (VoteProgram<Program>) return has_bit(settled, v);
    return false;
  }

  /// A value for any vertex: an own one is noted where it becomes active in this round's level, another's
  /// where it has to be told.
  template <class Lane>
  SLUICE_HD void reach(Vertex v, State value, const AccRound& at, Lane& lane) const {
    if (owns(v)) return reach_own(v, value, at, lane);
    State before = load(states + v);
    for (;;) {
      State now;
      if constexpr (SumProgram<Program>) {
        now = program.add(before, value);
      } else {
        now = program.combine(before, value, at);
        if (now == before) return;
      }
      if (exchange(states + v, before, now)) break;
    }
    if (!has_bit(marks, v) && take_bit(marks, v)) lane.append(range_of(boundaries, ranks, v), v);
  }

  template <class Lane>
  SLUICE_HD void reach_own(Vertex v, State value, const AccRound& at, Lane& lane) const {
    const auto is = combine_into(program, states + v, value, at);
    if (!is.active) return;
    if constexpr (AggregationProgram<Program>) {
      if (program.level(is.now) != at.level) return;
    }
    if (take_bit(marks, v)) list_own(v, lane);
  }

  /// An own vertex is active in the next round; sums[1] is of the edges of a vote's.
  template <class Lane>
  SLUICE_HD void list_own(Vertex v, Lane& lane) const {
    lane.append(own, v);
    if constexpr (VoteProgram<Program>) lane.add(1, degree(v));
  }
};

// ---- bodies
// --------------------------------------------------------------------------------------------------

/// Of a vote, for every vertex.
template <class Program>
struct StartVote {
  ListedView<Program> view;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const auto v = static_cast<Vertex>(i);
    if (view.program.settled(view.states[v])) take_bit(view.settled, v);
    if (view.owns(v) && view.program.starts(v)) view.list_own(v, lane);
  }
};

/// The lowest level, from `least` on, of own vertices.
template <class Program>
struct LowestLevel {
  ListedView<Program> view;
  std::uint64_t least;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const std::uint64_t level = view.level(static_cast<Vertex>(view.first + i));
    if (level >= least) lane.lowest(level);
  }
};

/// Lists own vertices of a level.
template <class Program>
struct OpenLevel {
  ListedView<Program> view;
  std::uint64_t level;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const auto v = static_cast<Vertex>(view.first + i);
    if (view.level(v) == level) lane.append(view.own, v);
  }
};

/// Takes what was listed of the own vertices to the front.
template <class Program>
struct TakeFront {
  ListedView<Program> view;
  const Vertex* listed;
  Vertex* front;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const Vertex v = front[i] = listed[i];
    drop_bit(view.marks, v);
    if constexpr (VoteProgram<Program>) take_bit(view.settled, v);
  }
};

/// How much waits in each partition.
struct CountInPartitions {
  ListedVertices front;
  const std::uint64_t* begins;  ///< [partitions] rows
  unsigned partitions;
  unsigned long long* counts;  ///< [2][partitions] vertices, and their edges

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const std::uint64_t row = front[i] - front.first;
    const unsigned p = range_of(begins, partitions, row);
    fetch_add(counts + p, 1);
    fetch_add(counts + partitions + p, front.offsets[row + 1] - front.offsets[row]);
  }
};

struct SortByPartition {
  ListedVertices front;
  const std::uint64_t* begins;
  unsigned partitions;
  unsigned long long* places;  ///< [partitions] where the next vertex goes
  Vertex* sorted;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const Vertex v = front[i];
    sorted[fetch_add(places + range_of(begins, partitions, v - front.first), 1)] = v;
  }
};

/// Active vertices send along their edges.
template <class Program>
struct PushEdges {
  ListedView<Program> view;
  AccRound at;
  const Vertex* targets;
  const float* weights;

  SLUICE_HD bool sends(Vertex u) const {
    if constexpr (AggregationProgram<Program>) return view.level(u) == at.level;
    return true;
  }
  template <class Lane>
  SLUICE_HD void edge(Vertex u, EdgeIndex e, Lane& lane) const {
    const Vertex v = targets[e];
    if (view.refuses(v)) return;
    view.reach(v, view.program.compute({u, v, e, at, view.states, weights}), at, lane);
  }
};

/// Makes a block of what another rank's vertices were sent; lowest() is of the levels that they may come to.
template <class Program>
struct PackEntries {
  ListedView<Program> view;
  AccRound at;
  const Vertex* listed;
  EntryBlock<typename Program::State> block;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const Vertex v = listed[i];
    const auto state = view.states[v];
    block.states[i] = state;
    block.vertices[i] = v;
    drop_bit(view.marks, v);
    if constexpr (SumProgram<Program>) view.states[v] = 0;
    if constexpr (BoundProgram<Program>) {
      lane.lowest(view.program.level(state));
    } else {
      lane.lowest(at.level);
    }
    if constexpr (VoteProgram<Program>) take_bit(view.settled, v);
  }
};

/// Combines what another rank has sent.
template <class Program>
struct TakeEntries {
  ListedView<Program> view;
  AccRound at;
  EntryBlock<typename Program::State> block;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const Vertex v = block.vertices[i];
    if (!view.refuses(v)) view.reach_own(v, block.states[i], at, lane);
  }
};

}  // namespace sluice::acc
