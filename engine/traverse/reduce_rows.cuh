// Reduces the edges of rows (traverser.hpp: reduce_rows()): by a lane, a warp or a block, depending on the
// row's length. Each lane has one row, and the rows of a block are consecutive.
#pragma once

#include <cstdint>

#include "engine/exec/cuda_lane.cuh"
#include "engine/exec/grid.cuh"
#include "engine/traverse/degree_class.hpp"
#include "engine/traverse/traverser.hpp"

namespace sluice::cuda {

/// The long rows of a block, in shared memory.
template <class Value>
struct LongRows {
  unsigned count;
  std::uint16_t lanes[kTeamBlock];  ///< lanes with long rows
  Value parts[kTeamBlock / kWarp];
};

template <class Body>
class RowOfLane {
 public:
  using Value = typename Body::Value;

  /// Row i begins at offsets[i]. Keeps references.
  __device__ RowOfLane(const Body& body, const EdgeIndex* offsets, std::uint64_t row, bool valid)
      : body_(body), offsets_(offsets), row_(row) {
    const bool wants = valid && body.begin(row, before_);
    begin_ = wants ? offsets[row] : 0, end_ = wants ? offsets[row + 1] : 0;
    size_ = wants ? list_of_degree(end_ - begin_) : kDegreeLists;
  }

  /// Calls done(before, total) for the lane's row, unless it needs a block; every lane of the warp calls it.
  template <class Done>
  __device__ void by_warp(unsigned long long& edges, const Done& done) const {
    if (size_ == 0) done(before_, reduce_edges(body_, row_, before_, begin_, end_, edges));
    for (unsigned pending = __ballot_sync(~0u, size_ == 1); pending != 0; pending &= pending - 1) {
      const int owner = __ffs(static_cast<int>(pending)) - 1;
      const Value before = __shfl_sync(~0u, before_, owner),
                  total =
                      reduce_by_warp(row_ - lane_ + static_cast<unsigned>(owner), before,
                                     __shfl_sync(~0u, begin_, owner), __shfl_sync(~0u, end_, owner), edges);
      if (static_cast<int>(lane_) == owner) done(before, total);
    }
  }

  /// Calls done(row, before, total) in one thread for each row of the block's lanes that needs a block; all
  /// threads of the block call it.
  template <class Done>
  __device__ void by_block(LongRows<Value>& rows, unsigned long long& edges, const Done& done) const {
    if (threadIdx.x == 0) rows.count = 0;
    if (!__syncthreads_or(size_ == 2)) return;
    if (size_ == 2) rows.lanes[atomicAdd(&rows.count, 1u)] = static_cast<std::uint16_t>(threadIdx.x);
    __syncthreads();
    for (unsigned i = 0; i < rows.count; ++i) {
      const std::uint64_t row = row_ - threadIdx.x + rows.lanes[i];
      Value before{};
      body_.begin(row, before);
      const Value total = reduce_by_block(rows, row, before, edges);
      if (threadIdx.x == 0) done(row, before, total);
      __syncthreads();
    }
    __syncthreads();
  }

 private:
  __device__ Value join_over_warp(Value value) const {
    for (unsigned step = kWarp / 2; step > 0; step /= 2)
      value = body_.join(value, __shfl_xor_sync(~0u, value, step));
    return value;
  }

  /// Reduces a row by a warp; all of its lanes get the total.
  __device__ Value reduce_by_warp(std::uint64_t row, Value before, EdgeIndex begin, EdgeIndex end,
                                  unsigned long long& edges) const {
    Value total = body_.identity(before);
    for (EdgeIndex base = begin; base < end; base += kWarp) {
      const bool in_range = base + lane_ < end;
      Value value = body_.identity(before);
      const bool found = in_range && body_.receives(row, base + lane_, value);
      edges += in_range;
      if (!__any_sync(~0u, found)) continue;
      total = body_.join(total, join_over_warp(value));
      if (body_.stops(before, total)) break;
    }
    return total;
  }

  /// Reduces a row by a block; its first thread gets the total.
  __device__ Value reduce_by_block(LongRows<Value>& rows, std::uint64_t row, Value before,
                                   unsigned long long& edges) const {
    Value total = body_.identity(before), value{};
    const EdgeIndex end = offsets_[row + 1];
    for (EdgeIndex e = offsets_[row] + threadIdx.x; e < end; e += kTeamBlock) {
      ++edges;
      if (body_.receives(row, e, value)) total = body_.join(total, value);
    }
    total = join_over_warp(total);
    if (lane_ == 0) rows.parts[threadIdx.x / kWarp] = total;
    __syncthreads();
    if (threadIdx.x == 0)
      for (unsigned warp = 1; warp < kTeamBlock / kWarp; ++warp) total = body_.join(total, rows.parts[warp]);
    return total;
  }

  const Body& body_;
  const EdgeIndex* offsets_;
  std::uint64_t row_;
  Value before_{};
  EdgeIndex begin_, end_;
  unsigned size_;
  unsigned lane_ = threadIdx.x % kWarp;
};

template <class Body>
__global__ void __launch_bounds__(kTeamBlock)
    reduce_rows_kernel(RowRange rows, LaneOutput output, Body body) {
  __shared__ LongRows<typename Body::Value> long_rows;
  CudaLane out(output);
  unsigned long long edges = 0;
  for (std::uint64_t base = rows.begin + std::uint64_t{blockIdx.x} * kTeamBlock; base < rows.end;
       base += GridTeam{}.size()) {
    const std::uint64_t row = base + threadIdx.x;
    const RowOfLane<Body> row_of_lane(body, rows.offsets, row, row < rows.end);
    row_of_lane.by_warp(edges, [&](auto before, auto total) { body.end(row, before, total, out); });
    row_of_lane.by_block(long_rows, edges, [&](std::uint64_t long_row, auto before, auto total) {
      body.end(long_row, before, total, out);
    });
  }
  out.add(0, edges);
  __syncwarp();
  out.report();
}

}  // namespace sluice::cuda
