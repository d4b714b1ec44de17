#include "engine/ppr/methods/walks.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::ppr {

double walk_error(std::uint32_t walks, double confidence) {
  return 2 * std::sqrt(std::log(2 / (1 - confidence)) / (2.0 * walks));
}

void QueryWalks::begin(const Seeds& seeds, Instance query) {
  seeds_ = &seeds;
  query_ = query;
  begun_ = false;
  waiting_count_ = most_waiting_ = 0;
  steps_ = 0;
}

bool QueryWalks::advance(const ListsAtHand& lists, ReachedVertices& reached) {
  std::uint32_t waiting = 0;
  const auto go = [&](std::uint32_t walk, WalkAt at) {
    if (rules_.go(graph_, lists, seeds_->view(), query_, walk, at, steps_)) {
      ++reached.at(at.vertex).score;
      return;
    }
    waiting_.reserve(device_, walks_, "walks under way");
    waiting_.data()[waiting++] = {walk, at};
  };
  if (!begun_) {
    for (std::uint32_t walk = 0; walk < walks_; ++walk) go(walk, rules_.begin(seeds_->view(), query_, walk));
  } else {
    for (std::uint32_t i = 0; i < waiting_count_; ++i) go(waiting_.data()[i].walk, waiting_.data()[i].at);
  }
  begun_ = true;
  waiting_count_ = waiting;
  most_waiting_ = std::max(most_waiting_, waiting);
  if (waiting != 0) return false;
  for (Reached& entry : reached) entry.score = walk_score(entry.score, walks_);
  return true;
}

}  // namespace sluice::ppr
