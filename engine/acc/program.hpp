// What a user writes: an Active-Compute-Combine program (Liu and Huang, "SIMD-X", ATC'19), a small trivially
// copyable struct. The engine keeps a state for every vertex, finds in each round which vertices are active,
// lets them send values along their edges, and combines those into the states of the targets:
//
//   using State = ...;                    an unsigned integer of 32 or 64 bits
//   static constexpr Combine kCombine = one of Combine's, below
//   State init(Vertex v, std::uint64_t degree) const
//                                         the state that v begins with; degree is its out-degree
//   State compute(edge) const             what an active edge.source sends along the edge (AccEdge, below)
//   State combine(State into, State value, AccRound at) const
//                                         what becomes of a state that a value reaches
//   bool active(State now, State before, AccRound at) const
//                                         is a vertex whose state changed so active in the next round?
//
// combine() must not depend on the order in which values arrive (minimum, maximum, a clamped sum), so that
// results are equal to the bit for any threads and on any backend. Of several ranks each combines what it has
// for another one's vertex before that leaves, and the vertex combines what comes: values that are bounds
// with the state that it began with, parts of a sum by add().
//
// A *vote* is settled by any one value: the vertex becomes active once and looks no further. It also says
//   bool starts(Vertex v) const           is v active in the first round?
//   bool settled(State) const             does no later round change this state?
// and its compute() may look at edge.source and edge.round alone, of the values that a round sends to a
// vertex keeping that of the smallest source (lists are ascending, so a pull may stop at the first one).
//   static constexpr bool kEarliest       optional, true: combine() is the minimum of the two, and what a
//   round
//                                         settles is below all that later ones send. A GPU is then several
//                                         times as fast where rounds are many and have little to do
//
// An *aggregation* wants all values. It works in levels, from the lowest up: a vertex is active at the level
// that its state has, which never falls below the one at work. It also says
//   std::uint64_t level(State) const      kNoLevel: never active
//   static constexpr bool kRepeats        may a vertex send again when its state changed at its level? Values
//                                         are then bounds (a minimum), not parts of a sum
//   static constexpr bool kJoins          optional, true, of bounds: what they do does not depend on the
//                                         level at work. A GPU may then work on several at once where each
//                                         has few edges; AccRound has the last of them
//   std::uint64_t last_level() const      optional: levels above it are left alone
//   State add(State, State) const         of parts of a sum: two of them as one; zero is neutral. combine()
//                                         takes such a sum as it takes its parts, one after the other
//   static constexpr bool kAdds           optional, true: add() is the sum of two integers, which is
//                                         then added at once
//   static constexpr bool kFalls          optional, true: a state falls by what it receives until it is at
//                                         the level at work, where it stays, and all that it ever receives is
//                                         no more than it began with. Ones are then subtracted at once, where
//                                         thousands of neighbours of a hub would try again and again
//
//   static constexpr bool kReadsState     optional, false: compute() does not look at edge.state(),
//                                         which ranks that pull then need not exchange
//
// A *merge* joins the ends of edges into trees, in which a state is a vertex nearer to the root (State is
// Vertex); it has no init(): each vertex begins as a root. Its compute(edge) says whether an edge joins its
// ends, its combine(a, b) which of two roots stays, and its active(root, largest) whether a vertex of that
// root still has to look at its edges once `largest` is the root of most vertices.
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

/// Where the work has come to.
struct AccRound {
  std::uint32_t round = 0;  ///< the first is 1
  std::uint64_t level = 0;  ///< of an aggregation
};

#if defined(__CUDACC__)
/// Sets *at to the smaller of the two; returns what it was.
template <class T>
__device__ T fetch_min(T* at, T value) {
  return static_cast<T>(atomicMin(reinterpret_cast<DeviceWord<T>*>(at), static_cast<DeviceWord<T>>(value)));
}
#endif

/// An edge that compute() looks at. Nothing is read that it does not ask for.
template <class State>
struct AccEdge {
  Vertex source = 0;
  Vertex target = 0;
  EdgeIndex position = 0;  ///< in the list that is read
  AccRound at;
  const State* states = nullptr;
  const float* weights = nullptr;  ///< null: every weight is 1

  SLUICE_HD State state() const { return load(states + source); }
  SLUICE_HD float weight() const { return weights == nullptr ? 1.0f : weights[position]; }
};

/// What the engine asks of every program.
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

/// States alone show what an earlier round has settled.
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

