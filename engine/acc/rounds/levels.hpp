// Aggregations, level by level. Over ranks a round ends where none has a vertex left at the level at work:
// until then each works on without the others.
#pragma once

#include <utility>

#include "engine/acc/rounds/frontier_rounds.hpp"

namespace sluice::acc {

template <AggregationProgram Program, Executor E, Residency R>
class Levels {
 public:
  Levels(const AccGraph& graph, const Program& program, const AccOptions& options)
      : rounds_(graph, program, options), last_level_(last_level(program)) {}

  void run(AccStats& stats) {
    rounds_.start();
    Communicator& ranks = rounds_.rows().ranks();
    AccRound at;
    for (std::uint64_t least = 0;; least += rounds_.bins()) {
      std::uint64_t lowest[] = {rounds_.lowest(least)};
      ranks.all_reduce(lowest, Reduce::min, "the lowest level");
      if (lowest[0] > last_level_) break;
      rounds_.open(least = lowest[0]);
      bool refilled = true;
      for (std::uint64_t bin = 0, last = rounds_.bins(); bin < rounds_.bins();) {
        at.level = least + bin;
        ++at.round;
        const RoundWork all = rounds_.end(rounds_.round(at, bin), at);
        // What went to other ranks may have changed nothing there.
        if (all.active > 0) {
          stats.add({.level = at.level,
                     .pull = rounds_.pulled(),
                     .refilled = std::exchange(refilled, false) || rounds_.balloted(),
                     .active = all.active,
                     .edges = all.edges});
          stats.levels += std::exchange(last, bin) != bin;
        }
        bin = all.next;
      }
    }
  }
  /// Makes all states true on all ranks. All ranks call it.
  void finish(AccStats& stats) { rounds_.finish(stats); }

  void plan(AccStats& stats) const { rounds_.plan(stats); }
  const auto* states() const { return rounds_.states(); }

 private:
  FrontierRounds<Program, E, R> rounds_;
  std::uint64_t last_level_;
};

}  // namespace sluice::acc
