// Interfaces of samplers and backends to the driver of queued walks (queued_walks.cpp), so that the driver is
// compiled only once.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/exchange/router.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/schedule/balance.hpp"
#include "engine/walks/queue/parked.hpp"

namespace sluice::walks {

/// Counts of walks in one exchange between ranks.
struct ExchangeCounts {
  std::uint64_t sent = 0, received = 0;  ///< by this rank, to and from others
  std::uint64_t local = 0;               ///< walks of the queue on this rank afterwards
  // Of all ranks:
  std::uint64_t migrated = 0, active = 0;  ///< walks that change rank; walks not ended
};

/// Fills in `exchanged` from the counts of all ranks, [ranks][keys]. Returns the arrivals from each rank.
inline std::vector<std::uint64_t> tally(std::span<const std::uint64_t> all_counts, std::size_t ranks,
                                        std::size_t own_rank, ExchangeCounts& exchanged) {
  const std::size_t keys = all_counts.size() / ranks;
  const auto sum = [](std::span<const std::uint64_t> counts) {
    return std::reduce(counts.begin(), counts.end());
  };
  std::vector<std::uint64_t> receive(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto rank_counts = all_counts.subspan(rank * keys, keys);
    receive[rank] = rank_counts[own_rank];
    exchanged.migrated += sum(rank_counts.first(ranks)), exchanged.active += sum(rank_counts);
  }
  exchanged.sent = sum(all_counts.subspan(own_rank * keys, ranks)), exchanged.received = sum(receive);
  return receive;
}

/// A batch of walks, or half of one, that ranks advance together.
class WalkHalf {
 public:
  virtual ~WalkHalf() = default;

  /// Places all walks that begin on this rank at their starts.
  virtual void begin() = 0;
  /// Advances all walks on this rank; exchange() reports the result.
  virtual void advance_all() = 0;
  /// Sends departing walks to their ranks and receives arriving ones; all ranks call it.
  virtual ExchangeCounts exchange() = 0;
  /// Waits until all work that was begun is complete.
  virtual void wait() = 0;
  /// The stream that its kernels run on; null on the host.
  virtual void* stream() = 0;
  virtual WalkTotals totals() = 0;
  virtual const KernelTimes& times() = 0;
  /// Time of exchanges between GPUs; the communicator counts those between hosts.
  virtual double exchange_seconds() const = 0;
};

/// A WalkHalf that keeps its walks sorted by QueueKeys. Paths are rows.
class WalkQueue : public WalkHalf {
 public:
  /// Clears the first `values` entries of the rows of all walks.
  virtual void clear_rows(std::uint64_t values) = 0;
  /// Begins the leg from step ActiveWalks::from on, with the walks that completed the last leg.
  virtual void begin_leg() = 0;
  /// Advances all walks under these keys, until each has ended or waits for something that is not present.
  /// collect() then updates waiting().
  virtual void advance(std::span<const std::uint32_t> keys) = 0;
  virtual void collect() = 0;
  /// Number of waiting walks, by key.
  virtual std::span<const std::uint64_t> waiting() const = 0;
  /// The current vertex of the first walk under a key, and the vertex whose list it needs beside its own.
  virtual std::pair<Vertex, Vertex> first_list_pair(std::uint32_t key) = 0;
};

/// A WalkHalf in which every walk makes one step a round: steps_cuda.cuh. Paths are stored by step.
class SteppedWalks : public WalkHalf {
 public:
  /// Transposes [row][walks] to rows.
  virtual void transpose_rows(const Vertex* steps, std::uint64_t walks, Vertex* rows) = 0;
};

/// What a WalkQueue or SteppedWalks is made from.
struct QueueSetup {
  const Device& device;
  const PagingOptions& paging;
  const Router* router;  ///< null in a run of one rank
  const QueueKeys& keys;
  std::uint64_t per_origin;  ///< walks of a batch that begin on each rank
  std::uint64_t capacity;    ///< walks of the batch
  Vertex* paths;             ///< [walks of the batch][row]; stepped: [origin rank][row][per_origin]
  std::uint64_t row;         ///< steps of a leg + 1, or kEndWords
  unsigned half, halves;

