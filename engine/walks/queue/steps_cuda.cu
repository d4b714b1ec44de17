#include "engine/walks/queue/steps_cuda.cuh"

#include <type_traits>
#include <utility>
#include <vector>

namespace sluice::walks::cuda {

// ---- kernels

namespace {

/// Writes all starts on every rank; each rank counts the walks that begin in its partitions.
__global__ void __launch_bounds__(kWalkBlock)
    begin_steps_kernel(ActiveWalks walks, SteppedPaths paths, Leaving leaving, QueueCounts counts) {
  extern __shared__ unsigned arrivals[];
  const std::uint64_t index = paths.index();
  std::uint32_t key = counts.keys;
  if (index < paths.capacity) {
    const Vertex start = walks.exists(index) ? walks.starts.start(walks.instance(index)) : kNoVertex;
    *paths.at(index, 0) = start;
    if (start != kNoVertex && walks.length > 0) key = leaving.key_of[walks.map.owner(start)];
    if (key < leaving.ranks) key = counts.keys;  // it begins on another rank
  }
  count_arrivals(key, counts, arrivals);
}

template <bool kSeen>
__global__ void __launch_bounds__(kWalkBlock)
    arrive_kernel(const Departure<kSeen>* walks, std::uint64_t count, SteppedPaths paths,
                  std::uint32_t step) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  if (i >= count) return;
  const Departure<kSeen> walk = walks[i];
  Vertex* const here = paths.at(walk.index, step);
  *here = walk.current;
  if constexpr (kSeen) here[-static_cast<std::int64_t>(paths.per_origin)] = walk.previous;
}

/// Fills the steps after `step`, which no walk makes, with kNoVertex.
__global__ void __launch_bounds__(kWalkBlock) end_steps_kernel(SteppedPaths paths, std::uint32_t step) {
  const std::uint64_t index = paths.index();
  if (index >= paths.capacity) return;
  for (std::uint32_t s = step + 1; s < paths.row; ++s) *paths.at(index, s) = kNoVertex;
}

}  // namespace

// ---- launchers

SteppedQueue::SteppedQueue(const QueueSetup& setup, const ActiveWalks& batch, bool seen, MakeStep make_step)
    : HalfOn(setup),
      paths_{setup.paths, setup.row, setup.per_origin, setup.capacity, setup.half, setup.halves},
      batch_(batch),
      seen_(seen),
      make_step_(std::move(make_step)),
      walk_bytes_(seen ? sizeof(Departure<true>) : sizeof(Departure<false>)),
      leaving_(setup.device, setup.keys.others * paths_.own_walks() * walk_bytes_, "walks that leave"),
      arrived_(setup.device, paths_.own_walks() * walk_bytes_, "walks from other ranks") {}

void SteppedQueue::begin() {
  step_ = 0;
  backend_.forget();
  if (blocks() == 0) return;
  const QueueCounts counts = backend_.counted();
  backend_.begin_round([&](cudaStream_t stream) {
    begin_steps_kernel<<<blocks(), kWalkBlock, position_scratch_bytes(counts.keys), stream>>>(
        batch_, paths_, leaving(), counts);
    check_launch("begin_steps_kernel");
  });
}

void SteppedQueue::go_on() {
  backend_.forget();
  if (blocks() > 0)
    backend_.begin_round([&](cudaStream_t stream) {
      make_step_(paths_, step_, leaving(), backend_.counted(), blocks(), stream);
    });
  ++step_;
}

Crossing SteppedQueue::exchange() {
  Crossing crossing;
  const std::size_t ranks = setup_.keys.others;
  const std::span<const std::uint64_t> all = gather();
  const std::vector<std::uint64_t> receive = tally(all, ranks, own(), crossing);
  if (crossing.left == 0) {
    if (blocks() == 0) return crossing;
    end_steps_kernel<<<blocks(), kWalkBlock, 0, static_cast<cudaStream_t>(stream())>>>(paths_, step_);
    check_launch("end_steps_kernel");
    return crossing;
  }
  begin_send({leaving_.data(), arrived_.data(), walk_bytes_},
             all.subspan(own() * (all.size() / ranks), ranks), receive, paths_.own_walks());
  if (crossing.received == 0) return crossing;
  const auto arrive = [&]<bool kSeen>(std::bool_constant<kSeen>) {
    arrive_kernel<kSeen>
        <<<grid_for(crossing.received, kWalkBlock), kWalkBlock, 0, static_cast<cudaStream_t>(stream())>>>(
            reinterpret_cast<const Departure<kSeen>*>(arrived_.data()), crossing.received, paths_, step_);
    check_launch("arrive_kernel");
  };
  seen_ ? arrive(std::true_type{}) : arrive(std::false_type{});
  return crossing;
}

}  // namespace sluice::walks::cuda
