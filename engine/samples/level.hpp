// One depth of a batch of samples, and the GPU memory that batches reuse.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/samples/step.hpp"

namespace sluice::samples {

inline constexpr const char* kSampleBatch = "a batch of samples";

/// One depth of a batch: frontier entries in order of instance, and their selected edges in order of entry.
struct SampleLevel {
  std::uint64_t entries = 0;
  std::uint64_t edges = 0;
  std::uint32_t fanout = 0;                ///< edges of every entry; 0: counts differ, see owners
  Buffer<FrontierEntry> frontier;          ///< [entries]
  Buffer<std::uint64_t> offsets;           ///< [entries + 1] where an entry's edges begin
  Buffer<std::uint32_t> indices;           ///< [edges] index in the entry's list
  Buffer<Vertex> targets;                  ///< [edges]
  Buffer<Vertex> parents;                  ///< [entries] dynamic samplers: source of the reaching edge
  Buffer<Vertex> arrivals;                 ///< [edges] in partitions: results of the sampler's update
  Buffer<std::uint64_t> instance_entries;  ///< [instances + 1] entries of earlier instances
  Buffer<std::uint64_t> earlier_edges;     ///< [instances] edges of the instance at lesser depths
  // Used on a GPU only.
  Buffer<std::uint32_t> owners;     ///< [edges] entry of each edge, if fanout is 0
  Buffer<std::uint32_t> available;  ///< [entries] dynamic samplers: number of candidates

  std::uint64_t bytes() const {
    return frontier.bytes() + offsets.bytes() + indices.bytes() + targets.bytes() + parents.bytes() +
           arrivals.bytes() + instance_entries.bytes() + earlier_edges.bytes() + owners.bytes() +
           available.bytes();
  }
  /// Allocates the edge columns for `edges` edges; `updates`: arrivals too.
  void reserve_edges(const Device& device, bool updates) {
    indices.reserve(device, edges, kSampleBatch);
    targets.reserve(device, edges, kSampleBatch);
    if (updates) arrivals.reserve(device, edges, kSampleBatch);
    if (device.is_cuda() && fanout == 0) owners.reserve(device, edges, kSampleBatch);
  }
};

namespace cuda {

/// The largest selection for which a tile uses shared memory.
inline constexpr unsigned kTilePicks = 32;
/// From so many picks on, a bitmap costs less than comparing.
inline constexpr std::uint64_t kMinBitmapPicks = 256;
/// Most warps that make selections too large for a tile's shared memory, each with scratch in device memory.
inline std::uint64_t large_warps(const Device& device) {
  return std::uint64_t{device.multiprocessors()} * 16;
}

/// Counters of a depth that the host reads between kernels.
struct LevelSummary {
  unsigned long long largest;    ///< size of the largest selection
  unsigned long long drawn;      ///< size of the largest selection that is not a whole list
  unsigned long long uneven;     ///< not 0: sizes differ between entries, or an entry takes its whole list
  unsigned long long clashing;   ///< entries whose first choices clash, see first_choice_kernel
  unsigned long long exhausted;  ///< not 0: a selection's redraws used up their random words
  unsigned long long longest_list;  ///< dynamic bias: longest list from which an entry draws
  unsigned long long too_large;  ///< dynamic bias: 1 + a vertex whose biases exceed 64 bits; 0: none
};

/// Counters of a run. Blocks add to one of several slots, each on its own cache line: atomic additions to a
/// single address would serialize and stall the whole GPU.
inline constexpr unsigned kCounterSlots = 64;
struct alignas(128) PickTotals {
  unsigned long long selections, iterations, searches;
};

/// GPU memory of batches; grows on demand. A whole graph keeps it, so that later runs allocate nothing.
struct SampleWorkspace {
  std::vector<SampleLevel> levels;
  Buffer<unsigned char> visited;   ///< VisitedSlot[]
  Buffer<std::uint32_t> clashing;  ///< [entries] whose first choices clash
  Buffer<std::uint64_t> flags;     ///< [edges + 1] adds an entry to the next frontier?, then prefix sums
  Buffer<unsigned char> scan;
  Buffer<LevelSummary> summary;
  Buffer<PickTotals> totals;      ///< [kCounterSlots]
  Buffer<std::uint64_t> scratch;  ///< of warps that make large selections
  // Used on graphs in partitions only.
  Buffer<FrontierEntry> listed;         ///< the entries that wait for one partition
  Buffer<std::uint64_t> listed_begins;  ///< [waiting entries + 1] edges of earlier entries in the queue
  Buffer<unsigned long long> clashes;   ///< [streams] entries whose first choices clash
  Staging<LevelSummary> host_summary;   ///< copy that the host reads between kernels

  /// Device memory that the next batch reuses.
  std::uint64_t bytes() const {
    std::uint64_t sum = visited.bytes() + clashing.bytes() + flags.bytes() + scan.bytes() + scratch.bytes();
    sum += listed.bytes() + listed_begins.bytes();
    for (const SampleLevel& level : levels) sum += level.bytes();
    return sum;
  }
};

}  // namespace cuda
}  // namespace sluice::samples
