// Seeds of a batch, its size, and its way to the host: the parts of samples on a GPU that know no
// sampler.
#pragma once

#include <cstdint>

#include "engine/batch/starts_view.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/level.hpp"
#include "engine/samples/options.hpp"
#include "engine/samples/store.hpp"

namespace sluice::cuda {
class Stream;
}  // namespace sluice::cuda

namespace sluice::samples::cuda {

using sluice::cuda::Stream;

/// Seeds of a batch's instances; their vertices are the frontier of the first level.
struct BatchSeeds {
  Buffer<std::uint64_t> counts;  ///< [instances]
};

/// Reads a number that `stream` makes.
std::uint64_t read_count(const std::uint64_t* from, SampleWorkspace& memory, const Stream& stream);

struct VisitedTable;
/// An empty table for so many keys.
VisitedTable clear_visited(const Device& device, std::uint64_t keys, SampleWorkspace& memory,
                           const Stream& stream);

/// Fills the first level's frontier with the seeds of instances [first, first + count), repeated ones once.
void plant_seeds(const Device& device, const StartsView& starts, Instance first, std::uint64_t count,
                 bool revisit, SampleWorkspace& memory, BatchSeeds& seeds, const Stream& stream,
                 RunStats& stats);

/// Brings a grown batch to the host, in order of instance, depth, frontier order, position.
void collect_samples(ResidentGraph::Impl& graph, const SampleWorkspace& memory, std::uint32_t depths,
                     const BatchSeeds& seeds, Instance first, std::uint64_t count, SampleStore& out,
                     RunStats& stats);

/// Edges that an instance makes at most, or 0 if that is not known beforehand.
std::uint64_t expected_edges(const Options& options);

/// How many instances a batch holds. Where an instance's size is not known, batches begin small and double.
class BatchSizer {
 public:
  BatchSizer(std::uint64_t free_bytes, std::uint64_t expected, bool with_sink, std::uint64_t instances);

  std::uint64_t batch() const { return batch_; }
  void halve() { limit_ = batch_ = batch_ > 1 ? batch_ / 2 : 1; }
  /// A batch has ended, of which so many bytes leave.
  void learn(std::uint64_t staged);

 private:
  std::uint64_t batch_ = 1, limit_ = 1;
};

}  // namespace sluice::samples::cuda
