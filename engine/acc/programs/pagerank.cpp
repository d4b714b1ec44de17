#include "engine/acc/programs/pagerank.hpp"

#include <algorithm>

#include "engine/acc/run.hpp"
#include "engine/acc/solve.hpp"
#include "engine/pagerank/options.hpp"

namespace sluice {

AccRankResult acc_pagerank(const AccGraph& graph, double damping, double tolerance,
                           const AccOptions& options) {
  validate(PageRankOptions{.damping = damping, .tolerance = tolerance});
  const auto n = static_cast<double>(graph.vertices());
  PageRankProgram program;
  program.update = {damping, (1 - damping) / n, 0, n};
  program.tolerance = tolerance;
  auto run = run_acc(graph, program, options);
  AccRankResult result;
  result.stats = std::move(run.stats);
  result.ranks = HostArray<double>(run.states.size(), "ranks");
  FixedRank total = 0;
  for (const FixedRank rank : run.states) total += rank;
  std::transform(run.states.begin(), run.states.end(), result.ranks.begin(),
                 [&](FixedRank rank) { return normalised(rank, total); });
  return result;
}

}  // namespace sluice
