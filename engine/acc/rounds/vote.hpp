// Votes: rounds that push or pull (vote_direction.hpp).
#pragma once

#include "engine/acc/rounds/frontier_rounds.hpp"
#include "engine/acc/vote_direction.hpp"

namespace sluice::acc {

template <VoteProgram Program, Traverser E, Residency R>
class Vote : public FrontierRounds<Program, E, R> {
 public:
  Vote(const AccGraph& graph, const Program& program, const AccOptions& options)
      : FrontierRounds<Program, E, R>(graph, program, options), graph_(graph), asked_(options.direction) {}

  void run(AccStats& stats) {
    this->start();
    VoteDirection direction(this->rows(), asked_, this->can_pull(), graph_.vertices(), graph_.edges(),
                            this->front());
    AccRound at{1, 0};
    for (RoundWork all{.next = 0}; all.next != RoundWork::kNothing; ++at.round) {
      const bool pulls = direction.pulls();
      all = this->end(pulls ? this->pull(at) : this->push(at), at);
      direction.choose(all, this->front());
      // Entries sent to other ranks may all have met settled vertices.
      if (all.active > 0)
        stats.add({.pull = pulls, .refilled = this->balloted(), .active = all.active, .edges = all.edges});
    }
  }

 private:
  const AccGraph& graph_;
  AccDirection asked_;
};

}  // namespace sluice::acc
