// One instance's part of a level on the host: its entries, and what their edges bring to the next frontier.
#pragma once

#include <cstdint>

#include "engine/samples/step.hpp"

namespace sluice::samples::host {

/// Entry `entry` of a frontier, as the sampler's hooks see it. `parents`: of dynamic samplers.
template <class Program>
auto expansion_of(const Program& program, const FrontierEntry* frontier, const Vertex* parents,
                  std::uint64_t entry, std::uint32_t depth) {
  return program.expansion(frontier[entry], depth, Program::kDynamic ? parents[entry] : kNoVertex);
}

/// Entries of one instance, and the edges that they have selected.
struct InstanceLevel {
  const FrontierEntry* entries;  ///< [count]
  const std::uint64_t* offsets;  ///< [count + 1] where an entry's edges begin
  std::uint64_t count;
  const Vertex* arrivals;  ///< by edge, the vertex that it brings; kNoVertex: none
  bool revisit;            ///< tree semantics
  std::uint64_t slots;     ///< added to an edge's number, the slot that it then opens

  /// Calls put(entry, parent) for every entry of the next frontier, in order of edges: of each arrival for
  /// which goes_on(edge, arrival).
  template <class GoesOn, class Put>
  void arrive(const GoesOn& goes_on, const Put& put) const {
    for (std::uint64_t at = 0; at < count; ++at) {
      for (std::uint64_t edge = offsets[at]; edge < offsets[at + 1]; ++edge) {
        const Vertex v = arrivals[edge];
        if (v == kNoVertex || !goes_on(edge, v)) continue;
        put(FrontierEntry{entries[at].instance, v, revisit ? edge + slots : v}, entries[at].vertex);
      }
    }
  }
};

}  // namespace sluice::samples::host
