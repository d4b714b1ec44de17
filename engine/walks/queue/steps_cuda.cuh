// Walks on several GPUs that hold all of their partitions; every walk makes one step a round. Walks wait in
// their paths, and what a round reads and writes of them is contiguous.
//
// If each walk advances as far as possible instead, it writes its path far from its neighbours', and a step
// makes four random accesses: row, target, path and queue. On two H100s, Kronecker scale 24, uniform walks
// make 11.4 G steps/s that way, and 25.3 here. So step_kernel does not use advance() (advance.cuh), the
// second measured exception beside walk_kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "engine/walks/queue/queue_cuda.cuh"

namespace sluice::walks::cuda {

/// Paths of a half of a batch. Halves alternate in runs of walks, so that a block's walks are contiguous.
struct SteppedPaths {
  Vertex* paths;  ///< [origin rank][row][per_origin]
  std::uint64_t row, per_origin, capacity;
  unsigned half, halves;

  static constexpr std::uint64_t kRun = kWalkBlock;

  std::uint64_t runs() const { return (capacity + kRun - 1) / kRun; }
  std::uint64_t own_runs() const { return (runs() + halves - 1 - half) / halves; }
  std::uint64_t own_walks() const {
    const bool last = runs() > 0 && (runs() - 1) % halves == half;
    return own_runs() * kRun - (last ? runs() * kRun - capacity : 0);
  }
  /// The walk of each thread of a block; an index from `capacity` on does not exist.
  __device__ __forceinline__ std::uint64_t index() const {
    return (std::uint64_t{blockIdx.x} * halves + half) * kRun + threadIdx.x;
  }
  __device__ __forceinline__ Vertex* at(std::uint64_t index, std::uint32_t step) const {
    const std::uint64_t preceding = index / per_origin * per_origin;
    return paths + preceding * row + step * per_origin + (index - preceding);
  }
};

/// Departing walks, by destination rank.
struct Departures {
  void* walks;  ///< [ranks][capacity] Departure
  std::uint64_t capacity;
  const std::uint32_t* key_of;  ///< QueueKeys::queue_key
  std::uint32_t ranks;
};

// ---- kernels

/// Makes step `step` + 1 of every walk on this rank; writes kNoVertex for all others.
template <class Program>
__global__ void __launch_bounds__(kWalkBlock)
    step_kernel(WalksOn<Program, Partitioned> walks, SteppedPaths paths, std::uint32_t step,
                Departures departures, QueueCounts counts) {
  extern __shared__ unsigned long long places[];
  constexpr bool kHasPrevious = Program::kRedirects || Program::kUpdates;
  const std::uint64_t index = paths.index();
  std::uint32_t key = counts.keys, steps = 0, rounds = 0;
  Walker walker;
  if (index < paths.capacity) {
    Vertex* const entry = paths.at(index, step);
    Vertex next = kNoVertex;
    walker.current = *entry;
    const Program* const program = walker.current == kNoVertex ? nullptr : walks.program_at(walker.current);
    if (program) {
      if (kHasPrevious && step > 0) walker.previous = entry[-static_cast<std::int64_t>(paths.per_origin)];
      walker.step = step;
      walks.identify(index, walker);
      walker.row = walks.row_of(*program, walker.current);  // only if its list is present
      Proposal proposal;
      program->propose(walker, proposal);
      rounds = 1;
      if (program->settle(walker, proposal) == Round::moved) {
        steps = 1;
        next = walker.current;
        if (walker.step < walks.leg_end) key = departures.key_of[walks.map.owner(next)];
      }
    }
    entry[paths.per_origin] = next;
  }
  count_walk(counts.totals, steps, rounds);
  const unsigned long long position = claim_block_position(counts.waiting, key, counts.keys, places);
  if (key >= departures.ranks) return;
  auto* const departure =
      static_cast<Departure<kHasPrevious>*>(departures.walks) + key * departures.capacity + position;
  departure->index = static_cast<std::uint32_t>(index);
  departure->current = walker.current;
  if constexpr (kHasPrevious) departure->previous = walker.previous;
}

// ---- launchers

/// The part of a stepped queue that is the same for all samplers.
class SteppedQueue final : public WalkHalfOn<QueueBackend, SteppedWalks> {
 public:
  /// Launches step_kernel.
  using MakeStep =
      std::function<void(const SteppedPaths& paths, std::uint32_t step, const Departures& departures,
                         const QueueCounts& counts, unsigned blocks, cudaStream_t stream)>;

  /// Keeps `batch`. `has_previous`: kHasPrevious of the departures.
  SteppedQueue(const QueueSetup& setup, const ActiveWalks& batch, bool has_previous, MakeStep make_step);
  ~SteppedQueue() override { backend_.finish(); }  // work under way uses buffers

  void begin() override;
  void advance_all() override;
  ExchangeCounts exchange() override;
  void transpose_rows(const Vertex* steps, std::uint64_t walks, Vertex* rows) override {
    backend_.transpose_steps(steps, walks, setup_.row, rows);
  }

 private:
  unsigned blocks() const { return static_cast<unsigned>(paths_.own_runs()); }
  Departures departures() const {
    return {departures_.data(), paths_.own_walks(), key_of_.data(), setup_.keys.rank_keys};
  }

  const SteppedPaths paths_;
  const ActiveWalks& batch_;
  bool has_previous_;
  MakeStep make_step_;
  std::uint64_t walk_bytes_;
  Buffer<std::byte> departures_, arrivals_;
  std::uint32_t step_ = 0;
};

template <class Walks>
std::unique_ptr<SteppedWalks> QueueBackend::make_stepped(const QueueSetup& setup, const Walks& walks) {
  using Program = typename Walks::WalkProgram;
  return std::make_unique<SteppedQueue>(
      setup, walks, Program::kRedirects || Program::kUpdates,
      [&walks](const SteppedPaths& paths, std::uint32_t step, const Departures& departures,
               const QueueCounts& counts, unsigned blocks, cudaStream_t stream) {
        step_kernel<Program><<<blocks, kWalkBlock, position_scratch_bytes(counts.keys), stream>>>(
            walks, paths, step, departures, counts);
        check_launch("step_kernel");
      });
}

}  // namespace sluice::walks::cuda
