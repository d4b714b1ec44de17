// Kernels for queries in dense rows: passes over all vertices, a warp per row (dense/lanes.cuh).
#pragma once

#include "engine/exec/device_clock.cuh"
#include "engine/ppr/dense/lanes.cuh"
#include "engine/traverse/degree_class.hpp"

namespace sluice::ppr {

// ---- kernels

/// A warp per query: in pass 0 all its mass returns to its seeds. Words must be clear.
__global__ void dense_begin_kernel(DenseView view) {
  const std::uint32_t query = blockIdx.x;
  const DenseGroupView group = view.group(query / view.shape.width);
  const SeedsView seeds = view.seeds_of(query);
  for (std::uint32_t i = threadIdx.x; i < seeds.count; i += 32)
    atomicOr(&group.seeds()[seeds.seeds[i].vertex], 1u << query % view.shape.width);
  if (threadIdx.x != 0) return;
  DenseCounts counts;
  counts.returning[2] = kWholeMass;
  counts.begin = cuda::nanoseconds_now();
  view.counts[query] = counts;
}

/// Called by the first warp of a block.
__device__ inline void begin_pass(const DenseView& view, std::uint32_t pass, BlockPassState& state) {
  const unsigned lane = threadIdx.x;
  const std::uint32_t query = blockIdx.y * view.shape.width + lane;
  const bool has_query = lane < view.shape.width && query < view.count;
  const unsigned before = (pass + 2) % 3;
  Mass returning = has_query ? view.counts[query].returning[before] : 0;
  const bool to_seeds = pass == 0 || view.rules.dangling == Dangling::seed;
  if (!to_seeds) returning /= view.rules.graph.vertices;
  bool active = has_query;
  if (view.rules.length == 0 && has_query) {
    Mass total = view.counts[query].sent[before];
    if (to_seeds && returning != 0) {
      const SeedsView seeds = view.seeds_of(query);
      for (std::uint32_t i = 0; i < seeds.count; ++i) total += seeds.share(i, returning);
    } else {
      total += returning * view.rules.graph.vertices;
    }
    active = total > view.rules.tolerance_mass;
  }
  state.returning[lane] = returning;
  const std::uint32_t all = __ballot_sync(~0u, active);
  if (lane == 0) state.active = all;
  if (blockIdx.x == 0 && has_query) {
    view.counts[query].returning[(pass + 1) % 3] = 0;
    view.counts[query].sent[(pass + 1) % 3] = 0;
  }
}

/// Grid: x counts blocks of a group, y groups. The first blocks of a group have one long row each.
template <bool Weighted>
__global__ void __launch_bounds__(kDenseBlock, kDenseBlocksPerSm)
    dense_pass_kernel(const __grid_constant__ DenseView view, std::uint32_t pass) {
  __shared__ BlockPassState state;
  __shared__ Mass partial[kDenseWarps][32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) begin_pass(view, pass, state);
  __syncthreads();
  const DenseLanes<Weighted> lanes(view, state, pass);
  const EdgeIndex* const offsets = view.in.offsets;
  // A block pulls a long row together; its first warp completes it.
  const bool is_long = blockIdx.x < view.long_count;
  std::uint64_t row =
      is_long ? view.long_rows[blockIdx.x]
              : std::uint64_t{blockIdx.x - view.long_count} * kDenseWarps * view.rows_per_warp + warp;
  const unsigned rows = is_long ? 1 : view.rows_per_warp;
  for (unsigned i = 0; i < rows && row < view.shape.vertices; ++i, row += kDenseWarps) {
    const EdgeIndex first = offsets[row], last = offsets[row + 1];
    if (!is_long && last - first > kBlockDegree) continue;
    Mass sum = lanes.pull(first, last, is_long ? warp * 32 : 0, is_long ? kDenseBlock : 32);
    if (is_long) {
      partial[warp][lane] = sum;
      __syncthreads();
      if (warp != 0) break;
      for (unsigned w = 1; w < kDenseWarps; ++w) sum += partial[w][lane];
    }
    lanes.process_row(static_cast<Vertex>(row), sum);
  }
  __syncthreads();
  std::uint32_t arrived = 0;
  for (const std::uint32_t warp_arrived : state.arrived) arrived |= warp_arrived;
  if (warp >= 3 || arrived == 0) return;
  if (threadIdx.x == 0) *reinterpret_cast<volatile std::uint32_t*>(view.moving) = pass + 1;
  const auto& sums = warp == 0 ? state.edges : warp == 1 ? state.returned : state.sent;
  unsigned long long sum = 0;
  for (unsigned w = 0; w < kDenseWarps; ++w) sum += sums[w][lane];
  if (sum == 0) return;  // also for a lane without a query
  DenseCounts& counts = view.counts[blockIdx.y * view.shape.width + lane];
  std::uint64_t* const target = warp == 0   ? &counts.edges
                                : warp == 1 ? &counts.returning[pass % 3]
                                            : &counts.sent[pass % 3];
  atomicAdd(reinterpret_cast<unsigned long long*>(target), sum);
}

}  // namespace sluice::ppr
