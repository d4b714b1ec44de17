// Bodies of rounds that push (traverse/traverser.hpp), each called for one vertex, edge or entry. A rank's
// copy of a remote state holds values for that vertex: the smallest bound so far, so that only better ones
// are sent, or the sum of values not sent yet.
#pragma once

#include <cstdint>

#include "engine/acc/program.hpp"
#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/rounds/round_work.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/ownership.hpp"
#include "engine/core/types.hpp"
#include "engine/graph/residency.hpp"
#include "engine/traverse/traverser.hpp"

namespace sluice::acc {

/// The vertices and states of a program. Pointers are to the executor's memory.
template <class P, Residency R>
struct FrontierView {
  using Program = P;
  static constexpr bool kComplete = R::kComplete;
  using State = typename Program::State;

  Program program;
  std::uint64_t first = 0, last = 0;   ///< own vertices
  const EdgeIndex* offsets = nullptr;  ///< [own vertices + 1]
  State* states = nullptr;             ///< [vertices]
  std::uint32_t* marks = nullptr;      ///< bits of vertices that are on a list
  std::uint32_t* settled = nullptr;    ///< bits of vertices that a vote no longer changes
  OwnershipView ranks;
  unsigned own_rank = 0;
  bool ballot = false;  ///< activated own vertices are only marked, not listed

  SLUICE_HD bool owns(Vertex v) const { return kComplete || v - first < last - first; }
  SLUICE_HD std::uint64_t degree(Vertex v) const { return offsets[v - first + 1] - offsets[v - first]; }
  SLUICE_HD std::uint64_t level(Vertex v) const { return program.level(load(states + v)); }

  /// Sets the initial state of a complete graph's vertex (vertex_states.hpp does so for other graphs).
  SLUICE_HD void begin(Vertex v) const {
    if constexpr (kComplete) states[v] = program.init(v, degree(v));
  }

  /// Does a vertex of the frontier send? Bins may hold a vertex twice, or vertices that have left the level.
  SLUICE_HD bool sends(Vertex u, const AccRound& at) const {
    if constexpr (AggregationProgram<Program>) return level(u) == at.level;
    return true;
  }

  SLUICE_HD bool is_settled(Vertex v) const {
    if constexpr (VoteProgram<Program>) return has_bit(settled, v);
    return false;
  }

  /// Combines a value into the state of any vertex. An own vertex that becomes active is listed, or added to
  /// its level's bin; another rank's vertex is listed for that rank.
  template <class Lane>
  SLUICE_HD void reach(Vertex v, State value, const AccRound& at, Lane& lane) const {
    if constexpr (kComplete) {
      reach_own(v, value, at, lane);
    } else {
      owns(v) ? reach_own(v, value, at, lane) : reach_remote(v, value, at, lane);
    }
  }

  template <class Lane>
  SLUICE_HD void reach_remote(Vertex v, State value, const AccRound& at, Lane& lane) const {
    if (!combine_remote(program, states + v, value, at)) return;
    if (!has_bit(marks, v) && set_bit(marks, v)) lane.append(ranks.owner(v), v);
  }

  template <class Lane>
  SLUICE_HD void reach_own(Vertex v, State value, const AccRound& at, Lane& lane) const {
    list_if_active(v, combine_atomic(program, states + v, value, at), at, lane);
  }

  /// Lists an own vertex, or adds it to its bin, if the value combined into its state has activated it.
  template <class Lane>
  SLUICE_HD void list_if_active(Vertex v, const Combined<State>& result, const AccRound& at,
                                Lane& lane) const {
    if (!result.active) return;
    if constexpr (AggregationProgram<Program>) {
      const std::uint64_t level = program.level(result.now);
      if constexpr (Lane::kBinsByLevel) return lane.bin(v, level);
      if (level != at.level) return;
    }
    // In a vote each vertex becomes active only once.
    if ((kComplete && VoteProgram<Program>) || (set_bit(marks, v) && !ballot)) list_own(v, lane);
  }

