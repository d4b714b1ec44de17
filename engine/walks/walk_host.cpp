#include "engine/walks/walk_host.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/sink.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/options.hpp"

namespace sluice::host {

void drive_walk_waves(ResidentGraph::Impl& graph, const WalkBlock& walk, const WalkOptions& options,
                      Instance begin, Instance end, WalkSink* sink, RunStats& stats) {
  const std::uint64_t row = std::uint64_t{options.length} + 1, row_bytes = row * sizeof(Vertex);
  const std::uint64_t room = std::max<std::uint64_t>(graph.device.memory().available() / (2 * row_bytes), 1);
  const std::uint64_t wave = std::min({std::max(kWaveBytes / row_bytes, kWalksPerBlock), end - begin, room});
  std::array<Buffer<Vertex>, 2> rows;
  for (auto& buffer : rows) buffer = Buffer<Vertex>(graph.device, wave * row, "a wave of walks");
  WaveWriter writer;
  std::atomic<std::uint64_t> steps{0}, rounds{0};
  for (Instance first = begin; first < end; first += wave, ++stats.waves) {
    const std::uint64_t count = std::min<std::uint64_t>(wave, end - first);
    Vertex* out = rows[stats.waves % 2].data();
    const double start = seconds_now();
    const std::uint64_t grain =
        std::clamp<std::uint64_t>(count / (8 * graph.device.threads()), 64, kWalksPerBlock);
    parallel_blocks(graph.device.threads(), count, grain,
                    [&](std::uint64_t from, std::uint64_t to, unsigned) {
                      const WalkCounters done = walk(first, from, to, out);
                      steps += done.steps, rounds += done.rounds;
                    });
    const double computed = seconds_now();
    stats.compute_seconds += computed - start;
    if (sink) {
      writer.submit([=, &options] {
        sink->write({first, count, options.length, {out, count * row}, {}, {}});
      });
    }
    stats.write_seconds += seconds_now() - computed;
    if (options.progress) options.progress(first + count - begin, end - begin);
  }
  const double waiting = seconds_now();
  writer.finish();
  stats.write_seconds += seconds_now() - waiting;
  stats.steps += steps, stats.selections += steps, stats.selection_iterations += rounds;
}

}  // namespace sluice::host
