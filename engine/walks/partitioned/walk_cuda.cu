#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "engine/exec/algorithms/sort.hpp"
#include "engine/walks/partitioned/walk_cuda.cuh"

namespace sluice::cuda {

// ---- kernels

namespace {

/// Packs walks [first, first + count) of the order, which leave; they have ended here.
__global__ void pack_kernel(PagedBatchView batch, std::uint64_t first, std::uint64_t count,
                            std::uint32_t ended, TravellingWalk* out) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t index = batch.order[first + i];
  out[i] = {index, batch.keys[index], batch.parked[index],
            batch.questions ? batch.questions[index] : ParkedQuestion{}};
  batch.keys[index] = ended;
}

/// Takes `count` packed walks over, and counts where they wait.
__global__ void settle_kernel(PagedBatchView batch, const TravellingWalk* walks, std::uint64_t count,
                              std::uint32_t keys) {
  extern __shared__ unsigned arrivals[];
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  TravellingWalk walk;
  if (i < count) {
    walk = walks[i];
    batch.parked[walk.index] = walk.parked;
    if (batch.questions) batch.questions[walk.index] = walk.question;
    batch.keys[walk.index] = walk.key;
  }
  count_arrivals(walk.key, i < count, keys, batch.waiting, arrivals);
}

/// Walks [0, count) wait where the next leg begins.
__global__ void begin_leg_kernel(ActiveWalks walks, PagedBatchView batch, std::uint64_t count) {
  extern __shared__ unsigned arrivals[];
  const std::uint64_t index = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::uint32_t key = index < count ? walks.key_in_leg(batch.parked[index]) : 0;
  if (index < count) batch.keys[index] = key;
  count_arrivals(key, index < count, walks.keys(), batch.waiting, arrivals);
}

__global__ void iota_kernel(std::uint32_t* values, std::uint64_t count) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) values[i] = static_cast<std::uint32_t>(i);
}

}  // namespace

// ---- launchers

std::size_t arrival_bytes(std::uint32_t keys) {
  return keys <= kSharedKeys ? keys * sizeof(unsigned) : 0;
}

DeviceWalkQueues::DeviceWalkQueues(const Device& device, const PagingOptions& paging, bool asks,
                                   std::uint64_t capacity, std::uint32_t length, std::uint32_t keys)
    : device_(device),
      batching_(paging.batching),
      balance_(paging.balance),
      row_(std::uint64_t{length} + 1),
      bits_(static_cast<unsigned>(std::bit_width(keys - 1))),
      shared_(arrival_bytes(keys)),
      ended_(keys - 2),
      parked_(device, capacity, "walks under way"),
      questions_(device, asks ? capacity : 0, "walks under way"),
      keys_(device, capacity, "queues of walks"),
      sorted_keys_(device, capacity, "queues of walks"),
      walks_(device, capacity, "queues of walks"),
      order_(device, capacity, "queues of walks"),
      paths_(device, capacity * row_, "a batch of walks"),
      arrivals_(device, keys, "queues of walks"),
      counters_(device, kWalkCounterSlots, "counters"),
      waiting_(keys, 0) {
  check(cudaMemset(counters_.data(), 0, counters_.bytes()), "clearing counters");
  iota_kernel<<<grid_for(capacity, kWalkBlock), kWalkBlock>>>(walks_.data(), capacity);
  check_launch("iota_kernel");
}

DeviceWalkQueues::~DeviceWalkQueues() = default;

void DeviceWalkQueues::begin(std::uint64_t count) {
  count_ = count;
  clear_rows();
  launch_begin(view(), count, shared_, stream_.get());
  collect();
}

void DeviceWalkQueues::begin_leg() {
  clear_rows();
  begin_leg_kernel<<<grid_for(count_, kWalkBlock), kWalkBlock, shared_, stream_.get()>>>(batch(), view(),
                                                                                         count_);
  check_launch("begin_leg_kernel");
  collect();
}

void DeviceWalkQueues::clear_rows() {
  std::fill(waiting_.begin(), waiting_.end(), 0);
  check(cudaMemsetAsync(paths_.data(), 0xff, count_ * row_ * sizeof(Vertex), stream_.get()),
        "clearing paths");
  clear_arrivals();
}

void DeviceWalkQueues::advance(std::span<const std::uint32_t> keys) {
  for (std::size_t from = 0; from < keys.size(); from += PagedSegments::kMost)
    advance_some(keys.subspan(from, std::min<std::size_t>(PagedSegments::kMost, keys.size() - from)));
}

std::pair<Vertex, Vertex> DeviceWalkQueues::first_pair() {
  sort();
  const std::uint64_t at = begin_of(batch().pairs());
  std::uint32_t index = 0;
  ParkedWalk parked;
  copy_to_host(device_, &index, order_.data() + at, sizeof index);
  copy_to_host(device_, &parked, parked_.data() + index, sizeof parked);
  const Walker walker = walker_of(parked);
  return {walker.current, asked_by(walker)};
}

std::unique_ptr<DeviceRanks> DeviceWalkQueues::connect(Communicator& ranks) {
  return make_device_ranks(ranks);
}

