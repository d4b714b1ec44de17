// Label propagation from seeds: every hundredth vertex has its own label, and labels propagate along edges. A
// vertex keeps the first label that reaches it; of several in one round, the smallest.
#pragma once

#include "engine/acc/run.hpp"

struct LabelPropagation {
  using State =
      std::uint64_t;  // high 32 bits: hops, low: label, so a minimum prefers near labels, then small
  static constexpr sluice::acc::Combine kCombine = sluice::acc::Combine::aggregation;
  static constexpr bool kRepeats = true;  // a smaller label may still arrive in the same round
  static constexpr State kNone = ~State{0};
  sluice::Vertex every = 100;

  SLUICE_HD static std::uint64_t hops(State state) { return state >> 32; }
  SLUICE_HD static sluice::Vertex label(State state) { return static_cast<sluice::Vertex>(state); }

  SLUICE_HD State init(sluice::Vertex v, std::uint64_t) const { return v % every == 0 ? v : kNone; }
  SLUICE_HD State compute(const sluice::acc::AccEdge<State>& edge) const {
    return edge.state() + (State{1} << 32);
  }
  SLUICE_HD State combine(State into, State value, sluice::acc::AccRound) const {
    return value < into ? value : into;
  }
  SLUICE_HD bool active(State, State, sluice::acc::AccRound) const { return true; }
  SLUICE_HD std::uint64_t level(State state) const {
    return state == kNone ? sluice::acc::kNoLevel : hops(state);
  }
};
