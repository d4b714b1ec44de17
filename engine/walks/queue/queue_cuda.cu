#include <algorithm>
#include <vector>

#include "engine/walks/queue/queue_cuda.cuh"
#include "engine/walks/transpose.hpp"

namespace sluice::walks {

namespace cuda {

// ---- kernels

namespace {

/// Exclusive prefix sums of counts, starting at `base_sum`, by one warp. Counts in `expected` are added
/// first.
__global__ void first_places_kernel(unsigned long long* counts, const unsigned long long* expected,
                                    unsigned long long* next, std::uint32_t keys,
                                    unsigned long long base_sum) {
  for (std::uint32_t base = 0; base < keys; base += 32) {
    const std::uint32_t key = base + threadIdx.x;
    if (expected && key < keys) counts[key] += expected[key];
    const unsigned long long count = key < keys ? counts[key] : 0;
    const unsigned long long sum = base_sum + Tile<32>{}.inclusive_scan(count);
    if (key < keys) next[key] = sum - count;
    base_sum = __shfl_sync(~0u, sum, 31);
  }
}

/// Sorts the walks of segments by key, in any order within a key. Drops walks that have ended.
template <class Walk>
__global__ void __launch_bounds__(kWalkBlock)
    order_walks_kernel(QueueBuffer<Walk> source, QueueBuffer<Walk> target, WalkSegments segments,
                       std::uint32_t keys, unsigned long long* next) {
  extern __shared__ unsigned long long bases[];
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  const std::uint64_t source_index = i < segments.walks ? segments.position(i) : 0;
  const std::uint32_t key = i < segments.walks ? source.keys[source_index] : keys;
  const unsigned long long target_index = claim_block_position(next, key, keys, bases);
  if (key >= keys) return;
  target.walks[target_index] = source.walks[source_index];
  if (target.keys) target.keys[target_index] = key;
}

/// Calls launch(segments) for at most WalkSegments::kMaxSegments segments at a time.
template <class Launch>
void for_each_part(std::span<const WalkSegment> segments, const Launch& launch) {
  while (!segments.empty()) {
    const auto chunk = segments.first(std::min<std::size_t>(segments.size(), WalkSegments::kMaxSegments));
    WalkSegments part{};
    for (const WalkSegment& segment : chunk) {
      part.begin[part.count] = segment.begin;
      part.preceding[part.count++] = part.walks;
      part.walks += segment.count;
    }
    launch(part);
    segments = segments.subspan(chunk.size());
  }
}

}  // namespace

// ---- launchers

/// The timeout allows for rounds that read host memory in place: at most some ten million steps a second.
QueueBackend::QueueBackend(const QueueSetup& setup)
    : device_(setup.device),
      keys_(setup.keys.count),
      per_key_(!setup.paging.batching || setup.paging.balance != Balance::automatic),
      batching_(setup.paging.batching),
      balance_(setup.paging.balance),
      timeout_(kDeviceTimeout + Timeout(setup.capacity * setup.row / 1'000'000)),
      waiting_(device_, keys_, "queues of walks"),
      expected_(device_, keys_, "queues of walks"),
      next_(device_, keys_, "queues of walks"),
      gathered_(device_, setup.keys.resident ? std::size_t{setup.keys.rank_keys} * keys_ : 0,
                "counts of walks"),
      on_host_(device_, keys_, "counts of walks"),
      gathered_on_host_(device_, gathered_.size(), "counts of walks"),
      totals_(device_, kWalkCounterSlots, "counters") {
  check(cudaMemset(totals_.data(), 0, totals_.bytes()), "clearing counters");
}

void QueueBackend::clear(Vertex* rows, std::uint64_t values) {
  check(cudaMemsetAsync(rows, 0xff, values * sizeof(Vertex), stream_.get()), "clearing paths");
  stream_.wait("clearing paths");
}

void QueueBackend::reset_counts() {
  check(cudaMemsetAsync(waiting_.data(), 0, waiting_.bytes(), stream_.get()), "clearing counts");
}

void QueueBackend::add_counts(std::span<const std::uint64_t> waiting) {
  has_expected_ = std::ranges::any_of(waiting, [](std::uint64_t count) { return count > 0; });
  if (!has_expected_) return;
  std::ranges::copy(waiting, on_host_.data());
  check(cudaMemcpyAsync(expected_.data(), on_host_.data(), expected_.bytes(), cudaMemcpyHostToDevice,
                        stream_.get()),
        "counts to the device");
}

template <class Walk>
void QueueBackend::sort(const QueueBuffer<Walk>& source, const QueueBuffer<Walk>& target, std::uint64_t base,
                        std::span<const WalkSegment> segments, std::uint32_t keys) {
  const unsigned long long* const expected = std::exchange(has_expected_, false) ? expected_.data() : nullptr;
  first_places_kernel<<<1, 32, 0, stream_.get()>>>(waiting_.data(), expected, next_.data(), keys, base);
  check_launch("first_places_kernel");
  for_each_part(segments, [&](const WalkSegments& part) {
    order_walks_kernel<<<grid_for(part.walks, kWalkBlock), kWalkBlock, position_scratch_bytes(keys),
                         stream_.get()>>>(source, target, part, keys, next_.data());
    check_launch("order_walks_kernel");
  });
}

std::span<const std::uint64_t> QueueBackend::counts() {
  check(cudaMemcpyAsync(on_host_.data(), waiting_.data(), waiting_.bytes(), cudaMemcpyDeviceToHost,
                        stream_.get()),
        "counts to the host");
  stream_.wait("walks", timeout_);
  return {on_host_.data(), on_host_.size()};
}

std::span<const std::uint64_t> QueueBackend::gather(const Router& router) {
  gather_timer_.start(*this);
  router.begin_all_gather(waiting_.data(), gathered_.data(), waiting_.bytes(), stream());
  check(cudaMemcpyAsync(gathered_on_host_.data(), gathered_.data(), gathered_.bytes(), cudaMemcpyDeviceToHost,
                        stream_.get()),
        "counts to the host");
  gather_timer_.stop(*this);
  router.wait(stream(), "walks of other ranks");
  return {gathered_on_host_.data(), router.size() * keys_};
}

void QueueBackend::transpose_steps(const Vertex* steps, std::uint64_t walks, std::uint64_t row,
                                   Vertex* rows) {
  stream_.join_into(round_stream_);
  transpose(round_stream_, steps, rows, walks, walks, row);
  round_stream_.wait("rows of walks");
}

void QueueBackend::launch_combined(std::span<const WalkSegment> segments, const Launch& launch) {
  begin_round([&](cudaStream_t stream) {
    for_each_part(segments,
                  [&](const WalkSegments& part) { launch(part, grid_for(part.walks, kWalkBlock), stream); });
  });
}

/// Launches a kernel for each segment, or for each walk. Segments run concurrently, on streams of their own,
/// or one after the other.
void QueueBackend::launch_per_key(std::span<const WalkSegment> segments, unsigned blocks,
                                  const Launch& launch) {
  stream_.wait("counts to the device");
  const bool concurrent = balance_ != Balance::automatic;
  std::vector<std::uint64_t> sizes;
  for (const WalkSegment& segment : segments) sizes.push_back(segment.count);
  const std::vector<unsigned> shares = shares_of(sizes, blocks, balance_);
  const auto launch_part = [&](std::size_t segment, std::uint64_t begin, std::uint64_t count) {
    WalkSegments part{};
    part.begin[0] = segments[segment].begin + begin, part.count = 1, part.walks = count;
    const unsigned wanted = grid_for(count, kWalkBlock);
    launch(part, concurrent ? std::min(wanted, shares[segment]) : wanted,
           side_streams_[concurrent ? segment : 0].get());
  };
  const std::uint64_t launches = batching_ ? 1 : *std::max_element(sizes.begin(), sizes.end());
  if (concurrent) {
    for (std::size_t s = 0; s < sizes.size(); ++s) side_streams_.start(s);
  }
  // Round robin, so that no segment waits for another's launches.
  for (std::uint64_t i = 0; i < launches; ++i) {
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const std::uint64_t segment_launches = batching_ ? 1 : sizes[s];
      if (i >= segment_launches) continue;
      launch_part(s, i, batching_ ? sizes[s] : 1);
      if (concurrent && i + 1 == segment_launches) side_streams_.stop(s);
    }
  }
  side_streams_.wait("walks", timeout_);
  if (concurrent) times_.add(side_streams_.seconds(sizes.size()));
}

}  // namespace cuda

template class QueueOf<cuda::QueueBackend, ParkedWalk<false>>;
template class QueueOf<cuda::QueueBackend, ParkedWalk<true>>;

}  // namespace sluice::walks
