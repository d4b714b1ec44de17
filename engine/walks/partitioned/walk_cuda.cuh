// The GPU's side of walks on a graph in partitions: a batch's walks ordered by the partition that they wait
// for, one lane a walk, as far as it goes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/cuda_check.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"
#include "engine/memory/run_stats.hpp"
#include "engine/memory/schedule/balance.hpp"
#include "engine/walks/partitioned/queues.hpp"
#include "engine/walks/partitioned/walk_kernels.cuh"

namespace sluice::cuda {

/// Bytes of a block's shared memory in which it counts arrivals by key.
std::size_t arrival_bytes(std::uint32_t keys);

/// A batch of walks by the partition that they wait for, whatever the sampler.
class DeviceWalkQueues : public WalkQueues {
 public:
  ~DeviceWalkQueues() override;
  void begin(std::uint64_t count) override;
  void begin_leg() override;
  std::span<const std::uint64_t> waiting() const override { return waiting_; }
  void advance(std::span<const std::uint32_t> keys) override;
  std::pair<Vertex, Vertex> first_pair() override;
  std::unique_ptr<DeviceRanks> connect(Communicator& ranks) override;
  void* stream() override { return stream_.get(); }
  std::vector<std::uint64_t> depart(std::span<const OwnedPartitions> ranges) override;
  void pack(std::size_t range, std::uint64_t from, std::uint64_t count, TravellingWalk* out) override;
  void settle(const TravellingWalk* walks, std::uint64_t count) override;
  Vertex* paths() override { return paths_.data(); }
  std::uint64_t steps() override { return counted().steps; }
  std::uint64_t rounds() override { return counted().rounds; }
  std::uint64_t read() override { return counted().read; }
  const KernelTimes& times() override { return times_; }

 protected:
  /// `asks`: a step can leave a question unanswered (PagedWalks::kAsks).
  DeviceWalkQueues(const Device& device, const PagingOptions& paging, bool asks, std::uint64_t capacity,
                   std::uint32_t length, std::uint32_t keys);

  // What depends on the sampler: its kernels, with `shared` bytes (arrival_bytes).
  virtual void launch_begin(const PagedBatchView& view, std::uint64_t count, std::size_t shared,
                            cudaStream_t stream) = 0;
  virtual void launch_walks(const PagedBatchView& view, const PagedSegments& segments, unsigned blocks,
                            std::size_t shared, cudaStream_t stream) = 0;
  /// Blocks of walks that the GPU works on at the same time.
  virtual unsigned walk_blocks(std::size_t shared) const = 0;
  /// WalkProgram::scan_asks.
  virtual Vertex asked_by(const Walker& walker) const = 0;

 private:
  /// Where one segment's kernels run, and for how long.
  struct Lane {
    Stream stream;
    Timer timer;
  };

  PagedBatchView view();
  void clear_rows();
  void clear_arrivals();
  Timeout timeout() const;
  void collect();
  void sort();
  std::uint64_t begin_of(std::uint32_t key) const;
  void advance_some(std::span<const std::uint32_t> keys);
  void advance_apart(const PagedSegments& all, std::span<const std::uint64_t> sizes);
  WalkCounters counted();

  const Device& device_;
  bool batching_;
  Balance balance_;
  std::uint64_t row_;
  unsigned bits_;
  std::size_t shared_;
  std::uint32_t ended_;
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

template <class Program>
class PagedBatch final : public DeviceWalkQueues {
 public:
  static constexpr bool kAsks = PagedWalks<Program>::kAsks;
  static constexpr std::uint64_t kBytesPerWalk = paged_walk_bytes(true, kAsks);

  PagedBatch(const Device& device, const PagingOptions& paging, const Program& program,
             std::uint64_t capacity, std::uint32_t length, std::uint32_t keys)
      : DeviceWalkQueues(device, paging, kAsks, capacity, length, keys), program_(program) {}

  ActiveWalks& batch() override { return walks_; }
  void publish(PartitionCache& cache) override { walks_.publish(cache, program_); }

 private:
  void launch_begin(const PagedBatchView& view, std::uint64_t count, std::size_t shared,
                    cudaStream_t stream) override {
    begin_paged_kernel<<<grid_for(count, kWalkBlock), kWalkBlock, shared, stream>>>(walks_, view, count);
    check_launch("begin_paged_kernel");
  }
  void launch_walks(const PagedBatchView& view, const PagedSegments& segments, unsigned blocks,
                    std::size_t shared, cudaStream_t stream) override {
    paged_walk_kernel<<<blocks, kWalkBlock, shared, stream>>>(walks_, view, segments);
    check_launch("paged_walk_kernel");
  }
  unsigned walk_blocks(std::size_t shared) const override {
    return blocks_at_once(paged_walk_kernel<Program>, kWalkBlock, shared);
  }
  Vertex asked_by(const Walker& walker) const override { return program_.scan_asks(walker); }

  const Program& program_;
  PagedWalks<Program> walks_;
};

}  // namespace sluice::cuda
