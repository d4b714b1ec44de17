// Kernels of samples whose entries are expanded by the ranks that own their lists.
#pragma once

#include <cstdint>

#include "engine/samples/kernels.cuh"

namespace sluice::cuda {

/// Entries of another rank number their instances among those of all ranks that are worked on together.
static __global__ void __launch_bounds__(kSampleBlock)
    shift_instances_kernel(FrontierEntry* frontier, std::uint64_t count, std::uint32_t shift) {
  const std::uint64_t at = thread_index();
  if (at < count) frontier[at].instance += shift;
}

/// How many edges each entry has.
static __global__ void __launch_bounds__(kSampleBlock)
    entry_sizes_kernel(const std::uint64_t* offsets, std::uint64_t entries, std::uint32_t* sizes) {
  const std::uint64_t at = thread_index();
  if (at < entries) sizes[at] = static_cast<std::uint32_t>(offsets[at + 1] - offsets[at]);
}

/// Sizes that came, to their entries and in the order in which their edges come.
static __global__ void __launch_bounds__(kSampleBlock)
    take_sizes_kernel(const std::uint32_t* sizes, std::uint64_t count, const std::uint32_t* order,
                      std::uint64_t* level_sizes, std::uint64_t* begins, LevelFacts* facts) {
  const std::uint64_t i = thread_index();
  if (i >= count) return;
  level_sizes[order[i]] = begins[i] = sizes[i];
  raise(&facts->largest, sizes[i]);
}

/// Edges that came, in order of entries that `order` lists, to their places. `begins`: where those of each
/// entry begin among them.
static __global__ void __launch_bounds__(kSampleBlock)
    take_edges_kernel(LevelView level, const std::uint64_t* begins, std::uint64_t count,
                      const std::uint32_t* order, const std::uint32_t* indices, const Vertex* targets,
                      const Vertex* arrivals) {
  const std::uint64_t edge = thread_index();
  if (edge >= level.edges) return;
  std::uint64_t low = 0, length = count;  // last entry whose edges begin at or before this one
  while (length > 1) {
    const std::uint64_t half = length / 2;
    const bool after = begins[low + half] > edge;
    low = after ? low : low + half;
    length = after ? half : length - half;
  }
  const std::uint32_t entry = order[low];
  const std::uint64_t to = level.offsets[entry] + (edge - begins[low]);
  level.indices[to] = indices[edge];
  level.targets[to] = targets[edge];
  level.owners[to] = entry;
  if (arrivals) level.arrivals[to] = arrivals[edge];
}

}  // namespace sluice::cuda
