// What the driver of walks in partitions asks of a wave, whatever the sampler and the backend: its code is
// compiled once.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/drive/page_loop.hpp"
#include "engine/drive/paged_walk.hpp"
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
  /// Hands over all that waits for these keys; they have ended here.
  virtual void take(std::span<const std::uint32_t> keys, std::vector<TravellingWalk>& out) = 0;
  /// Takes over walks that another rank handed over.
  virtual void settle(std::span<const TravellingWalk> walks) = 0;
  virtual const Vertex* paths() const = 0;  ///< [walks][length + 1]
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
  void take(std::span<const std::uint32_t> keys, std::vector<TravellingWalk>& out) override {
    queues_.take(keys, walks_.ended(), out);
  }
  void settle(std::span<const TravellingWalk> walks) override { queues_.settle(walks, walks_.ended()); }
  const Vertex* paths() const override { return queues_.paths(); }
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
