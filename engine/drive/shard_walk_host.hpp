// The host's side of walks that change hands between ranks: records in memory, and what leaves through MPI.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/drive/paged_walk_host.hpp"
#include "engine/drive/shard_walk.hpp"
#include "engine/drive/wire.hpp"
#include "engine/exec/buffer.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::host {

/// The ranks' communicator is all that records travel by.
struct ShardLink {
  std::uint64_t bytes_sent() const { return 0; }  ///< it counts what it does
};

/// Rows of a wave's walks, of which every rank has a part; see WaveRows.
class ShardRows {
 public:
  using Link = ShardLink;
  static constexpr bool kInParts = true;

  ShardRows(const Device& device, Link&, std::uint64_t values) : memory_(device, values, "a wave of walks") {}

  void clear() { std::fill_n(memory_.data(), memory_.size(), kNoVertex); }
  void bring_home(std::uint64_t) {}
  Vertex* data() const { return memory_.data(); }
  /// The communicator counts what it does.
  double seconds() const { return 0; }

 private:
  Buffer<Vertex> memory_;
};

template <class Program>
class ShardWave {
 public:
  using Link = ShardLink;
  using Rows = ShardRows;
  static constexpr bool kAsks = PagedWalks<Program>::kAsks;
  /// The threads that work are those that hand over: halves would overlap nothing, and meet twice as often.
  static constexpr unsigned kHalves = 1;

  static std::unique_ptr<Link> link(Communicator&) { return std::make_unique<Link>(); }

  ShardWave(const Device& device, Link&, Communicator& ranks, std::uint64_t most, Rows& rows,
            std::uint32_t length, const std::vector<std::uint32_t>& ranks_of_keys)
      : device_(device),
        ranks_(ranks),
        paths_(rows.data()),
        row_(std::uint64_t{length} + 1),
        ranks_of_keys_(ranks_of_keys),
        here_(device, most, "walks under way"),
        leaving_(device, most, "walks that leave"),
        destinations_(device, most, "walks that leave"),
        blocks_(blocks_of(most) * (static_cast<std::size_t>(ranks.size()) + 1), "counts of walks") {
    wire_.reserve(most, "walks from other ranks");
  }

  /// Makes a record of every walk of the half that begins here.
  void begin(const ShardHalf<Program>& half) {
    const PagedWalks<Program>& walks = half.walks;
    each_block(half.size(), [&](std::uint64_t from, std::uint64_t to, const auto& note) {
      for (std::uint64_t i = from; i < to; ++i) {
        const std::uint64_t index = half.index(i);
        const Walker walker = walks.begin(index);
        paths_[index * row_] = walker.start;
        here_.data()[i] = Record::of(static_cast<std::uint32_t>(index), walks.park(walker), {});
        note(i, walks.first_key(index, walker));
      }
    });
  }

