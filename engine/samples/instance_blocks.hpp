// The host's batches of samples: threads grow blocks of instances. A batch that does not fit host memory is
// grown again in smaller batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/batch/instance_run.hpp"
#include "engine/batch/run_batches.hpp"
#include "engine/exec/threads.hpp"
#include "engine/samples/store.hpp"

namespace sluice::samples::host {

struct BlockCounters {
  std::uint64_t selections = 0, iterations = 0, searches = 0;

  void add_to(RunStats& stats) const {
    stats.selections += selections, stats.selection_iterations += iterations;
    stats.collision_searches += searches;
  }
};

/// A job of run_batches: grow(thread, instance, store, counters) grows an instance, in order within a block.
template <class Run, class Grow>
class BlockJob {
 public:
  BlockJob(const Run& run, const Grow& grow)
      : device_(run.graph.device), sink_(run.sink), stats_(run.stats), grow_(grow) {}

  std::uint64_t next_size(std::uint64_t) const { return instances_; }

  void run(Instance first, std::uint64_t count, BatchWriter& writer) {
    const std::uint64_t block = std::clamp<std::uint64_t>(count / blocks_, 1, kMaxBlock);
    const auto stores = std::make_shared<std::vector<SampleStore>>((count + block - 1) / block);
    std::vector<BlockCounters> counters(device_.threads());
    const double start = seconds_now();
    parallel_blocks(device_.threads(), count, block,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                      SampleStore& store = (*stores)[begin / block];
                      store.first = first + begin;
                      for (Instance i = first + begin; i < first + end; ++i)
                        grow_(thread, i, store, counters[thread]);
                    });
    stats_.compute_seconds += seconds_now() - start;
    for (const BlockCounters& thread_counters : counters) thread_counters.add_to(stats_);
    bytes_ = 0;
    for (const SampleStore& store : *stores)
      bytes_ += store.bytes(), stats_.sampled_edges += store.edge.size();
    if (!sink_) return;
    writer.submit([stores, sink = sink_] {
      for (const SampleStore& store : *stores) sink->write(store.batch());
    });
  }

  /// A batch of one instance is tried again too if the writer still holds the memory of the previous batch.
  bool shrink(std::uint64_t count, const BatchWriter& writer) {
    instances_ = (count + 1) / 2;
    return count > 1 || !writer.idle();
  }

  void finished(std::uint64_t) {
    if (bytes_ < batch_bytes_ / 2) instances_ = std::min(instances_ * 2, kMaxBatch);
    if (bytes_ > batch_bytes_) instances_ = std::max<std::uint64_t>(instances_ / 2, 1);
  }

 private:
  static constexpr std::uint64_t kMaxBlock = 64, kMaxBatch = kMaxBlock << 16;
  static constexpr std::uint64_t kBatchBytes = 64u << 20;  // of results; ran() adapts the batch size to it

  const Device& device_;
  SampleSink* sink_;
  RunStats& stats_;
  const Grow& grow_;
  // One batch is written while the next grows, in vectors that double.
  const std::uint64_t batch_bytes_ = std::min(kBatchBytes, host_budget().available() / 8);
  const std::uint64_t blocks_ = std::uint64_t{4} * device_.threads();
  std::uint64_t instances_ = blocks_ * kMaxBlock, bytes_ = 0;
};

/// `run` is an InstanceRun.
template <class Run, class Grow>
void run_blocks(const Run& run, const Grow& grow) {
  if (!run.graph.device.is_planning())
    run_batches(BlockJob(run, grow), run.range, run.options.progress, run.stats);
}

}  // namespace sluice::samples::host
