// The host's side of walks on a graph in partitions: queues of a batch's walks by partition, worked on by all
// threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/group.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/memory/schedule/host_queues.hpp"
#include "engine/walks/partitioned/queues.hpp"
#include "engine/walks/partitioned/walk.hpp"
#include "engine/walks/walk_host.hpp"

namespace sluice::host {

/// A batch of walks by the partition that they wait for, whatever the sampler.
class HostWalkQueues : public WalkQueues {
 public:
  void begin(std::uint64_t count) override;
  void begin_leg() override;
  std::span<const std::uint64_t> waiting() const override { return waiting_; }
  void advance(std::span<const std::uint32_t> keys) override;
  std::pair<Vertex, Vertex> first_pair() override;
  std::unique_ptr<DeviceRanks> connect(Communicator&) override { return nullptr; }
  void* stream() override { return nullptr; }
  std::vector<std::uint64_t> depart(std::span<const OwnedPartitions> ranges) override;
  void pack(std::size_t range, std::uint64_t from, std::uint64_t count, TravellingWalk* out) override;
  void settle(const TravellingWalk* walks, std::uint64_t count) override;
  Vertex* paths() override { return paths_.data(); }
  std::uint64_t steps() override { return steps_; }
  std::uint64_t rounds() override { return rounds_; }
  std::uint64_t read() override { return read_; }
  const KernelTimes& times() override { return queues_.times(); }

 protected:
  /// `asks`: a step can leave a question unanswered (PagedWalks::kAsks).
  HostWalkQueues(const Device& device, const PagingOptions& paging, bool asks, std::uint64_t capacity,
                 std::uint32_t length, std::uint32_t keys);

  // What depends on the sampler.
  /// Parks walks [from, to) of the batch at their starts.
  virtual void begin_block(std::uint64_t from, std::uint64_t to) = 0;
  /// The walks at order_[from, to), as far as they go.
  virtual void work(std::uint64_t from, std::uint64_t to) = 0;
  /// WalkProgram::scan_asks.
  virtual Vertex asked_by(const Walker& walker) const = 0;

  const Device& device_;
  std::uint64_t row_;
  HostQueues queues_;
  Buffer<ParkedWalk> parked_;
  Buffer<ParkedQuestion> questions_;
  Buffer<std::uint32_t> next_;   ///< the walk behind this one in its queue
  Buffer<std::uint32_t> order_;  ///< what is worked on
  Buffer<std::uint32_t> keys_;   ///< where it waits afterwards
  Buffer<Vertex> paths_;
  std::atomic<std::uint64_t> steps_{0}, rounds_{0}, read_{0};

 private:
  template <class Park>
  void restart(const Park& park);
  void enqueue(std::uint64_t count);

  std::uint32_t ended_;
  std::uint64_t count_ = 0;
  std::vector<std::uint32_t> heads_;
  std::vector<std::uint64_t> waiting_;
  std::vector<std::uint64_t> departed_;  ///< where each range's walks begin in order_ and keys_
};

template <class Program>
class PagedBatch final : public HostWalkQueues {
 public:
  static constexpr bool kAsks = PagedWalks<Program>::kAsks;
  static constexpr std::uint64_t kBytesPerWalk = paged_walk_bytes(false, kAsks);

  PagedBatch(const Device& device, const PagingOptions& paging, const Program& program,
             std::uint64_t capacity, std::uint32_t length, std::uint32_t keys)
      : HostWalkQueues(device, paging, kAsks, capacity, length, keys), program_(program) {}

  ActiveWalks& batch() override { return walks_; }
  void publish(PartitionCache& cache) override { walks_.publish(cache, program_); }

 private:
  void begin_block(std::uint64_t from, std::uint64_t to) override {
    for (std::uint64_t i = from; i < to; ++i) {
      const Walker walker = walks_.begin(i);
      parked_.data()[i] = walks_.park(walker);
      if constexpr (kAsks) questions_.data()[i] = {};
      paths_.data()[i * row_] = walker.start;
      keys_.data()[i] = walks_.first_key(i, walker);
      order_.data()[i] = static_cast<std::uint32_t>(i);
    }
  }

  void work(std::uint64_t from, std::uint64_t to) override {
    const PagedWalks<Program>& walks = walks_;
    constexpr std::uint64_t kAhead = 16;
    std::uint64_t steps = 0, read = 0;
    const auto take = [&](WalkLane<PagedWalks<Program>>& lane) {
      if (lane.item + 2 * kAhead < to) prefetch(&parked_.data()[order_.data()[lane.item + 2 * kAhead]]);
      if (lane.item + kAhead < to) walks.prefetch_row(parked_.data()[order_.data()[lane.item + kAhead]]);
      const std::uint32_t index = order_.data()[lane.item];
      lane.walker = walks.resume(index, parked_.data()[index]);
      if constexpr (kAsks) lane.place.question = questions_.data()[index];
      lane.path = paths_.data() + index * row_;
      steps -= lane.walker.step;
    };
    const auto leave = [&](const WalkLane<PagedWalks<Program>>& lane) {
      const std::uint32_t index = order_.data()[lane.item];
      parked_.data()[index] = walks.park(lane.walker);
      if constexpr (kAsks) questions_.data()[index] = lane.place.question;
      keys_.data()[lane.item] = lane.place.key;
      steps += lane.walker.step, read += lane.place.read;
    };
    rounds_ += host::advance(walks, from, to, take, leave);
    steps_ += steps, read_ += read;
  }

  Vertex asked_by(const Walker& walker) const override { return program_.scan_asks(walker); }

  const Program& program_;
  PagedWalks<Program> walks_;
};

}  // namespace sluice::host
