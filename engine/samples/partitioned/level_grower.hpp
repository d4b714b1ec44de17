// Grows batches of samples on a graph in partitions: the rank that owns the list of a frontier entry expands
// the entry when the list is resident. All instances of a batch advance together.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/clock.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/grow_levels.hpp"
#include "engine/samples/partitioned/level_ranks.hpp"
#include "engine/samples/partitioned/level_selector.hpp"
#include "engine/samples/partitioned/setup.hpp"
#include "engine/samples/store.hpp"

namespace sluice::samples {

template <class Levels>
class LevelGrower {
 public:
  LevelGrower(const LevelSetup<typename Levels::Program>& setup, PartitionCache& cache)
      : ranks_(setup.graph.paging.shard),
        has_sink_(setup.has_sink),
        stats_(setup.stats),
        levels_(setup, cache),
        selector_(setup.graph.device, levels_, cache, setup.graph.peers != nullptr) {
    if (ranks_) owners_.emplace(*ranks_, setup.link, setup.graph.device, levels_, selector_, cache, stats_);
  }

  /// Grows instances [first, first + count); all ranks call it together if they shard the graph. Throws
  /// BudgetError on all of them if the results do not fit on their way to the sink.
  void grow(Instance first, std::uint64_t count) {
    const double start = seconds_now();
    if (owners_) owners_->begin({first, count});
    agree_on_memory(ranks_, [&] { levels_.begin(first, count); });
    grow_levels(levels_, ranks_, [&](std::uint32_t depth) { select(depth, first); });
    stats_.sampled_edges += levels_.edges();
    levels_.finish();
    stats_.compute_seconds += seconds_now() - start;
    if (has_sink_) agree_on_memory(ranks_, [&] { levels_.collect(first, count); });
  }

  void emit(Instance first, std::uint64_t count, SampleSink& sink, BatchWriter& writer) {
    levels_.write_results(first, count, sink, writer);
  }

  std::uint64_t bytes() const {
    return levels_.bytes() + selector_.bytes() + (owners_ ? owners_->bytes() : 0);
  }

 private:
  void select(std::uint32_t depth, Instance first) {
    SampleLevel& level = levels_.level();
    if (owners_) {
      owners_->select(level, depth);
    } else {
      selector_.select(level, depth, {{first, 0, level.entries}});
    }
    levels_.finish_level();
  }

  Communicator* ranks_;
  bool has_sink_;
  RunStats& stats_;
  Levels levels_;
  LevelSelector<Levels> selector_;
  std::optional<LevelRanks<Levels>> owners_;
};

}  // namespace sluice::samples
