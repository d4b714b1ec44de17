// Queues of walks on the GPU: one lane for each walk. A block counts the new keys of its walks in shared
// memory, and the device sorts walks by key. The host reads the counts once a round, or only when the ranks
// exchange departing walks.
//
// Random reads limit a round: on an H200, uniform walks on half of a Kronecker graph of scale 23, ten from
// each vertex, read five to six sectors a step from memory beyond the cache, 42 G/s, the highest possible
// rate (DESIGN section 7). Sorting walks takes a quarter as long. Lanes that took other walks meanwhile made
// no more steps a second.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "engine/exec/algorithms/places.cuh"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/group.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"
#include "engine/walks/advance.cuh"
#include "engine/walks/queue/queue_of.hpp"
#include "engine/walks/walk_cuda.cuh"

namespace sluice::walks::cuda {

using sluice::cuda::claim_block_position;
using sluice::cuda::claim_position;
using sluice::cuda::kSharedKeys;
using sluice::cuda::position_scratch_bytes;
using sluice::cuda::Stream;  // Stream of sluice names random numbers

/// The counters that a round's kernels update.
struct QueueCounts {
  unsigned long long* waiting;  ///< [keys] incremented for each walk that waits
  std::uint32_t keys;
  WalkCounters* totals;
};

/// The segments that a kernel works on: those of present partitions.
struct WalkSegments {
  static constexpr unsigned kMaxSegments = 64;
  std::uint64_t begin[kMaxSegments];
  std::uint64_t preceding[kMaxSegments];  ///< walks in the preceding segments
  unsigned count;
  std::uint64_t walks;

  __device__ __forceinline__ std::uint64_t position(std::uint64_t i) const {
    unsigned low = 0;
    for (unsigned step = kMaxSegments / 2; step > 0; step /= 2) {
      if (low + step < count && preceding[low + step] <= i) low += step;
    }
    return begin[low] + (i - preceding[low]);
  }
};

// ---- kernels

/// Adds one to waiting[key] for each lane whose walk goes on; whole blocks call it. `shared`: [keys].
static __device__ __forceinline__ void count_arrivals(std::uint32_t key, const QueueCounts& counts,
                                                      unsigned* shared) {
  if (counts.keys > kSharedKeys) {
    if (key < counts.keys) atomicAdd(&counts.waiting[key], 1ull);
    return;
  }
  for (std::uint32_t k = threadIdx.x; k < counts.keys; k += blockDim.x) shared[k] = 0;
  __syncthreads();
  claim_position(shared, key, key < counts.keys);
  __syncthreads();
  for (std::uint32_t k = threadIdx.x; k < counts.keys; k += blockDim.x) {
    if (shared[k] != 0) atomicAdd(&counts.waiting[k], static_cast<unsigned long long>(shared[k]));
  }
}

template <class Body>
__global__ void __launch_bounds__(kWalkBlock)
    find_keys_kernel(std::uint32_t* keys, std::uint64_t count, QueueCounts counts, Body body) {
  extern __shared__ unsigned arrivals[];
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  std::uint32_t key = counts.keys;
  if (i < count) keys[i] = key = body(i);
  count_arrivals(key, counts, arrivals);
}

/// Advances one walk as far as possible; returns its new key. All lanes of a warp call it.
template <class Program>
__device__ __forceinline__ std::uint32_t advance_walk(const QueuedWalks<Program>& queued,
                                                      std::uint32_t position, bool active,
                                                      const QueueCounts& counts) {
  using Walks = typename QueuedWalks<Program>::Walks;
  std::uint32_t key = counts.keys;
  if (active || Program::kScans) {  // scans need whole warps
    typename Walks::Walker walker;
    typename Walks::StepState state;
    std::uint32_t rounds = 0;
    Vertex* path = nullptr;
    if (active) path = queued.queue.path(queued.load(position, walker, state));
    const auto store = [&](std::uint32_t step, Vertex v) {
      if constexpr (!Program::kEndsOnly) path[step - queued.walks.leg_begin] = v;
    };
    advance(queued.walks, walker, state, active && walker.step < queued.walks.leg_end, store, rounds);
    if (active) {
      // Read again: keeping it in registers would reduce the number of concurrent walks.
      const auto parked = queued.queue.walks[position];
      key = queued.park(position, parked.index, walker, state);
      count_walk(counts.totals, walker.step - parked.step, rounds);
      if (state.in_place_bytes > 0) {
        atomicAdd(&counts.totals[blockIdx.x % kWalkCounterSlots].in_place_bytes,
                  static_cast<unsigned long long>(state.in_place_bytes));
      }
    }
  }
  return key;
}

/// The grid may have fewer blocks than the segments need; its blocks then loop.
template <class Program>
__global__ void __launch_bounds__(kWalkBlock)
    queued_walk_kernel(QueuedWalks<Program> queued, WalkSegments segments, QueueCounts counts) {
  extern __shared__ unsigned arrivals[];
  const auto blocks = static_cast<unsigned>((segments.walks + kWalkBlock - 1) / kWalkBlock);
  for (unsigned block = blockIdx.x; block < blocks; block += gridDim.x) {
    const std::uint64_t i = std::uint64_t{block} * kWalkBlock + threadIdx.x;
    const bool active = i < segments.walks;
    const auto position = active ? static_cast<std::uint32_t>(segments.position(i)) : 0;
    count_arrivals(advance_walk(queued, position, active, counts), counts, arrivals);
  }
}

// ---- launchers

class QueueBackend {
 public:
  static constexpr bool kHasSteppedWalks = true;
  static constexpr std::size_t kMaxKeys = WalkSegments::kMaxSegments;

