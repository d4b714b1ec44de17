// The interface of an Active-Compute-Combine program (Liu and Huang, "SIMD-X", ATC'19), which a user writes
// as a small trivially copyable struct. The engine keeps a state for every vertex. In each round it finds the
// active vertices, sends values along their edges, and combines these values into the states of the targets:
//
//   using State = ...;                    an unsigned integer of 32 or 64 bits
//   static constexpr Combine kCombine = one of Combine's, below
//   State init(Vertex v, std::uint64_t degree) const
//                                         the initial state of v; degree is its out-degree
//   State compute(edge) const             the value that active edge.source sends along the edge (AccEdge)
//   State combine(State into, State value, AccRound at) const
//                                         the state of a vertex that had state `into` and receives `value`
//   bool active(State now, State before, AccRound at) const
//                                         is a vertex with this change of state active in the next round?
//
// combine() must not depend on the order in which values arrive (minimum, maximum, a clamped sum). Results
// are then equal to the bit for any number of threads and on any backend. Over ranks, each rank first joins
// its values for a remote vertex, then sends the result to the owner, which combines it. Bounds are joined
// with the vertex's initial state, and parts of a sum by add().
//
// In a *vote*, any one value settles a vertex: it becomes active once and ignores later rounds. It also has
//   bool starts(Vertex v) const           is v active in the first round?
//   bool settled(State) const             is this state final for all later rounds?
// Its compute() may read only edge.source and edge.at.round. Of the values that reach a vertex in one round,
// combine() keeps that of the smallest source (lists are ascending: a pull may stop at the first active one).
//   static constexpr bool kEarliest       optional, true: combine() is the minimum, and values of a round are
//                                         below those of all later rounds. A GPU is then several times as
//                                         fast where a job has many rounds with little work each
//
// An *aggregation* combines all values. It works in levels, from the lowest up: a vertex is active at the
// level of its state, which never falls below the current level. It also has
//   std::uint64_t level(State) const      kNoLevel: never active
//   static constexpr bool kRepeats        may a vertex send again when its state changes at the current
//                                         level? Values are then bounds (a minimum), not parts of a sum
//   static constexpr bool kJoins          optional, true, for bounds: what a value does is independent of
//                                         the current level. A GPU may then process several levels at once if
//                                         each has few edges; AccRound has the last of them
//   std::uint64_t last_level() const      optional: levels above it are not processed
//   State add(State, State) const         for parts of a sum: adds two of them; zero is neutral. combine() of
//                                         such a sum equals combine() of its parts, one after the other
//   static constexpr bool kAdds           optional, true: add() is the sum of two integers, computed by one
//                                         atomic addition
//   static constexpr bool kFalls          optional, true: a state falls by each value received, down to the
//                                         current level, where it stays; the sum of all values received is
//                                         at most its initial state. Ones are then subtracted by one atomic:
//                                         thousands of neighbours of a hub would retry compare-and-swap
//
//   static constexpr bool kReadsState     optional, false: compute() does not read edge.state(), so that
//                                         pulling ranks need not exchange states
//
// A *merge* joins the ends of edges into trees, in which a state is a vertex nearer to the root (State is
// Vertex). It has no init(): each vertex begins as a root. compute(edge) returns whether the edge joins its
// ends. combine(a, b) returns which of two roots stays. active(root, largest) returns whether vertices of
// tree `root` still have to process their edges once `largest` is the root of most vertices.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/memory/shared_words.hpp"

namespace sluice::acc {

enum class Combine { vote, aggregation, merge };

inline constexpr std::uint64_t kNoLevel = std::numeric_limits<std::uint64_t>::max();

/// The current round, and level.
struct AccRound {
  std::uint32_t round = 0;  ///< the first is 1
  std::uint64_t level = 0;  ///< current level of an aggregation
};

#if defined(__CUDACC__)
/// Atomically sets *address to the smaller of *address and `value`; returns the old value.
template <class T>
__device__ T fetch_min(T* address, T value) {
  return static_cast<T>(
      atomicMin(reinterpret_cast<DeviceWord<T>*>(address), static_cast<DeviceWord<T>>(value)));
}
#endif

/// The edge passed to compute(). State and weight are read from memory only when compute() asks for them.
template <class State>
struct AccEdge {
  Vertex source = 0;
  Vertex target = 0;
  EdgeIndex position = 0;  ///< index into the list being read
  AccRound at;
  const State* states = nullptr;
  const float* weights = nullptr;  ///< null: every weight is 1

