#include "engine/ppr/walks.hpp"

#include <cmath>

namespace sluice {

double walk_error(std::uint32_t walks, double confidence) {
  return 2 * std::sqrt(std::log(2 / (1 - confidence)) / (2.0 * walks));
}

std::uint64_t QueryWalks::run(const Seeds& seeds, Instance query, ReachedVertices& reached) const {
  std::uint64_t steps = 0;
  for (std::uint32_t walk = 0; walk < walks_; ++walk)
    ++reached.at(rules_.end(graph_, seeds.view(), query, walk, steps)).score;
  for (Reached& entry : reached) entry.score = walk_score(entry.score, walks_);
  return steps;
}

}  // namespace sluice
