// From the edges of one depth to the frontier of the next: in order of edges, each newly reached vertex
// (visited rule) or every arrival (tree semantics).
#pragma once

#include <cstdint>

#include "engine/exec/cuda_lane.cuh"
#include "engine/samples/kernels.cuh"

namespace sluice::samples::cuda {

/// The vertices visited by all instances of a batch: one hash table keyed by instance and vertex. Its value
/// is the earliest edge that reached the vertex, kept by an atomic minimum, so that the result does not
/// depend on the order of lanes.
struct VisitedSlot {
  unsigned long long key;    ///< instance << 32 | vertex; all ones: free
  unsigned long long stamp;  ///< 0: visited at an earlier depth; else 1 + the edge's number at this depth
};

/// A table of `mask` + 1 slots (a power of two), all bits set before use.
struct VisitedTable {
  VisitedSlot* slots;
  std::uint64_t mask;

  static constexpr unsigned long long kFree = ~0ull;

  __device__ __forceinline__ static unsigned long long key_of(std::uint32_t instance, Vertex vertex) {
    return static_cast<unsigned long long>(instance) << 32 | vertex;
  }
  __device__ __forceinline__ std::uint64_t first_slot(unsigned long long key) const {
    key ^= key >> 32;
    return (key * 0x9E3779B97F4A7C15ull >> 20) & mask;
  }
  __device__ __forceinline__ void reach(std::uint32_t instance, Vertex vertex,
                                        unsigned long long stamp) const {
    const unsigned long long key = key_of(instance, vertex);
    std::uint64_t slot = first_slot(key);
    while (true) {
      const unsigned long long found = atomicCAS(&slots[slot].key, kFree, key);
      if (found == kFree || found == key) break;
      slot = (slot + 1) & mask;
    }
    atomicMin(&slots[slot].stamp, stamp);
  }
  /// The stamp of a key that the table contains.
  __device__ __forceinline__ unsigned long long stamp(std::uint32_t instance, Vertex vertex) const {
    const unsigned long long key = key_of(instance, vertex);
    std::uint64_t slot = first_slot(key);
    while (slots[slot].key != key) slot = (slot + 1) & mask;
    return slots[slot].stamp;
  }
};

/// Enters the vertices visited at earlier depths.
static __global__ void __launch_bounds__(kSampleBlock)
    revisit_kernel(const FrontierEntry* frontier, std::uint64_t entries, VisitedTable table) {
  const std::uint64_t entry_id = thread_index();
  if (entry_id < entries) table.reach(frontier[entry_id].instance, frontier[entry_id].vertex, 0);
}

/// The vertex that an edge adds to the next frontier; kNoVertex: none.
template <class Program>
__device__ __forceinline__ Vertex arrival(const Program& program, const LevelView& level,
                                          const FrontierEntry& entry, std::uint64_t edge,
                                          std::uint32_t depth) {
  if constexpr (!Program::kUpdates) return level.targets[edge];
  if (level.arrivals) return level.arrivals[edge];
  const Edge selected{entry.vertex, level.targets[edge], level.position(program.graph, entry.vertex, edge)};
  const Vertex parent = Program::kDynamic ? level.parents[level.owner(edge)] : kNoVertex;
  return program.arrival(program.expansion(entry, depth, parent), selected);
}

template <class Program>
__global__ void __launch_bounds__(kSampleBlock)
    reach_kernel(Program program, LevelView level, std::uint32_t depth, VisitedTable table) {
  const std::uint64_t edge = thread_index();
  if (edge >= level.edges) return;
  const FrontierEntry entry = level.frontier[level.owner(edge)];
  const Vertex v = arrival(program, level, entry, edge, depth);
  if (v != kNoVertex) table.reach(entry.instance, v, edge + 1);
}

/// Sets flags[edge] to 1 if the edge adds an entry to the next frontier, else to 0.
template <class Program>
__global__ void __launch_bounds__(kSampleBlock)
    flag_kernel(Program program, LevelView level, std::uint32_t depth, bool revisit, VisitedTable table,
                std::uint64_t* flags) {
  const std::uint64_t edge = thread_index();
  if (edge >= level.edges) return;
  const FrontierEntry entry = level.frontier[level.owner(edge)];
  const Vertex v = arrival(program, level, entry, edge, depth);
  flags[edge] = v != kNoVertex && (revisit || table.stamp(entry.instance, v) == edge + 1);
}

/// Writes the entries of the next frontier. `sums`: exclusive prefix sums of the flags; null if every edge
/// adds an entry. `seeds`: [instances + 1] seeds of earlier instances.
template <class Program>
__global__ void __launch_bounds__(kSampleBlock)
    arrive_kernel(Program program, LevelView level, std::uint32_t depth, bool revisit,
                  const std::uint64_t* sums, const std::uint64_t* seeds, FrontierEntry* next,
                  Vertex* next_parents) {
  const std::uint64_t edge = thread_index();
  if (edge >= level.edges) return;
  const std::uint64_t target = sums ? sums[edge] : edge;
  if (sums && sums[edge + 1] == target) return;
  const FrontierEntry entry = level.frontier[level.owner(edge)];
  const Vertex v = arrival(program, level, entry, edge, depth);
  std::uint64_t slot = v;
  if (revisit) {
    slot = level.edges_before(entry.instance, edge) + (seeds[entry.instance + 1] - seeds[entry.instance]);
  }
  next[target] = {entry.instance, v, slot};
  if constexpr (Program::kDynamic) next_parents[target] = entry.vertex;
}

/// As flag_kernel, for a first depth with one seed and at most 32 edges per instance: a warp compares all
/// edges of an instance, without a table.
template <class Program>
__global__ void __launch_bounds__(kSampleBlock)
    flag_first_kernel(Program program, LevelView level, std::uint32_t depth, std::uint64_t* flags) {
  const Tile<32> warp;
  const std::uint64_t entry_id = thread_index() / 32;
  if (entry_id >= level.entries) return;
  const std::uint64_t edge = level.offset(entry_id) + warp.rank();
  const bool inside = edge < level.offset(entry_id + 1);
  const FrontierEntry entry = level.frontier[entry_id];
  const Vertex v = inside ? arrival(program, level, entry, edge, depth) : kNoVertex;
  const bool repeated = warp.equals_lower(v);
  if (inside) flags[edge] = v != kNoVertex && v != entry.vertex && !repeated;
}

/// Computes an instance's values for the next level; for i = `instances` only the end of the entries.
struct NextInstances {
  LevelView level;
  std::uint64_t instances;
  const std::uint64_t* sums;  ///< see arrive_kernel
  std::uint64_t* earlier_edges;  ///< [instances] edges of all depths up to this one
  std::uint64_t* entries;     ///< [instances + 1] first entry in the next frontier; null: not written

  __device__ void operator()(std::uint64_t i, CudaLane&) const {
    const std::uint64_t first = level.first_edge(i);
    if (entries) entries[i] = sums ? sums[first] : first;
    if (i < instances)
      earlier_edges[i] = level.edges_before(static_cast<std::uint32_t>(i), level.first_edge(i + 1));
  }
};

}  // namespace sluice::samples::cuda
