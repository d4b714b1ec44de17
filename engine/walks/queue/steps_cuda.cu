#include "engine/walks/queue/steps_cuda.cuh"

#include <type_traits>
#include <utility>
#include <vector>

namespace sluice::walks::cuda {

// ---- kernels

namespace {

/// Writes all starts on every rank; each rank counts the walks that begin in its partitions.
__global__ void __launch_bounds__(kWalkBlock)
    begin_steps_kernel(ActiveWalks walks, SteppedPaths paths, Departures departures, QueueCounts counts) {
  extern __shared__ unsigned arrivals[];
  const std::uint64_t index = paths.index();
  std::uint32_t key = counts.keys;
  if (index < paths.capacity) {
    const Vertex start = walks.exists(index) ? walks.starts.start(walks.instance(index)) : kNoVertex;
    *paths.at(index, 0) = start;
    if (start != kNoVertex && walks.length > 0) key = departures.key_of[walks.map.owner(start)];
    if (key < departures.ranks) key = counts.keys;  // it begins on another rank
  }
  count_arrivals(key, counts, arrivals);
}

template <bool kHasPrevious>
__global__ void __launch_bounds__(kWalkBlock)
    arrive_kernel(const Departure<kHasPrevious>* walks, std::uint64_t count, SteppedPaths paths,
                  std::uint32_t step) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  if (i >= count) return;
  const Departure<kHasPrevious> walk = walks[i];
  Vertex* const entry = paths.at(walk.index, step);
  *entry = walk.current;
  if constexpr (kHasPrevious) entry[-static_cast<std::int64_t>(paths.per_origin)] = walk.previous;
}

/// Fills the steps after `step`, which no walk makes, with kNoVertex.
__global__ void __launch_bounds__(kWalkBlock) end_steps_kernel(SteppedPaths paths, std::uint32_t step) {
  const std::uint64_t index = paths.index();
  if (index >= paths.capacity) return;
  for (std::uint32_t s = step + 1; s < paths.row; ++s) *paths.at(index, s) = kNoVertex;
}

}  // namespace

// ---- launchers

SteppedQueue::SteppedQueue(const QueueSetup& setup, const ActiveWalks& batch, bool has_previous,
                           MakeStep make_step)
    : WalkHalfOn(setup),
      paths_{setup.paths, setup.row, setup.per_origin, setup.capacity, setup.half, setup.halves},
      batch_(batch),
      has_previous_(has_previous),
      make_step_(std::move(make_step)),
      walk_bytes_(has_previous ? sizeof(Departure<true>) : sizeof(Departure<false>)),
      departures_(setup.device, setup.keys.rank_keys * paths_.own_walks() * walk_bytes_, "departing walks"),
      arrivals_(setup.device, paths_.own_walks() * walk_bytes_, "walks from other ranks") {}

void SteppedQueue::begin() {
  step_ = 0;
  backend_.reset_counts();
  if (blocks() == 0) return;
  const QueueCounts counts = backend_.counters();
  backend_.begin_round([&](cudaStream_t stream) {
    begin_steps_kernel<<<blocks(), kWalkBlock, position_scratch_bytes(counts.keys), stream>>>(
        batch_, paths_, departures(), counts);
    check_launch("begin_steps_kernel");
  });
}

void SteppedQueue::advance_all() {
  backend_.reset_counts();
  if (blocks() > 0)
    backend_.begin_round([&](cudaStream_t stream) {
      make_step_(paths_, step_, departures(), backend_.counters(), blocks(), stream);
    });
  ++step_;
}

ExchangeCounts SteppedQueue::exchange() {
  ExchangeCounts exchanged;
  const std::size_t ranks = setup_.keys.rank_keys;
  const std::span<const std::uint64_t> all_counts = gather();
  const std::vector<std::uint64_t> receive = tally(all_counts, ranks, own_rank(), exchanged);
  if (exchanged.active == 0) {
    if (blocks() == 0) return exchanged;
    end_steps_kernel<<<blocks(), kWalkBlock, 0, static_cast<cudaStream_t>(stream())>>>(paths_, step_);
    check_launch("end_steps_kernel");
    return exchanged;
  }
  begin_send({departures_.data(), arrivals_.data(), walk_bytes_},
             all_counts.subspan(own_rank() * (all_counts.size() / ranks), ranks), receive,
             paths_.own_walks());
  if (exchanged.received == 0) return exchanged;
  const auto arrive = [&]<bool kHasPrevious>(std::bool_constant<kHasPrevious>) {
    arrive_kernel<kHasPrevious>
        <<<grid_for(exchanged.received, kWalkBlock), kWalkBlock, 0, static_cast<cudaStream_t>(stream())>>>(
            reinterpret_cast<const Departure<kHasPrevious>*>(arrivals_.data()), exchanged.received, paths_,
            step_);
    check_launch("arrive_kernel");
  };
  has_previous_ ? arrive(std::true_type{}) : arrive(std::false_type{});
  return exchanged;
}

}  // namespace sluice::walks::cuda
