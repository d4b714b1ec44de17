// The GPU's batches of traversal-based samples, each as large as the memory allows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/batch_grower.cuh"
#include "engine/samples/collect.hpp"
#include "engine/samples/level.hpp"
#include "engine/samples/options.hpp"
#include "engine/samples/store.hpp"

namespace sluice::samples::cuda {

/// A job of run_batches: batches as large as the memory allows.
template <class Program>
class SampleBatches {
 public:
  SampleBatches(ResidentGraph::Impl& graph, const Program& program, const StartsView& starts,
                const Options& options, std::uint64_t instances, SampleSink* sink, RunStats& stats)
      : graph_(graph),
        memory_(workspace(graph)),
        program_(program),
        starts_(starts),
        options_(options),
        sink_(sink),
        stats_(stats),
        sizer_(graph.device.memory().available() + memory_.bytes(), expected_edges(options), sink != nullptr,
               instances) {}

  std::uint64_t next(std::uint64_t) const { return sizer_.batch(); }

  void run(Instance first, std::uint64_t count, BatchWriter& writer) {
    if (!grower_) {  // the first time, or memory was short
      stores_ = {};
      grower_.emplace(graph_, memory_, stream_, program_, starts_, options_.revisit,
                      options_.collision == Collision::linear, stats_);
    }
    grower_->grow(first, count);
    if (!sink_) return;
    // The batch before the last one has left, and its memory need not be brought in once more.
    SampleStore& store = stores_[turn_++ % 2];
    collect_samples(graph_, memory_, grower_->depths(), grower_->seeds(), first, count, store, stats_);
    staged_ = store.bytes();
    writer.submit([&store, sink = sink_] { sink->write(store.batch()); });
  }

  bool smaller(std::uint64_t count, const BatchWriter&) {
    if (count == 1) return false;
    grower_.reset();
    memory_ = SampleWorkspace();
    sizer_.halve();
    return true;
  }

  void ran(std::uint64_t) { sizer_.learn(staged_); }

 private:
  static SampleWorkspace& workspace(ResidentGraph::Impl& graph) {
    if (!graph.workspace) graph.workspace = std::make_shared<SampleWorkspace>();
    return *std::static_pointer_cast<SampleWorkspace>(graph.workspace);
  }

  ResidentGraph::Impl& graph_;
  SampleWorkspace& memory_;
  const Program& program_;
  const StartsView& starts_;
  const Options& options_;
  SampleSink* sink_;
  RunStats& stats_;
  Stream stream_;
  std::optional<BatchGrower<Program>> grower_;
  BatchSizer sizer_;
  std::array<SampleStore, 2> stores_;  ///< results that leave, in turns
  unsigned turn_ = 0;
  std::uint64_t staged_ = 0;  ///< bytes of the last batch's results
};

template <class Program>
void run_whole_samples(ResidentGraph::Impl& graph, const Program& program, const StartsView& starts,
                       const Options& options, Instance begin, Instance end, SampleSink* sink,
                       RunStats& stats) {
  SampleBatches job(graph, program, starts, options, end - begin, sink, stats);
  run_batches(job, {begin, end}, options.progress, stats);
}

}  // namespace sluice::samples::cuda