  /// Device time between two points of a queue's stream, once the host has waited for them.
  class Interval {
   public:
    void start(const QueueBackend& queue) { timer_.start(queue.stream_); }
    void stop(const QueueBackend& queue) { timer_.stop(queue.stream_), measured_ = true; }
    /// Zero where nothing was measured since the last call.
    double consume_seconds() { return std::exchange(measured_, false) ? timer_.seconds() : 0; }

   private:
    sluice::cuda::Timer timer_;
    bool measured_ = false;
  };

  explicit QueueBackend(const QueueSetup& setup);

  /// steps_cuda.cuh
  template <class Walks>
  static std::unique_ptr<SteppedWalks> make_stepped(const QueueSetup& setup, const Walks& walks);

  /// True if each kernel works on one key.
  bool works_per_key() const { return per_key_; }
  void clear(Vertex* rows, std::uint64_t values);
  template <class Walk, class Body>
  void assign_keys(const QueueView<Walk>& view, std::uint64_t first, std::uint64_t count, const Body& body) {
    find_keys_kernel<<<grid_for(count, kWalkBlock), kWalkBlock, shared_bytes(), stream_.get()>>>(
        view.keys + first, count, counters(), body);
    check_launch("find_keys_kernel");
  }
  template <class Program>
  void work(const QueuedWalks<Program>& queued, std::span<const WalkSegment> segments) {
    const auto kernel = queued_walk_kernel<Program>;
    const auto launch = [&](const WalkSegments& part, unsigned blocks, cudaStream_t stream) {
      kernel<<<blocks, kWalkBlock, shared_bytes(), stream>>>(queued, part, counters());
      check_launch("queued_walk_kernel");
    };
    per_key_ ? launch_per_key(segments, resident_blocks(kernel, kWalkBlock, shared_bytes()), launch)
             : launch_combined(segments, launch);
  }

  /// Launches a round's kernels by launch(stream), behind earlier work, beside the batch's other half.
  template <class Launch>
  void begin_round(const Launch& launch) {
    stream_.join_into(round_stream_);
    launch(round_stream_.get());
    stream_.fork_from(round_stream_);
  }
  QueueCounts counters() const { return {waiting_.data(), keys_, totals_.data()}; }
  /// Resets the counts.
  void reset_counts();
  /// Adds counts of walks, by key, that the next sort() sorts as well.
  void add_counts(std::span<const std::uint64_t> waiting);
  template <class Walk>
  void sort(const QueueBuffer<Walk>& source, const QueueBuffer<Walk>& target, std::uint64_t base,
            std::span<const WalkSegment> segments, std::uint32_t keys);
  std::span<const std::uint64_t> counts();
  /// The counts of all ranks, [ranks][keys]; waits until the stream's work is complete.
  std::span<const std::uint64_t> gather(const Router& router);
  double gather_seconds() { return gather_timer_.consume_seconds(); }
  /// Transposes steps[row][walks] to rows[walks][row]; blocks.
  void transpose_steps(const Vertex* steps, std::uint64_t walks, std::uint64_t row, Vertex* rows);
  void wait() { stream_.wait("walks"); }
  void finish() noexcept {
    cudaStreamSynchronize(round_stream_.get());
    cudaStreamSynchronize(stream_.get());
  }
  void* stream() const { return stream_.get(); }
  WalkTotals totals() { return totals_of(device_, totals_); }
  const KernelTimes& times() { return times_; }

 private:
  using Launch = FunctionRef<void(const WalkSegments& segments, unsigned blocks, cudaStream_t stream)>;
  std::size_t shared_bytes() const { return keys_ <= kSharedKeys ? keys_ * sizeof(unsigned) : 0; }
  void launch_combined(std::span<const WalkSegment> segments, const Launch& launch);
  void launch_per_key(std::span<const WalkSegment> segments, unsigned blocks, const Launch& launch);

  const Device& device_;
  std::uint32_t keys_;
  bool per_key_, batching_;
  Balance balance_;
  Timeout timeout_;
  Buffer<unsigned long long> waiting_, expected_, next_;
  bool has_expected_ = false;            ///< whether expected_ is to be added
  Buffer<unsigned long long> gathered_;  ///< [ranks][keys]
  Staging<std::uint64_t> on_host_, gathered_on_host_;
  Buffer<WalkCounters> totals_;
  Interval gather_timer_;
  KernelTimes times_;
  sluice::cuda::SideStreams side_streams_;   ///< one for each segment
  Stream round_stream_;                      ///< rounds of walks
  sluice::cuda::HighPriorityStream stream_;  ///< all else, with priority over rounds of the other half
};

}  // namespace sluice::walks::cuda

namespace sluice::walks {

extern template class QueueOf<cuda::QueueBackend, ParkedWalk<false>>;  // queue_cuda.cu
extern template class QueueOf<cuda::QueueBackend, ParkedWalk<true>>;

}  // namespace sluice::walks
