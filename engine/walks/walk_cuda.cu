#include <algorithm>
#include <array>

#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/exec/stream.cuh"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/options.hpp"
#include "engine/walks/transpose.hpp"
#include "engine/walks/walk_cuda.cuh"

namespace sluice::walks::cuda {

void run_walk_batches(ResidentGraph::Impl& graph, const LaunchWalks& launch, const Options& options,
                      Instance begin, Instance end, WalkSink* sink, RunStats& stats) {
  const std::uint64_t row = std::uint64_t{options.length} + 1, row_bytes = row * sizeof(Vertex);
  const BatchPlan plan = plan_batches(graph.device, row_bytes, end - begin, sink != nullptr);
  if (graph.device.plans()) return;
  Buffer<Vertex> paths(graph.device, plan.pitch * row, "a batch of walks");
  ResultLane lane(graph.device, sink ? plan.batch * row : 0);
  Buffer<WalkCounters> counters(graph.device, kWalkCounterSlots, "counters");
  Stream compute;
  check(cudaMemsetAsync(counters.data(), 0, counters.bytes(), compute.get()), "clearing counters");
  Timer timer;
  const auto run = [&](Instance first, std::uint64_t count, BatchWriter& writer) {
    timer.start(compute);
    launch(first, count, plan.pitch, paths.data(), counters.data(), compute.get());
    timer.stop(compute);
    ++stats.kernel_launches;
    if (sink) {
      const Vertex* out = lane.collect(compute, paths.data(), count, plan.pitch, row, stats);
      writer.submit([=, &options] {
        sink->write({first, count, options.length, {out, count * row}, {}, {}});
      });
    }
    compute.wait("walks");
    stats.compute_seconds += timer.seconds();
  };
  run_batches(EvenBatches{plan.batch, run}, {begin, end}, options.progress, stats);
  std::array<WalkCounters, kWalkCounterSlots> done;
  copy_to_host(graph.device, done.data(), counters.data(), sizeof done);
  for (const WalkCounters& slot : done) {
    stats.steps += slot.steps, stats.selections += slot.steps, stats.selection_iterations += slot.rounds;
  }
}

}  // namespace sluice::walks::cuda
