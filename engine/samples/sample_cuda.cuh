// The GPU's driver of traversal-based samples: wave after wave, each as large as the memory allows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/batch_grower.cuh"
#include "engine/samples/collect.hpp"
#include "engine/samples/level.hpp"
#include "engine/samples/options.hpp"
#include "engine/samples/store.hpp"

namespace sluice::cuda {

/// Drives waves over the whole range. A wave that does not fit is halved and grown again: its samples do not
/// depend on the wave.
template <class Program>
void drive_samples(ResidentGraph::Impl& graph, const Program& program, const StartsView& starts, bool revisit,
                   const SampleOptions& options, Instance begin, Instance end, SampleSink* sink,
                   RunStats& stats) {
  if (!graph.workspace) graph.workspace = std::make_shared<SampleWorkspace>();
  SampleWorkspace& memory = *std::static_pointer_cast<SampleWorkspace>(graph.workspace);
  std::optional<WaveGrower<Program>> grower;
  WaveSizer sizer(graph.device.memory().available() + memory.bytes(), expected_edges(options),
                  sink != nullptr, end - begin);
  WaveWriter writer;
  for (Instance first = begin; first < end;) {
    const std::uint64_t count = std::min<std::uint64_t>(sizer.wave(), end - first);
    const RunStats before = stats;
    const auto store = std::make_shared<SampleStore>();
    try {
      if (!grower) {
        grower.emplace(graph, memory, program, starts, revisit, stats);
        grower->linear_asked = options.collision == Collision::linear;
      }
      grower->grow(first, count);
      if (sink)
        collect_samples(graph, memory, grower->depths(), grower->seeds(), first, count, *store, stats);
    } catch (const BudgetError&) {
      if (count == 1) throw;
      stats = before;
      grower.reset();
      memory = SampleWorkspace();
      sizer.halve();
      continue;
    }
    const double waiting = seconds_now();
    if (sink) writer.submit([store, sink] { sink->write(store->batch()); });
    stats.write_seconds += seconds_now() - waiting;
    ++stats.waves;
    first += count;
    sizer.learn();
    if (options.progress) options.progress(first - begin, end - begin);
  }
  const double waiting = seconds_now();
  writer.finish();
  stats.write_seconds += seconds_now() - waiting;
}

}  // namespace sluice::cuda
