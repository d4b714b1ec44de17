// Shortest paths by delta-stepping (Meyer and Sanders, 2003). Distances are non-negative doubles, whose bit
// patterns compare as integers in the same order; a level is a range of distances `delta` wide. Path lengths
// are summed from the source, rounded at every edge. Such sums never decrease along a path, so each vertex's
// least sum does not depend on the order in which edges are processed.
#pragma once

#include "engine/acc/exact_math.hpp"
#include "engine/acc/program.hpp"

namespace sluice::acc {

struct ShortestPaths {
  using State = std::uint64_t;
  static constexpr Combine kCombine = Combine::aggregation;
  static constexpr bool kRepeats = true, kJoins = true;
  static constexpr State kUnreached = 0x7ff0000000000000u;  // infinity

  Vertex source = 0;
  double per_delta = 1;  ///< 1 / delta

  SLUICE_HD static double distance(State state) { return exact::from_bits(state); }
  SLUICE_HD static State state_of(double distance) { return exact::bits_of(distance); }

  SLUICE_HD State init(Vertex v, std::uint64_t) const { return v == source ? state_of(0.0) : kUnreached; }
  SLUICE_HD State compute(const AccEdge<State>& edge) const {
    return state_of(distance(edge.state()) + static_cast<double>(edge.weight()));
  }
  SLUICE_HD State combine(State into, State value, AccRound) const { return value < into ? value : into; }
  SLUICE_HD bool active(State, State, AccRound) const { return true; }
  SLUICE_HD std::uint64_t level(State state) const {
    constexpr double kMaxLevel = 9e18;
    if (state >= kUnreached) return kNoLevel;
    const double level = distance(state) * per_delta;
    return level < kMaxLevel ? static_cast<std::uint64_t>(level) : static_cast<std::uint64_t>(kMaxLevel);
  }
};

}  // namespace sluice::acc
