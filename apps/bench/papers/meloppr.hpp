// What MeLoPPR's experiments have in common.
#pragma once

#include "apps/bench/papers/tables.hpp"
#include "engine/ppr/options.hpp"

namespace sluice::bench::papers {

/// As sparse as graphs of citations: with hubs, and without.
inline constexpr unsigned kMelopprHostScale = 13, kMelopprGpuScale = 16, kMelopprEdgeFactor = 2;
inline constexpr Instance kOneByOne = 20, kOneByOneOnGpu = 264;  ///< they go along edges hundreds of times

/// Rows of graph files of at most so many stored edges: one by one, balls of graphs with hubs take long.
inline constexpr std::uint64_t kMelopprMostEdges = 2'000'000;

/// Calls use(name, graph) for the graph files that this paper has: undirected ones without times.
template <class Use>
void on_meloppr_graphs(Tables& tables, const char* table, const Use& use) {
  tables.on_graphs(table, false, [&](const std::string& name, Graph graph) {
    if (graph.directed) return;
    if (graph.edges() > kMelopprMostEdges)
      return tables.put_words(name, "more than two million stored edges");
    use(name, std::move(graph));
  });
}

/// Of six steps, in one stage or in two of three.
inline ppr::Options six_steps(ppr::Method method) {
  ppr::Options o;
  o.method = method;
  if (method == ppr::Method::exact) o.length = 6;
  o.unexpanded = ppr::Unexpanded::share;
  return o;
}

/// Queries that are asked one after the other, each on its own.
inline constexpr Instance kCounted = 20;

/// 0 where memory is not counted by query.
inline double ratio(double a, double b) {
  return b > 0 ? a / b : 0;
}

/// Rows of the table under way: scores of 32 bits beside those of 64.
void put_meloppr_integers(Tables& tables, Device& device, const Graph& graph);

/// Balls in sub-graphs of their own, beside balls in the graph's lists.
void run_meloppr_sub_graphs(Tables& tables, Device& device);

}  // namespace sluice::bench::papers
