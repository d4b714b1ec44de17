// One depth of a batch of samples, and the memory that a GPU's batches reuse.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/samples/step.hpp"

namespace sluice::samples {

inline constexpr const char* kSampleBatch = "a batch of samples";

/// Edges lie in order of entries; entries in order of instances.
struct SampleLevel {
  std::uint64_t entries = 0;
  std::uint64_t edges = 0;
  std::uint32_t fanout = 0;                ///< every entry selected this many; 0: they differ, see owners
  Buffer<FrontierEntry> frontier;          ///< [entries]
  Buffer<std::uint64_t> offsets;           ///< [entries + 1] where an entry's edges begin
  Buffer<std::uint32_t> indices;           ///< [edges] in the entry's list
  Buffer<Vertex> targets;                  ///< [edges]
  Buffer<Vertex> parents;                  ///< [entries] dynamic samplers: where the entry came from
  Buffer<Vertex> arrivals;                 ///< [edges] in partitions: vertices that a sampler's update says
  Buffer<std::uint64_t> instance_entries;  ///< [instances + 1] entries before an instance's
  Buffer<std::uint64_t> before;            ///< [instances] edges of lesser depths
  // On a GPU.
  Buffer<std::uint32_t> owners;     ///< [edges] entry of each edge, where fanout is 0
  Buffer<std::uint32_t> available;  ///< [entries] dynamic samplers: its candidates

  std::uint64_t bytes() const {
    return frontier.bytes() + offsets.bytes() + indices.bytes() + targets.bytes() + parents.bytes() +
           arrivals.bytes() + instance_entries.bytes() + before.bytes() + owners.bytes() + available.bytes();
  }
  /// For edges whose number is known.
  void reserve_edges(const Device& device, bool updates) {
    indices.reserve(device, edges, kSampleBatch);
    targets.reserve(device, edges, kSampleBatch);
    if (updates) arrivals.reserve(device, edges, kSampleBatch);
    if (device.is_cuda() && fanout == 0) owners.reserve(device, edges, kSampleBatch);
  }
};

namespace cuda {

/// Warps that make selections too large for a tile's shared memory, each with scratch in device memory.
inline std::uint64_t large_warps(const Device& device) {
  return std::uint64_t{device.multiprocessors()} * 16;
}

/// What the host must know of a round to go on.
struct LevelFacts {
  unsigned long long largest;    ///< size of the largest selection
  unsigned long long drawn;      ///< size of the largest that is not a whole list
  unsigned long long uneven;     ///< not 0: entries differ in size, or want whole lists
  unsigned long long clashing;   ///< entries whose first choices clash, see first_choice_kernel
  unsigned long long exhausted;  ///< not 0: a selection's redraws have used up their random words
  unsigned long long widest;     ///< dynamic bias: longest list of those that draw
  unsigned long long too_large;  ///< dynamic bias: not 0: 1 + a vertex whose biases pass 64 bits
};

/// Counters of a run. Blocks add to one of several slots, each on a line of its own: a single address would
/// take one addition at a time and hold up the whole GPU.
inline constexpr unsigned kCounterSlots = 64;
struct alignas(128) PickTotals {
  unsigned long long selections, iterations, searches;
};

/// Grows as batches need it and is kept with the graph, so that a run after the first allocates nothing.
struct SampleWorkspace {
  std::vector<SampleLevel> levels;
  Buffer<unsigned char> visited;   ///< VisitedSlot[]
  Buffer<std::uint32_t> clashing;  ///< [entries] whose first choices clash
  Buffer<std::uint64_t> flags;     ///< [edges + 1] first reached here?, then their prefix sums
  Buffer<unsigned char> scan;
  Buffer<LevelFacts> facts;
  Buffer<PickTotals> totals;      ///< [kCounterSlots]
  Buffer<std::uint64_t> scratch;  ///< of warps that make large selections
  // In partitions: entries of one that are listed.
  Buffer<FrontierEntry> listed;
  Buffer<std::uint64_t> listed_begins;  ///< [entries that wait + 1] edges of those before
  Buffer<unsigned long long> clashes;   ///< [partitions at work] entries whose first choices clash
  Staging<LevelFacts> host_facts;       ///< what the host reads between kernels

  /// Device memory that the next batch finds already there.
  std::uint64_t bytes() const {
    std::uint64_t sum = visited.bytes() + clashing.bytes() + flags.bytes() + scan.bytes() + scratch.bytes();
    sum += listed.bytes() + listed_begins.bytes();
    for (const SampleLevel& level : levels) sum += level.bytes();
    return sum;
  }
};

}  // namespace cuda
}  // namespace sluice::samples
