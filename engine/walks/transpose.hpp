// Copies a batch of walks from the GPU: transposes it from step-major to rows, then to page-locked memory.
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

/// The size of a batch in walks.
struct BatchPlan {
  std::uint64_t batch = 1;
  std::uint64_t pitch = 1;  ///< walks between a step and the next in the paths; a multiple of 32 if that
                            ///< fits, so that a warp's store is one whole cache line
};

/// The largest batch that fits: without a sink only its paths, with one also its rows, and two batches of
/// page-locked host memory. Throws BudgetError if not even one walk fits. If the run is only planned, charges
/// the budget with what one walk needs.
BatchPlan plan_batches(const Device& device, std::uint64_t row_bytes, std::uint64_t instances,
                       bool with_sink);

/// The longest row that one grid can transpose.
inline constexpr std::uint64_t kMaxTransposedRow = 65535 * 32;

/// Transposes paths[row][pitch] of `count` walks to rows[count][row], in stream order; row <=
/// kMaxTransposedRow.
void transpose(const Stream& stream, const Vertex* paths, Vertex* rows, std::uint64_t count,
               std::uint64_t pitch, std::uint64_t row);

/// Copies results to the host by two page-locked buffers, used in turn.
class ResultCopier {
 public:
  ResultCopier(const Device& device, std::uint64_t elements);

  /// Transposes paths[row][pitch] to [count][row] and copies it to the host. Blocks until the copy is
  /// complete. The returned pointer is valid until the call after the next.
  const Vertex* collect(const Stream& stream, const Vertex* paths, std::uint64_t count, std::uint64_t pitch,
                        std::uint64_t row, RunStats& stats);

 private:
  Buffer<Vertex> rows_;
  std::array<Staging<Vertex>, 2> host_;
  unsigned buffer_index_ = 0;
};

}  // namespace sluice::walks::cuda
