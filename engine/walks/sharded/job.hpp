// What ResidentWalks, over ranks that each hold all of their partitions, asks of a backend and a sampler: its
// own code is compiled once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/batch/sink.hpp"
#include "engine/core/function_ref.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/options.hpp"
#include "engine/walks/sharded/walk.hpp"

namespace sluice {

/// Rows of a batch's walks, as a backend keeps them.
class ShardRows {
 public:
  virtual ~ShardRows() = default;

  virtual void clear() = 0;
  /// Whatever ranks have of rows that are others' goes to those; `per_origin` is what the rows of one rank
  /// take.
  virtual void send_to_origins(std::uint64_t per_origin) = 0;
  virtual Vertex* data() const = 0;
  /// Of sending rows to their origin ranks.
  virtual double seconds() const = 0;
};

/// One half of a batch's walks, or all of it.
class ShardWalks {
 public:
  virtual ~ShardWalks() = default;

  /// All ranks call it once they have their memory.
  virtual void connect() = 0;
  /// Makes a record of every walk of the half that begins here.
  virtual void begin() = 0;
  /// Hands over what belongs elsewhere and takes what comes; all ranks call it.
  virtual Crossing exchange() = 0;
  /// Works on all records, until every walk has ended or waits for a list that is not here.
  virtual void advance() = 0;
  /// Where the first walk that is here is, and whom it asks.
  virtual std::pair<Vertex, Vertex> first_pair() = 0;
  virtual double exchange_seconds() const = 0;
  virtual std::uint64_t steps() = 0;
  virtual std::uint64_t rounds() = 0;
};

/// What a half of a batch is made from.
struct ShardSetup {
  const Device& device;
  Communicator& ranks;
  std::uint64_t capacity;  ///< of the batch
  std::uint32_t length;
  const std::vector<std::uint32_t>& ranks_of_keys;
  unsigned half, halves;

  /// The most walks of a half, and those of this one.
  std::uint64_t most() const { return (capacity + halves - 1) / halves; }
  std::uint64_t size() const { return (capacity + halves - 1 - half) / halves; }
};

/// One run of walks.
class ShardJob {
 public:
  virtual ~ShardJob() = default;

  virtual ActiveWalks& batch() = 0;
  /// Makes the partitions that are here visible to the next superstep.
  virtual void publish(PartitionCache& cache) = 0;
  virtual unsigned halves() const = 0;
  /// PagedWalks::kAsks.
  virtual bool asks() const = 0;
  /// Does every rank keep its own vertices of a row, for BatchRows to put together?
  virtual bool rows_in_parts() const = 0;
  virtual std::unique_ptr<ShardRows> make_rows(const Device& device, std::uint64_t values) = 0;
  virtual std::unique_ptr<ShardWalks> make_half(const ShardSetup& setup, ShardRows& rows) = 0;
  virtual std::uint64_t bytes_sent() const = 0;
  /// Ends what is under way between ranks, where one of them does not come any more.
  virtual void abort() = 0;
};

/// `Batch` is the backend's ShardBatch.
template <class Program, class Batch>
class ShardJobOf final : public ShardJob {
 public:
  ShardJobOf(const Program& program, typename Batch::Link& link) : program_(program), link_(link) {}

  ActiveWalks& batch() override { return walks_; }
  void publish(PartitionCache& cache) override { walks_.publish(cache, program_); }
  unsigned halves() const override { return Batch::kHalves; }
  bool asks() const override { return Batch::kAsks; }
  bool rows_in_parts() const override { return Batch::Rows::kInParts; }
  std::unique_ptr<ShardRows> make_rows(const Device& device, std::uint64_t values) override {
    return std::make_unique<typename Batch::Rows>(device, link_, values);
  }
  std::unique_ptr<ShardWalks> make_half(const ShardSetup& setup, ShardRows& rows) override {
    return std::make_unique<Batch>(setup, link_, rows, program_, walks_);
  }
  std::uint64_t bytes_sent() const override { return link_.bytes_sent(); }
  void abort() override { link_.abort(); }

 private:
  const Program& program_;
  typename Batch::Link& link_;
  PagedWalks<Program> walks_;
};

/// Walks by ResidentWalks, if every rank's part of the graph fits its device and `connect` finds a way
/// between the ranks (null, on all of them, where there is none); false, on all of them, where not.
/// `slot_bytes` as in plan_resident_shard.
bool walk_resident_shard(ResidentGraph::Impl& graph, const PageRequest& pages, StartsView starts,
                         const WalkOptions& options, RunStats& stats, Instance begin, Instance end,
                         WalkSink* sink, bool asks, std::uint64_t slot_bytes,
                         FunctionRef<ShardJob*(Communicator&)> connect);

/// The same by the backend's ShardBatch.
template <class Program, class Batch>
bool walk_resident_shard(ResidentGraph::Impl& graph, const Program& program, const PageRequest& pages,
                         StartsView starts, const WalkOptions& options, RunStats& stats, Instance begin,
                         Instance end, WalkSink* sink) {
  std::unique_ptr<typename Batch::Link> link;
  std::unique_ptr<ShardJob> job;
  const auto connect = [&](Communicator& ranks) -> ShardJob* {
    link = Batch::link(ranks);
    if (link) job = std::make_unique<ShardJobOf<Program, Batch>>(program, *link);
    return job.get();
  };
  // A user's sampler may have more in its program than most.
  const std::uint64_t slot_bytes = std::max<std::uint64_t>(kSlotLookUp, sizeof(PageView) + sizeof(Program));
  return walk_resident_shard(graph, pages, starts, options, stats, begin, end, sink, Batch::kAsks, slot_bytes,
                             connect);
}

}  // namespace sluice
