// The GPU's side of walks that change hands between ranks: one lane a record; what leaves is put in order of
// rank on the device and goes from GPU to GPU. The host learns how much comes, once a superstep.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/drive/paged_walk_kernels.cuh"
#include "engine/drive/shard_walk.hpp"
#include "engine/drive/walk_cuda.cuh"
#include "engine/exchange/nccl.hpp"
#include "engine/exec/buffer.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/stream.cuh"

namespace sluice::cuda {

/// Ranks up to which a block counts its records by destination in shared memory.
inline constexpr int kMostShardRanks = 2048;

/// A rank's records of a wave in device memory.
template <class Record>
struct ShardWaveView {
  Record* here;
  Record* leaving;                     ///< in order of destination
  std::uint32_t* destinations;         ///< ranks that go on with what is here; `ranks` for nobody
  const std::uint32_t* ranks_of_keys;  ///< by key of PagedWalks
  unsigned long long* counts;          ///< [ranks] records by destination
  unsigned long long* next;            ///< [ranks] where the next one goes in `leaving`
  Vertex* paths;                       ///< [walks][length + 1]
  WalkCounters* counters;
  std::uint32_t ranks;
};

// ---- kernels
// ---------------------------------------------------------------------------------------------------

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
    begin_shard_kernel(ShardHalf<Program> half, ShardWaveView<Record> wave, std::uint64_t count) {
  extern __shared__ unsigned destinations[];
  const std::uint64_t at = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  std::uint32_t to = wave.ranks;
  if (at < count) {
    const std::uint64_t index = half.index(at);
    const Walker walker = half.walks.begin(index);
    wave.paths[index * (std::uint64_t{half.walks.length} + 1)] = walker.start;
    wave.here[at] = Record::of(static_cast<std::uint32_t>(index), half.walks.park(walker), {});
    to = wave.ranks_of_keys[half.walks.first_key(index, walker)];
    wave.destinations[at] = to;
  }
  count_destinations(to, wave.ranks, wave.counts, destinations);
}

template <class Program, class Record>
__global__ void __launch_bounds__(kWalkBlock)
    shard_walk_kernel(PagedWalks<Program> walks, ShardWaveView<Record> wave, std::uint64_t count) {
  extern __shared__ unsigned destinations[];
  const std::uint64_t at = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  const bool takes_part = at < count;
  std::uint32_t to = wave.ranks, rounds = 0, steps = 0;
  if (takes_part || Program::kScans) {  // scans want whole warps
    Walker walker;
    ParkedQuestion question;
    std::uint32_t index = 0;
    Vertex* path = nullptr;
    if (takes_part) {
      const Record record = wave.here[at];
      index = record.index;
      walker = walks.resume(index, record.parked());
      question = record.question();
      path = wave.paths + index * (std::uint64_t{walks.length} + 1);
      steps = walker.step;
    }
    std::uint64_t in_place = 0;  // all that the rank owns is here
    const std::uint32_t key =
        walk_on(walks, walker, question, path, takes_part && walker.step < walks.length, rounds, in_place);
    if (takes_part) {
      to = wave.ranks_of_keys[key];
      wave.destinations[at] = to;
      if (to < wave.ranks) wave.here[at] = Record::of(index, walks.park(walker), question);
      count_walk(wave.counters, walker.step - steps, rounds);
    }
  }
  count_destinations(to, wave.ranks, wave.counts, destinations);
}

/// Where the first record for each rank goes.
static __global__ void first_places_kernel(const unsigned long long* counts, unsigned long long* next,
                                           std::uint32_t ranks) {
  unsigned long long before = 0;
  for (std::uint32_t r = 0; r < ranks; ++r) next[r] = before, before += counts[r];
}

/// Puts records in order of destination, those for one rank in any order.
template <class Record>
__global__ void __launch_bounds__(kWalkBlock)
    sort_records_kernel(ShardWaveView<Record> wave, std::uint64_t count) {
  extern __shared__ unsigned long long bases[];  // [ranks]
  auto* const places = reinterpret_cast<unsigned*>(bases + wave.ranks);
  const std::uint64_t at = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  const std::uint32_t to = at < count ? wave.destinations[at] : wave.ranks;
  for (std::uint32_t r = threadIdx.x; r < wave.ranks; r += blockDim.x) places[r] = 0;
  __syncthreads();
  const unsigned place = take_place(places, to, to < wave.ranks);
  __syncthreads();
  for (std::uint32_t r = threadIdx.x; r < wave.ranks; r += blockDim.x) {
    if (places[r] != 0) bases[r] = atomicAdd(&wave.next[r], static_cast<unsigned long long>(places[r]));
  }
  __syncthreads();
  if (to < wave.ranks) wave.leaving[bases[to] + place] = wave.here[at];
}

// ---- launchers
// -------------------------------------------------------------------------------------------------

/// Rows of a wave's walks: every rank writes a part of each, and after a wave has its own whole.
class ShardRows {
 public:
  using Link = DeviceRanks;
  static constexpr bool kInParts = false;

