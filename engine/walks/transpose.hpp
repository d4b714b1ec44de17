// How a batch of walks leaves the GPU: turned from step-major into rows, copied to page-locked memory.
#pragma once

#include <array>
#include <cstdint>

#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice::cuda {
class Stream;
}  // namespace sluice::cuda

namespace sluice::walks::cuda {

using sluice::cuda::Stream;

/// Walks in a batch.
struct BatchPlan {
  std::uint64_t batch = 1;
  std::uint64_t pitch = 1;  ///< walks from one step's row of paths to the next; a multiple of 32 where that
                            ///< fits, so that a warp's store is one whole line
};

/// The largest batch that fits: without a sink only the paths, with one also their rows, and two batches of
/// page-locked memory on the host. Throws BudgetError if not even one walk fits. Where a run is only planned,
/// it takes what one walk needs.
BatchPlan plan_batches(const Device& device, std::uint64_t row_bytes, std::uint64_t instances,
                       bool with_sink);

/// The longest row that a grid can turn.
inline constexpr std::uint64_t kMostTurned = 65535 * 32;

/// paths[row][pitch] of `count` walks become rows[count][row], in the order of the stream; row <=
/// kMostTurned.
void transpose(const Stream& stream, const Vertex* paths, Vertex* rows, std::uint64_t count,
               std::uint64_t pitch, std::uint64_t row);

/// Two page-locked batches taken in turn.
class ResultLane {
 public:
  ResultLane(const Device& device, std::uint64_t elements);

  /// Transposes paths[row][pitch] to [count][row] and copies it; returns where it lies on the host, valid
  /// until the call after the next. Blocks until it is there.
  const Vertex* collect(const Stream& stream, const Vertex* paths, std::uint64_t count, std::uint64_t pitch,
                        std::uint64_t row, RunStats& stats);

 private:
  Buffer<Vertex> rows_;
  std::array<Staging<Vertex>, 2> host_;
  unsigned turn_ = 0;
};

}  // namespace sluice::walks::cuda
