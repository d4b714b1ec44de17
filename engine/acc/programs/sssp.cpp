#include "engine/acc/programs/sssp.hpp"

#include <algorithm>

#include "engine/acc/run.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/error.hpp"

namespace sluice::acc {

SsspResult sssp(const AccGraph& graph, Vertex source, double delta, const AccOptions& options) {
  require_source(graph, source);
  if (!(delta >= 0)) throw UsageError("--delta: must not be negative");
  SsspResult result;
  result.delta = delta > 0 ? delta : graph.default_delta(options.direction);
  auto run = run_acc(graph, ShortestPaths{source, 1 / result.delta}, options);
  result.stats = std::move(run.stats);
  result.distances = HostArray<double>(graph.vertices(), "distances");
  if (graph.device().is_planning()) return result;
  std::transform(run.states.begin(), run.states.end(), result.distances.begin(), ShortestPaths::distance);
  return result;
}

}  // namespace sluice::acc