  ShardRows(const Device& device, Link& link, std::uint64_t values)
      : link_(link), memory_(device, values, "a wave of walks") {}

  void clear() {
    check(cudaMemsetAsync(memory_.data(), 0xff, memory_.bytes(), stream_.get()), "clearing paths");
    stream_.wait("clearing paths");
  }
  /// Of each step of a row one rank has the vertex, the others none. `home` is what a home's rows take.
  void bring_home(std::uint64_t home) {
    timer_.start(stream_);
    link_.reduce_scatter_min(memory_.data(), home, stream_.get());
    timer_.stop(stream_);
    link_.wait(stream_.get(), "rows of walks");
    seconds_ += timer_.seconds();
  }
  Vertex* data() const { return memory_.data(); }
  double seconds() const { return seconds_; }

 private:
  Link& link_;
  Buffer<Vertex> memory_;
  Stream stream_;
  Timer timer_;
  double seconds_ = 0;
};

/// A half of a wave's walks.
template <class Program>
class ShardWave {
 public:
  using Link = DeviceRanks;
  using Rows = ShardRows;
  static constexpr bool kAsks = PagedWalks<Program>::kAsks;
  /// Walks that wait for two lists at once do so as a whole.
  static constexpr unsigned kHalves = kAsks ? 1 : 2;

  /// Null, on all ranks, where they have no GPU each or NCCL is missing.
  static std::unique_ptr<Link> link(Communicator& ranks) {
    return ranks.size() <= kMostShardRanks ? make_device_ranks(ranks) : nullptr;
  }

  ShardWave(const Device& device, Link& link, const Communicator& ranks, std::uint64_t most, Rows& rows,
            std::uint32_t length, const std::vector<std::uint32_t>& ranks_of_keys)
      : device_(device),
        link_(link),
        rank_(static_cast<std::size_t>(ranks.rank())),
        size_(static_cast<std::size_t>(ranks.size())),
        patience_(kDevicePatience + Patience(most * (std::uint64_t{length} + 1) / 1'000'000)),
        paths_(rows.data()),
        here_(device, most, "walks under way"),
        leaving_(device, most, "walks that leave"),
        destinations_(device, most, "walks that leave"),
        ranks_of_keys_(device, ranks_of_keys.size(), "the partition look-up"),
        counts_(device, size_, "counts of walks"),
        next_(device, size_, "counts of walks"),
        by_rank_(device, size_ * size_, "counts of walks"),
        counts_on_host_(device, size_ * size_, "counts of walks"),
        counters_(device, kWalkCounterSlots, "counters") {
    copy_to_device(device, ranks_of_keys_.data(), ranks_of_keys.data(), ranks_of_keys_.bytes());
    check(cudaMemset(counters_.data(), 0, counters_.bytes()), "clearing counters");
    check(cudaMemset(counts_.data(), 0, counts_.bytes()), "clearing counts");
  }
  ShardWave(const ShardWave&) = delete;
  ShardWave& operator=(const ShardWave&) = delete;
  ~ShardWave() {
    if (std::uncaught_exceptions() > 0) link_.abort();  // others may not come any more
    cudaStreamSynchronize(stream_.get());               // what is under way uses the buffers
  }

  /// Connections are made when they are first used, which takes longer than many supersteps. All ranks call
  /// it once they have their memory.
  void connect() {
    const std::vector<std::uint64_t> one(size_, sizeof(std::uint64_t));
    link_.all_gather(counts_.data(), by_rank_.data(), counts_.bytes(), stream_.get());
    link_.all_to_all(counts_.data(), one, by_rank_.data(), one, stream_.get());
    link_.reduce_scatter_min(reinterpret_cast<std::uint32_t*>(by_rank_.data()), 1, stream_.get());
    link_.wait(stream_.get(), "connections between GPUs");
  }

  void begin(const ShardHalf<Program>& half) {
    here_count_ = half.size();
    clear_counts();
    begin_shard_kernel<<<grid_for(here_count_, kWalkBlock), kWalkBlock, size_ * sizeof(unsigned),
                         stream_.get()>>>(half, view(), here_count_);
    check_launch("begin_shard_kernel");
  }

