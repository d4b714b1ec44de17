#include "engine/walks/walk_host.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "engine/batch/run_batches.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::walks::host {

void run_walk_batches(const InstanceRun<WalkSink, Options>& run, const WalkBlock& walk) {
  const Device& device = run.graph.device;
  RunStats& stats = run.stats;
  const std::uint64_t row = std::uint64_t{run.options.length} + 1, row_bytes = row * sizeof(Vertex);
  const std::uint64_t fit = std::max<std::uint64_t>(device.memory().available() / (2 * row_bytes), 1);
  const std::uint64_t max_batch =
                          std::min(std::max(kBatchBytes / row_bytes, kWalksPerBlock), run.instances()),
                      batch = device.is_planning() ? 1 : std::min(max_batch, fit);
  std::array<Buffer<Vertex>, 2> rows;
  for (auto& buffer : rows) buffer = Buffer<Vertex>(device, batch * row, "a batch of walks");
  if (device.is_planning()) return;
  std::atomic<std::uint64_t> steps{0}, rounds{0};
  const auto compute = [&](Instance first, std::uint64_t count, BatchWriter& writer) {
    Vertex* const out = rows[stats.batches % 2].data();
    const double start = seconds_now();
    const std::uint64_t grain = std::clamp<std::uint64_t>(count / (8 * device.threads()), 64, kWalksPerBlock);
    parallel_blocks(device.threads(), count, grain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      const WalkTotals totals = walk(first, begin, end, out);
      steps += totals.steps, rounds += totals.rounds;
    });
    stats.compute_seconds += seconds_now() - start;
    if (!run.sink) return;
    writer.submit([=, &run] {
      run.sink->write({first, count, run.options.length, {out, count * row}, {}, {}});
    });
  };
  run_batches(EqualBatches{batch, compute}, run.range, run.options.progress, stats);
  WalkTotals{steps, rounds}.add_to(stats);
}

}  // namespace sluice::walks::host
