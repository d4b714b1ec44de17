// Votes: rounds that push or pull (vote_direction.hpp).
#pragma once

#include "engine/acc/rounds/frontier_rounds.hpp"
#include "engine/acc/vote_direction.hpp"

namespace sluice::acc {

template <VoteProgram Program, Executor E, Residency R>
class Vote {
 public:
  Vote(const AccGraph& graph, const Program& program, const AccOptions& options)
      : graph_(graph), options_(options), rounds_(graph, program, options) {}

  void run(AccStats& stats) {
    rounds_.start();
    const RankPart& rows = rounds_.rows();
    VoteDirection direction(rows, options_.direction, rounds_.can_pull(), graph_.vertices(), graph_.edges(),
                            rounds_.front());
    AccRound at{1, 0};
    for (RoundWork all{.next = 0}; all.next != RoundWork::kNothing; ++at.round) {
      const bool pulls = direction.pulls();
      all = rounds_.end(pulls ? rounds_.pull(at) : rounds_.push(at), at);
      direction.choose(all, rounds_.front());
      // What went to other ranks may have found all vertices settled there.
      if (all.active > 0)
        stats.add({.pull = pulls, .refilled = rounds_.balloted(), .active = all.active, .edges = all.edges});
    }
  }
  /// Makes all states true on all ranks. All ranks call it.
  void finish(AccStats& stats) { rounds_.finish(stats); }

  void plan(AccStats& stats) const { rounds_.plan(stats); }
  const auto* states() const { return rounds_.states(); }

 private:
  const AccGraph& graph_;
  AccOptions options_;
  FrontierRounds<Program, E, R> rounds_;
};

}  // namespace sluice::acc
