// The host's side of walks on a graph in partitions: queues of a wave's walks by partition, worked on by all
// threads.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/drive/host_queues.hpp"
#include "engine/drive/paged_walk.hpp"
#include "engine/drive/walk_host.hpp"
#include "engine/exec/buffer.hpp"
#include "engine/exec/threads.hpp"
#include "engine/select/group.hpp"

namespace sluice::host {

/// One of the walks that a thread works on by turns.
template <class Program>
struct WalkLane {
  std::uint64_t item;
  Walker walker;
  ParkedQuestion question;
  Vertex* path;  ///< its row
  std::uint32_t key;
  const Program* program;
  Proposal proposal;
  Round round;
  bool proposed;
};

/// Items [from, to), each as far as it goes; many by turns, since one alone waits for memory (walk_host.hpp).
/// `take(lane)` fills in item lane.item's walker, question and path, `leave(lane)` hears where it waits then,
/// lane.key. Adds the rounds that are taken, and the bytes that are read in place.
template <class Program, class Take, class Leave>
void walk_on(const PagedWalks<Program>& walks, std::uint64_t from, std::uint64_t to, const Take& take,
             const Leave& leave, std::uint64_t& rounds, std::uint64_t& read) {
  using Lane = WalkLane<Program>;
  std::array<Lane, kInterleavedWalks> lanes;
  std::size_t active = 0;
  const auto propose = [&](Lane& lane) {
    lane.proposed =
        walks.propose(lane.walker, lane.question, lane.program, lane.proposal, lane.round, lane.key, read);
  };
  const auto admit = [&](Lane& lane) {
    lane.item = from++;
    lane.question = {};
    take(lane);
    propose(lane);
  };
  /// False: the walk has ended, or waits.
  const auto turn = [&](Lane& lane) {
    Round round = lane.proposed
                      ? walks.settle(lane.walker, lane.question, *lane.program, lane.proposal, lane.key, read)
                      : lane.round;
    if constexpr (Program::kScans) {
      if (round == Round::scan) {
        read += walks.scan_bytes(lane.walker, *lane.program);
        std::uint64_t counted_already = 0;
        round =
            lane.program->transform_list(SingleLane{}, lane.walker, PagedAnswers{walks.map, counted_already});
      }
    }
    if (round == Round::absent) return false;
    ++rounds;
    if (round == Round::moved) lane.path[lane.walker.step] = lane.walker.current;
    if (round != Round::ended && lane.walker.step < walks.length) {
      propose(lane);
      return true;
    }
    lane.key = walks.ended();
    return false;
  };
  while (active < lanes.size() && from < to) admit(lanes[active++]);
  while (active > 0) {
    for (std::size_t i = 0; i < active;) {
      if (turn(lanes[i])) {
        ++i;
        continue;
      }
      leave(lanes[i]);
      if (from < to) {
        admit(lanes[i++]);
      } else {
        lanes[i] = lanes[--active];
      }
    }
  }
}

template <class Program>
class PagedWave {
 public:
  static constexpr std::uint64_t kBytesPerWalk = paged_walk_bytes(false, PagedWalks<Program>::kAsks);

  PagedWave(const Device& device, const PagingOptions& paging, std::uint64_t capacity, std::uint32_t length,
            std::uint32_t keys)
      : device_(device),
        row_(std::uint64_t{length} + 1),
        queues_(device.threads(), paging),
        parked_(device, capacity, "walks under way"),
        questions_(device, PagedWalks<Program>::kAsks ? capacity : 0, "walks under way"),
        next_(device, capacity, "queues of walks"),
        order_(device, capacity, "queues of walks"),
        keys_(device, capacity, "queues of walks"),
        paths_(device, capacity * row_, "a wave of walks"),
        ended_(keys - 2),
        heads_(keys, kNone),
        waiting_(keys, 0) {}

  void begin(const PagedWalks<Program>& walks, std::uint64_t count) {
    std::fill(heads_.begin(), heads_.end(), kNone);
    std::fill(waiting_.begin(), waiting_.end(), 0);
    parallel_blocks(device_.threads(), count, kGrain, [&](std::uint64_t from, std::uint64_t to, unsigned) {
      std::fill(paths_.data() + from * row_, paths_.data() + to * row_, kNoVertex);
      for (std::uint64_t i = from; i < to; ++i) {
        const Walker walker = walks.begin(i);
        parked_.data()[i] = walks.park(walker);
        if constexpr (PagedWalks<Program>::kAsks) questions_.data()[i] = {};
        paths_.data()[i * row_] = walker.start;
        keys_.data()[i] = walks.first_key(i, walker);
        order_.data()[i] = static_cast<std::uint32_t>(i);
      }
    });
    enqueue(count);
  }

  /// Walks that wait, by key (PagedWalks).
  std::span<const std::uint64_t> waiting() const { return waiting_; }

  /// Works on all that waits under these keys, until every walk has ended or waits for what is not here.
  void advance(const PagedWalks<Program>& walks, std::span<const std::uint32_t> keys) {
    std::uint64_t count = 0;
    std::vector<std::uint64_t> begins, sizes;
    for (const std::uint32_t key : keys) {
      begins.push_back(count);
      for (std::uint32_t i = heads_[key]; i != kNone; i = next_.data()[i]) order_.data()[count++] = i;
      sizes.push_back(count - begins.back());
      heads_[key] = kNone;
      waiting_[key] = 0;
    }
    queues_.work(sizes, kGrain, {}, [&](std::size_t queue, std::uint64_t from, std::uint64_t to, unsigned) {
      work(walks, begins[queue] + from, begins[queue] + to);
    });
    enqueue(count);
  }

