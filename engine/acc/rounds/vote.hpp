// Votes: rounds that push or pull (vote_direction.hpp).
#pragma once

#include "engine/acc/rounds/frontier_rounds.hpp"
#include "engine/acc/vote_direction.hpp"

namespace sluice::acc {

template <VoteProgram Program, Traverser E, Residency R>
class Vote : public FrontierRounds<Program, E, R> {
 public:
  Vote(const AccGraph& graph, const Program& program, const AccOptions& options)
      : FrontierRounds<Program, E, R>(graph, program, options),
        graph_(graph),
        requested_(options.direction) {}

  void run(AccStats& stats) {
    this->start();
    VoteDirection direction(this->part(), requested_, this->can_pull(), graph_.vertices(), graph_.edges(),
                            this->frontier());
    AccRound at{1, 0};
    for (RoundWork total{.next = 0}; total.next != RoundWork::kNoBin; ++at.round) {
      const bool pulls = direction.pulls();
      total = this->end_round(pulls ? this->pull(at) : this->push(at), at);
      direction.choose(total, this->frontier());
      // Entries sent to other ranks may all have met settled vertices.
      if (total.active > 0)
        stats.add(
            {.pull = pulls, .refilled = this->balloted(), .active = total.active, .edges = total.edges});
    }
  }

 private:
  const AccGraph& graph_;
  AccDirection requested_;
};

}  // namespace sluice::acc
