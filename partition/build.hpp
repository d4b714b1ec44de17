// Compressed sparse rows from edge columns that lie in memory, and their transpose.
#pragma once

#include <cstdint>
#include <span>

#include "partition/graph.hpp"

namespace sluice {

/// Lists in ascending order of target; parallel edges keep their order in the input. Nothing is dropped or
/// mirrored. `weight` and `time` are empty or as long as `source`. Every id must be below `vertices`
/// (InputError otherwise). Needs twice the size of the edges (8 bytes each, 12 with a weight, 8 more with a
/// time) while it works.
Csr build_csr(std::uint64_t vertices, std::span<const Vertex> source, std::span<const Vertex> target,
              std::span<const float> weight = {}, std::span<const std::int64_t> time = {},
              unsigned threads = 1);

/// The in-edges: the list of v holds, ascending, every u with v in its list; parallel edges keep their order.
/// Where host memory is counted alone (MemoryPlan), lists are charged as they would be, and not there.
Csr transpose(const Csr& csr, unsigned threads = 1);

/// The most that this takes of host memory at once: for a run that chooses by it in its midst. A plan counts
/// for all threads of the process.
std::uint64_t transpose_bytes(const Csr& csr);

/// The in-edges of vertices [first, last), as rows of the whole graph; those of other vertices are empty.
/// Where host memory is counted alone, they are taken to be as many as out-edges.
Csr transpose_some(const Csr& out, Vertex first, std::uint64_t last, bool weighted, unsigned threads);

}  // namespace sluice
