// Walks on a graph whose lists are all present; partitioned.hpp has their counterpart for partitions. A
// walk's loop (advance.hpp, advance.cuh) calls the parts of a round on either of them:
//   propose(walker, state, proposal, round)   prefetches what settle() will read; returns false if there is
//                                             nothing to settle, and `round` is the round's result
//   settle(walker, state, proposal)           returns the round's result
//   count_scan(walker, state)                 called before a scan, only by the lane that owns the walk
//   scan(group, walker, scan_context(state))  called by all lanes of a group if the result is Round::scan
//   end(state)                                the walk has ended or completed its leg
// `StepState` is what they keep of a walk between two parts. The current leg has steps (leg_begin, leg_end].
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
  struct StepState {};

  Program program;
  std::uint32_t leg_end = 0;
  static constexpr std::uint32_t leg_begin = 0;

  SLUICE_HD bool propose(const Walker& walker, StepState&, Proposal& proposal, Round&) const {
    program.propose(walker, proposal);
    return true;
  }
  SLUICE_HD Round settle(Walker& walker, StepState&, Proposal& proposal) const {
    return program.settle(walker, proposal, lists());
  }
  SLUICE_HD void count_scan(const Walker&, StepState&) const {}
  SLUICE_HD StepState scan_context(const StepState& state) const { return state; }
  template <class Group>
  SLUICE_HD Round scan(const Group& group, Walker& walker, const StepState&) const {
    return program.transform_list(group, walker, lists());
  }
  SLUICE_HD void end(StepState&) const {}

 private:
  SLUICE_HD const Whole& lists() const { return *this; }
};

}  // namespace sluice::walks
