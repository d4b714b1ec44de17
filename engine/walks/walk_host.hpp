// Walks on a whole graph on the host: batches of rows, blocks of which threads claim.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/batch/instance_run.hpp"
#include "engine/batch/starts_view.hpp"
#include "engine/core/function_ref.hpp"
#include "engine/walks/advance.hpp"
#include "engine/walks/options.hpp"
#include "engine/walks/whole.hpp"

namespace sluice::walks::host {

inline constexpr std::uint64_t kWalksPerBlock = 4096;    ///< what a thread claims at a time
inline constexpr std::uint64_t kBatchBytes = 64u << 20;  ///< of results, written while the next batch runs

/// Walks [begin, end) of a batch whose first instance is `first`; row i of `rows` is instance first + i.
template <class Program>
WalkTotals walk_block(const WalksOn<Program, Whole>& walks, const StartsView& starts, Instance first,
                      std::uint64_t begin, std::uint64_t end, Vertex* rows) {
  const std::uint64_t row = std::uint64_t{walks.until} + 1;
  if (walks.until == 0) {
    for (std::uint64_t i = begin; i < end; ++i) rows[i] = starts.start(first + i);
    return {};
  }
  WalkTotals counters;
  using Lane = WalkLane<WalksOn<Program, Whole>>;
  const auto take = [&](Lane& lane) {
    lane.walker = Walker{};
    lane.walker.instance = first + lane.item;
    lane.walker.start = lane.walker.current = starts.start(first + lane.item);
    lane.walker.row = walks.program.graph.row(lane.walker.start);
    lane.path = rows + lane.item * row;
    lane.path[0] = lane.walker.start;
  };
  const auto leave = [&](const Lane& lane) {
    std::fill(lane.path + lane.walker.step + 1, lane.path + row, kNoVertex);
    counters.steps += lane.walker.step;
  };
  counters.rounds = advance(walks, begin, end, take, leave);
  return counters;
}

/// Walks [from, to) of the batch whose first instance is `first`, into its rows.
using WalkBlock = FunctionRef<WalkTotals(Instance first, std::uint64_t from, std::uint64_t to, Vertex* rows)>;

/// Runs batches of walks over the whole range and streams them to the sink.
void run_walk_batches(const InstanceRun<WalkSink, Options>& run, const WalkBlock& walk);

template <class Program>
void run_whole_walks(const InstanceRun<WalkSink, Options>& run, const Program& program, StartsView starts) {
  const WalksOn<Program, Whole> walks{{}, program, run.options.length};
  const auto walk = [&](Instance first, std::uint64_t from, std::uint64_t to, Vertex* rows) {
    return walk_block(walks, starts, first, from, to, rows);
  };
  run_walk_batches(run, walk);
}

}  // namespace sluice::walks::host
