// The GPU's batches of traversal-based samples, each as large as the memory allows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/samples/collect.hpp"
#include "engine/samples/level.hpp"
#include "engine/samples/levels_cuda.cuh"
#include "engine/samples/partitioned/setup.hpp"
#include "engine/samples/store.hpp"

namespace sluice::samples::cuda {

/// A job of run_batches: batches as large as the memory allows.
template <class Program>
class SampleBatches {
 public:
  SampleBatches(const LevelSetup<Program>& setup, std::uint64_t expected, std::uint64_t instances,
                SampleSink* sink)
      : setup_(setup),
        workspace_(workspace(setup.graph)),
        sink_(sink),
        sizer_(setup.graph.device.memory().available() + workspace_.bytes(), expected, sink != nullptr,
               instances) {}

  std::uint64_t next_size(std::uint64_t) const { return sizer_.batch(); }

  void run(Instance first, std::uint64_t count, BatchWriter& writer) {
    if (!levels_) {  // the first time, or memory was short
      stores_ = {};
      levels_.emplace(setup_, workspace_);
    }
    levels_->grow(first, count);
    if (!sink_) return;
    // The batch before the previous one is written, so its host memory is reused without new page faults.
    SampleStore& store = stores_[store_index_++ % 2];
    levels_->collect(first, count, store);
    staged_ = store.bytes();
    writer.submit([&store, sink = sink_] { sink->write(store.batch()); });
  }

  bool shrink(std::uint64_t count, const BatchWriter&) {
    if (count == 1) return false;
    levels_.reset();
    workspace_.memory = SampleWorkspace();
    sizer_.halve();
    return true;
  }

  void finished(std::uint64_t) { sizer_.adapt(staged_); }

 private:
  /// Kept with the graph, so that a run after the first allocates nothing.
  static LevelsWorkspace& workspace(ResidentGraph::Impl& graph) {
    if (!graph.workspace) graph.workspace = std::make_shared<LevelsWorkspace>(graph.device);
    return *std::static_pointer_cast<LevelsWorkspace>(graph.workspace);
  }

  const LevelSetup<Program>& setup_;
  LevelsWorkspace& workspace_;
  SampleSink* sink_;
  std::optional<Levels<Program, Whole>> levels_;
  BatchSizer sizer_;
  std::array<SampleStore, 2> stores_;  ///< results being written, used alternately
  unsigned store_index_ = 0;
  std::uint64_t staged_ = 0;  ///< bytes of the last batch's results
};

/// `run` is an InstanceRun.
template <class Run, class Program>
void run_whole_samples(const Run& run, const LevelSetup<Program>& setup) {
  run_batches(SampleBatches<Program>(setup, expected_edges(run.options), run.instances(), run.sink),
              run.range, run.options.progress, run.stats);
}

}  // namespace sluice::samples::cuda
