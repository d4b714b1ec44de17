// The GPU's side of walks on a graph in partitions: a wave's walks ordered by the partition that they wait
// for, one lane a walk, as far as it goes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/drive/paged_walk.hpp"
#include "engine/drive/walk_cuda.cuh"
#include "engine/exec/buffer.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/sort.hpp"
#include "engine/exec/stream.cuh"

namespace sluice::cuda {

/// Keys up to which a block counts arrivals in shared memory.
inline constexpr std::uint32_t kSharedKeys = 8192;

/// A wave's walks in device memory.
struct PagedWaveView {
  ParkedWalk* parked;
  ParkedQuestion* questions;    ///< null where nothing is asked
  std::uint32_t* keys;          ///< [walks] where each waits
  const std::uint32_t* order;   ///< walks by key
  Vertex* paths;                ///< [walks][length + 1]
  unsigned long long* waiting;  ///< [keys] arrivals are added
  WalkCounters* counters;
};

/// Parts of `order` that are worked on: those of the partitions that are here.
struct PagedSegments {
  static constexpr unsigned kMost = 64;
  std::uint64_t begin[kMost];   ///< in `order`
  std::uint64_t before[kMost];  ///< walks of the segments before
  unsigned count;
  std::uint64_t walks;

  __device__ __forceinline__ std::uint64_t position(std::uint64_t i) const {
    unsigned low = 0;
    for (unsigned step = kMost / 2; step > 0; step /= 2) {
      if (low + step < count && before[low + step] <= i) low += step;
    }
    return begin[low] + (i - before[low]);
  }
};

// ---- kernels
// ---------------------------------------------------------------------------------------------------

/// Adds one to waiting[key] for every lane that takes part; whole blocks call it.
static __device__ __forceinline__ void count_arrivals(std::uint32_t key, bool takes_part, std::uint32_t keys,
                                                      unsigned long long* waiting, unsigned* shared) {
  if (keys > kSharedKeys) {
    if (takes_part) atomicAdd(&waiting[key], 1ull);
    return;
  }
  for (std::uint32_t k = threadIdx.x; k < keys; k += blockDim.x) shared[k] = 0;
  __syncthreads();
  if (takes_part) atomicAdd(&shared[key], 1u);
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < keys; k += blockDim.x) {
    if (shared[k] != 0) atomicAdd(&waiting[k], static_cast<unsigned long long>(shared[k]));
  }
}

template <class Program>
__global__ void __launch_bounds__(kWalkBlock)
    begin_paged_kernel(PagedWalks<Program> walks, PagedWaveView wave, std::uint64_t count) {
  extern __shared__ unsigned arrivals[];
  const std::uint64_t index = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  std::uint32_t key = 0;
  if (index < count) {
    const Walker walker = walks.begin(index);
    wave.parked[index] = walks.park(walker);
    if constexpr (PagedWalks<Program>::kAsks) wave.questions[index] = {};
    wave.paths[index * (std::uint64_t{walks.length} + 1)] = walker.start;
    key = walks.first_key(index, walker);
    wave.keys[index] = key;
  }
  count_arrivals(key, index < count, walks.keys(), wave.waiting, arrivals);
}

