// Walks on a graph whose lists are all present; partitioned.hpp has their counterpart for partitions. A
// walk's loop (advance.hpp, advance.cuh) calls the parts of a round on either of them:
//   propose(walker, place, proposal, round)  prefetches what settle() will read; returns false if there is
//                                            nothing to settle, and `round` is the round's result
//   settle(walker, place, proposal)          returns the round's result
//   count_scan(walker, place)                called before a scan, only by the lane that owns the walk
//   scan(group, walker, scan_with(place))    called by all lanes of a group if the result is Round::scan
//   end(place)                               the walk has ended or completed its leg
// `Place` is what they keep of a walk between two parts; steps (from, until] belong to the current leg.
#pragma once

#include <cstdint>

#include "engine/graph/residency.hpp"
#include "engine/walks/step.hpp"

namespace sluice::walks {

/// Walks of a program on a graph of residency R.
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
