// Queues of walks on the host: threads claim blocks of walks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/exec/order_in_blocks.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/schedule/host_queues.hpp"
#include "engine/walks/advance.hpp"
#include "engine/walks/queue/queue_of.hpp"

namespace sluice::walks::host {

/// Iterates over the walks of segments.
class SegmentCursor {
 public:
  /// Starts after the first `skip` walks.
  SegmentCursor(const WalkSegment* segment, std::uint64_t skip) : segment_(segment), next_(skip) {
    while (next_ >= segment_->count && next_ > 0) next_ -= (segment_++)->count;
  }
  std::uint64_t at() const { return segment_->begin + next_; }
  /// True if at least `count` more walks follow in this segment.
  bool follow(std::uint64_t count) const { return next_ + count < segment_->count; }
  std::uint64_t next() {
    while (next_ == segment_->count) ++segment_, next_ = 0;
    return segment_->begin + next_++;
  }

 private:
  const WalkSegment* segment_;
  std::uint64_t next_;
};

class QueueBackend {
 public:
  static constexpr bool kSteps = false;  ///< stepped walks run on GPUs only
  static constexpr std::size_t kMostKeys = ~std::size_t{0};

  /// Measures nothing: the communicator counts exchanges between hosts.
  struct Interval {
    void start(const QueueBackend&) {}
    void stop(const QueueBackend&) {}
    double take_seconds() const { return 0; }
  };

  explicit QueueBackend(const QueueSetup& setup)
      : threads_(setup.device.threads()),
        teams_(!setup.paging.batching || setup.paging.balance != Balance::automatic),
        queues_(threads_, setup.paging) {}

  /// True if teams of threads work on one key each.
  bool wants_whole_keys() const { return teams_; }
  void clear(Vertex* rows, std::uint64_t values);
  /// Sets the key of each walk first + i, for i below `count`, to body(i).
  template <class Walk, class Body>
  void each_key(const QueueView<Walk>& view, std::uint64_t first, std::uint64_t count, const Body& body) {
    parallel_blocks(threads_, count, kWalksAtOnce, [&](std::uint64_t from, std::uint64_t to, unsigned) {
      for (std::uint64_t i = from; i < to; ++i) view.keys[first + i] = body(i);
    });
  }
  template <class Program>
  void work(const QueuedWalks<Program>& queued, std::span<const WalkSegment> segments);

  void forget() {}
  void expect(std::span<const std::uint64_t>) {}
  /// Copies walks of the segments to `to`, from `base` on, sorted by key; drops those with keys >= `keys`.
  template <class Walk>
  void order(const QueueSide<Walk>& from, const QueueSide<Walk>& to, std::uint64_t base,
             std::span<const WalkSegment> segments, std::uint32_t keys);
  /// The number of walks under each key after the last order().
  std::span<const std::uint64_t> counts() const { return counts_; }
  // Only GPUs are connected directly.
  std::span<const std::uint64_t> gather(const Router&) const { return {}; }
  double gather_seconds() const { return 0; }
  void wait() {}
  void finish() {}
  void* stream() const { return nullptr; }
  WalkTotals totals() const { return {steps_, rounds_, read_}; }
  const KernelTimes& times() { return queues_.times(); }

 private:
  static constexpr std::uint64_t kWalksAtOnce = 4096;

  unsigned threads_;
  bool teams_;
  HostQueues queues_;
  std::vector<std::uint64_t> counts_;
  std::atomic<std::uint64_t> steps_{0}, rounds_{0}, read_{0};
};

template <class Program>
void QueueBackend::work(const QueuedWalks<Program>& all, std::span<const WalkSegment> segments) {
  const auto& walks = all.walks;
  const auto& view = all.queue;
  using Lane = WalkLane<typename QueuedWalks<Program>::Walks>;
  std::vector<std::uint64_t> sizes;
  for (const WalkSegment& segment : segments) sizes.push_back(segment.count);
  if (!teams_) sizes.assign(1, walks_in(segments));
  const std::uint64_t grain =
      std::clamp<std::uint64_t>(walks_in(segments) / (8 * threads_), 64, kWalksAtOnce);
  queues_.work(sizes, grain, {}, [&](std::size_t first, std::uint64_t from, std::uint64_t to, unsigned) {
    const QueuedWalks<Program> queued = all;  // a copy that stores to walks cannot alias
    SegmentCursor cursor(&segments[first], from);
    std::uint64_t steps = 0, read = 0, left = to - from;
    const auto take = [&](Lane& lane) {
      constexpr std::uint64_t kAhead = 16;
      // Walks after this block belong to another thread, which may be writing them.
      if (left-- > kAhead && cursor.follow(kAhead))
        walks.prefetch_row(view.walks[cursor.at() + kAhead].current);
      lane.item = cursor.next();
      lane.path = view.path(queued.take(lane.item, lane.walker, lane.place));
      steps -= lane.walker.step;
    };
    const auto leave = [&](const Lane& lane) {
      queued.leave(lane.item, view.walks[lane.item].index, lane.walker, lane.place);
      steps += lane.walker.step, read += lane.place.read;
    };
    rounds_ += advance(walks, 0, to - from, take, leave);
    steps_ += steps, read_ += read;
  });
}

template <class Walk>
void QueueBackend::order(const QueueSide<Walk>& from, const QueueSide<Walk>& to, std::uint64_t base,
                         std::span<const WalkSegment> segments, std::uint32_t keys) {
  std::vector<std::uint64_t> begins(keys + std::size_t{1}, base);
  order_in_blocks(
      threads_, walks_in(segments), begins,
      [this](std::uint64_t walks, std::uint64_t grain, auto&& body) {
        parallel_blocks(threads_, walks, grain, body);
      },
      [&](std::uint64_t first, std::uint64_t last, const auto& see) {
        SegmentCursor cursor(segments.data(), first);
        for (std::uint64_t i = first; i < last; ++i) {
          const std::uint64_t at = cursor.next();
          if (from.keys[at] < keys) see(at, from.keys[at]);
        }
      },
      [&](std::uint64_t place, std::uint64_t at, std::uint32_t key) {
        to.walks[place] = from.walks[at];
        if (to.keys) to.keys[place] = key;
      });
  counts_.resize(keys);
  for (std::uint32_t key = 0; key < keys; ++key) counts_[key] = begins[key + 1] - begins[key];
}

}  // namespace sluice::walks::host

namespace sluice::walks {

extern template class QueueOf<host::QueueBackend, ParkedWalk<false>>;  // queue_host.cpp
extern template class QueueOf<host::QueueBackend, ParkedWalk<true>>;

}  // namespace sluice::walks
