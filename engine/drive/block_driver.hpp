// The host's driver of samples: blocks of instances on all threads, waves of blocks, results in order to the
// sink while the next wave runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/drive/sample_store.hpp"
#include "engine/drive/wave_writer.hpp"
#include "engine/exec/threads.hpp"
#include "engine/residency/resident_graph.hpp"

namespace sluice::host {

struct BlockCounters {
  std::uint64_t selections = 0, iterations = 0, searches = 0;
};

/// Calls grow(thread, instance, store, counters) for every instance of [begin, end), in order within a block.
template <class Grow>
void drive_blocks(const Device& device, const RunOptions& options, Instance begin, Instance end,
                  SampleSink* sink, RunStats& stats, Grow&& grow) {
  constexpr std::uint64_t kInstancesPerBlock = 64;
  constexpr std::uint64_t kWaveBytes = 64u << 20;  // of results; what an instance makes is learned on the way
  std::uint64_t blocks = std::uint64_t{4} * device.threads();
  using Wave = std::vector<SampleStore>;
  WaveWriter writer;
  for (Instance first = begin; first < end; ++stats.waves) {
    const Instance last = std::min<Instance>(end, first + blocks * kInstancesPerBlock);
    const auto wave = std::make_shared<Wave>((last - first + kInstancesPerBlock - 1) / kInstancesPerBlock);
    std::vector<BlockCounters> counters(device.threads());
    const double start = seconds_now();
    parallel_blocks(device.threads(), last - first, kInstancesPerBlock,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      SampleStore& store = (*wave)[from / kInstancesPerBlock];
                      store.first = first + from;
                      for (Instance i = first + from; i < first + to; ++i)
                        grow(thread, i, store, counters[thread]);
                    });
    const double computed = seconds_now();
    stats.compute_seconds += computed - start;
    std::uint64_t bytes = 0;
    for (const SampleStore& store : *wave) bytes += store.bytes(), stats.sampled_edges += store.edge.size();
    for (const BlockCounters& c : counters) {
      stats.selections += c.selections, stats.selection_iterations += c.iterations;
      stats.collision_searches += c.searches;
    }
    if (sink) {
      writer.submit([wave, sink] {
        for (const SampleStore& store : *wave) sink->write(store.batch());
      });
    }
    stats.write_seconds += seconds_now() - computed;
    if (bytes < kWaveBytes / 2) blocks = std::min<std::uint64_t>(blocks * 2, 1u << 16);
    if (bytes > kWaveBytes) blocks = std::max<std::uint64_t>(blocks / 2, 1);
    first = last;
    if (options.progress) options.progress(last - begin, end - begin);
  }
  const double waiting = seconds_now();
  writer.finish();
  stats.write_seconds += seconds_now() - waiting;
}

}  // namespace sluice::host
