#include <array>
#include <exception>
#include <vector>

#include "engine/walks/sharded/walk_cuda.cuh"

namespace sluice::cuda {

// ---- kernels

namespace {

/// Where the first record for each rank goes.
__global__ void first_places_kernel(const unsigned long long* counts, unsigned long long* next,
                                    std::uint32_t ranks) {
  unsigned long long before = 0;
  for (std::uint32_t r = 0; r < ranks; ++r) next[r] = before, before += counts[r];
}

/// Puts records in order of destination, those for one rank in any order.
template <class Record>
__global__ void __launch_bounds__(kWalkBlock)
    sort_records_kernel(ShardBatchView<Record> batch, std::uint64_t count) {
  extern __shared__ unsigned long long bases[];  // [ranks]
  auto* const places = reinterpret_cast<unsigned*>(bases + batch.ranks);
  const std::uint64_t at = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  const std::uint32_t to = at < count ? batch.destinations[at] : batch.ranks;
  for (std::uint32_t r = threadIdx.x; r < batch.ranks; r += blockDim.x) places[r] = 0;
  __syncthreads();
  const unsigned place = take_place(places, to, to < batch.ranks);
  __syncthreads();
  for (std::uint32_t r = threadIdx.x; r < batch.ranks; r += blockDim.x) {
    if (places[r] != 0) bases[r] = atomicAdd(&batch.next[r], static_cast<unsigned long long>(places[r]));
  }
  __syncthreads();
  if (to < batch.ranks) batch.leaving[bases[to] + place] = batch.records[at];
}

}  // namespace

// ---- launchers

void DeviceShardRows::clear() {
  check(cudaMemsetAsync(memory_.data(), 0xff, memory_.bytes(), stream_.get()), "clearing paths");
  stream_.wait("clearing paths");
}

void DeviceShardRows::send_to_origins(std::uint64_t per_origin) {
  timer_.start(stream_);
  link_.reduce_scatter_min(memory_.data(), per_origin, stream_.get());
  timer_.stop(stream_);
  link_.wait(stream_.get(), "rows of walks");
  seconds_ += timer_.seconds();
}

template <bool kAsks>
DeviceShardWalks<kAsks>::DeviceShardWalks(const ShardSetup& setup, DeviceRanks& link, ShardRows& rows)
    : device_(setup.device),
      link_(link),
      rank_(static_cast<std::size_t>(setup.ranks.rank())),
      size_(static_cast<std::size_t>(setup.ranks.size())),
      paths_(rows.data()),
      begin_count_(setup.size()),
      records_(device_, setup.most(), "walks under way"),
      leaving_(device_, setup.most(), "walks that leave"),
      destinations_(device_, setup.most(), "walks that leave"),
      ranks_of_keys_(device_, setup.ranks_of_keys.size(), "the partition look-up"),
      counts_(device_, size_, "counts of walks"),
      next_(device_, size_, "counts of walks"),
      by_rank_(device_, size_ * size_, "counts of walks"),
      counts_on_host_(device_, size_ * size_, "counts of walks"),
      counters_(device_, kWalkCounterSlots, "counters") {
  copy_to_device(device_, ranks_of_keys_.data(), setup.ranks_of_keys.data(), ranks_of_keys_.bytes());
  check(cudaMemset(counters_.data(), 0, counters_.bytes()), "clearing counters");
  check(cudaMemset(counts_.data(), 0, counts_.bytes()), "clearing counts");
}

template <bool kAsks>
DeviceShardWalks<kAsks>::~DeviceShardWalks() {
  if (std::uncaught_exceptions() > 0) link_.abort();  // others may not come any more
  cudaStreamSynchronize(stream_.get());               // what is under way uses the buffers
}

template <bool kAsks>
void DeviceShardWalks<kAsks>::connect() {
  const std::vector<std::uint64_t> one(size_, sizeof(std::uint64_t));
  link_.all_gather(counts_.data(), by_rank_.data(), counts_.bytes(), stream_.get());
  link_.all_to_all(counts_.data(), one, by_rank_.data(), one, stream_.get());
  link_.reduce_scatter_min(reinterpret_cast<std::uint32_t*>(by_rank_.data()), 1, stream_.get());
  link_.wait(stream_.get(), "connections between GPUs");
}

template <bool kAsks>
void DeviceShardWalks<kAsks>::begin() {
  record_count_ = begin_count_;
  clear_counts();
  launch_begin(view(), record_count_, size_ * sizeof(unsigned), stream_.get());
}

template <bool kAsks>
Crossing DeviceShardWalks<kAsks>::exchange() {
  sort_by_destination();
  counting_.start(stream_);
  link_.all_gather(counts_.data(), by_rank_.data(), counts_.bytes(), stream_.get());
  check(cudaMemcpyAsync(counts_on_host_.data(), by_rank_.data(), by_rank_.bytes(), cudaMemcpyDeviceToHost,
                        stream_.get()),
        "counts to the host");
  counting_.stop(stream_);
  link_.wait(stream_.get(), "walks of other ranks");
  exchange_seconds_ += counting_.seconds() + (travelled_ ? travelling_.seconds() : 0);
  Crossing crossing;
  std::vector<std::uint64_t> send(size_), receive(size_);
  record_count_ = 0;
  for (std::size_t r = 0; r < size_; ++r) {
    send[r] = count(rank_, r) * sizeof(Record), receive[r] = count(r, rank_) * sizeof(Record);
    record_count_ += count(r, rank_);
    if (r != rank_) crossing.sent += count(rank_, r), crossing.received += count(r, rank_);
    for (std::size_t to = 0; to < size_; ++to) {
      crossing.left += count(r, to);
      if (to != r) crossing.travelled += count(r, to);
    }
  }
  crossing.records = record_count_;
  travelled_ = crossing.left > 0;
  if (!travelled_) return crossing;
  travelling_.start(stream_);
  link_.all_to_all(leaving_.data(), send, records_.data(), receive, stream_.get());
  travelling_.stop(stream_);
  return crossing;
}

template <bool kAsks>
void DeviceShardWalks<kAsks>::advance() {
  clear_counts();
  launch_walks(view(), record_count_, size_ * sizeof(unsigned), stream_.get());
}

template <bool kAsks>
std::pair<Vertex, Vertex> DeviceShardWalks<kAsks>::first_pair() {
  link_.wait(stream_.get(), "walks of other ranks");
  Record record;
  copy_to_host(device_, &record, records_.data(), sizeof record);
  const Walker walker = walker_of(record.parked());
  return {walker.current, asked_by(walker)};
}

template <bool kAsks>
void DeviceShardWalks<kAsks>::clear_counts() {
  check(cudaMemsetAsync(counts_.data(), 0, counts_.bytes(), stream_.get()), "clearing counts");
}

template <bool kAsks>
void DeviceShardWalks<kAsks>::sort_by_destination() {
  first_places_kernel<<<1, 1, 0, stream_.get()>>>(counts_.data(), next_.data(),
                                                  static_cast<std::uint32_t>(size_));
  check_launch("first_places_kernel");
  sort_records_kernel<<<grid_for(record_count_, kWalkBlock), kWalkBlock,
                        size_*(sizeof(unsigned long long) + sizeof(unsigned)), stream_.get()>>>(
      view(), record_count_);
  check_launch("sort_records_kernel");
}

template <bool kAsks>
typename DeviceShardWalks<kAsks>::View DeviceShardWalks<kAsks>::view() {
  return {records_.data(),
          leaving_.data(),
          destinations_.data(),
          ranks_of_keys_.data(),
          counts_.data(),
          next_.data(),
          paths_,
          counters_.data(),
          static_cast<std::uint32_t>(size_)};
}

template <bool kAsks>
WalkCounters DeviceShardWalks<kAsks>::counted() {
  std::array<WalkCounters, kWalkCounterSlots> slots;
  copy_to_host(device_, slots.data(), counters_.data(), sizeof slots);
  WalkCounters sum{};
  for (const WalkCounters& slot : slots) sum.steps += slot.steps, sum.rounds += slot.rounds;
  return sum;
}

template class DeviceShardWalks<false>;
template class DeviceShardWalks<true>;

}  // namespace sluice::cuda
