// Walks on a graph of which every list is here; partitioned.hpp has those of the other residency. A walk's
// loop (advance.hpp, advance.cuh) asks either of them for the halves of a round:
//   propose(walker, place, proposal, round)  asks memory for what settle() will read; false: there is nothing
//                                            to settle, and `round` is how the round ends
//   settle(walker, place, proposal)          how it ends
//   count_scan(walker, place)                before a scan, by the one lane whose walk it is
//   scan(group, walker, scan_with(place))    by all lanes of a group, where settle() said Round::scan
//   end(place)                               the walk has come to its end
// `Place` is what they know of a walk between two halves; `from` and `until` are the steps under way.
#pragma once

#include <cstdint>

#include "engine/graph/residency.hpp"
#include "engine/walks/step.hpp"

namespace sluice::walks {

/// Walks by a program, of a residency.
template <class Program, Residency R>
struct WalksOn;

template <class Program>
struct WalksOn<Program, Whole> : Whole {
  using WalkProgram = Program;
  using Walker = typename Program::Walker;
  struct Place {};

  Program program;
  std::uint32_t until = 0;
  static constexpr std::uint32_t from = 0;

  SLUICE_HD bool propose(const Walker& walker, Place&, Proposal& proposal, Round&) const {
    program.propose(walker, proposal);
    return true;
  }
  SLUICE_HD Round settle(Walker& walker, Place&, Proposal& proposal) const {
    return program.settle(walker, proposal, lists());
  }
  SLUICE_HD void count_scan(const Walker&, Place&) const {}
  SLUICE_HD Place scan_with(const Place& place) const { return place; }
  template <class Group>
  SLUICE_HD Round scan(const Group& group, Walker& walker, const Place&) const {
    return program.transform_list(group, walker, lists());
  }
  SLUICE_HD void end(Place&) const {}

 private:
  SLUICE_HD const Whole& lists() const { return *this; }
};

}  // namespace sluice::walks
