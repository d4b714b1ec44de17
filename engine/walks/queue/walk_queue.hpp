// What the driver of walks in queues (queued_walks.cpp) asks of a sampler and a backend: its own code is
// compiled once.
#pragma once

#include <algorithm>
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

/// Walks of a queue between two rounds.
struct Crossing {
  std::uint64_t sent = 0, received = 0;  ///< by this rank, to and from others
  std::uint64_t here = 0;                ///< that this rank has now, of a queue
  // Of all ranks.
  std::uint64_t travelled = 0, left = 0;  ///< that changed hands; that have not ended
};

/// What a crossing is, by the counts of all ranks, [ranks][keys of QueueKeys]. Returns what comes from each.
inline std::vector<std::uint64_t> tally(std::span<const std::uint64_t> all, std::size_t ranks,
                                        std::size_t own, Crossing& crossing) {
  const std::size_t keys = all.size() / ranks;
  const auto sum = [](std::span<const std::uint64_t> counts) {
    return std::reduce(counts.begin(), counts.end());
  };
  std::vector<std::uint64_t> receive(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto theirs = all.subspan(rank * keys, keys);
    receive[rank] = theirs[own];
    crossing.travelled += sum(theirs.first(ranks)), crossing.left += sum(theirs);
  }
  crossing.sent = sum(all.subspan(own * keys, ranks)), crossing.received = sum(receive);
  return receive;
}

/// A batch's walks, or half of them, that ranks work on together.
class WalkHalf {
 public:
  virtual ~WalkHalf() = default;

  /// All walks that begin here wait at their starts.
  virtual void begin() = 0;
  /// Works on all that is here; what comes of it, exchange() says.
  virtual void go_on() = 0;
  /// Walks that other ranks go on with leave, and theirs come; all ranks call it.
  virtual Crossing exchange() = 0;
  /// What it has begun is done then.
  virtual void wait() = 0;
  /// The stream that its kernels run on; null on the host.
  virtual void* stream() = 0;
  virtual WalkTotals totals() = 0;
  virtual const KernelTimes& times() = 0;
  /// Of GPUs; what hosts say to each other, the communicator counts.
  virtual double exchange_seconds() const = 0;
};

/// A queue of such walks, by QueueKeys. Their paths are rows.
class WalkQueue : public WalkHalf {
 public:
  /// Of the rows of all walks, `values` are cleared.
  virtual void clear_rows(std::uint64_t values) = 0;
  /// The walks that came to the end of the last leg go on with the next, ActiveWalks::from.
  virtual void begin_leg() = 0;
  /// Works on all that waits under these keys, until every walk has ended or waits for what is not here. What
  /// waits then, collect() says.
  virtual void advance(std::span<const std::uint32_t> keys) = 0;
  virtual void collect() = 0;
  /// Walks that wait, by key.
  virtual std::span<const std::uint64_t> waiting() const = 0;
  /// Where the first walk under a key is, and whom it asks.
  virtual std::pair<Vertex, Vertex> first_pair(std::uint32_t key) = 0;
};

/// Such walks that make a step a round, all of them: steps_cuda.cuh. Their paths lie step by step.
class SteppedWalks : public WalkHalf {
 public:
  /// [row][walks] become rows.
  virtual void turn_rows(const Vertex* steps, std::uint64_t walks, Vertex* rows) = 0;
};

/// What either is made from.
struct QueueSetup {
  const Device& device;
  const PagingOptions& paging;
  const Router* router;  ///< null: this one is alone
  const QueueKeys& keys;
  std::uint64_t per_origin;  ///< walks of a batch that begin on each rank
  std::uint64_t capacity;    ///< of the batch
  Vertex* paths;             ///< [walks of the batch][row], or of each origin rank [row][per_origin]
  std::uint64_t row;         ///< steps of a leg and one more, or kEndWords
  unsigned half, halves;

  /// Does a GPU work by itself: has it all partitions, and a way to the others?
  bool by_devices() const { return keys.resident && router && router->linked(); }
  /// The most walks of a half of queues, and those of this one, which has one in `halves`.
  std::uint64_t most() const { return (capacity + halves - 1) / halves; }
  std::uint64_t size() const { return (capacity + halves - 1 - half) / halves; }
};

/// Room for walks on each side of a queue's memory. Only those that were worked on move, behind the others,
/// while there is capacity; half as much again keeps all from moving at every round.
constexpr std::uint64_t queue_capacity(std::uint64_t walks) {
  return walks + walks / 2;
}

/// Bytes of device memory that a walk under way takes beside its path.
constexpr std::uint64_t queued_walk_bytes(bool asks) {
  const std::uint64_t walk = asks ? sizeof(ParkedWalk<true>) : sizeof(ParkedWalk<false>);
  return queue_capacity(2) * (walk + sizeof(std::uint32_t));
}

/// A walk that leaves for another rank, among those that make a step a round: its index in the batch, the
/// vertex where it is, and the one before for hooks that see a walk.
template <bool kSeen>
struct Departure {
  std::uint32_t index;
  Vertex current;
};
template <>
struct Departure<true> {
  std::uint32_t index;
  Vertex current, previous;
};

/// As queued_walk_bytes, where walks make a step a round: capacity for all to leave for any rank, and to
/// come.
constexpr std::uint64_t stepped_walk_bytes(std::uint64_t ranks) {
  return (ranks + 1) * sizeof(Departure<true>);
}

/// One run of walks by one sampler.
class WalkJob {
 public:
  virtual ~WalkJob() = default;

  virtual ActiveWalks& batch() = 0;
  /// Makes the partitions that are here visible to the next round.
  virtual void publish(PartitionCache& cache) = 0;
  /// WalksOn<Program, Partitioned>::kAsks.
  virtual bool asks() const = 0;
  /// Does its sampler ask whether edges are there?
  virtual bool has_questions() const = 0;
  /// Program::kEndsOnly: rows have kEndWords, and walks no legs.
  virtual bool ends_only() const = 0;
  /// ProgramQueue::kInSteps
  virtual bool in_steps() const = 0;
  /// What a slot takes of the look-up that a round publishes.
  virtual std::uint64_t slot_bytes() const = 0;
  virtual std::unique_ptr<WalkQueue> make_queue(const QueueSetup& setup) = 0;
  /// Where in_steps().
  virtual std::unique_ptr<SteppedWalks> make_stepped(const QueueSetup& setup) = 0;
};

/// `Queue` is the ProgramQueue of a backend.
template <class Program, class Queue>
class ProgramJob final : public WalkJob {
 public:
  explicit ProgramJob(const Program& program) : program_(program) {}

  ActiveWalks& batch() override { return walks_; }
  void publish(PartitionCache& cache) override { walks_.publish(cache, program_); }
  bool asks() const override { return WalksOn<Program, Partitioned>::kAsks; }
  bool has_questions() const override {
    return requires {
      requires Program::kQuestions;
    };
  }
  bool ends_only() const override { return Program::kEndsOnly; }
  bool in_steps() const override { return Queue::kInSteps; }
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
