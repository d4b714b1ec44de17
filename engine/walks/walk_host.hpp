// The host's driver of walks: each thread keeps a ring of walks in flight and prefetches for all of them,
// since one walk alone spends its time waiting for memory (step interleaving; Sun et al., ThunderRW, VLDB'21,
// section 4.2).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/batch/sink.hpp"
#include "engine/batch/starts_view.hpp"
#include "engine/core/function_ref.hpp"
#include "engine/exec/group.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/options.hpp"
#include "engine/walks/step.hpp"

namespace sluice::host {

inline constexpr std::size_t kInterleavedWalks = 64;     ///< enough to cover a memory access of some 100 ns
inline constexpr std::uint64_t kWalksPerBlock = 4096;    ///< what a thread claims at a time
inline constexpr std::uint64_t kBatchBytes = 64u << 20;  ///< of results, written while the next batch runs

struct WalkCounters {
  std::uint64_t steps = 0, rounds = 0;
};

/// Walks [begin, end) of a batch whose first instance is `first`; row i of `rows` is instance first + i.
template <class Program>
WalkCounters walk_block(const Program& program, const StartsView& starts, Instance first, std::uint64_t begin,
                        std::uint64_t end, std::uint32_t length, Vertex* rows) {
  struct Lane {
    Walker walker;
    Proposal proposal;
    Vertex* row;
  };
  std::array<Lane, kInterleavedWalks> lanes;
  std::size_t active = 0;
  std::uint64_t next = begin;
  WalkCounters counters;
  const auto admit = [&](Lane& lane) {
    lane.walker = Walker{};
    lane.walker.instance = first + next;
    lane.walker.start = lane.walker.current = starts.start(first + next);
    lane.walker.row = program.graph.row(lane.walker.start);
    lane.row = rows + next++ * (std::uint64_t{length} + 1);
    lane.row[0] = lane.walker.start;
    program.propose(lane.walker, lane.proposal);
  };
  if (length == 0) {
    for (; next < end; ++next) rows[next] = starts.start(first + next);
    return counters;
  }
  while (active < lanes.size() && next < end) admit(lanes[active++]);
  while (active > 0) {
    for (std::size_t i = 0; i < active;) {
      Lane& lane = lanes[i];
      ++counters.rounds;
      Round round = program.settle(lane.walker, lane.proposal);
      if constexpr (Program::kScans) {
        if (round == Round::scan) round = program.transform_list(SingleLane{}, lane.walker);
      }
      const std::uint32_t step = lane.walker.step;
      if (round == Round::moved) lane.row[step] = lane.walker.current;
      if (round == Round::ended || step == length) {
        std::fill(lane.row + step + 1, lane.row + length + 1, kNoVertex);
        counters.steps += step;
        if (next == end) {
          lane = lanes[--active];
          continue;
        }
        admit(lane);
      } else {
        program.propose(lane.walker, lane.proposal);
      }
      ++i;
    }
  }
  return counters;
}

/// Walks [from, to) of the batch whose first instance is `first`, into its rows.
using WalkBlock =
    FunctionRef<WalkCounters(Instance first, std::uint64_t from, std::uint64_t to, Vertex* rows)>;

/// Drives batches of walks over the whole range and streams them to the sink.
void drive_walk_batches(ResidentGraph::Impl& graph, const WalkBlock& walk, const WalkOptions& options,
                        Instance begin, Instance end, WalkSink* sink, RunStats& stats);

template <class Program>
void drive_walks(ResidentGraph::Impl& graph, const Program& program, StartsView starts,
                 const WalkOptions& options, Instance begin, Instance end, WalkSink* sink, RunStats& stats) {
  const auto walk = [&](Instance first, std::uint64_t from, std::uint64_t to, Vertex* rows) {
    return walk_block(program, starts, first, from, to, options.length, rows);
  };
  drive_walk_batches(graph, walk, options, begin, end, sink, stats);
}

}  // namespace sluice::host
