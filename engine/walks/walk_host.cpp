#include "engine/walks/walk_host.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "engine/batch/run_batches.hpp"
#include "engine/batch/sink.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/options.hpp"

namespace sluice::walks::host {

void run_walk_batches(ResidentGraph::Impl& graph, const WalkBlock& walk, const Options& options,
                      Instance begin, Instance end, WalkSink* sink, RunStats& stats) {
  const std::uint64_t row = std::uint64_t{options.length} + 1, row_bytes = row * sizeof(Vertex);
  const std::uint64_t fit = std::max<std::uint64_t>(graph.device.memory().available() / (2 * row_bytes), 1);
  const std::uint64_t most = std::min(std::max(kBatchBytes / row_bytes, kWalksPerBlock), end - begin),
                      batch = graph.device.plans() ? 1 : std::min(most, fit);
  std::array<Buffer<Vertex>, 2> rows;
  for (auto& buffer : rows) buffer = Buffer<Vertex>(graph.device, batch * row, "a batch of walks");
  if (graph.device.plans()) return;
  std::atomic<std::uint64_t> steps{0}, rounds{0};
  const auto run = [&](Instance first, std::uint64_t count, BatchWriter& writer) {
    Vertex* const out = rows[stats.batches % 2].data();
    const double start = seconds_now();
    const std::uint64_t grain =
        std::clamp<std::uint64_t>(count / (8 * graph.device.threads()), 64, kWalksPerBlock);
    parallel_blocks(graph.device.threads(), count, grain,
                    [&](std::uint64_t from, std::uint64_t to, unsigned) {
                      const WalkCounters done = walk(first, from, to, out);
                      steps += done.steps, rounds += done.rounds;
                    });
    stats.compute_seconds += seconds_now() - start;
    if (!sink) return;
    writer.submit([=, &options] { sink->write({first, count, options.length, {out, count * row}, {}, {}}); });
  };
  run_batches(EvenBatches{batch, run}, {begin, end}, options.progress, stats);
  stats.steps += steps, stats.selections += steps, stats.selection_iterations += rounds;
}

}  // namespace sluice::walks::host
