// Parked walks, sorted by key: a partition of this rank that a walk waits for, or the rank that it goes to.
// The bodies of a queue's kernels, written once for host and device.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/memory/owned_partitions.hpp"
#include "engine/walks/partitioned.hpp"

namespace sluice::walks {

/// A parked walk: a walk between two rounds, in 16 bytes, one memory access of a lane. A walk without
/// questions never waits within a step; it waits for the list of its current vertex.
template <bool kNeedsOtherLists>
struct alignas(16) ParkedWalk {
  std::uint32_t index = 0;  ///< of the walk in the batch
  Vertex current = kNoVertex;
  Vertex previous = kNoVertex;
  std::uint32_t step = 0;

  template <class StepState>
  SLUICE_HD static ParkedWalk of(std::uint32_t index, const Walker& walker, const StepState&) {
    return {index, walker.current, walker.previous, walker.step};
  }
  SLUICE_HD void restore(Walker& walker) const {
    walker.current = current, walker.previous = previous, walker.step = step, walker.trial = 0;
  }
  SLUICE_HD ParkedQuestion question() const { return {}; }
  SLUICE_HD std::uint32_t awaited_partition(const PageMap& map) const { return map.owner(current); }
};

template <>
struct alignas(16) ParkedWalk<true> {
  std::uint32_t index = 0;
  Vertex current = kNoVertex;
  Vertex previous = kNoVertex;
  std::uint32_t step = 0;
  std::uint32_t trial = 0;
  Vertex question_target = kNoVertex;
  std::uint32_t question_index = 0;
  std::uint32_t partition = 0;  ///< that can answer the question

  template <class StepState>
  SLUICE_HD static ParkedWalk of(std::uint32_t index, const Walker& walker, const StepState& state) {
    return {index,        walker.current,        walker.previous,      walker.step,
            walker.trial, state.question.target, state.question.index, state.key};
  }
  SLUICE_HD void restore(Walker& walker) const {
    walker.current = current, walker.previous = previous, walker.step = step, walker.trial = trial;
  }
  SLUICE_HD ParkedQuestion question() const { return {question_target, question_index}; }
  SLUICE_HD std::uint32_t awaited_partition(const PageMap& map) const {
    return question_target == kNoVertex ? map.owner(current) : partition;
  }
};

/// The keys of a queue, in order: a key for each rank, for departing walks; a key for each partition of this
/// rank, or one for all if they are resident; a key for walks that wait for two partitions at once; a key for
/// the next leg. Ended walks have no key.
struct QueueKeys {
  /// `ranks` is null in a run of one rank.
  QueueKeys(const Communicator* ranks, std::uint32_t partitions, bool resident);

  bool resident;
  std::uint32_t rank_keys = 0;  ///< keys of ranks, which come first; 0 in a run of one rank
  std::uint32_t partition_keys = 0, pair_key = 0, next_leg_key = 0, count = 0;
  std::vector<std::uint32_t> queue_key;  ///< indexed by key of ActiveWalks
};

/// One of a queue's two buffers: walks and their keys.
template <class Walk>
struct QueueBuffer {
  Walk* walks;
  std::uint32_t* keys;  ///< null as output of a sort if the keys will not be read
};

/// A queue's memory, as passed to a round.
template <class Walk>
struct QueueView : QueueBuffer<Walk> {
  Vertex* paths;                ///< [walks of the batch][row]
  std::uint64_t row;            ///< entries of a path: steps of a leg + 1, or kEndWords
  const std::uint32_t* key_of;  ///< QueueKeys::queue_key
  std::uint32_t count;          ///< number of keys, and the key of ended walks

  SLUICE_HD Vertex* path(std::uint32_t index) const { return paths + index * row; }
};

/// Begins the walks of a queue: every `halves`-th walk of the batch, so that all parts have equally many
/// walks of each origin rank.
template <class Program>
struct BeginWalks {
  using Walks = WalksOn<Program, Partitioned>;
  using Parked = ParkedWalk<Walks::kNeedsOtherLists>;

  Walks walks;
  QueueView<Parked> queue;
  unsigned half, halves;

  SLUICE_HD std::uint32_t operator()(std::uint64_t i) const {
    const std::uint64_t index = i * halves + half;
    const auto walker = walks.begin(index);
    typename Walks::StepState state;
    state.key = walks.first_key(index, walker);
    if constexpr (!Program::kEndsOnly) *queue.path(static_cast<std::uint32_t>(index)) = walker.start;
    queue.walks[i] = Parked::of(static_cast<std::uint32_t>(index), walker, state);
    return queue.key_of[state.key];
  }
};

/// Finds the keys of walks that have arrived or begin a leg: the partitions that they wait for.
template <class Walk>
struct FindKeys {
  PageMap map;
  QueueView<Walk> queue;
  std::uint64_t first;

  SLUICE_HD std::uint32_t operator()(std::uint64_t i) const {
    return queue.key_of[queue.walks[first + i].awaited_partition(map)];
  }
};

/// A round's work on a queue: load() precedes advance(), park() follows it.
template <class Program>
struct QueuedWalks {
  using Walks = WalksOn<Program, Partitioned>;
  using Parked = ParkedWalk<Walks::kNeedsOtherLists>;

  Walks walks;
  QueueView<Parked> queue;

  /// Loads the parked walk at `position`; returns its index in the batch.
  SLUICE_HD std::uint32_t load(std::uint64_t position, typename Walks::Walker& walker,
                               typename Walks::StepState& state) const {
    const Parked parked = queue.walks[position];
    parked.restore(walker);
    state.question = parked.question();
    walks.resume(parked.index, walker, state.question);
    return parked.index;
  }
  /// Parks the walk again at `position`; returns its key. Ended kEndsOnly walks write their row instead.
  SLUICE_HD std::uint32_t park(std::uint64_t position, std::uint32_t index,
                               const typename Walks::Walker& walker,
                               const typename Walks::StepState& state) const {
    const std::uint32_t key = queue.key_of[walks.key_after(walker, state)];
    if constexpr (Program::kEndsOnly) {
      if (key == queue.count) {
        Vertex* const end = queue.path(index);
        end[0] = walker.current, end[1] = walker.step;
      }
    }
    if (key != queue.count) queue.walks[position] = Parked::of(index, walker, state);
    return queue.keys[position] = key;
  }
};

}  // namespace sluice::walks