  /// Lists or marks an own vertex active in the next round; for votes, sums[1] counts the edges.
  template <class Lane>
  SLUICE_HD void list_own(Vertex v, Lane& lane) const {
    if constexpr (!kComplete) {
      if (ballot) return static_cast<void>(set_bit(marks, v));
    }
    lane.append(own_rank, v);
    if constexpr (VoteProgram<Program>) lane.add(1, degree(v));
  }
};

/// Starts a vote; called for every vertex. (In complete graphs it also sets initial states.)
template <class View>
struct StartVote {
  View view;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const auto v = static_cast<Vertex>(i);
    view.begin(v);
    if (view.program.settled(view.states[v])) set_bit(view.settled, v);
    if (view.owns(v) && view.program.starts(v)) view.list_own(v, lane);
  }
};

/// Starts an aggregation with bins by level: all own vertices wait for their level.
template <class View>
struct StartLevels {
  View view;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const auto v = static_cast<Vertex>(view.first + i);
    view.begin(v);
    if (view.level(v) != kNoLevel) lane.beyond(v);
  }
};

/// Finds the lowest level of `vertices` that is at least `min_level`.
template <class View>
struct LowestLevel {
  View view;
  VertexRange vertices;
  std::uint64_t min_level;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const std::uint64_t level = view.level(vertices[i]);
    if (level >= min_level) lane.lowest(level);
  }
};

/// Lists own vertices of a level.
template <class View>
struct OpenLevel {
  View view;
  std::uint64_t level;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const auto v = static_cast<Vertex>(view.first + i);
    if (view.level(v) == level) view.list_own(v, lane);
  }
};

/// Copies listed own vertices to the frontier.
template <class View>
struct LoadFrontier {
  View view;
  const Vertex* listed;
  Vertex* frontier;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const Vertex v = frontier[i] = listed[i];
    if constexpr (!View::kComplete) clear_bit(view.marks, v);
    if constexpr (VoteProgram<typename View::Program>) set_bit(view.settled, v);
  }
};

/// Sends values along the edges of active vertices.
template <class View>
struct PushEdges {
  using Program = typename View::Program;

  View view;
  AccRound at;
  const Vertex* targets;
  const float* weights;

  SLUICE_HD bool sends(Vertex u) const { return view.sends(u, at); }
  void prefetch(EdgeIndex e) const {
    __builtin_prefetch(targets + e);
    if (weights != nullptr) __builtin_prefetch(weights + e);
  }
  /// Aggregations only: a vote reads the target's bit first.
  void prefetch_target(EdgeIndex e) const requires AggregationProgram<Program> {
    __builtin_prefetch(view.states + targets[e]);
  }
  template <class Lane>
  SLUICE_HD void edge(Vertex u, EdgeIndex e, Lane& lane) const {
    const Vertex v = targets[e];
    if (view.is_settled(v)) return;
    view.reach(v, view.program.compute({u, v, e, at, view.states, weights}), at, lane);
  }
};

/// Packs a block of entries for another rank's vertices.
template <class View>
struct PackEntries {
  using Program = typename View::Program;

  View view;
  const Vertex* listed;
  EntryBlock<typename View::State> block;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const Vertex v = listed[i];
    block.states[i] = view.states[v];
    block.vertices[i] = v;
    clear_bit(view.marks, v);
    if constexpr (SumProgram<Program>) view.states[v] = 0;
    if constexpr (VoteProgram<Program>) set_bit(view.settled, v);
  }
};

/// Combines entries received from another rank.
template <class View>
struct ReceiveEntries {
  View view;
  AccRound at;
  EntryBlock<typename View::State> block;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const Vertex v = block.vertices[i];
    if (!view.is_settled(v)) view.reach_own(v, block.states[i], at, lane);
  }
};

}  // namespace sluice::acc
