// Walks on a whole graph on the host: threads claim blocks of the rows of a batch.
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

inline constexpr std::uint64_t kWalksPerBlock = 4096;    ///< walks that a thread claims at a time
inline constexpr std::uint64_t kBatchBytes = 64u << 20;  ///< of results, written while the next batch runs

/// Walks whose questions do not stall on memory: the first attempt prefetches the edge set's bucket and
/// returns Answer::unknown; the round goes on at the walk's next turn.
template <class Program>
struct PrefetchingWalks : WalksOn<Program, Whole> {
  using Base = WalksOn<Program, Whole>;
  struct StepState : Base::StepState {
    bool prefetched = false;
  };

  Round settle(Walker& walker, StepState& state, Proposal& proposal) const {
    return this->program.settle(walker, proposal, PrefetchingAnswers{*this, state.prefetched});
  }

 private:
  struct PrefetchingAnswers {
    const Whole& lists;
    bool& prefetched;

    Answer has_edge(const GraphView& graph, Vertex u, Vertex v) const {
      prefetched = !prefetched && lists.set.size > 0;
      if (!prefetched) return lists.has_edge(graph, u, v);
      prefetch(lists.set.bucket(u, v));
      return Answer::unknown;
    }
  };
};

/// Computes walks [begin, end) of the batch from instance `first` on; row i of `rows` is instance first + i.
template <class Program>
WalkTotals walk_block(const PrefetchingWalks<Program>& walks, const StartsView& starts, Instance first,
                      std::uint64_t begin, std::uint64_t end, Vertex* rows) {
  const std::uint64_t row = std::uint64_t{walks.leg_end} + 1;
  if (walks.leg_end == 0) {
    for (std::uint64_t i = begin; i < end; ++i) rows[i] = starts.start(first + i);
    return {};
  }
  WalkTotals counters;
  using Lane = WalkLane<PrefetchingWalks<Program>>;
  const auto load = [&](Lane& lane) {
    lane.walker = Walker{};
    lane.walker.instance = first + lane.item;
    lane.walker.start = lane.walker.current = starts.start(first + lane.item);
    lane.walker.row = walks.program.graph.row(lane.walker.start);
    lane.path = rows + lane.item * row;
    lane.path[0] = lane.walker.start;
  };
  const auto retire = [&](const Lane& lane) {
    std::fill(lane.path + lane.walker.step + 1, lane.path + row, kNoVertex);
    counters.steps += lane.walker.step;
  };
  counters.rounds = advance(walks, begin, end, load, retire);
  return counters;
}

/// Computes walks [begin, end) of the batch whose first instance is `first`, and writes their rows.
using WalkBlock =
    FunctionRef<WalkTotals(Instance first, std::uint64_t begin, std::uint64_t end, Vertex* rows)>;

/// Runs batches of walks over the whole range and streams them to the sink.
void run_walk_batches(const InstanceRun<WalkSink, Options>& run, const WalkBlock& walk);

template <class Program>
void run_whole_walks(const InstanceRun<WalkSink, Options>& run, const Program& program, StartsView starts,
                     const EdgeSet& set) {
  const PrefetchingWalks<Program> walks{{{set}, program, run.options.length}};
  const auto walk = [&](Instance first, std::uint64_t begin, std::uint64_t end, Vertex* rows) {
    return walk_block(walks, starts, first, begin, end, rows);
  };
  run_walk_batches(run, walk);
}

}  // namespace sluice::walks::host
