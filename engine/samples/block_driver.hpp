// The host's driver of samples: blocks of instances on all threads, waves of blocks, results in order to the
// sink while the next wave runs. A wave that does not fit the host's memory is made again in smaller ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/options.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/store.hpp"

namespace sluice::host {

struct BlockCounters {
  std::uint64_t selections = 0, iterations = 0, searches = 0;
};

/// Calls grow(thread, instance, store, counters) for every instance of [begin, end), in order within a block.
template <class Grow>
void drive_blocks(const Device& device, const RunOptions& options, Instance begin, Instance end,
                  SampleSink* sink, RunStats& stats, Grow&& grow) {
  constexpr std::uint64_t kMostInBlock = 64, kMostInWave = kMostInBlock << 16;
  constexpr std::uint64_t kWaveBytes = 64u << 20;  // of results; what an instance makes is learned on the way
  // One wave leaves while the next is made, in vectors that grow by doubling.
  const std::uint64_t wave_bytes = std::min(kWaveBytes, host_accountant().available() / 8);
  const std::uint64_t blocks = std::uint64_t{4} * device.threads();
  std::uint64_t instances = blocks * kMostInBlock;
  using Wave = std::vector<SampleStore>;
  WaveWriter writer;
  for (Instance first = begin; first < end;) {
    const Instance last = std::min<Instance>(end, first + instances);
    const std::uint64_t block = std::clamp<std::uint64_t>((last - first) / blocks, 1, kMostInBlock);
    const auto wave = std::make_shared<Wave>((last - first + block - 1) / block);
    std::vector<BlockCounters> counters(device.threads());
    const double start = seconds_now();
    try {
      parallel_blocks(device.threads(), last - first, block,
                      [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                        SampleStore& store = (*wave)[from / block];
                        store.first = first + from;
                        for (Instance i = first + from; i < first + to; ++i)
                          grow(thread, i, store, counters[thread]);
                      });
    } catch (const BudgetError&) {
      if (last - first == 1 && writer.idle()) throw;
      writer.finish();
      instances = (last - first + 1) / 2;
      continue;
    }
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
    if (bytes < wave_bytes / 2) instances = std::min(instances * 2, kMostInWave);
    if (bytes > wave_bytes) instances = std::max<std::uint64_t>(instances / 2, 1);
    first = last;
    ++stats.waves;
    if (options.progress) options.progress(last - begin, end - begin);
  }
  const double waiting = seconds_now();
  writer.finish();
  stats.write_seconds += seconds_now() - waiting;
}

}  // namespace sluice::host
