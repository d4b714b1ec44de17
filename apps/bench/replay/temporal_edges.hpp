// A file of edges with times, in order of time, however many there are.
#pragma once

#include <memory>
#include <string>

#include "apps/bench/replay/replay.hpp"

namespace sluice::bench {

/// Edges as a replay takes them, and what was left out of them.
struct TemporalFile {
  std::unique_ptr<TemporalSource> edges;
  std::uint64_t self_loops = 0;  ///< dropped, as a conversion does
};

/// Reads a file. Edges of one time stay in its order. Unused ids are left out where a conversion would leave
/// them out: where they are more than half. Edges that exceed the memory are sorted in `scratch`, and
/// stay there. Throws InputError naming file and line, or where a graph cannot have so many vertices;
/// BudgetError.
TemporalFile read_temporal(const std::string& file, const std::string& scratch, unsigned threads);

}  // namespace sluice::bench
