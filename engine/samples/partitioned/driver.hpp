// The driver of traversal-based samples on a graph in partitions: wave after wave, each depth of a wave as
// its partitions come. Once for both backends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/options.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/page_loop.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice {

/// `Grower` grows one wave at a time:
///   Grower(make, loop)       what it works with, and its partitions
///   grow(first, count)       throws BudgetError where the wave does not fit, on all ranks or on none
///   emit(first, count, sink, writer)
///   bytes()                  device memory that its waves have taken
/// A wave that does not fit is grown again with less of the memory for slots: samples do not depend on it.
template <class Grower, class Make>
void drive_paged_samples(ResidentGraph::Impl& graph, const PageRequest& pages, const Make& make,
                         std::uint64_t bytes_per_instance, std::uint32_t depths, const RunOptions& options,
                         Instance begin, Instance end, SampleSink* sink, RunStats& stats) {
  Communicator* const ranks = graph.paging.shard;
  if constexpr (requires { Grower::kOneAfterAnother; }) {
    if (graph.paging.balance != Balance::automatic)
      throw UsageError("--balance: on a GPU samples work on one partition after another; leave it out");
  }
  std::optional<PageLoop> loop;
  std::optional<Grower> grower;
  WaveWriter writer;
  std::uint64_t wave = 0;
  bool failed = false;
  for (Instance first = begin; any_left(ranks, end - first, "the ranks' samples");) {
    const RunStats before = stats;
    const std::uint64_t submitted = writer.submitted();
    std::uint64_t count = 0;
    bool grown = false;
    try {
      if (!loop) {
        loop.emplace(graph, pages,
                     plan_shard(ranks, graph.device, graph.graph, graph.paging, pages.columns,
                                bytes_per_instance, end - first, depths),
                     PageUse{.picks = 8}, stats);
        together(ranks, [&] { grower.emplace(make, *loop); });
        wave = loop->plan().wave;
      }
      count = std::min<std::uint64_t>(wave, end - first);
      grower->grow(first, count);
      grown = true;
      if (sink && count > 0) grower->emit(first, count, *sink, writer);
    } catch (const BudgetError&) {
      // Not even the plan fits, or results have begun to leave, or other ranks have gone on.
      if (!loop || writer.submitted() != submitted || (ranks && grown)) throw;
      writer.finish();
      stats = before;
      grower.reset(), loop.reset();
      bytes_per_instance *= 2;
      failed = true;
      continue;
    }
    loop->count();
    ++stats.waves;
    first += count;
    // What an instance takes is a guess at first.
    const std::uint64_t room = graph.device.memory().available() + grower->bytes();
    if (!failed && grower->bytes() <= room / 4) wave *= 2;
    if (options.progress && count > 0) options.progress(first - begin, end - begin);
  }
  const double waiting = seconds_now();
  writer.finish();
  stats.write_seconds += seconds_now() - waiting;
}

}  // namespace sluice
