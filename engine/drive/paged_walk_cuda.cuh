// The GPU's side of walks on a graph in partitions: a wave's walks ordered by the partition that they wait
// for, one lane a walk, as far as it goes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/drive/paged_walk_kernels.cuh"
#include "engine/exec/buffer.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/occupancy.cuh"
#include "engine/exec/sort.hpp"
#include "engine/exec/stream.cuh"
#include "engine/schedule/balance.hpp"

namespace sluice::cuda {

template <class Program>
class PagedWave {
 public:
  static constexpr std::uint64_t kBytesPerWalk = paged_walk_bytes(true, PagedWalks<Program>::kAsks);

  PagedWave(const Device& device, const PagingOptions& paging, std::uint64_t capacity, std::uint32_t length,
            std::uint32_t keys)
      : device_(device),
        batching_(paging.batching),
        balance_(paging.balance),
        row_(std::uint64_t{length} + 1),
        bits_(static_cast<unsigned>(std::bit_width(keys - 1))),
        parked_(device, capacity, "walks under way"),
        questions_(device, PagedWalks<Program>::kAsks ? capacity : 0, "walks under way"),
        keys_(device, capacity, "queues of walks"),
        sorted_keys_(device, capacity, "queues of walks"),
        walks_(device, capacity, "queues of walks"),
        order_(device, capacity, "queues of walks"),
        paths_(device, capacity * row_, "a wave of walks"),
        arrivals_(device, keys, "queues of walks"),
        counters_(device, kWalkCounterSlots, "counters"),
        waiting_(keys, 0) {
    check(cudaMemset(counters_.data(), 0, counters_.bytes()), "clearing counters");
    iota_kernel<<<grid_for(capacity, kWalkBlock), kWalkBlock>>>(walks_.data(), capacity);
    check_launch("iota_kernel");
  }

  void begin(const PagedWalks<Program>& walks, std::uint64_t count) {
    count_ = count;
    std::fill(waiting_.begin(), waiting_.end(), 0);
    check(cudaMemsetAsync(paths_.data(), 0xff, count * row_ * sizeof(Vertex), stream_.get()),
          "clearing paths");
    clear_arrivals();
    begin_paged_kernel<<<grid_for(count, kWalkBlock), kWalkBlock, shared_bytes(walks), stream_.get()>>>(
        walks, view(), count);
    check_launch("begin_paged_kernel");
    collect();
  }

  std::span<const std::uint64_t> waiting() const { return waiting_; }

  void advance(const PagedWalks<Program>& walks, std::span<const std::uint32_t> keys) {
    for (std::size_t from = 0; from < keys.size(); from += PagedSegments::kMost) {
      advance_some(walks,
                   keys.subspan(from, std::min<std::size_t>(PagedSegments::kMost, keys.size() - from)));
    }
  }

  std::pair<Vertex, Vertex> first_pair(const PagedWalks<Program>& walks) {
    sort();
    const std::uint64_t at = begin_of(walks.pairs());
    std::uint32_t index = 0;
    ParkedWalk parked;
    copy_to_host(device_, &index, order_.data() + at, sizeof index);
    copy_to_host(device_, &parked, parked_.data() + index, sizeof parked);
    Walker walker;
    walker.current = parked.current, walker.previous = parked.previous, walker.step = parked.step;
    Program program;
    copy_to_host(device_, &program, walks.programs, sizeof program);
    return {walker.current, program.scan_asks(walker)};
  }

  static std::unique_ptr<DeviceRanks> connect(Communicator& ranks) { return make_device_ranks(ranks); }
  void* stream() const { return stream_.get(); }

  std::vector<std::uint64_t> depart(std::span<const OwnedPartitions> ranges, std::uint32_t ended) {
    sort();
    std::vector<std::uint64_t> counts;
    departed_.clear();
    for (const OwnedPartitions& range : ranges) {
      departed_.push_back(begin_of(range.begin));
      counts.push_back(begin_of(range.end) - departed_.back());
    }
    for (const OwnedPartitions& range : ranges) {
      for (std::uint32_t key = range.begin; key < range.end; ++key)
        waiting_[ended] += std::exchange(waiting_[key], 0);
    }
    return counts;
  }

