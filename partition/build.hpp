// Builds compressed sparse rows from edge columns in memory, and their transpose.
#pragma once

#include <cstdint>
#include <span>

#include "partition/graph.hpp"

namespace sluice {

/// Builds lists in ascending order of target; parallel edges keep their input order. Nothing is dropped or
/// mirrored. `weight` and `time` are empty or as long as `source`. Every id must be below `vertices`
/// (InputError otherwise). While it works, it takes twice the size of the edges (8 bytes each, 12 with a
/// weight, 8 more with a time).
Csr build_csr(std::uint64_t vertices, std::span<const Vertex> source, std::span<const Vertex> target,
              std::span<const float> weight = {}, std::span<const std::int64_t> time = {},
              unsigned threads = 1);

/// Builds the in-edges: the list of v holds, ascending, every u with v in its list; parallel edges keep their
/// order. While it works, it takes the size of the edges as for build_csr() once. If host memory is only
/// counted (MemoryPlan), lists are charged but have no memory.
Csr transpose(const Csr& csr, unsigned threads = 1);

/// Peak bytes of host memory of transpose(), for a running job that chooses by it. (A plan would count the
/// memory of all threads of the process.)
std::uint64_t transpose_bytes(const Csr& csr);

/// Builds the in-edges of vertices [first, last), as rows of the whole graph; other lists are empty. They
/// have no times, and weights only if `weighted`. If host memory is only counted, there are assumed to be as
/// many in-edges as out-edges.
Csr transpose_range(const Csr& out, Vertex first, std::uint64_t last, bool weighted, unsigned threads);

}  // namespace sluice
