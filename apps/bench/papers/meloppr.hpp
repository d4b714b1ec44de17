// What MeLoPPR's experiments share.
#pragma once

#include "apps/bench/papers/tables.hpp"
#include "engine/ppr/options.hpp"

namespace sluice::bench::papers {

/// The generated graphs are as sparse as citation graphs: with hubs (Kronecker), and without (uniform).
inline constexpr unsigned kMelopprHostScale = 13, kMelopprGpuScale = 16, kMelopprEdgeFactor = 2;
inline constexpr Instance kOneByOne = 20, kOneByOneOnGpu = 264;  ///< each reads edges hundreds of times

/// Rows of graph files with at most this many stored edges: one by one, balls of graphs with hubs take long.
inline constexpr std::uint64_t kMelopprMaxEdges = 2'000'000;

/// Calls use(name, graph) for the graph files to which this paper applies: undirected ones without times.
template <class Use>
void on_meloppr_graphs(Tables& tables, const char* table, const Use& use) {
  tables.for_each_graph_file(table, false, [&](const std::string& name, Graph graph) {
    if (graph.directed) return;
    if (graph.edges() > kMelopprMaxEdges) return tables.add_text(name, "more than two million stored edges");
    use(name, std::move(graph));
  });
}

/// Options for six steps, in one stage or in two stages of three.
inline ppr::Options six_steps(ppr::Method method) {
  ppr::Options o;
  o.method = method;
  if (method == ppr::Method::exact) o.length = 6;
  o.unexpanded = ppr::Unexpanded::share;
  return o;
}

/// Queries measured alone, one after the other.
inline constexpr Instance kCounted = 20;

/// Returns 0 if memory is not counted by query.
inline double ratio(double a, double b) {
  return b > 0 ? a / b : 0;
}

/// Adds rows to the current table: scores of 32 bits compared with those of 64.
void add_meloppr_integers(Tables& tables, Device& device, const Graph& graph);

/// Measures balls in their own sub-graphs, compared with balls in the graph's lists.
void run_meloppr_sub_graphs(Tables& tables, Device& device);

}  // namespace sluice::bench::papers
