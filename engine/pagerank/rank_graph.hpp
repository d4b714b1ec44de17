// The graph as a sweep reads it: in-edges, and the divisor of each source (divisor.hpp). With several ranks,
// each holds those of the vertices that it updates.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "engine/core/host_array.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/pagerank/divisor.hpp"
#include "engine/pagerank/options.hpp"
#include "partition/build.hpp"
#include "partition/graph.hpp"

namespace sluice::pagerank {

/// In-edges and divisors of a contiguous range of vertices, [first(), first() + in().vertices). In-edges are
/// the graph's own, in memory or in its file, if it stores them or is undirected; else the constructor builds
/// the transpose.
class RankGraph {
 public:
  /// Keeps pointers into the graph. `ranks` divide the vertices by in-edges. Throws UsageError
  /// if options.weighted is set and the graph has no weights, or if the edges of a directed graph stay in a
  /// file that does not store in-edges; BudgetError if the transpose does not fit host memory. A plan only
  /// counts memory and reads no edges: out-lists stand for the transpose. A plan may add `added` vertices to
  /// the graph, which belong to the last rank.
  RankGraph(const Graph& graph, const Options& options, unsigned threads, Communicator& ranks,
            std::uint64_t added = 0);

  /// Vertices and edges of the whole graph.
  std::uint64_t vertices() const { return owners_.vertices(); }
  std::uint64_t edges() const { return edges_; }
  /// The rank that updates each vertex.
  const Ownership& owners() const { return owners_; }
  std::uint64_t first() const { return first_; }
  /// In-lists of this rank's vertices. Row i is vertex first() + i; its in-neighbours begin at
  /// targets[offsets[i]]. Offsets need not begin at 0. Weights are null unless options.weighted; targets and
  /// weights are null if they are read from `file()`.
  const CsrView& in() const { return in_; }
  const EdgeSource* file() const { return file_; }
  SweepRows lists() const {
    SweepRows rows(in_, file_);
    rows.csr.vertices -= added_vertices_;
    rows.max_degree = max_degree_;
    return rows;
  }
  /// Calls visit(begin, end) for ranges that cover all in-edges of a whole graph, on `threads` threads. Edges
  /// that are not in memory yet (Graph::pending_edges) are passed as they arrive.
  void for_each_loaded_range(unsigned threads, const std::function<void(EdgeIndex, EdgeIndex)>& visit) const;
  /// The reader of edges that may not be in memory yet; null if the graph has none.
  PendingEdges* pending_edges() const { return pending_edges_; }
  /// Reads the edges that are not in memory yet.
  void finish_reading(unsigned threads) const {
    if (pending_edges_) pending_edges_->read(threads);
  }
  /// Whether in-degrees equal out-degrees: the graph is undirected.
  bool symmetric() const { return symmetric_; }
  /// [in().vertices] Out-degree or sum of out-weights, including an added self-loop; 0 for a dangling vertex.
  const double* divisors() const { return divisors_.data(); }
  /// [in().vertices] An added self-loop has weight 1 and is in no list. Null unless Dangling::self_loop.
  const Loop* loops() const { return loops_.empty() ? nullptr : loops_.data(); }

 private:
  void use_stored_edges(const Csr& in, const EdgeSource* file, bool weighted, Communicator& ranks);
  void build_transpose(const Graph& graph, bool weighted, unsigned threads, Communicator& ranks);
  void set_rows(const Csr& lists, bool weighted, const Communicator& ranks);

  Csr transpose_;
  CsrView in_;
  const EdgeSource* file_ = nullptr;
  PendingEdges* pending_edges_ = nullptr;
  bool symmetric_ = false;
  std::uint64_t edges_ = 0, first_ = 0;
  std::uint64_t max_degree_ = 0;      ///< see SweepRows
  std::uint64_t added_vertices_ = 0;  ///< vertices that a plan adds to this rank; they have no offsets
  Ownership owners_;
  HostArray<double> divisors_;
  HostArray<Loop> loops_;
};

/// Finds the divisors of the vertices from `first` on, and their self-loops unless `loops` is empty.
void find_sources(const Graph& graph, const Options& options, std::uint64_t first, unsigned threads,
                  std::span<double> divisors, std::span<Loop> loops);

/// Bytes of these vertices' in-edges in the graph's file; 0 if they are in host memory.
std::uint64_t bytes_in_file(const RankGraph& graph, bool weighted);

/// Throws UsageError if the edges of a directed graph stay in a file that does not store in-edges.
void require_stored_in_edges(const Graph& graph);

}  // namespace sluice::pagerank
