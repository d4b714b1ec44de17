// Walks over ranks that each hold all of their partitions on the device: walks are records that lie where
// their list is, and change hands in supersteps. Once for both backends.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/memory/owned_partitions.hpp"
#include "engine/walks/partitioned/walk.hpp"

namespace sluice {

/// A walk between two supersteps; 16 bytes, one memory access of a lane. A walk that asks nothing never waits
/// in the middle of a step.
template <bool kAsks>
struct alignas(16) ShardRecord {
  std::uint32_t index = 0;  ///< in the batch
  Vertex current = kNoVertex;
  Vertex previous = kNoVertex;
  std::uint32_t step = 0;

  SLUICE_HD static ShardRecord of(std::uint32_t index, const ParkedWalk& walk, const ParkedQuestion&) {
    return {index, walk.current, walk.previous, walk.step};
  }
  SLUICE_HD ParkedWalk parked() const { return {current, previous, step, 0}; }
  SLUICE_HD ParkedQuestion question() const { return {}; }
};

template <>
struct alignas(16) ShardRecord<true> {
  std::uint32_t index = 0;
  Vertex current = kNoVertex;
  Vertex previous = kNoVertex;
  std::uint32_t step = 0;
  std::uint32_t trial = 0;
  Vertex asked = kNoVertex;
  std::uint32_t asked_index = 0;
  std::uint32_t unused = 0;

  SLUICE_HD static ShardRecord of(std::uint32_t index, const ParkedWalk& walk,
                                  const ParkedQuestion& question) {
    return {index, walk.current, walk.previous, walk.step, walk.trial, question.target, question.index, 0};
  }
  SLUICE_HD ParkedWalk parked() const { return {current, previous, step, trial}; }
  SLUICE_HD ParkedQuestion question() const { return {asked, asked_index}; }
};

/// Bytes of device memory that a walk of the batch takes beside its path: its record, what goes to other
/// ranks, and where to.
template <bool kAsks>
inline constexpr std::uint64_t kShardWalkBytes = 2 * sizeof(ShardRecord<kAsks>) + sizeof(std::uint32_t);

/// One walk in `halves` of a batch, so that its parts have the same of every origin rank. Where a device
/// works by itself, two halves take turns: what leaves one of them travels while the other works.
template <class Program>
struct ShardHalf {
  PagedWalks<Program> walks;
  unsigned half = 0, halves = 1;

  /// The walk's index in the batch.
  SLUICE_HD std::uint64_t index(std::uint64_t i) const { return i * halves + half; }
};

/// How many walks changed hands between two supersteps.
struct Crossing {
  std::uint64_t sent = 0, received = 0;  ///< by this rank, to and from others
  std::uint64_t records = 0;             ///< that it has now
  // Of all ranks.
  std::uint64_t travelled = 0, left = 0;  ///< that changed hands; that have not ended
};

/// The rank that goes on with a walk which waits under a key of PagedWalks; `ranks` for walks that have
/// ended. A walk that waits for two lists at once stays.
std::vector<std::uint32_t> ranks_of_keys(const Communicator& ranks, std::uint64_t partitions);

/// What a slot takes of a round's look-up: its columns, and a program of most kinds.
inline constexpr std::uint64_t kSlotLookUp = 512;

/// A plan by which every rank holds all of its partitions, and with `pairs` a slot for one more; none, on all
/// ranks, where that does not fit one of them or leaves too little for walks. `bytes_per_walk` is what a rank
/// holds for one walk of the batch, which has as many of every rank; `taken` is what will be charged to the
/// device before. `slot_bytes` is what a slot takes of the look-up that a round publishes.
std::optional<PagedPlan> plan_resident_shard(Communicator& ranks, const Device& device, const Graph& graph,
                                             const PagingOptions& paging, const PageColumns& columns,
                                             std::uint64_t bytes_per_walk, std::uint64_t instances,
                                             bool pairs, std::uint64_t taken = 0,
                                             std::uint64_t slot_bytes = kSlotLookUp);

}  // namespace sluice