  /// Hands over what belongs elsewhere and takes what comes; all ranks call it.
  Crossing exchange() {
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(ranks_.size()), 0);
    sort_by_destination(counts);
    const std::uint64_t leaving = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    wire_.exchange(ranks_, {leaving_.data(), leaving}, counts, "walks from other ranks");
    std::ranges::copy(wire_.values(), here_.data());
    here_count_ = wire_.values().size();
    const std::uint64_t stayed = counts[static_cast<std::size_t>(ranks_.rank())];
    std::uint64_t all[] = {leaving - stayed, leaving};
    ranks_.all_reduce(all, Reduce::sum, "walks under way");
    return {leaving - stayed, here_count_ - stayed, here_count_, all[0], all[1]};
  }

  /// Works on all records, until every walk has ended or waits for a list that is not here.
  void advance(const PagedWalks<Program>& walks) {
    constexpr std::uint64_t kAhead = 16;
    each_block(here_count_, [&](std::uint64_t from, std::uint64_t to, const auto& note) {
      std::uint64_t steps = 0, rounds = 0, in_place = 0;  // nothing is: all that the rank owns is here
      const auto take = [&](WalkLane<Program>& lane) {
        if (lane.item + kAhead < to) walks.prefetch_row(here_.data()[lane.item + kAhead].parked());
        const Record& record = here_.data()[lane.item];
        lane.walker = walks.resume(record.index, record.parked());
        lane.question = record.question();
        lane.path = paths_ + record.index * row_;
        steps -= lane.walker.step;
      };
      const auto leave = [&](const WalkLane<Program>& lane) {
        Record& record = here_.data()[lane.item];
        record = Record::of(record.index, walks.park(lane.walker), lane.question);
        note(lane.item, lane.key);
        steps += lane.walker.step;
      };
      walk_on(walks, from, to, take, leave, rounds, in_place);
      steps_ += steps, rounds_ += rounds;
    });
  }

  /// Where the first walk that is here is, and whom it asks.
  std::pair<Vertex, Vertex> first_pair(const PagedWalks<Program>& walks) const {
    const Walker walker = walks.resume(0, here_.data()[0].parked());
    return {walker.current, walks.programs->scan_asks(walker)};
  }

  double exchange_seconds() const { return 0; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t rounds() const { return rounds_; }

 private:
  using Record = ShardRecord<kAsks>;
  static constexpr std::uint64_t kGrain = 4096;
  static std::uint64_t blocks_of(std::uint64_t count) { return (count + kGrain - 1) / kGrain; }

  /// Calls body(from, to, note) for blocks of records; it notes for every one of them by note(i, key) where
  /// it goes on. Keeps those ranks, and how many go to each by block.
  template <class Body>
  void each_block(std::uint64_t count, const Body& body) {
    const auto ranks = static_cast<std::size_t>(ranks_.size());
    here_count_ = count;
    std::fill_n(blocks_.data(), blocks_of(count) * (ranks + 1), 0);
    parallel_blocks(device_.threads(), count, kGrain, [&](std::uint64_t from, std::uint64_t to, unsigned) {
      std::uint64_t* const counts = blocks_.data() + from / kGrain * (ranks + 1);
      body(from, to, [&](std::uint64_t i, std::uint32_t key) {
        destinations_.data()[i] = ranks_of_keys_[key];
        ++counts[destinations_.data()[i]];
      });
    });
  }

  /// Records in order of destination, without those that have ended; `counts` by rank.
  void sort_by_destination(std::vector<std::uint64_t>& counts) {
    const std::size_t ranks = counts.size(), blocks = blocks_of(here_count_);
    std::uint64_t before = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::uint64_t first = before;
      for (std::size_t b = 0; b < blocks; ++b) before += std::exchange(blocks_[b * (ranks + 1) + r], before);
      counts[r] = before - first;
    }
    parallel_blocks(device_.threads(), here_count_, kGrain,
                    [&](std::uint64_t from, std::uint64_t to, unsigned) {
                      std::uint64_t* const next = blocks_.data() + from / kGrain * (ranks + 1);
                      for (std::uint64_t i = from; i < to; ++i) {
                        const std::uint32_t rank = destinations_.data()[i];
                        if (rank < ranks) leaving_.data()[next[rank]++] = here_.data()[i];
                      }
                    });
  }

  const Device& device_;
  Communicator& ranks_;
  Vertex* paths_;
  std::uint64_t row_;
  std::vector<std::uint32_t> ranks_of_keys_;
  Buffer<ShardRecord<kAsks>> here_, leaving_;
  Buffer<std::uint32_t> destinations_;  ///< ranks that go on with what is here
  std::uint64_t here_count_ = 0;
  Wire<Record> wire_;
  HostArray<std::uint64_t> blocks_;  ///< [blocks][ranks + 1] records by destination, then where they go
  std::atomic<std::uint64_t> steps_{0}, rounds_{0};
};

}  // namespace sluice::host
