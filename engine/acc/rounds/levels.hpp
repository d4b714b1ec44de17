// Aggregations, level by level. Over ranks, each rank processes its vertices of the current level without the
// others; the round ends when no rank has such a vertex left.
#pragma once

#include <utility>

#include "engine/acc/rounds/frontier_rounds.hpp"

namespace sluice::acc {

template <AggregationProgram Program, Traverser E, Residency R>
class Levels : public FrontierRounds<Program, E, R> {
 public:
  Levels(const AccGraph& graph, const Program& program, const AccOptions& options)
      : FrontierRounds<Program, E, R>(graph, program, options), last_level_(last_level(program)) {}

  void run(AccStats& stats) {
    this->start();
    Communicator& ranks = this->part().ranks();
    AccRound at;
    for (std::uint64_t first_level = 0;; first_level += this->bins()) {
      std::uint64_t lowest[] = {this->lowest(first_level)};
      ranks.all_reduce(lowest, Reduce::min, "the lowest level");
      if (lowest[0] > last_level_) break;
      this->open_level(first_level = lowest[0]);
      bool refilled = true;
      for (std::uint64_t bin = 0, last_bin = this->bins(); bin < this->bins();) {
        at.level = first_level + bin;
        ++at.round;
        const RoundWork total = this->end_round(this->round(at, bin), at);
        // Entries sent to other ranks may have changed no state there.
        if (total.active > 0) {
          stats.add({.level = at.level,
                     .pull = this->pulled(),
                     .refilled = std::exchange(refilled, false) || this->balloted(),
                     .active = total.active,
                     .edges = total.edges});
          stats.levels += std::exchange(last_bin, bin) != bin;
        }
        bin = total.next;
      }
    }
  }

 private:
  std::uint64_t last_level_;
};

}  // namespace sluice::acc
