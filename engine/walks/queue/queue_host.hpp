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
  std::uint64_t position() const { return segment_->begin + next_; }
  /// True if at least `count` more walks follow in this segment.
  bool has_further(std::uint64_t count) const { return next_ + count < segment_->count; }
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
  static constexpr bool kHasSteppedWalks = false;  ///< stepped walks run on GPUs only
  static constexpr std::size_t kMaxKeys = ~std::size_t{0};

  /// Measures nothing: the communicator counts exchanges between hosts.
  struct Interval {
    void start(const QueueBackend&) {}
    void stop(const QueueBackend&) {}
    double consume_seconds() const { return 0; }
  };

  explicit QueueBackend(const QueueSetup& setup)
      : threads_(setup.device.threads()),
        teams_(!setup.paging.batching || setup.paging.balance != Balance::automatic),
        queues_(threads_, setup.paging) {}

  /// True if teams of threads work on one key each.
  bool works_per_key() const { return teams_; }
  void clear(Vertex* rows, std::uint64_t values);
  /// Sets the key of each walk first + i, for i below `count`, to body(i).
  template <class Walk, class Body>
  void assign_keys(const QueueView<Walk>& view, std::uint64_t first, std::uint64_t count, const Body& body) {
    parallel_blocks(threads_, count, kWalksPerBlock, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) view.keys[first + i] = body(i);
    });
  }
  template <class Program>
  void work(const QueuedWalks<Program>& queued, std::span<const WalkSegment> segments);

  void reset_counts() {}
  void add_counts(std::span<const std::uint64_t>) {}
  /// Copies walks of the segments to `target`, from `base` on, sorted by key; drops those with keys >=
  /// `keys`.
  template <class Walk>
  void sort(const QueueBuffer<Walk>& source, const QueueBuffer<Walk>& target, std::uint64_t base,
            std::span<const WalkSegment> segments, std::uint32_t keys);
  /// The number of walks under each key after the last sort().
  std::span<const std::uint64_t> counts() const { return counts_; }
  // Only GPUs are connected directly.
  std::span<const std::uint64_t> gather(const Router&) const { return {}; }
  double gather_seconds() const { return 0; }
  void wait() {}
  void finish() {}
  void* stream() const { return nullptr; }
  WalkTotals totals() const { return {steps_, rounds_, in_place_bytes_}; }
  const KernelTimes& times() { return queues_.times(); }

 private:
  static constexpr std::uint64_t kWalksPerBlock = 4096;

  unsigned threads_;
  bool teams_;
  HostQueues queues_;
  std::vector<std::uint64_t> counts_;
  std::atomic<std::uint64_t> steps_{0}, rounds_{0}, in_place_bytes_{0};
};

template <class Program>
void QueueBackend::work(const QueuedWalks<Program>& all_walks, std::span<const WalkSegment> segments) {
  const auto& walks = all_walks.walks;
  const auto& view = all_walks.queue;
  using Lane = WalkLane<typename QueuedWalks<Program>::Walks>;
  std::vector<std::uint64_t> sizes;
  for (const WalkSegment& segment : segments) sizes.push_back(segment.count);
  if (!teams_) sizes.assign(1, walks_in(segments));
  const std::uint64_t grain =
      std::clamp<std::uint64_t>(walks_in(segments) / (8 * threads_), 64, kWalksPerBlock);
  queues_.work(sizes, grain, {}, [&](std::size_t first, std::uint64_t begin, std::uint64_t end, unsigned) {
    const QueuedWalks<Program> queued = all_walks;  // a copy that stores to walks cannot alias
    SegmentCursor cursor(&segments[first], begin);
    std::uint64_t steps = 0, in_place_bytes = 0, remaining = end - begin;
    const auto load = [&](Lane& lane) {
      constexpr std::uint64_t kAhead = 16;
      // Walks after this block belong to another thread, which may be writing them.
      if (remaining-- > kAhead && cursor.has_further(kAhead))
        walks.prefetch_row(view.walks[cursor.position() + kAhead].current);
      lane.item = cursor.next();
      lane.path = view.path(queued.load(lane.item, lane.walker, lane.state));
      steps -= lane.walker.step;
    };
    const auto retire = [&](const Lane& lane) {
      queued.park(lane.item, view.walks[lane.item].index, lane.walker, lane.state);
      steps += lane.walker.step, in_place_bytes += lane.state.in_place_bytes;
    };
    rounds_ += advance(walks, 0, end - begin, load, retire);
    steps_ += steps, in_place_bytes_ += in_place_bytes;
  });
}

template <class Walk>
void QueueBackend::sort(const QueueBuffer<Walk>& source, const QueueBuffer<Walk>& target, std::uint64_t base,
                        std::span<const WalkSegment> segments, std::uint32_t keys) {
  std::vector<std::uint64_t> begins(keys + std::size_t{1}, base);
  order_in_blocks(
      threads_, walks_in(segments), begins,
      [&](std::uint64_t first, std::uint64_t last, const auto& visit) {
        SegmentCursor cursor(segments.data(), first);
        for (std::uint64_t i = first; i < last; ++i) {
          const std::uint64_t source_index = cursor.next();
          if (source.keys[source_index] < keys) visit(source_index, source.keys[source_index]);
        }
      },
      [&](std::uint64_t target_index, std::uint64_t source_index, std::uint32_t key) {
        target.walks[target_index] = source.walks[source_index];
        if (target.keys) target.keys[target_index] = key;
      });
  counts_.resize(keys);
  for (std::uint32_t key = 0; key < keys; ++key) counts_[key] = begins[key + 1] - begins[key];
}

}  // namespace sluice::walks::host

namespace sluice::walks {

extern template class QueueOf<host::QueueBackend, ParkedWalk<false>>;  // queue_host.cpp
extern template class QueueOf<host::QueueBackend, ParkedWalk<true>>;

}  // namespace sluice::walks
