// Walks between two rounds, in order of the key that they wait under: a partition of this rank, or the rank
// that goes on with them. Bodies of the kernels of a queue, once for host and device.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/memory/owned_partitions.hpp"
#include "engine/walks/partitioned.hpp"

namespace sluice::walks {

/// A walk between two rounds; 16 bytes, one memory access of a lane. A walk that asks nothing never waits in
/// the middle of a step, and waits for the list of the vertex where it is.
template <bool kAsks>
struct alignas(16) ParkedWalk {
  std::uint32_t index = 0;  ///< in the batch
  Vertex current = kNoVertex;
  Vertex previous = kNoVertex;
  std::uint32_t step = 0;

  template <class Place>
  SLUICE_HD static ParkedWalk of(std::uint32_t index, const Walker& walker, const Place&) {
    return {index, walker.current, walker.previous, walker.step};
  }
  SLUICE_HD void go_on(Walker& walker) const {
    walker.current = current, walker.previous = previous, walker.step = step, walker.trial = 0;
  }
  SLUICE_HD ParkedQuestion question() const { return {}; }
  SLUICE_HD std::uint32_t waits_for(const PageMap& map) const { return map.owner(current); }
};

template <>
struct alignas(16) ParkedWalk<true> {
  std::uint32_t index = 0;
  Vertex current = kNoVertex;
  Vertex previous = kNoVertex;
  std::uint32_t step = 0;
  std::uint32_t trial = 0;
  Vertex asked = kNoVertex;
  std::uint32_t asked_index = 0;
  std::uint32_t partition = 0;  ///< which may answer

  template <class Place>
  SLUICE_HD static ParkedWalk of(std::uint32_t index, const Walker& walker, const Place& place) {
    return {index,        walker.current,        walker.previous,      walker.step,
            walker.trial, place.question.target, place.question.index, place.key};
  }
  SLUICE_HD void go_on(Walker& walker) const {
    walker.current = current, walker.previous = previous, walker.step = step, walker.trial = trial;
  }
  SLUICE_HD ParkedQuestion question() const { return {asked, asked_index}; }
  SLUICE_HD std::uint32_t waits_for(const PageMap& map) const {
    return asked == kNoVertex ? map.owner(current) : partition;
  }
};

/// The keys of a queue: other ranks, whose walks leave; this rank's partitions, or one key for all of them
/// where all are here; walks that wait for two partitions at once, or for the next leg. A walk that has ended
/// has none.
struct QueueKeys {
  /// `ranks` null: this one is alone.
  QueueKeys(const Communicator* ranks, std::uint32_t partitions, bool resident);

  bool resident;
  std::uint32_t others = 0;  ///< keys of ranks, which come first; 0: this rank is alone
  std::uint32_t own = 0, pairs = 0, next_leg = 0, count = 0;
  std::vector<std::uint32_t> of;  ///< by key of ActiveWalks
};

/// One side of a queue's memory: walks, and the key that each waits under.
template <class Walk>
struct QueueSide {
  Walk* walks;
  std::uint32_t* keys;  ///< null in an order in which they will not be read
};

/// A queue's memory as a round sees it.
template <class Walk>
struct QueueView : QueueSide<Walk> {
  Vertex* paths;                ///< [walks of the batch][row]
  std::uint64_t row;            ///< steps of a leg and one more, or kEndWords
  const std::uint32_t* key_of;  ///< QueueKeys::of
  std::uint32_t count;          ///< of keys; what has ended waits under it

  SLUICE_HD Vertex* path(std::uint32_t index) const { return paths + index * row; }
};

/// Walks of a queue are begun: one in `halves` of the batch, so that its parts have the same of every origin
/// rank.
template <class Program>
struct BeginWalks {
  using Walks = WalksOn<Program, Partitioned>;
  using Parked = ParkedWalk<Walks::kAsks>;

  Walks walks;
  QueueView<Parked> queue;
  unsigned half, halves;

  SLUICE_HD std::uint32_t operator()(std::uint64_t i) const {
    const std::uint64_t index = i * halves + half;
    const auto walker = walks.begin(index);
    typename Walks::Place place;
    place.key = walks.first_key(index, walker);
    if constexpr (!Program::kEndsOnly) *queue.path(static_cast<std::uint32_t>(index)) = walker.start;
    queue.walks[i] = Parked::of(static_cast<std::uint32_t>(index), walker, place);
    return queue.key_of[place.key];
  }
};

/// Walks that have arrived, or that go on with the next leg, wait for the partition that holds their list.
template <class Walk>
struct FindKeys {
  PageMap map;
  QueueView<Walk> queue;
  std::uint64_t first;

  SLUICE_HD std::uint32_t operator()(std::uint64_t i) const {
    return queue.key_of[queue.walks[first + i].waits_for(map)];
  }
};

/// A round's work on a queue, between the halves of advance().
template <class Program>
struct QueuedWalks {
  using Walks = WalksOn<Program, Partitioned>;
  using Parked = ParkedWalk<Walks::kAsks>;

  Walks walks;
  QueueView<Parked> queue;

  /// Takes up the walk at `at`; returns its index in the batch.
  SLUICE_HD std::uint32_t take(std::uint64_t at, typename Walks::Walker& walker,
                               typename Walks::Place& place) const {
    const Parked parked = queue.walks[at];
    parked.go_on(walker);
    place.question = parked.question();
    walks.resume(parked.index, walker, place.question);
    return parked.index;
  }
  /// Lays it down where it came to; returns its key.
  SLUICE_HD std::uint32_t leave(std::uint64_t at, std::uint32_t index, const typename Walks::Walker& walker,
                                const typename Walks::Place& place) const {
    const std::uint32_t key = queue.key_of[walks.key_after(walker, place)];
    if constexpr (Program::kEndsOnly) {
      if (key == queue.count) {
        Vertex* const end = queue.path(index);
        end[0] = walker.current, end[1] = walker.step;
      }
    }
    if (key != queue.count) queue.walks[at] = Parked::of(index, walker, place);
    return queue.keys[at] = key;
  }
};

}  // namespace sluice::walks
