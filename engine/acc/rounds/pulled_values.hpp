// How the values that a vertex of an aggregation pulls become one, and that its state: no other thread
// changes the state meanwhile, so that combining takes no atomics (SIMD-X, section 3). One source for threads
// of the host and lanes of a GPU.
#pragma once

#include <cstdint>

#include "engine/acc/program.hpp"
#include "engine/acc/vote_direction.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "partition/graph.hpp"

namespace sluice::acc {

template <class Program>
struct PulledValues {
  using State = typename Program::State;

  const Program& program;
  const AccRound& at;
  const CsrView& in;
  const State* states;
  const std::uint32_t* active;  ///< bits of the vertices that send

  /// Joined with a value it leaves that: of bounds the state itself, of sums nothing.
  SLUICE_HD static State none(State before) {
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
    return total == none(before) ? before : program.combine(before, total, at);
  }
  /// Is the rest of the list of no use? (SIMD-X's early stop; of bounds any may be lower.)
  SLUICE_HD bool stops(State before, State total) const {
    if constexpr (SumProgram<Program>) return !may_change(program, result(before, total), at);
    return false;
  }

  /// What v is sent along e.
  SLUICE_HD bool receives(Vertex v, EdgeIndex e, State& value) const {
    const Vertex u = in.targets[e];
    if ((active[u / 32] >> (u % 32) & 1) == 0) return false;
    value = program.compute({u, v, e, at, states, in.weights});
    return true;
  }

  /// What v is sent along edges [e, end) as one value; `edges` grows by those that were looked at.
  SLUICE_HD State collect(Vertex v, State before, EdgeIndex e, EdgeIndex end,
                          unsigned long long& edges) const {
    State total = none(before), value{};
    for (; e < end; ++e) {
      ++edges;
      if (!receives(v, e, value)) continue;
      total = join(total, value);
      if (stops(before, total)) break;
    }
    return total;
  }

  /// Combines what a vertex has received into its state.
  SLUICE_HD Combined<State> put(State* state, State before, State total) const {
    const State now = result(before, total);
    if (now == before) return {false, now};
    store(state, now);
    return {program.active(now, before, at), now};
  }
};

}  // namespace sluice::acc
