#include "engine/acc/options.hpp"

#include "engine/acc/acc_graph.hpp"
#include "engine/core/error.hpp"

namespace sluice::acc {

void require_source(const AccGraph& graph, Vertex source) {
  if (graph.vertices() == 0 || source < graph.vertices()) return;
  throw UsageError("vertex " + std::to_string(source) + " is not one of the graph's " +
                   std::to_string(graph.vertices()) + " (choose another source)");
}

bool may_pull(const AccGraph& graph, const AccOptions& options) {
  if (options.direction == AccDirection::pull && graph.vertices() > 0 && !graph.has_in_edges())
    throw UsageError(
        "--direction pull: the graph has no in-edges (omit it, or store in-edges: `sluice "
        "convert --reverse`)");
  return options.direction != AccDirection::push && graph.has_in_edges();
}

void validate(const AccGraph& graph, const AccOptions& options) {
  if (graph.device().is_cuda()) {
    if (options.bin == 0) throw UsageError("a bin must hold at least one vertex");
    if (graph.complete()) return;
    const bool shared = graph.rank_part().ranks().size() > 1;
    if (options.fusion != AccFusion::automatic)
      throw UsageError(
          "--fusion needs a GPU that holds the whole graph (on ranks and in partitions, or where the graph "
          "does not fit --device-memory, omit it)");
    if (options.filter == AccFilter::batch || (shared && options.filter == AccFilter::online))
      throw UsageError(shared
                           ? "--filter: on ranks a GPU supports jit and ballot (choose one of them)"
                           : "--filter batch needs all edges on the GPU (in partitions, or where the graph "
                             "does not fit --device-memory, choose jit, online or ballot)");
    return;
  }
  if (options.filter != AccFilter::jit)
    throw UsageError(
        "--filter chooses among kernels of a GPU; on the host, threads list active vertices directly (omit "
        "it)");
  if (options.fusion != AccFusion::automatic)
    throw UsageError("--fusion chooses among kernels of a GPU; the host has none (omit it)");
}

}  // namespace sluice::acc
