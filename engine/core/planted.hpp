// Planted faults: errors that the statistical tests must catch. They exist only in the test build of the
// engine (SLUICE_PLANTED_FAULTS, host code); elsewhere `planted(...)` is the constant false and leaves no
// trace.
#pragma once

#include "engine/core/macros.hpp"

namespace sluice {

enum class Fault {
  none,
  modulo_bias,          ///< an index is the remainder of few random bits
  off_by_one,           ///< the neighbour after the one drawn
  reused_counter,       ///< two steps of a walk share their random numbers
  reused_pick,          ///< two picks of a sample from one list share their random numbers
  reused_slot,          ///< two vertices of a sample share their random numbers
  dropped_last,         ///< the last neighbour is never drawn
  search_off_by_one,    ///< a region of a CTPS has the next region's first point
  search_dropped_last,  ///< the search of a CTPS never finds the last region
  published_bipartite,  ///< C-SAW's rescaling as published (DESIGN section 2)
};

#if defined(SLUICE_PLANTED_FAULTS)
inline Fault planted_fault = Fault::none;
inline bool planted(Fault fault) {
  return planted_fault == fault;
}
#else
SLUICE_HD constexpr bool planted(Fault) {
  return false;
}
#endif

}  // namespace sluice