  /// True if GPUs exchange walks directly: all partitions are resident and the GPUs are connected.
  bool exchanges_by_devices() const { return keys.resident && router && router->has_link(); }
  /// Walks in the largest part of a batch, and in this part, which has every `halves`-th walk.
  std::uint64_t max_size() const { return (capacity + halves - 1) / halves; }
  std::uint64_t size() const { return (capacity + halves - 1 - half) / halves; }
};

/// Walks for which each buffer of a queue has memory. A round moves only the walks that it advanced, behind
/// the others, while capacity lasts. The extra half avoids moving all walks in every round.
constexpr std::uint64_t queue_capacity(std::uint64_t walks) {
  return walks + walks / 2;
}

/// Device bytes per walk of a queue, without the walk's path.
constexpr std::uint64_t queued_walk_bytes(bool needs_other_lists) {
  const std::uint64_t walk = needs_other_lists ? sizeof(ParkedWalk<true>) : sizeof(ParkedWalk<false>);
  return queue_capacity(2) * (walk + sizeof(std::uint32_t));
}

/// A walk that leaves a SteppedQueue for another rank: its index in the batch, its current vertex, and its
/// previous one if hooks read the walker.
template <bool kHasPrevious>
struct Departure {
  std::uint32_t index;
  Vertex current;
};
template <>
struct Departure<true> {
  std::uint32_t index;
  Vertex current, previous;
};

/// Device bytes per walk of a SteppedQueue: one departure slot for each rank, and one arrival slot.
constexpr std::uint64_t stepped_walk_bytes(std::uint64_t ranks) {
  return (ranks + 1) * sizeof(Departure<true>);
}

/// One run of walks by one sampler.
class WalkJob {
 public:
  virtual ~WalkJob() = default;

  virtual ActiveWalks& batch() = 0;
  /// Makes the present partitions visible to the next round.
  virtual void publish(PartitionCache& cache) = 0;
  /// WalksOn<Program, Partitioned>::kNeedsOtherLists.
  virtual bool needs_other_lists() const = 0;
  /// True if the sampler asks questions about edges.
  virtual bool has_questions() const = 0;
  /// Program::kEndsOnly: rows have kEndWords entries, and walks have no legs.
  virtual bool ends_only() const = 0;
  /// ProgramQueue::kSteppable
  virtual bool steppable() const = 0;
  /// Bytes for each slot in the look-up that a round publishes.
  virtual std::uint64_t slot_bytes() const = 0;
  virtual std::unique_ptr<WalkQueue> make_queue(const QueueSetup& setup) = 0;
  /// Null unless steppable().
  virtual std::unique_ptr<SteppedWalks> make_stepped(const QueueSetup& setup) = 0;
};

/// `Queue` is the ProgramQueue of a backend.
template <class Program, class Queue>
class ProgramJob final : public WalkJob {
 public:
  explicit ProgramJob(const Program& program) : program_(program) {}

  ActiveWalks& batch() override { return walks_; }
  void publish(PartitionCache& cache) override { walks_.publish(cache, program_); }
  bool needs_other_lists() const override { return WalksOn<Program, Partitioned>::kNeedsOtherLists; }
  bool has_questions() const override {
    return requires {
      requires Program::kQuestions;
    };
  }
  bool ends_only() const override { return Program::kEndsOnly; }
  bool steppable() const override { return Queue::kSteppable; }
  std::uint64_t slot_bytes() const override { return sizeof(PageView) + sizeof(Program); }
  std::unique_ptr<WalkQueue> make_queue(const QueueSetup& setup) override {
    return std::make_unique<Queue>(setup, program_, walks_);
  }
  std::unique_ptr<SteppedWalks> make_stepped(const QueueSetup& setup) override {
    return Queue::make_stepped(setup, walks_);
  }

 private:
  const Program& program_;
  WalksOn<Program, Partitioned> walks_;
};

}  // namespace sluice::walks