  void pack(std::size_t range, std::uint64_t from, std::uint64_t count, TravellingWalk* out) {
    pack_kernel<<<grid_for(count, kWalkBlock), kWalkBlock, 0, stream_.get()>>>(
        view(), departed_[range] + from, count, static_cast<std::uint32_t>(waiting_.size() - 2), out);
    check_launch("pack_kernel");
  }

  void settle(const TravellingWalk* walks, std::uint64_t count, std::uint32_t ended) {
    if (count == 0) return;
    const auto keys = static_cast<std::uint32_t>(waiting_.size());
    clear_arrivals();
    settle_kernel<<<grid_for(count, kWalkBlock), kWalkBlock, shared_bytes(keys), stream_.get()>>>(
        view(), walks, count, keys);
    check_launch("settle_kernel");
    collect();
    waiting_[ended] -= count;
  }

  Vertex* paths() const { return paths_.data(); }
  std::uint64_t steps() { return counted().steps; }
  std::uint64_t rounds() { return counted().rounds; }
  std::uint64_t read() { return counted().read; }
  const KernelTimes& times() const { return times_; }

 private:
  static std::size_t shared_bytes(std::uint32_t keys) {
    return keys <= kSharedKeys ? keys * sizeof(unsigned) : 0;
  }
  static std::size_t shared_bytes(const PagedWalks<Program>& walks) { return shared_bytes(walks.keys()); }

  PagedWaveView view() {
    return {parked_.data(), questions_.data(), keys_.data(),    order_.data(),
            paths_.data(),  arrivals_.data(),  counters_.data()};
  }

  void clear_arrivals() {
    check(cudaMemsetAsync(arrivals_.data(), 0, arrivals_.bytes(), stream_.get()), "clearing counts");
  }

  /// A round whose walks all read host memory in place makes no more than some ten million steps a second.
  Patience patience() const { return cuda::kDevicePatience + Patience(count_ * row_ / 1'000'000); }

  /// Adds what arrived to what waits.
  void collect() {
    stream_.wait("walks", patience());  // the copy would wait for it without a deadline
    std::vector<unsigned long long> arrivals(arrivals_.size());
    check(cudaMemcpyAsync(arrivals.data(), arrivals_.data(), arrivals_.bytes(), cudaMemcpyDeviceToHost,
                          stream_.get()),
          "counts to the host");
    stream_.wait("counts of walks");
    for (std::size_t key = 0; key < waiting_.size(); ++key) waiting_[key] += arrivals[key];
  }

  void sort() {
    sort_by_key(device_, keys_.data(), sorted_keys_.data(), walks_.data(), order_.data(), count_, bits_,
                scratch_, stream_.get());
    stream_.wait("a sort");
  }

  std::uint64_t begin_of(std::uint32_t key) const {
    std::uint64_t begin = 0;
    for (std::uint32_t k = 0; k < key; ++k) begin += waiting_[k];
    return begin;
  }

  void advance_some(const PagedWalks<Program>& walks, std::span<const std::uint32_t> keys) {
    PagedSegments segments{};
    std::vector<std::uint64_t> sizes;
    for (const std::uint32_t key : keys) {
      sizes.push_back(waiting_[key]);
      segments.begin[segments.count] = begin_of(key);
      segments.before[segments.count++] = segments.walks;
      segments.walks += waiting_[key];
    }
    if (segments.walks == 0) return;
    sort_by_key(device_, keys_.data(), sorted_keys_.data(), walks_.data(), order_.data(), count_, bits_,
                scratch_, stream_.get());
    for (const std::uint32_t key : keys) waiting_[key] = 0;
    clear_arrivals();
    if (batching_ && balance_ == Balance::automatic) {
      launch(walks, segments, grid_for(segments.walks, kWalkBlock), stream_);
    } else {
      stream_.wait("a sort");
      advance_apart(walks, segments, sizes);
    }
    collect();
  }

