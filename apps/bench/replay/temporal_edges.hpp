// A file of edges with times, read in order of time, for any number of edges.
#pragma once

#include <memory>
#include <string>

#include "apps/bench/replay/replay.hpp"

namespace sluice::bench {

/// The edges for a replay, and the number of those left out.
struct TemporalFile {
  std::unique_ptr<TemporalSource> edges;
  std::uint64_t self_loops = 0;  ///< dropped, as in a conversion
};

/// Reads a file. Edges of equal time keep its order. Unused ids are left out as in a conversion: if they are
/// more than half. Edges that exceed the memory are sorted in `scratch` and stay there. Throws InputError
/// naming file and line, or if a graph cannot have that many vertices; BudgetError.
TemporalFile read_temporal(const std::string& file, const std::string& scratch, unsigned threads);

}  // namespace sluice::bench
