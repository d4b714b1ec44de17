// What the driver of walks in partitions asks of a wave, whatever the sampler and the backend: its code is
// compiled once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/drive/page_loop.hpp"
#include "engine/drive/paged_walk.hpp"
#include "engine/drive/shard.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/schedule/balance.hpp"

namespace sluice {

/// A wave of walks, in queues by what they wait for (keys of WalkWave).
class WalkQueues {
 public:
  virtual ~WalkQueues() = default;

  virtual WalkWave& wave() = 0;
  /// Makes the partitions that are here visible to the next round.
  virtual void publish(PageLoop& loop) = 0;
  virtual void begin(std::uint64_t count) = 0;
  /// Walks that wait, by key.
  virtual std::span<const std::uint64_t> waiting() const = 0;
  /// Works on all that waits under these keys, until every walk has ended or waits for what is not here.
  virtual void advance(std::span<const std::uint32_t> keys) = 0;
  /// Where the first walk that needs two partitions at once is, and whom it asks.
  virtual std::pair<Vertex, Vertex> first_pair() = 0;
  /// What its GPU and those of other ranks hand each other walks by (make_device_ranks); null on the host.
  virtual std::unique_ptr<DeviceRanks> connect(Communicator& ranks) = 0;
  /// The stream that its kernels run on; null on the host.
  virtual void* stream() = 0;
  /// Walks that wait for a partition of these ranges leave: they have ended here. Returns how many by range.
  virtual std::vector<std::uint64_t> depart(std::span<const OwnedPartitions> ranges) = 0;
  /// Packs `count` of the walks that leave by a range, behind `from` others, into device memory.
  virtual void pack(std::size_t range, std::uint64_t from, std::uint64_t count, TravellingWalk* out) = 0;
  /// Takes over walks that another rank packed, from device memory.
  virtual void settle(const TravellingWalk* walks, std::uint64_t count) = 0;
  virtual Vertex* paths() = 0;  ///< [walks][length + 1]
  virtual std::uint64_t steps() = 0;
  virtual std::uint64_t rounds() = 0;
  virtual std::uint64_t read() = 0;  ///< bytes in place
  virtual const KernelTimes& times() = 0;
};

/// `Wave` is the backend's PagedWave.
template <class Program, class Wave>
class WalkQueuesOf final : public WalkQueues {
 public:
  WalkQueuesOf(const Device& device, const PagingOptions& paging, const Program& program,
               std::uint64_t capacity, std::uint32_t length, std::uint32_t keys)
      : program_(program), queues_(device, paging, capacity, length, keys) {}

  WalkWave& wave() override { return walks_; }
  void publish(PageLoop& loop) override {
    std::tie(walks_.map, walks_.programs) =
        loop.publish([this](const PageView& page) { return on_page(program_, page); });
  }
  void begin(std::uint64_t count) override { queues_.begin(walks_, count); }
  std::span<const std::uint64_t> waiting() const override { return queues_.waiting(); }
  void advance(std::span<const std::uint32_t> keys) override { queues_.advance(walks_, keys); }
  std::pair<Vertex, Vertex> first_pair() override { return queues_.first_pair(walks_); }
  std::unique_ptr<DeviceRanks> connect(Communicator& ranks) override { return Wave::connect(ranks); }
  void* stream() override { return queues_.stream(); }
  std::vector<std::uint64_t> depart(std::span<const OwnedPartitions> ranges) override {
    return queues_.depart(ranges, walks_.ended());
  }
  void pack(std::size_t range, std::uint64_t from, std::uint64_t count, TravellingWalk* out) override {
    queues_.pack(range, from, count, out);
  }
  void settle(const TravellingWalk* walks, std::uint64_t count) override {
    queues_.settle(walks, count, walks_.ended());
  }
  Vertex* paths() override { return queues_.paths(); }
  std::uint64_t steps() override { return queues_.steps(); }
  std::uint64_t rounds() override { return queues_.rounds(); }
  std::uint64_t read() override { return queues_.read(); }
  const KernelTimes& times() override { return queues_.times(); }

 private:
  const Program& program_;
  Wave queues_;
  PagedWalks<Program> walks_;
};

}  // namespace sluice
