// The GPU's side of walks that change hands between ranks: one lane a record; what leaves is put in order of
// rank on the device and goes from GPU to GPU. The host learns how much comes, once a superstep.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "engine/exchange/nccl.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/walks/partitioned/walk_kernels.cuh"
#include "engine/walks/sharded/job.hpp"
#include "engine/walks/sharded/walk.hpp"
#include "engine/walks/walk_cuda.cuh"

namespace sluice::cuda {

/// Ranks up to which a block counts its records by destination in shared memory.
inline constexpr int kMostShardRanks = 2048;

/// A rank's records of a batch in device memory.
template <class Record>
struct ShardBatchView {
  Record* records;
  Record* leaving;                     ///< in order of destination
  std::uint32_t* destinations;         ///< ranks that go on with what is here; `ranks` for none
  const std::uint32_t* ranks_of_keys;  ///< by key of PagedWalks
  unsigned long long* counts;          ///< [ranks] records by destination
  unsigned long long* next;            ///< [ranks] where the next one goes in `leaving`
  Vertex* paths;                       ///< [walks][length + 1]
  WalkCounters* counters;
  std::uint32_t ranks;
};

// ---- kernels

/// Takes places behind places[to], the lanes of a warp that have the same `to` together; whole warps call it.
static __device__ __forceinline__ unsigned take_place(unsigned* places, std::uint32_t to, bool takes_part) {
  const unsigned lane = Tile<32>::warp_lane(), peers = __match_any_sync(~0u, to);
  const auto first = static_cast<unsigned>(__ffs(static_cast<int>(peers)) - 1);
  unsigned place = 0;
  if (takes_part && lane == first) place = atomicAdd(&places[to], static_cast<unsigned>(__popc(peers)));
  place = __shfl_sync(~0u, place, static_cast<int>(first));
  return place + static_cast<unsigned>(__popc(peers & ((1u << lane) - 1)));
}

/// Adds one to counts[to] for every lane whose record goes on; whole blocks call it. `shared`: [ranks].
static __device__ __forceinline__ void count_destinations(std::uint32_t to, std::uint32_t ranks,
                                                          unsigned long long* counts, unsigned* shared) {
  for (std::uint32_t r = threadIdx.x; r < ranks; r += blockDim.x) shared[r] = 0;
  __syncthreads();
  take_place(shared, to, to < ranks);
  __syncthreads();
  for (std::uint32_t r = threadIdx.x; r < ranks; r += blockDim.x) {
    if (shared[r] != 0) atomicAdd(&counts[r], static_cast<unsigned long long>(shared[r]));
  }
}

template <class Program, class Record>
__global__ void __launch_bounds__(kWalkBlock)
    begin_shard_kernel(ShardHalf<Program> half, ShardBatchView<Record> batch, std::uint64_t count) {
  extern __shared__ unsigned destinations[];
  const std::uint64_t at = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  std::uint32_t to = batch.ranks;
  if (at < count) {
    const std::uint64_t index = half.index(at);
    const Walker walker = half.walks.begin(index);
    batch.paths[index * (std::uint64_t{half.walks.length} + 1)] = walker.start;
    batch.records[at] = Record::of(static_cast<std::uint32_t>(index), half.walks.park(walker), {});
    to = batch.ranks_of_keys[half.walks.first_key(index, walker)];
    batch.destinations[at] = to;
  }
  count_destinations(to, batch.ranks, batch.counts, destinations);
}

template <class Program, class Record>
__global__ void __launch_bounds__(kWalkBlock)
    shard_walk_kernel(PagedWalks<Program> walks, ShardBatchView<Record> batch, std::uint64_t count) {
  extern __shared__ unsigned destinations[];
  const std::uint64_t at = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  const bool takes_part = at < count;
  std::uint32_t to = batch.ranks, rounds = 0, steps = 0;
  if (takes_part || Program::kScans) {  // scans want whole warps
    Walker walker;
    typename PagedWalks<Program>::Place place;
    std::uint32_t index = 0;
    Vertex* path = nullptr;
    if (takes_part) {
      const Record record = batch.records[at];
      index = record.index;
      walker = walks.resume(index, record.parked());
      place.question = record.question();
      path = batch.paths + index * (std::uint64_t{walks.length} + 1);
      steps = walker.step;
    }
    advance(
        walks, walker, place, takes_part && walker.step < walks.length,
        [&](std::uint32_t step, Vertex v) { path[step] = v; }, rounds);
    if (takes_part) {
      to = batch.ranks_of_keys[place.key];
      batch.destinations[at] = to;
      if (to < batch.ranks) batch.records[at] = Record::of(index, walks.park(walker), place.question);
      count_walk(batch.counters, walker.step - steps, rounds);
    }
  }
  count_destinations(to, batch.ranks, batch.counts, destinations);
}

// ---- launchers

/// Rows of a batch's walks: every rank writes a part of each, and after a batch has its own whole.
class DeviceShardRows final : public ShardRows {
 public:
  static constexpr bool kInParts = false;

