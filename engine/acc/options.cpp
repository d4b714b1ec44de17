#include "engine/acc/options.hpp"

#include "engine/acc/acc_graph.hpp"
#include "engine/core/error.hpp"

namespace sluice::acc {

void require_source(const AccGraph& graph, Vertex source) {
  if (graph.vertices() == 0 || source < graph.vertices()) return;
  throw UsageError("vertex " + std::to_string(source) + " is none of the graph's " +
                   std::to_string(graph.vertices()) + " (choose another source)");
}

bool may_pull(const AccGraph& graph, const AccOptions& options) {
  if (options.direction == AccDirection::pull && graph.vertices() > 0 && !graph.has_in_edges())
    throw UsageError(
        "--direction pull: the graph has no in-edges to pull along (leave it out, or store them: `sluice "
        "convert --reverse`)");
  return options.direction != AccDirection::push && graph.has_in_edges();
}

void validate(const AccGraph& graph, const AccOptions& options) {
  if (graph.device().is_cuda()) {
    if (options.bin == 0) throw UsageError("a bin takes a vertex at least");
    if (graph.complete()) return;
    const bool shared = graph.rank_part().ranks().size() > 1;
    if (options.fusion != AccFusion::automatic)
      throw UsageError(
          "--fusion chooses among kernels of a GPU that has the graph whole (on ranks and in partitions, or "
          "where the graph does not fit --device-memory, leave it out)");
    if (options.filter == AccFilter::batch || (shared && options.filter == AccFilter::online))
      throw UsageError(shared
                           ? "--filter: on ranks a GPU has jit and ballot (choose one of them)"
                           : "--filter batch needs all edges on the GPU (in partitions, or where the graph "
                             "does not fit --device-memory, choose jit, online or ballot)");
    return;
  }
  if (options.filter != AccFilter::jit)
    throw UsageError(
        "--filter chooses among kernels of a GPU; on the host threads note what becomes active as they go "
        "(leave it out)");
  if (options.fusion != AccFusion::automatic)
    throw UsageError("--fusion chooses what kernels of a GPU hold; the host has none (leave it out)");
}

}  // namespace sluice::acc
