// Kernels of samples on a graph in partitions: take the entries of one partition out of a depth, and put the
// edges that they select back in their places.
#pragma once

#include <cstdint>

#include "engine/graph/partition_map.hpp"
#include "engine/samples/kernels.cuh"
#include "engine/samples/partitioned/sample.hpp"
#include "engine/select/candidates.hpp"

namespace sluice::cuda {

/// Where an entry waits: at its list's partition, or behind all of them if it has nothing to wait for.
/// `sizes` null: every entry with a list waits.
static __global__ void __launch_bounds__(kSampleBlock)
    key_kernel(GraphView graph, OwnershipView owners, std::uint32_t partitions, LevelView level,
               const std::uint64_t* offsets, std::uint32_t* keys, std::uint32_t* entries) {
  const std::uint64_t at = thread_index();
  if (at >= level.entries) return;
  const Vertex v = level.frontier[at].vertex;
  const bool waits = offsets ? offsets[at + 1] > offsets[at] : graph.degree(v) > 0;
  keys[at] = waits ? owners.owner(v) : partitions;
  entries[at] = static_cast<std::uint32_t>(at);
}

/// Where each key's entries begin among sorted ones.
static __global__ void __launch_bounds__(kSampleBlock)
    places_kernel(const std::uint32_t* sorted, std::uint64_t entries, std::uint32_t keys,
                  std::uint64_t* places) {
  const std::uint64_t key = thread_index();
  if (key >= keys) return;
  std::uint64_t low = 0, high = entries;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (sorted[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  places[key] = low;
}

/// The entries of one partition; `order` lists them.
static __global__ void __launch_bounds__(kSampleBlock)
    take_entries_kernel(LevelView level, const std::uint32_t* order, std::uint64_t count,
                        FrontierEntry* frontier, Vertex* parents) {
  const std::uint64_t i = thread_index();
  if (i >= count) return;
  frontier[i] = level.frontier[order[i]];
  if (parents) parents[i] = level.parents[order[i]];
}

/// What was measured of a partition's entries, to their places.
static __global__ void __launch_bounds__(kSampleBlock)
    put_sizes_kernel(const std::uint64_t* sizes, std::uint64_t count, const std::uint32_t* order,
                     std::uint64_t* level_sizes) {
  const std::uint64_t i = thread_index();
  if (i < count) level_sizes[order[i]] = sizes[i];
}

/// Adds what the entries of a partition that is read in place look at.
template <class Program>
__global__ void __launch_bounds__(kSampleBlock)
    read_bytes_kernel(Program program, LevelView part, unsigned long long* total) {
  const std::uint64_t at = thread_index();
  if (at >= part.entries) return;
  const std::uint64_t edges = part.offset(at + 1) - part.offset(at);
  atomicAdd(total, static_cast<unsigned long long>(read_bytes(program, part.frontier[at].vertex, edges)));
}

/// The edges of a partition's entries, to their places.
template <class Program>
__global__ void __launch_bounds__(kSampleBlock)
    put_edges_kernel(Program program, LevelView level, LevelView part, const std::uint32_t* order,
                     std::uint32_t depth) {
  const std::uint64_t edge = thread_index();
  if (edge >= part.edges) return;
  const std::uint64_t own = part.owner(edge), entry = order[own];
  const std::uint64_t to = level.offsets[entry] + (edge - part.offset(own));
  level.indices[to] = part.indices[edge];
  level.targets[to] = part.targets[edge];
  level.owners[to] = static_cast<std::uint32_t>(entry);
  if constexpr (Program::kUpdates) {
    const FrontierEntry from = part.frontier[own];
    const Vertex parent = Program::kDynamic ? part.parents[own] : kNoVertex;
    const Edge selected{from.vertex, part.targets[edge], part.position(program.graph, from.vertex, edge)};
    level.arrivals[to] = program.arrival(program.expansion(from, depth, parent), selected);
  }
}

}  // namespace sluice::cuda