std::vector<std::uint64_t> DeviceWalkQueues::depart(std::span<const OwnedPartitions> ranges) {
  sort();
  std::vector<std::uint64_t> counts;
  departed_.clear();
  for (const OwnedPartitions& range : ranges) {
    departed_.push_back(begin_of(range.begin));
    counts.push_back(begin_of(range.end) - departed_.back());
  }
  for (const OwnedPartitions& range : ranges) {
    for (std::uint32_t key = range.begin; key < range.end; ++key)
      waiting_[ended_] += std::exchange(waiting_[key], 0);
  }
  return counts;
}

void DeviceWalkQueues::pack(std::size_t range, std::uint64_t from, std::uint64_t count, TravellingWalk* out) {
  pack_kernel<<<grid_for(count, kWalkBlock), kWalkBlock, 0, stream_.get()>>>(view(), departed_[range] + from,
                                                                             count, ended_, out);
  check_launch("pack_kernel");
}

void DeviceWalkQueues::settle(const TravellingWalk* walks, std::uint64_t count) {
  if (count == 0) return;
  clear_arrivals();
  settle_kernel<<<grid_for(count, kWalkBlock), kWalkBlock, shared_, stream_.get()>>>(
      view(), walks, count, static_cast<std::uint32_t>(waiting_.size()));
  check_launch("settle_kernel");
  collect();
  waiting_[ended_] -= count;
}

PagedBatchView DeviceWalkQueues::view() {
  return {parked_.data(), questions_.data(), keys_.data(),    order_.data(), paths_.data(),
          row_,           arrivals_.data(),  counters_.data()};
}

void DeviceWalkQueues::clear_arrivals() {
  check(cudaMemsetAsync(arrivals_.data(), 0, arrivals_.bytes(), stream_.get()), "clearing counts");
}

/// A round whose walks all read host memory in place makes no more than some ten million steps a second.
Timeout DeviceWalkQueues::timeout() const {
  return cuda::kDeviceTimeout + Timeout(count_ * row_ / 1'000'000);
}

/// Adds what arrived to what waits.
void DeviceWalkQueues::collect() {
  stream_.wait("walks", timeout());  // the copy would wait for it without a deadline
  std::vector<unsigned long long> arrivals(arrivals_.size());
  check(cudaMemcpyAsync(arrivals.data(), arrivals_.data(), arrivals_.bytes(), cudaMemcpyDeviceToHost,
                        stream_.get()),
        "counts to the host");
  stream_.wait("counts of walks");
  for (std::size_t key = 0; key < waiting_.size(); ++key) waiting_[key] += arrivals[key];
}

void DeviceWalkQueues::sort() {
  sort_by_key(device_, keys_.data(), sorted_keys_.data(), walks_.data(), order_.data(), count_, bits_,
              scratch_, stream_.get());
  stream_.wait("a sort");
}

std::uint64_t DeviceWalkQueues::begin_of(std::uint32_t key) const {
  std::uint64_t begin = 0;
  for (std::uint32_t k = 0; k < key; ++k) begin += waiting_[k];
  return begin;
}

void DeviceWalkQueues::advance_some(std::span<const std::uint32_t> keys) {
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
    launch_walks(view(), segments, grid_for(segments.walks, kWalkBlock), shared_, stream_.get());
  } else {
    stream_.wait("a sort");
    advance_apart(segments, sizes);
  }
  collect();
}

/// A kernel a segment, or a walk; segments side by side on streams of their own, or one after the other.
void DeviceWalkQueues::advance_apart(const PagedSegments& all, std::span<const std::uint64_t> sizes) {
  const bool side_by_side = balance_ != Balance::automatic;
  const std::vector<unsigned> shares = shares_of(sizes, walk_blocks(shared_), balance_);
  while (lanes_.size() < (side_by_side ? sizes.size() : 1)) lanes_.push_back(std::make_unique<Lane>());
  const auto part = [&](std::size_t segment, std::uint64_t from, std::uint64_t count) {
    PagedSegments some{};
    some.begin[0] = all.begin[segment] + from, some.count = 1, some.walks = count;
    const unsigned blocks = grid_for(count, kWalkBlock);
    side_by_side ? launch_walks(view(), some, std::min(blocks, shares[segment]), shared_,
                                lanes_[segment]->stream.get())
                 : launch_walks(view(), some, blocks, shared_, lanes_[0]->stream.get());
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
  for (const auto& lane : lanes_) lane->stream.wait("walks", timeout());
  if (!side_by_side) return;
  std::vector<double> seconds;
  for (std::size_t s = 0; s < sizes.size(); ++s) seconds.push_back(lanes_[s]->timer.seconds());
  times_.add(seconds);
}

WalkCounters DeviceWalkQueues::counted() {
  std::array<WalkCounters, kWalkCounterSlots> slots;
  copy_to_host(device_, slots.data(), counters_.data(), sizeof slots);
  WalkCounters sum{};
  for (const WalkCounters& slot : slots)
    sum.steps += slot.steps, sum.rounds += slot.rounds, sum.read += slot.read;
  return sum;
}

}  // namespace sluice::cuda
