#include "engine/core/error.hpp"
#include "engine/sampling/builtin_walks.hpp"

namespace sluice {

RunStats run_multidimensional(ResidentGraph&, const Starts&, const WalkOptions&, WalkSink*) {
  throw UsageError("--kind multidimensional: not yet built");
}

}  // namespace sluice
