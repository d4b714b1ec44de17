// Chooses the size of a GPU's batches of samples, and copies a grown batch to the host.
#pragma once

#include <cstdint>
#include <span>

#include "engine/graph/graph_view.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/level.hpp"
#include "engine/samples/options.hpp"
#include "engine/samples/store.hpp"

namespace sluice::cuda {
class CudaExecutor;
}  // namespace sluice::cuda

namespace sluice::samples::cuda {

using sluice::cuda::CudaExecutor;

/// Copies the edges of a grown batch to the host, in order of instance, depth, frontier entry, position. The
/// last of `levels` has no edges yet.
void collect_samples(const Device& device, CudaExecutor& executor, const GraphView& graph,
                     std::span<const SampleLevel> levels, Instance first, std::uint64_t count,
                     SampleStore& out, RunStats& stats);

/// The most edges that an instance with one seed selects, or 0 if that is not known beforehand.
std::uint64_t expected_edges(const Options& options);

/// How many instances a batch holds. If an instance's size is not known, batches begin small and double.
class BatchSizer {
 public:
  BatchSizer(std::uint64_t free_bytes, std::uint64_t expected, bool with_sink, std::uint64_t instances);

  std::uint64_t batch() const { return batch_; }
  void halve() { limit_ = batch_ = batch_ > 1 ? batch_ / 2 : 1; }
  /// Adapts the batch size after a batch whose results take `staged` bytes.
  void adapt(std::uint64_t staged);

 private:
  std::uint64_t batch_ = 1, limit_ = 1;
};

}  // namespace sluice::samples::cuda