template <class Program>
__global__ void __launch_bounds__(kWalkBlock)
    paged_walk_kernel(PagedWalks<Program> walks, PagedWaveView wave, PagedSegments segments) {
  extern __shared__ unsigned arrivals[];
  const std::uint64_t at = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  const bool takes_part = at < segments.walks;
  std::uint32_t key = 0, rounds = 0, steps = 0;
  if (takes_part || Program::kScans) {  // scans want whole warps
    Walker walker;
    ParkedQuestion question;
    std::uint32_t index = 0;
    Vertex* path = nullptr;
    bool active = false;
    if (takes_part) {
      index = wave.order[segments.position(at)];
      walker = walks.resume(index, wave.parked[index]);
      if constexpr (PagedWalks<Program>::kAsks) question = wave.questions[index];
      path = wave.paths + index * (std::uint64_t{walks.length} + 1);
      steps = walker.step;
      key = walks.ended();
      active = walker.step < walks.length;
    }
    while (Program::kScans ? __any_sync(~0u, active) : active) {
      Round round = Round::absent;
      const Program* program = nullptr;
      if (active) round = walks.step(walker, question, program, key);
      if constexpr (Program::kScans) {
        for (unsigned waiting = __ballot_sync(~0u, active && round == Round::scan); waiting != 0;
             waiting &= waiting - 1) {
          const unsigned lane = __ffs(static_cast<int>(waiting)) - 1;
          Walker shared = broadcast_struct(walker, lane);
          const auto theirs = __shfl_sync(~0u, reinterpret_cast<unsigned long long>(program), lane);
          const Round result =
              reinterpret_cast<const Program*>(theirs)->transform_list(Tile<32>{}, shared, walks.map);
          if (Tile<32>::warp_lane() == lane) walker = shared, round = result;
        }
      }
      if (!active) continue;
      if (round == Round::absent) {
        active = false;
        continue;
      }
      ++rounds;
      if (round == Round::moved) path[walker.step] = walker.current;
      active = round != Round::ended && walker.step < walks.length;
      if (!active) key = walks.ended();
    }
    if (takes_part) {
      wave.parked[index] = walks.park(walker);
      if constexpr (PagedWalks<Program>::kAsks) wave.questions[index] = question;
      wave.keys[index] = key;
      count_walk(wave.counters, walker.step - steps, rounds);
    }
  }
  count_arrivals(key, takes_part, walks.keys(), wave.waiting, arrivals);
}

/// Packs walks [first, first + count) of the order to leave; they have ended here.
static __global__ void take_kernel(PagedWaveView wave, std::uint64_t first, std::uint64_t count,
                                   std::uint32_t ended, TravellingWalk* out) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t index = wave.order[first + i];
  out[i] = {index, wave.keys[index], wave.parked[index],
            wave.questions ? wave.questions[index] : ParkedQuestion{}};
  wave.keys[index] = ended;
}

static __global__ void settle_kernel(PagedWaveView wave, const TravellingWalk* walks, std::uint64_t count) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const TravellingWalk walk = walks[i];
  wave.parked[walk.index] = walk.parked;
  if (wave.questions) wave.questions[walk.index] = walk.question;
  wave.keys[walk.index] = walk.key;
}

static __global__ void iota_kernel(std::uint32_t* values, std::uint64_t count) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) values[i] = static_cast<std::uint32_t>(i);
}

// ---- launchers
// -------------------------------------------------------------------------------------------------

template <class Program>
class PagedWave {
 public:
  static constexpr std::uint64_t kBytesPerWalk = paged_walk_bytes(true, PagedWalks<Program>::kAsks);

  PagedWave(const Device& device, std::uint64_t capacity, std::uint32_t length, std::uint32_t keys)
      : device_(device),
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

