// The host's side of walks that change hands between ranks: records in memory, and what leaves through MPI.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exchange/wire.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/walks/partitioned/walk_host.hpp"
#include "engine/walks/sharded/job.hpp"
#include "engine/walks/sharded/walk.hpp"

namespace sluice::host {

/// The ranks' communicator is all that records travel by.
struct ShardLink {
  std::uint64_t bytes_sent() const { return 0; }  ///< it counts what it does
  void abort() {}                                 ///< and ends by itself
};

/// Rows of a batch's walks, of which every rank has a part; see BatchRows.
class HostShardRows final : public ShardRows {
 public:
  static constexpr bool kInParts = true;

  HostShardRows(const Device& device, ShardLink&, std::uint64_t values)
      : memory_(device, values, "a batch of walks") {}

  void clear() override;
  void send_to_origins(std::uint64_t) override {}
  Vertex* data() const override { return memory_.data(); }
  /// The communicator counts what it does.
  double seconds() const override { return 0; }

 private:
  Buffer<Vertex> memory_;
};

/// Records of a batch's walks, whatever the sampler.
template <bool kAsks>
class HostShardWalks : public ShardWalks {
 public:
  void connect() override {}
  void begin() override;
  Crossing exchange() override;
  void advance() override;
  std::pair<Vertex, Vertex> first_pair() override;
  double exchange_seconds() const override { return 0; }
  std::uint64_t steps() override { return steps_; }
  std::uint64_t rounds() override { return rounds_; }

 protected:
  using Record = ShardRecord<kAsks>;

  HostShardWalks(const ShardSetup& setup, ShardRows& rows);

  // What depends on the sampler: of the records [from, to), each note()s where its walk goes on.
  virtual void begin_block(std::uint64_t from, std::uint64_t to) = 0;
  virtual void advance_block(std::uint64_t from, std::uint64_t to) = 0;
  /// WalkProgram::scan_asks.
  virtual Vertex asked_by(const Walker& walker) const = 0;

  /// The walk of record i, of a block that begins at `from`, goes on where walks wait under `key`. Keeps
  /// those ranks, and how many go to each by block.
  void note(std::uint64_t from, std::uint64_t i, std::uint32_t key) {
    const std::uint32_t rank = destinations_.data()[i] = ranks_of_keys_[key];
    ++blocks_[from / kGrain * ranks_of_block_ + rank];
  }

  Vertex* paths_;
  std::uint64_t row_;
  Buffer<Record> records_;
  std::atomic<std::uint64_t> steps_{0}, rounds_{0};

 private:
  static constexpr std::uint64_t kGrain = 4096;
  static std::uint64_t blocks_of(std::uint64_t count) { return (count + kGrain - 1) / kGrain; }
  void clear_counts();
  void sort_by_destination(std::vector<std::uint64_t>& counts);

  const Device& device_;
  Communicator& ranks_;
  std::uint64_t begin_count_;  ///< walks of the half
  std::size_t ranks_of_block_;
  std::vector<std::uint32_t> ranks_of_keys_;
  Buffer<Record> leaving_;
  Buffer<std::uint32_t> destinations_;  ///< ranks that go on with what is here
  std::uint64_t record_count_ = 0;
  Wire<Record> wire_;
  HostArray<std::uint64_t> blocks_;  ///< [blocks][ranks + 1] records by destination, then where they go
};

template <class Program>
class ShardBatch final : public HostShardWalks<PagedWalks<Program>::kAsks> {
 public:
  using Link = ShardLink;
  using Rows = HostShardRows;
  static constexpr bool kAsks = PagedWalks<Program>::kAsks;
  /// The threads that work are those that hand over: halves would overlap nothing, and meet twice as often.
  static constexpr unsigned kHalves = 1;

  static std::unique_ptr<Link> link(Communicator&) { return std::make_unique<Link>(); }

  ShardBatch(const ShardSetup& setup, Link&, ShardRows& rows, const Program& program,
             const PagedWalks<Program>& walks)
      : Base(setup, rows), program_(program), walks_(walks) {}

 private:
  using Base = HostShardWalks<kAsks>;
  using Record = ShardRecord<kAsks>;
  using Base::records_, Base::paths_, Base::row_;

  void begin_block(std::uint64_t from, std::uint64_t to) override {
    for (std::uint64_t i = from; i < to; ++i) {
      const Walker walker = walks_.begin(i);
      paths_[i * row_] = walker.start;
      records_.data()[i] = Record::of(static_cast<std::uint32_t>(i), walks_.park(walker), {});
      this->note(from, i, walks_.first_key(i, walker));
    }
  }

  void advance_block(std::uint64_t from, std::uint64_t to) override {
    constexpr std::uint64_t kAhead = 16;
    std::uint64_t steps = 0;
    const auto take = [&](WalkLane<PagedWalks<Program>>& lane) {
      if (lane.item + kAhead < to) walks_.prefetch_row(records_.data()[lane.item + kAhead].parked());
      const Record& record = records_.data()[lane.item];
      lane.walker = walks_.resume(record.index, record.parked());
      lane.place.question = record.question();
      lane.path = paths_ + record.index * row_;
      steps -= lane.walker.step;
    };
    const auto leave = [&](const WalkLane<PagedWalks<Program>>& lane) {
      Record& record = records_.data()[lane.item];
      record = Record::of(record.index, walks_.park(lane.walker), lane.place.question);
      this->note(from, lane.item, lane.place.key);
      steps += lane.walker.step;
    };
    this->rounds_ += host::advance(walks_, from, to, take, leave);
    this->steps_ += steps;
  }

  Vertex asked_by(const Walker& walker) const override { return program_.scan_asks(walker); }

  const Program& program_;
  const PagedWalks<Program>& walks_;
};

}  // namespace sluice::host