/// What is sent are bounds.
template <class P>
concept BoundProgram = AggregationProgram<P> && P::kRepeats;

/// Levels may be worked on together.
template <class P>
concept JoiningProgram = BoundProgram<P> && requires {
  requires P::kJoins;
};

/// What is sent are parts of a sum.
template <class P>
concept SumProgram =
    AggregationProgram<P> && !BoundProgram<P> && requires(const P program, typename P::State state) {
  { program.add(state, state) } -> std::same_as<typename P::State>;
};

/// What a vertex is sent joins before it meets the state, so that the vertex may collect it.
template <class P>
concept PullableProgram = BoundProgram<P> || SumProgram<P>;

template <class P>
concept MergeProgram = P::kCombine == Combine::merge&& std::same_as<typename P::State, Vertex>&& requires(
                                          const P program, Vertex v, AccEdge<Vertex> edge) {
  { program.compute(edge) } -> std::same_as<bool>;
  { program.combine(v, v) } -> std::same_as<Vertex>;
  { program.active(v, v) } -> std::same_as<bool>;
};

/// Levels whose vertices wait in bins of their own. A program that sends once has none but the level at work.
template <AggregationProgram P>
inline constexpr std::uint64_t kLevelBins = P::kRepeats ? 64 : 1;

/// The highest level that an aggregation works on.
template <class P>
SLUICE_HD std::uint64_t last_level(const P& program) {
  if constexpr (requires { program.last_level(); }) return program.last_level();
  return kNoLevel - 1;
}

/// What a value made of a state.
template <class State>
struct Combined {
  bool active = false;  ///< and so the vertex is to be worked on
  State now{};
};

/// Does a state fall by what it receives, down to the level at work?
template <class P>
inline constexpr bool kFalls = requires {
  requires P::kFalls;
};

/// Is a sum of parts one of integers?
template <class P>
inline constexpr bool kAdds = requires {
  requires P::kAdds;
};

/// Does an aggregation's compute() look at edge.state()?
template <class P>
inline constexpr bool kReadsState = !requires {
  requires !P::kReadsState;
};

/// Combines `value` into *at, which no other thread changes meanwhile.
template <AccProgram P>
SLUICE_HD Combined<typename P::State> combine_alone(const P& program, typename P::State* at,
                                                    typename P::State value, const AccRound& round) {
  const auto before = *at, now = program.combine(before, value, round);
  if (now == before) return {false, now};
  *at = now;
  return {program.active(now, before, round), now};
}

/// Combines `value` into *at, while other threads do the same.
template <AccProgram P>
SLUICE_HD Combined<typename P::State> combine_into(const P& program, typename P::State* at,
                                                   typename P::State value, const AccRound& round) {
  auto before = load(at);
#if defined(__CUDA_ARCH__)
  // Host threads are few, and look at states of this round while others work on it (rounds/levels.hpp).
  if constexpr (kFalls<P>) {
    using State = typename P::State;
    // Threads that meet a state at the level give back what they took. Until then it may be below, but not
    // below zero, for a vertex at the level receives no more ones than that.
    if (value == 1) {
      const auto level = static_cast<State>(round.level);
      if (before <= level) return {false, before};
      before = fetch_add(at, static_cast<State>(State{0} - value));
      if (before > level)
        return {program.active(static_cast<State>(before - 1), before, round),
                static_cast<State>(before - 1)};
      fetch_add(at, value);
      return {false, level};
    }
  }
#endif
  for (;;) {
    const auto now = program.combine(before, value, round);
    if (now == before) return {false, now};
    if (exchange(at, before, now)) return {program.active(now, before, round), now};
  }
}

/// Combines `value` into the state *at that a rank keeps of another rank's vertex, while other threads do the
/// same: the least bound so far, or the sum of what has not been sent yet. Is there anything new to send?
template <AccProgram P>
SLUICE_HD bool combine_to_send(const P& program, typename P::State* at, typename P::State value,
                               const AccRound& round) {
  if constexpr (kAdds<P>) {
    fetch_add(at, value);
    return true;
  } else {
    for (auto before = load(at);;) {
      typename P::State now;
      if constexpr (SumProgram<P>) {
        now = program.add(before, value);
      } else {
        now = program.combine(before, value, round);
        if (now == before) return false;
      }
      if (exchange(at, before, now)) return true;
    }
  }
}

}  // namespace sluice::acc