  DeviceShardRows(const Device& device, DeviceRanks& link, std::uint64_t values)
      : link_(link), memory_(device, values, "a batch of walks") {}

  void clear() override;
  /// Of each step of a row one rank has the vertex, the others none.
  void send_to_origins(std::uint64_t per_origin) override;
  Vertex* data() const override { return memory_.data(); }
  double seconds() const override { return seconds_; }

 private:
  DeviceRanks& link_;
  Buffer<Vertex> memory_;
  Stream stream_;
  Timer timer_;
  double seconds_ = 0;
};

/// Records of a half of a batch's walks, whatever the sampler.
template <bool kAsks>
class DeviceShardWalks : public ShardWalks {
 public:
  DeviceShardWalks(const DeviceShardWalks&) = delete;
  DeviceShardWalks& operator=(const DeviceShardWalks&) = delete;
  ~DeviceShardWalks() override;

  /// Connections are made when they are first used, which takes longer than many supersteps.
  void connect() override;
  void begin() override;
  Crossing exchange() override;
  void advance() override;
  std::pair<Vertex, Vertex> first_pair() override;
  double exchange_seconds() const override { return exchange_seconds_; }
  std::uint64_t steps() override { return counted().steps; }
  std::uint64_t rounds() override { return counted().rounds; }

 protected:
  using Record = ShardRecord<kAsks>;
  using View = ShardBatchView<Record>;

  DeviceShardWalks(const ShardSetup& setup, DeviceRanks& link, ShardRows& rows);

  // What depends on the sampler: its kernels over `count` records, with `shared` bytes of shared memory.
  virtual void launch_begin(const View& view, std::uint64_t count, std::size_t shared,
                            cudaStream_t stream) = 0;
  virtual void launch_walks(const View& view, std::uint64_t count, std::size_t shared,
                            cudaStream_t stream) = 0;
  /// WalkProgram::scan_asks.
  virtual Vertex asked_by(const Walker& walker) const = 0;

 private:
  /// Records that rank `from` has for rank `to`.
  std::uint64_t count(std::size_t from, std::size_t to) const {
    return counts_on_host_.data()[from * size_ + to];
  }
  void clear_counts();
  void sort_by_destination();
  View view();
  WalkCounters counted();

  const Device& device_;
  DeviceRanks& link_;
  std::size_t rank_, size_;
  Vertex* paths_;
  std::uint64_t begin_count_;  ///< walks of the half
  std::uint64_t record_count_ = 0;
  Buffer<Record> records_, leaving_;
  Buffer<std::uint32_t> destinations_, ranks_of_keys_;
  Buffer<unsigned long long> counts_, next_;
  Buffer<unsigned long long> by_rank_;  ///< [ranks][ranks] records, from and to
  Staging<unsigned long long> counts_on_host_;
  Buffer<WalkCounters> counters_;
  Stream stream_;
  Timer counting_, travelling_;
  bool travelled_ = false;
  double exchange_seconds_ = 0;
};

template <class Program>
class ShardBatch final : public DeviceShardWalks<PagedWalks<Program>::kAsks> {
 public:
  using Link = DeviceRanks;
  using Rows = DeviceShardRows;
  static constexpr bool kAsks = PagedWalks<Program>::kAsks;
  /// Walks that wait for two lists at once do so as a whole.
  static constexpr unsigned kHalves = kAsks ? 1 : 2;

  /// Null, on all ranks, where they have no GPU each or NCCL is missing.
  static std::unique_ptr<Link> link(Communicator& ranks) {
    return ranks.size() <= kMostShardRanks ? make_device_ranks(ranks) : nullptr;
  }

  ShardBatch(const ShardSetup& setup, Link& link, ShardRows& rows, const Program& program,
             const PagedWalks<Program>& walks)
      : Base(setup, link, rows), program_(program), walks_(walks), half_(setup.half) {}

 private:
  using Base = DeviceShardWalks<kAsks>;
  using typename Base::View;

  void launch_begin(const View& view, std::uint64_t count, std::size_t shared, cudaStream_t stream) override {
    const ShardHalf<Program> half{walks_, half_, kHalves};
    begin_shard_kernel<<<grid_for(count, kWalkBlock), kWalkBlock, shared, stream>>>(half, view, count);
    check_launch("begin_shard_kernel");
  }
  void launch_walks(const View& view, std::uint64_t count, std::size_t shared, cudaStream_t stream) override {
    shard_walk_kernel<<<grid_for(count, kWalkBlock), kWalkBlock, shared, stream>>>(walks_, view, count);
    check_launch("shard_walk_kernel");
  }
  Vertex asked_by(const Walker& walker) const override { return program_.scan_asks(walker); }

  const Program& program_;
  const PagedWalks<Program>& walks_;
  unsigned half_;
};

}  // namespace sluice::cuda
