#include "engine/acc/programs/bfs.hpp"

#include "engine/acc/run.hpp"
#include "engine/acc/solve.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::acc {

BfsResult bfs(const AccGraph& graph, Vertex source, const AccOptions& options) {
  require_source(graph, source);
  auto run = run_acc(graph, BreadthFirst{source}, options);
  BfsResult result;
  result.stats = std::move(run.stats);
  result.depths = HostArray<std::int32_t>(graph.vertices(), "depths");
  result.parents = HostArray<Vertex>(graph.vertices(), "parents");
  if (graph.device().is_planning()) return result;
  parallel_blocks(graph.device().threads(), graph.vertices(), 1u << 18,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t v = begin; v < end; ++v) {
                      // kUnreached has all bits set, which reads as depth -1 and kNoVertex.
                      result.depths[v] = static_cast<std::int32_t>(BreadthFirst::depth(run.states[v]));
                      result.parents[v] = BreadthFirst::parent(run.states[v]);
                    }
                  });
  return result;
}

}  // namespace sluice::acc