  void take(std::span<const std::uint32_t> keys, std::uint32_t ended, std::vector<TravellingWalk>& out) {
    travelling_.reserve(device_, kTravelling, "walks that leave");
    sort();
    std::vector<std::uint64_t> begins;
    for (const std::uint32_t key : keys) begins.push_back(begin_of(key));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t count = waiting_[keys[i]];
      for (std::uint64_t from = 0; from < count; from += travelling_.size()) {
        const std::uint64_t some = std::min<std::uint64_t>(travelling_.size(), count - from);
        take_kernel<<<grid_for(some, kWalkBlock), kWalkBlock, 0, stream_.get()>>>(
            view(), begins[i] + from, some, ended, travelling_.data());
        check_launch("take_kernel");
        stream_.wait("walks that leave");
        out.resize(out.size() + some);
        copy_to_host(device_, out.data() + out.size() - some, travelling_.data(),
                     some * sizeof(TravellingWalk));
      }
    }
    for (const std::uint32_t key : keys) waiting_[ended] += waiting_[key], waiting_[key] = 0;
  }

  void settle(std::span<const TravellingWalk> walks, std::uint32_t ended) {
    travelling_.reserve(device_, kTravelling, "walks that arrive");
    for (std::size_t from = 0; from < walks.size(); from += travelling_.size()) {
      const std::size_t some = std::min(travelling_.size(), walks.size() - from);
      copy_to_device(device_, travelling_.data(), walks.data() + from, some * sizeof(TravellingWalk));
      settle_kernel<<<grid_for(some, kWalkBlock), kWalkBlock, 0, stream_.get()>>>(view(), travelling_.data(),
                                                                                  some);
      check_launch("settle_kernel");
      stream_.wait("walks that arrive");
    }
    for (const TravellingWalk& walk : walks) ++waiting_[walk.key], --waiting_[ended];
  }

  const Vertex* paths() const { return paths_.data(); }
  std::uint64_t steps() { return counted().steps; }
  std::uint64_t rounds() { return counted().rounds; }

 private:
  static constexpr std::uint64_t kTravelling = 1u << 16;

  std::size_t shared_bytes(const PagedWalks<Program>& walks) const {
    return walks.keys() <= kSharedKeys ? walks.keys() * sizeof(unsigned) : 0;
  }

  PagedWaveView view() {
    return {parked_.data(), questions_.data(), keys_.data(),    order_.data(),
            paths_.data(),  arrivals_.data(),  counters_.data()};
  }

  void clear_arrivals() {
    check(cudaMemsetAsync(arrivals_.data(), 0, arrivals_.bytes(), stream_.get()), "clearing counts");
  }

  /// Adds what arrived to what waits.
  void collect() {
    // A round whose walks all read host memory in place makes no more than some ten million steps a second.
    // The copy would wait for it without a deadline.
    stream_.wait("walks", cuda::kDevicePatience + Patience(count_ * row_ / 1'000'000));
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
    for (const std::uint32_t key : keys) {
      segments.begin[segments.count] = begin_of(key);
      segments.before[segments.count++] = segments.walks;
      segments.walks += waiting_[key];
    }
    if (segments.walks == 0) return;
    sort_by_key(device_, keys_.data(), sorted_keys_.data(), walks_.data(), order_.data(), count_, bits_,
                scratch_, stream_.get());
    for (const std::uint32_t key : keys) waiting_[key] = 0;
    clear_arrivals();
    paged_walk_kernel<<<grid_for(segments.walks, kWalkBlock), kWalkBlock, shared_bytes(walks),
                        stream_.get()>>>(walks, view(), segments);
    check_launch("paged_walk_kernel");
    collect();
  }

  WalkCounters counted() {
    std::array<WalkCounters, kWalkCounterSlots> slots;
    copy_to_host(device_, slots.data(), counters_.data(), sizeof slots);
    WalkCounters sum{};
    for (const WalkCounters& slot : slots) sum.steps += slot.steps, sum.rounds += slot.rounds;
    return sum;
  }

  const Device& device_;
  std::uint64_t row_;
  unsigned bits_;
  std::uint64_t count_ = 0;
  Buffer<ParkedWalk> parked_;
  Buffer<ParkedQuestion> questions_;
  Buffer<std::uint32_t> keys_, sorted_keys_, walks_, order_;
  Buffer<Vertex> paths_;
  Buffer<unsigned long long> arrivals_;
  Buffer<WalkCounters> counters_;
  Buffer<TravellingWalk> travelling_;  ///< on their way through the host, some at a time
  Buffer<unsigned char> scratch_;
  std::vector<std::uint64_t> waiting_;
  Stream stream_;
};

}  // namespace sluice::cuda
