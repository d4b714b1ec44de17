// Walks on the GPU: one lane for each walk, no CPU work per step. Paths are stored by step, so that the lanes
// of a warp write adjacent words; they are transposed to rows on the way to the host. walk_kernel does not
// use advance() (advance.cuh), a measured exception: at 16 bytes read per step it reaches 97% of the random
// read rate of an H200 (docs/performance.md).
//
// A step reads one random sector, and these reads limit the speed. On an H200, Kronecker scale 22, uniform
// walks over wide edges make 39.9 G steps/s, 97% of the rate of independent random reads of 16 bytes.
// Counters show 63 bytes read per step, 97% of the lanes occupied, and the multiprocessors 13% busy.
#pragma once

#include <cstdint>

#include "engine/batch/instance_run.hpp"
#include "engine/batch/starts_view.hpp"
#include "engine/core/function_ref.hpp"
#include "engine/exec/cuda_check.cuh"
#include "engine/exec/group.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/walks/advance.cuh"
#include "engine/walks/options.hpp"
#include "engine/walks/step.hpp"
#include "engine/walks/whole.hpp"

namespace sluice::walks::cuda {

inline constexpr unsigned kWalkBlock =
    256;  ///< eight blocks a multiprocessor: all lanes, and small blocks at the tail

/// Counters of a run, in slots on separate cache lines: atomic additions at one address would serialize.
inline constexpr unsigned kWalkCounterSlots = 64;
struct alignas(128) WalkCounters {
  unsigned long long steps, rounds;
  unsigned long long in_place_bytes;  ///< in partitions: bytes read in place
};

// ---- kernels

__device__ __forceinline__ void count_walk(WalkCounters* counters, std::uint32_t steps,
                                           std::uint32_t rounds) {
  const unsigned active = __activemask();
  const unsigned all_steps = __reduce_add_sync(active, steps), all_rounds = __reduce_add_sync(active, rounds);
  if (Tile<32>::warp_lane() == static_cast<unsigned>(__ffs(static_cast<int>(active)) - 1)) {
    WalkCounters& slot = counters[blockIdx.x % kWalkCounterSlots];
    atomicAdd(&slot.steps, static_cast<unsigned long long>(all_steps));
    atomicAdd(&slot.rounds, static_cast<unsigned long long>(all_rounds));
  }
}

/// Fills the rest of a walk's path, whose step s is path[s * pitch], with kNoVertex.
__device__ __forceinline__ void end_path(const Walker& walker, std::uint32_t length, std::uint64_t pitch,
                                         Vertex* path) {
  for (std::uint64_t step = std::uint64_t{walker.step} + 1; step <= length; ++step)
    __stcs(path + step * pitch, kNoVertex);
}

/// Computes the paths of `count` walks from instance `first` on: paths[step * pitch + walk].
template <class Program>
__global__ void __launch_bounds__(kWalkBlock)
    walk_kernel(Program program, StartsView starts, Instance first, std::uint64_t count, std::uint64_t pitch,
                std::uint32_t length, Vertex* paths, WalkCounters* counters) {
  const std::uint64_t index = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  if (index >= count) return;
  Walker walker;
  walker.instance = first + index;
  walker.start = walker.current = starts.start(walker.instance);
  walker.row = program.graph.row(walker.start);
  __stcs(paths + index, walker.start);
  std::uint32_t rounds = 0;
  while (walker.step < length) {
    Proposal proposal;
    program.propose(walker, proposal);
    ++rounds;
    const Round round = program.settle(walker, proposal);
    if (round == Round::ended) break;
    if (round == Round::moved) __stcs(paths + walker.step * pitch + index, walker.current);
  }
  end_path(walker, length, pitch, paths + index);
  count_walk(counters, walker.step, rounds);
}

/// As walk_kernel, for programs that may scan a whole list. A minimum of one block lets it use the registers
/// that it needs. Otherwise the compiler spills to fit eight blocks on a multiprocessor, and walks by
/// rejection on weights make 2.55 G steps/s instead of 4.10 (H100, Kronecker scale 22).
template <class Program>
__global__ void __launch_bounds__(kWalkBlock, 1)
    scanning_walk_kernel(WalksOn<Program, Whole> walks, StartsView starts, Instance first,
                         std::uint64_t count, std::uint64_t pitch, Vertex* paths, WalkCounters* counters) {
  const std::uint64_t index = static_cast<std::uint64_t>(blockIdx.x) * kWalkBlock + threadIdx.x;
  Walker walker;
  if (index < count) {
    walker.instance = first + index;
    walker.start = walker.current = starts.start(walker.instance);
    walker.row = walks.program.graph.row(walker.start);
    __stcs(paths + index, walker.start);
  }
  std::uint32_t rounds = 0;
  typename WalksOn<Program, Whole>::StepState state;
  advance(
      walks, walker, state, index < count && walks.leg_end > 0,
      [&](std::uint32_t step, Vertex v) { __stcs(paths + step * pitch + index, v); }, rounds);
  if (index >= count) return;
  end_path(walker, walks.leg_end, pitch, paths + index);
  count_walk(counters, walker.step, rounds);
}

// ---- launchers

/// The sum of all blocks' counters.
WalkTotals totals_of(const Device& device, const Buffer<WalkCounters>& counters);

/// Launches the kernel for the `count` walks of a batch from instance `first` on.
using LaunchWalks = FunctionRef<void(Instance first, std::uint64_t count, std::uint64_t pitch, Vertex* paths,
                                     WalkCounters* counters, cudaStream_t stream)>;

/// Runs batches of walks and streams them to the sink: the previous batch is written while one is computed
/// and copied to page-locked memory.
void run_walk_batches(const InstanceRun<WalkSink, Options>& run, const LaunchWalks& launch);

template <class Program>
void run_whole_walks(const InstanceRun<WalkSink, Options>& run, const Program& program, StartsView starts,
                     const EdgeSet& set) {
  const std::uint32_t length = run.options.length;
  const auto launch = [&](Instance first, std::uint64_t count, std::uint64_t pitch, Vertex* paths,
                          WalkCounters* counters, cudaStream_t stream) {
    const unsigned grid = grid_for(count, kWalkBlock);
    if constexpr (Program::kScans) {
      scanning_walk_kernel<<<grid, kWalkBlock, 0, stream>>>(WalksOn<Program, Whole>{{set}, program, length},
                                                            starts, first, count, pitch, paths, counters);
    } else {
      walk_kernel<<<grid, kWalkBlock, 0, stream>>>(program, starts, first, count, pitch, length, paths,
                                                   counters);
    }
    check_launch("walk_kernel");
  };
  run_walk_batches(run, launch);
}

}  // namespace sluice::walks::cuda