  Crossing exchange() {
    sort_by_destination();
    counting_.start(stream_);
    link_.all_gather(counts_.data(), by_rank_.data(), counts_.bytes(), stream_.get());
    check(cudaMemcpyAsync(counts_on_host_.data(), by_rank_.data(), by_rank_.bytes(), cudaMemcpyDeviceToHost,
                          stream_.get()),
          "counts to the host");
    counting_.stop(stream_);
    link_.wait(stream_.get(), "walks of other ranks", patience_);
    exchange_seconds_ += counting_.seconds() + (travelled_ ? travelling_.seconds() : 0);
    Crossing crossing;
    std::vector<std::uint64_t> send(size_), receive(size_);
    here_count_ = 0;
    for (std::size_t r = 0; r < size_; ++r) {
      send[r] = count(rank_, r) * sizeof(Record), receive[r] = count(r, rank_) * sizeof(Record);
      here_count_ += count(r, rank_);
      if (r != rank_) crossing.sent += count(rank_, r), crossing.received += count(r, rank_);
      for (std::size_t to = 0; to < size_; ++to) {
        crossing.left += count(r, to);
        if (to != r) crossing.travelled += count(r, to);
      }
    }
    crossing.here = here_count_;
    travelled_ = crossing.left > 0;
    if (!travelled_) return crossing;
    travelling_.start(stream_);
    link_.all_to_all(leaving_.data(), send, here_.data(), receive, stream_.get());
    travelling_.stop(stream_);
    return crossing;
  }

  void advance(const PagedWalks<Program>& walks) {
    clear_counts();
    shard_walk_kernel<<<grid_for(here_count_, kWalkBlock), kWalkBlock, size_ * sizeof(unsigned),
                        stream_.get()>>>(walks, view(), here_count_);
    check_launch("shard_walk_kernel");
  }

  std::pair<Vertex, Vertex> first_pair(const PagedWalks<Program>& walks) {
    link_.wait(stream_.get(), "walks of other ranks", patience_);
    Record record;
    Program program;
    copy_to_host(device_, &record, here_.data(), sizeof record);
    copy_to_host(device_, &program, walks.programs, sizeof program);
    Walker walker;
    walker.current = record.current, walker.previous = record.previous, walker.step = record.step;
    return {walker.current, program.scan_asks(walker)};
  }

  double exchange_seconds() const { return exchange_seconds_; }
  std::uint64_t steps() { return counted().steps; }
  std::uint64_t rounds() { return counted().rounds; }

 private:
  using Record = ShardRecord<kAsks>;

  /// Records that rank `from` has for rank `to`.
  std::uint64_t count(std::size_t from, std::size_t to) const {
    return counts_on_host_.data()[from * size_ + to];
  }

  void clear_counts() {
    check(cudaMemsetAsync(counts_.data(), 0, counts_.bytes(), stream_.get()), "clearing counts");
  }

  void sort_by_destination() {
    first_places_kernel<<<1, 1, 0, stream_.get()>>>(counts_.data(), next_.data(),
                                                    static_cast<std::uint32_t>(size_));
    check_launch("first_places_kernel");
    sort_records_kernel<<<grid_for(here_count_, kWalkBlock), kWalkBlock,
                          size_*(sizeof(unsigned long long) + sizeof(unsigned)), stream_.get()>>>(
        view(), here_count_);
    check_launch("sort_records_kernel");
  }

  ShardWaveView<Record> view() {
    return {here_.data(),
            leaving_.data(),
            destinations_.data(),
            ranks_of_keys_.data(),
            counts_.data(),
            next_.data(),
            paths_,
            counters_.data(),
            static_cast<std::uint32_t>(size_)};
  }

  WalkCounters counted() {
    std::array<WalkCounters, kWalkCounterSlots> slots;
    copy_to_host(device_, slots.data(), counters_.data(), sizeof slots);
    WalkCounters sum{};
    for (const WalkCounters& slot : slots) sum.steps += slot.steps, sum.rounds += slot.rounds;
    return sum;
  }

  const Device& device_;
  Link& link_;
  std::size_t rank_, size_;
  Patience patience_;  ///< another rank may have all walks, and work on them from start to end
  Vertex* paths_;
  std::uint64_t here_count_ = 0;
  Buffer<ShardRecord<kAsks>> here_, leaving_;
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

}  // namespace sluice::cuda
