#include <array>

#include "engine/batch/run_batches.hpp"
#include "engine/exec/stream.cuh"
#include "engine/walks/transpose.hpp"
#include "engine/walks/walk_cuda.cuh"

namespace sluice::walks::cuda {

WalkTotals totals_of(const Device& device, const Buffer<WalkCounters>& counters) {
  std::array<WalkCounters, kWalkCounterSlots> slots;
  copy_to_host(device, slots.data(), counters.data(), sizeof slots);
  WalkTotals sum;
  for (const WalkCounters& slot : slots)
    sum.steps += slot.steps, sum.rounds += slot.rounds, sum.in_place_bytes += slot.in_place_bytes;
  return sum;
}

void run_walk_batches(const InstanceRun<WalkSink, Options>& run, const LaunchWalks& launch) {
  const Device& device = run.graph.device;
  RunStats& stats = run.stats;
  const std::uint64_t row = std::uint64_t{run.options.length} + 1, row_bytes = row * sizeof(Vertex);
  const BatchPlan plan = plan_batches(device, row_bytes, run.instances(), run.sink != nullptr);
  if (device.is_planning()) return;
  Buffer<Vertex> paths(device, plan.pitch * row, "a batch of walks");
  ResultCopier lane(device, run.sink ? plan.batch * row : 0);
  Buffer<WalkCounters> counters(device, kWalkCounterSlots, "counters");
  Stream compute;
  check(cudaMemsetAsync(counters.data(), 0, counters.bytes(), compute.get()), "clearing counters");
  Timer timer;
  const auto make = [&](Instance first, std::uint64_t count, BatchWriter& writer) {
    timer.start(compute);
    launch(first, count, plan.pitch, paths.data(), counters.data(), compute.get());
    timer.stop(compute);
    ++stats.kernel_launches;
    if (run.sink) {
      const Vertex* out = lane.collect(compute, paths.data(), count, plan.pitch, row, stats);
      writer.submit([=, &run] {
        run.sink->write({first, count, run.options.length, {out, count * row}, {}, {}});
      });
    }
    compute.wait("walks");
    stats.compute_seconds += timer.seconds();
  };
  run_batches(EqualBatches{plan.batch, make}, run.range, run.options.progress, stats);
  totals_of(device, counters).add_to(stats);
}

}  // namespace sluice::walks::cuda
