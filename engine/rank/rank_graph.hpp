// What a sweep needs to know of the graph: who points at a vertex, and among how many edges each source
// splits its rank.
#pragma once

#include <cstdint>

#include "engine/core/host_array.hpp"
#include "engine/rank/options.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// In-edges and divisors of a graph, in host memory. In-edges are the graph's own where it stores them or is
/// undirected, else its transpose, made here.
class RankGraph {
 public:
  /// Keeps a reference to the graph, and not to the options. Throws BudgetError where the transpose does not
  /// fit host memory.
  RankGraph(const Graph& graph, const PageRankOptions& options, unsigned threads);

  std::uint64_t vertices() const { return in_.vertices; }
  std::uint64_t edges() const { return in_.edges; }
  /// The list of v holds its sources; weights only where ranks are split by them.
  const CsrView& in() const { return in_; }
  /// [vertices] Out-degree or sum of out-weights, with the self-loop that the vertex was given; 0: dangling.
  const double* divisors() const { return divisors_.data(); }
  /// [vertices] 1 where a vertex was given a self-loop of weight 1, which is in no list; null: none was.
  const std::uint8_t* added_loops() const { return added_loops_.empty() ? nullptr : added_loops_.data(); }

 private:
  void find_divisors(const Graph& graph, bool weighted, unsigned threads);
  void add_loops(unsigned threads);

  Csr transposed_;
  CsrView in_;
  HostArray<double> divisors_;
  HostArray<std::uint8_t> added_loops_;
};

}  // namespace sluice
