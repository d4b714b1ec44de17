#include "engine/acc/sssp.hpp"

#include <algorithm>

#include "engine/acc/run.hpp"
#include "engine/acc/solve.hpp"

namespace sluice {

SsspResult sssp(const AccGraph& graph, Vertex source, double delta, const AccOptions& options) {
  SsspResult result;
  result.delta = delta > 0 ? delta : graph.usual_delta();
  auto run = run_acc(graph, ShortestPaths{source, 1 / result.delta}, options);
  result.stats = std::move(run.stats);
  result.distances = HostArray<double>(graph.vertices(), "distances");
  std::transform(run.states.begin(), run.states.end(), result.distances.begin(), ShortestPaths::distance);
  return result;
}

}  // namespace sluice
