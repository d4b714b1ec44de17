// Joins the values that a vertex of an aggregation pulls, and combines the result into its state
// (traverser.hpp: reduce_rows()). No other thread changes the state meanwhile, so combining needs no atomics
// (SIMD-X, section 3). Host threads and GPU lanes share this source.
#pragma once

#include <cstdint>

#include "engine/acc/program.hpp"
#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/vote_direction.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"

namespace sluice::acc {

/// Row i is the list of vertex first + i.
template <class Program>
struct PulledValues {
  using State = typename Program::State;
  using Value = State;

  Program program;
  AccRound at;
  State* states;
  const std::uint32_t* senders;  ///< bits of the vertices that send
  std::uint64_t first;
  const Vertex* sources;
  const float* weights;

  SLUICE_HD Vertex vertex(std::uint64_t row) const { return static_cast<Vertex>(first + row); }

  SLUICE_HD bool begin(std::uint64_t row, State& before) const {
    before = load(states + vertex(row));
    return may_change(program, before, at);
  }
  /// The neutral element of join(): for bounds the state itself, for sums zero.
  SLUICE_HD static State identity(State before) {
    if constexpr (SumProgram<Program>) return State{};
    return before;
  }
  SLUICE_HD State join(State a, State b) const {
    if constexpr (SumProgram<Program>) {
      return program.add(a, b);
    } else {
      return program.combine(a, b, at);
    }
  }
  SLUICE_HD State result(State before, State total) const {
    return total == identity(before) ? before : program.combine(before, total, at);
  }
  /// May the rest of the list be skipped? (SIMD-X's early stop; a later bound may always be lower.)
  SLUICE_HD bool stops(State before, State total) const {
    if constexpr (SumProgram<Program>) return !may_change(program, result(before, total), at);
    return false;
  }

  /// Sets `value` to the one that edge e sends to the row's vertex; returns false if its source does not
  /// send.
  SLUICE_HD bool receives(std::uint64_t row, EdgeIndex e, State& value) const {
    const Vertex u = sources[e];
    if (!is_marked(senders, u)) return false;
    value = program.compute({u, vertex(row), e, at, states, weights});
    return true;
  }

  /// Combines the joined values into the state of the row's vertex.
  SLUICE_HD Combined<State> apply(std::uint64_t row, State before, State total) const {
    const State now = result(before, total);
    if (now == before) return {false, now};
    store(states + vertex(row), now);
    return {program.active(now, before, at), now};
  }
};

}  // namespace sluice::acc