  /// Where the first walk that needs two partitions at once is, and whom it asks.
  std::pair<Vertex, Vertex> first_pair(const PagedWalks<Program>& walks) const {
    const Walker walker = walks.resume(0, parked_.data()[heads_[walks.pairs()]]);
    return {walker.current, walks.programs->scan_asks(walker)};
  }

  static std::unique_ptr<DeviceRanks> connect(Communicator&) { return nullptr; }
  static void* stream() { return nullptr; }

  std::vector<std::uint64_t> depart(std::span<const OwnedPartitions> ranges, std::uint32_t ended) {
    std::vector<std::uint64_t> counts;
    departed_.clear();
    std::uint64_t at = 0;
    for (const OwnedPartitions& range : ranges) {
      departed_.push_back(at);
      for (std::uint32_t key = range.begin; key < range.end; ++key) {
        for (std::uint32_t i = heads_[key]; i != kNone; i = next_.data()[i])
          order_.data()[at] = i, keys_.data()[at++] = key;
        heads_[key] = kNone;
        waiting_[ended] += std::exchange(waiting_[key], 0);
      }
      counts.push_back(at - departed_.back());
    }
    return counts;
  }

  void pack(std::size_t range, std::uint64_t from, std::uint64_t count, TravellingWalk* out) const {
    for (std::uint64_t at = departed_[range] + from; count > 0; ++at, --count, ++out) {
      const std::uint32_t index = order_.data()[at];
      *out = {index, keys_.data()[at], parked_.data()[index], {}};
      if constexpr (PagedWalks<Program>::kAsks) out->question = questions_.data()[index];
    }
  }

  void settle(const TravellingWalk* walks, std::uint64_t count, std::uint32_t ended) {
    for (const TravellingWalk& walk : std::span(walks, count)) {
      parked_.data()[walk.index] = walk.parked;
      if constexpr (PagedWalks<Program>::kAsks) questions_.data()[walk.index] = walk.question;
      next_.data()[walk.index] = heads_[walk.key];
      heads_[walk.key] = walk.index;
      ++waiting_[walk.key], --waiting_[ended];
    }
  }

  Vertex* paths() const { return paths_.data(); }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t rounds() const { return rounds_; }
  std::uint64_t read() const { return read_; }
  const KernelTimes& times() { return queues_.times(); }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  static constexpr std::uint64_t kGrain = 256;

  /// The walks at order_[from, to), as far as they go.
  void work(const PagedWalks<Program>& walks, std::uint64_t from, std::uint64_t to) {
    constexpr std::uint64_t kAhead = 16;
    std::uint64_t steps = 0, rounds = 0, read = 0;
    const auto take = [&](WalkLane<Program>& lane) {
      if (lane.item + 2 * kAhead < to) prefetch(&parked_.data()[order_.data()[lane.item + 2 * kAhead]]);
      if (lane.item + kAhead < to) walks.prefetch_row(parked_.data()[order_.data()[lane.item + kAhead]]);
      const std::uint32_t index = order_.data()[lane.item];
      lane.walker = walks.resume(index, parked_.data()[index]);
      if constexpr (PagedWalks<Program>::kAsks) lane.question = questions_.data()[index];
      lane.path = paths_.data() + index * row_;
      steps -= lane.walker.step;
    };
    const auto leave = [&](const WalkLane<Program>& lane) {
      const std::uint32_t index = order_.data()[lane.item];
      parked_.data()[index] = walks.park(lane.walker);
      if constexpr (PagedWalks<Program>::kAsks) questions_.data()[index] = lane.question;
      keys_.data()[lane.item] = lane.key;
      steps += lane.walker.step;
    };
    walk_on(walks, from, to, take, leave, rounds, read);
    steps_ += steps, rounds_ += rounds, read_ += read;
  }

  void enqueue(std::uint64_t count) {
    for (std::uint64_t at = 0; at < count; ++at) {
      const std::uint32_t key = keys_.data()[at], index = order_.data()[at];
      ++waiting_[key];
      if (key == ended_) continue;
      next_.data()[index] = heads_[key];
      heads_[key] = index;
    }
  }

  const Device& device_;
  std::uint64_t row_;
  HostQueues queues_;
  Buffer<ParkedWalk> parked_;
  Buffer<ParkedQuestion> questions_;
  Buffer<std::uint32_t> next_;   ///< the walk behind this one in its queue
  Buffer<std::uint32_t> order_;  ///< what is worked on
  Buffer<std::uint32_t> keys_;   ///< where it waits afterwards
  Buffer<Vertex> paths_;
  std::uint32_t ended_;
  std::vector<std::uint32_t> heads_;
  std::vector<std::uint64_t> waiting_;
  std::vector<std::uint64_t> departed_;  ///< where each range's walks begin in order_ and keys_
  std::atomic<std::uint64_t> steps_{0}, rounds_{0}, read_{0};
};

}  // namespace sluice::host