  SLUICE_HD State state() const { return load(states + source); }
  SLUICE_HD float weight() const { return weights == nullptr ? 1.0f : weights[position]; }
};

/// The members that every program must have.
template <class P>
concept AccProgram = std::unsigned_integral<typename P::State> &&
                     (sizeof(typename P::State) == 4 || sizeof(typename P::State) == 8) &&
                     requires(const P program, typename P::State state, AccEdge<typename P::State> edge,
                              AccRound at) {
  { P::kCombine } -> std::convertible_to<Combine>;
  { program.init(Vertex{}, std::uint64_t{}) } -> std::same_as<typename P::State>;
  { program.compute(edge) } -> std::same_as<typename P::State>;
  { program.combine(state, state, at) } -> std::same_as<typename P::State>;
  { program.active(state, state, at) } -> std::same_as<bool>;
};

template <class P>
concept VoteProgram = AccProgram<P> &&
                      P::kCombine == Combine::vote&& requires(const P program, typename P::State state) {
  { program.starts(Vertex{}) } -> std::same_as<bool>;
  { program.settled(state) } -> std::same_as<bool>;
};

/// A vote in which a state alone tells whether an earlier round settled it.
template <class P>
concept EarliestVote = VoteProgram<P> && requires {
  requires P::kEarliest;
};

template <class P>
concept AggregationProgram = AccProgram<P> && P::kCombine ==
                             Combine::aggregation&& requires(const P program, typename P::State state) {
  { P::kRepeats } -> std::convertible_to<bool>;
  { program.level(state) } -> std::same_as<std::uint64_t>;
};

/// The values sent are bounds.
template <class P>
concept BoundProgram = AggregationProgram<P> && P::kRepeats;

/// A GPU may process several levels at once.
template <class P>
concept JoiningProgram = BoundProgram<P> && requires {
  requires P::kJoins;
};

/// The values sent are parts of a sum.
template <class P>
concept SumProgram =
    AggregationProgram<P> && !BoundProgram<P> && requires(const P program, typename P::State state) {
  { program.add(state, state) } -> std::same_as<typename P::State>;
};

/// The values for a vertex can be joined before they are combined into its state, so that the vertex may pull
/// them.
template <class P>
concept PullableProgram = BoundProgram<P> || SumProgram<P>;

template <class P>
concept MergeProgram = P::kCombine == Combine::merge&& std::same_as<typename P::State, Vertex>&& requires(
                                          const P program, Vertex v, AccEdge<Vertex> edge) {
  { program.compute(edge) } -> std::same_as<bool>;
  { program.combine(v, v) } -> std::same_as<Vertex>;
  { program.active(v, v) } -> std::same_as<bool>;
};

/// Number of levels that have bins of their own. If vertices send once, only the current level has a bin.
template <AggregationProgram P>
inline constexpr std::uint64_t kLevelBins = P::kRepeats ? 64 : 1;

/// The highest level that an aggregation processes.
template <class P>
SLUICE_HD std::uint64_t last_level(const P& program) {
  if constexpr (requires { program.last_level(); }) return program.last_level();
  return kNoLevel - 1;
}

/// The result of combining a value into a state.
template <class State>
struct Combined {
  bool active = false;  ///< is the vertex active in the next round?
  State now{};
};

/// Does a state fall by the values received, down to the current level?
template <class P>
inline constexpr bool kFalls = requires {
  requires P::kFalls;
};

/// Is add() an integer addition?
template <class P>
inline constexpr bool kAdds = requires {
  requires P::kAdds;
};

/// Does an aggregation's compute() read edge.state()?
template <class P>
inline constexpr bool kReadsState = !requires {
  requires !P::kReadsState;
};

/// Combines `value` into *state without atomics; no other thread may change *state meanwhile.
template <AccProgram P>
SLUICE_HD Combined<typename P::State> combine_exclusive(const P& program, typename P::State* state,
                                                        typename P::State value, const AccRound& round) {
  const auto before = *state, now = program.combine(before, value, round);
  if (now == before) return {false, now};
  *state = now;
  return {program.active(now, before, round), now};
}

/// Combines `value` into *state atomically; other threads may do the same.
template <AccProgram P>
SLUICE_HD Combined<typename P::State> combine_atomic(const P& program, typename P::State* state,
                                                     typename P::State value, const AccRound& round) {
  auto before = load(state);
#if defined(__CUDA_ARCH__)
  // Not on the host: its threads are few, and read states of this round while others change them
  // (rounds/levels.hpp).
  if constexpr (kFalls<P>) {
    using State = typename P::State;
    // A thread that finds the state already at the level adds its value back. Until then the state may be
    // below the level, but not below zero: a vertex at the level receives no more ones than that.
    if (value == 1) {
      const auto level = static_cast<State>(round.level);
      if (before <= level) return {false, before};
      before = fetch_add(state, static_cast<State>(State{0} - value));
      if (before > level)
        return {program.active(static_cast<State>(before - 1), before, round),
                static_cast<State>(before - 1)};
      fetch_add(state, value);
      return {false, level};
    }
  }
#endif
  for (;;) {
    const auto now = program.combine(before, value, round);
    if (now == before) return {false, now};
    if (exchange(state, before, now)) return {program.active(now, before, round), now};
  }
}

/// Combines `value` atomically into *state, this rank's copy of a remote vertex's state: the least bound so
/// far, or the sum not sent yet. Returns whether there is a new value to send.
template <AccProgram P>
SLUICE_HD bool combine_remote(const P& program, typename P::State* state, typename P::State value,
                              const AccRound& round) {
  if constexpr (kAdds<P>) {
    fetch_add(state, value);
    return true;
  } else {
    for (auto before = load(state);;) {
      typename P::State now;
      if constexpr (SumProgram<P>) {
        now = program.add(before, value);
      } else {
        now = program.combine(before, value, round);
        if (now == before) return false;
      }
      if (exchange(state, before, now)) return true;
    }
  }
}

}  // namespace sluice::acc