  void launch(const PagedWalks<Program>& walks, const PagedSegments& segments, unsigned blocks,
              const Stream& stream) {
    paged_walk_kernel<<<blocks, kWalkBlock, shared_bytes(walks), stream.get()>>>(walks, view(), segments);
    check_launch("paged_walk_kernel");
  }

  /// A kernel a segment, or a walk; segments side by side on streams of their own, or one after the other.
  void advance_apart(const PagedWalks<Program>& walks, const PagedSegments& all,
                     std::span<const std::uint64_t> sizes) {
    const bool side_by_side = balance_ != Balance::automatic;
    const unsigned total = blocks_at_once(paged_walk_kernel<Program>, kWalkBlock, shared_bytes(walks));
    const std::vector<unsigned> shares = shares_of(sizes, total, balance_);
    while (lanes_.size() < (side_by_side ? sizes.size() : 1)) lanes_.push_back(std::make_unique<Lane>());
    const auto part = [&](std::size_t segment, std::uint64_t from, std::uint64_t count) {
      PagedSegments some{};
      some.begin[0] = all.begin[segment] + from, some.count = 1, some.walks = count;
      const unsigned blocks = grid_for(count, kWalkBlock);
      side_by_side ? launch(walks, some, std::min(blocks, shares[segment]), lanes_[segment]->stream)
                   : launch(walks, some, blocks, lanes_[0]->stream);
    };
    const std::uint64_t launches = batching_ ? 1 : *std::max_element(sizes.begin(), sizes.end());
    if (side_by_side) {
      for (std::size_t s = 0; s < sizes.size(); ++s) lanes_[s]->timer.start(lanes_[s]->stream);
    }
    // In turn, so that no segment waits for another's launches.
    for (std::uint64_t i = 0; i < launches; ++i) {
      for (std::size_t s = 0; s < sizes.size(); ++s) {
        const std::uint64_t own = batching_ ? 1 : sizes[s];
        if (i >= own) continue;
        part(s, i, batching_ ? sizes[s] : 1);
        if (side_by_side && i + 1 == own) lanes_[s]->timer.stop(lanes_[s]->stream);
      }
    }
    for (const auto& lane : lanes_) lane->stream.wait("walks", patience());
    if (!side_by_side) return;
    std::vector<double> seconds;
    for (std::size_t s = 0; s < sizes.size(); ++s) seconds.push_back(lanes_[s]->timer.seconds());
    times_.add(seconds);
  }

  WalkCounters counted() {
    std::array<WalkCounters, kWalkCounterSlots> slots;
    copy_to_host(device_, slots.data(), counters_.data(), sizeof slots);
    WalkCounters sum{};
    for (const WalkCounters& slot : slots)
      sum.steps += slot.steps, sum.rounds += slot.rounds, sum.read += slot.read;
    return sum;
  }

  const Device& device_;
  /// Where one segment's kernels run, and for how long.
  struct Lane {
    Stream stream;
    Timer timer;
  };

  bool batching_;
  Balance balance_;
  std::uint64_t row_;
  unsigned bits_;
  std::uint64_t count_ = 0;
  Buffer<ParkedWalk> parked_;
  Buffer<ParkedQuestion> questions_;
  Buffer<std::uint32_t> keys_, sorted_keys_, walks_, order_;
  Buffer<Vertex> paths_;
  Buffer<unsigned long long> arrivals_;
  Buffer<WalkCounters> counters_;
  Buffer<unsigned char> scratch_;
  std::vector<std::uint64_t> waiting_;
  std::vector<std::uint64_t> departed_;  ///< where each range's walks begin in order_
  KernelTimes times_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Stream stream_;
};

}  // namespace sluice::cuda
