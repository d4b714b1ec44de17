// What a sweep needs to know of the graph: who points at a vertex, and among how many edges each source
// splits its rank. Of several ranks each knows it of the vertices that it renews.
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
/// the graph's own where it stores them or is undirected, in memory or in its file, else its transpose, made
/// here.
class RankGraph {
 public:
  /// Keeps a reference to the graph and the ranks, which cut the vertices among them by in-edges. Throws
  /// UsageError where weights are wanted that there are not, or in-edges of a graph whose edges stay in a
  /// file that does not store them; BudgetError where the transpose does not fit host memory. Where host
  /// memory is counted alone, for a plan, no edge is looked at: out-lists stand for what is to be made.
  /// A plan may be of the graph with `added` vertices more, which are the last rank's.
  RankGraph(const Graph& graph, const Options& options, unsigned threads, Communicator& ranks,
            std::uint64_t added = 0);

  /// Of the whole graph.
  std::uint64_t vertices() const { return owners_.vertices(); }
  std::uint64_t edges() const { return edges_; }
  /// Which rank renews which vertices.
  const Ownership& owners() const { return owners_; }
  std::uint64_t first() const { return first_; }
  /// This rank's vertices: row i is vertex first() + i, and its list, targets[offsets[i]] and on, holds its
  /// sources. Offsets need not begin at 0. Weights only where ranks are split by them; targets and weights
  /// null where they are read from `file()`.
  const CsrView& in() const { return in_; }
  const EdgeSource* file() const { return file_; }
  SweepRows lists() const {
    SweepRows rows(in_, file_);
    rows.in.vertices -= added_;
    rows.longest = longest_;
    return rows;
  }
  /// Calls use(begin, end) for ranges of a whole graph's in-edges, all of them, by so many threads: where
  /// they are still to come (Graph::to_come), as they do.
  void as_edges_come(unsigned threads, const std::function<void(EdgeIndex, EdgeIndex)>& use) const;
  /// What reads those that are still to come; else null.
  EdgesToCome* to_come() const { return to_come_; }
  /// They come now.
  void settle(unsigned threads) const {
    if (to_come_) to_come_->read(threads);
  }
  /// Whether in-degrees are out-degrees too.
  bool symmetric() const { return symmetric_; }
  /// [in().vertices] Out-degree or sum of out-weights, with the self-loop that the vertex was given; 0:
  /// dangling.
  const double* divisors() const { return divisors_.data(); }
  /// [in().vertices] Where a vertex was given a self-loop of weight 1, it is in no list; null: none was.
  const Loop* loops() const { return loops_.empty() ? nullptr : loops_.data(); }

 private:
  void take(const Csr& in, const EdgeSource* file, bool weighted, Communicator& ranks);
  void make(const Graph& graph, bool weighted, unsigned threads, Communicator& ranks);
  void set_rows(const Csr& from, bool weighted, const Communicator& ranks);

  Csr made_;
  CsrView in_;
  const EdgeSource* file_ = nullptr;
  EdgesToCome* to_come_ = nullptr;
  bool symmetric_ = false;
  std::uint64_t edges_ = 0, first_ = 0;
  std::uint64_t longest_ = 0;  ///< as of SweepRows
  std::uint64_t added_ = 0;    ///< of this rank's vertices, those of which a plan has no offsets
  Ownership owners_;
  HostArray<double> divisors_;
  HostArray<Loop> loops_;
};

/// Among how much vertices from `first` on split their rank, and their loops if that is not empty.
void find_sources(const Graph& graph, const Options& options, std::uint64_t first, unsigned threads,
                  std::span<double> divisors, std::span<Loop> loops);

/// What all in-edges of these vertices take in the graph's file; 0 where they are in host memory.
std::uint64_t bytes_in_file(const RankGraph& graph, bool weighted);

/// Throws UsageError where the edges stay in a file that does not store in-edges which are wanted.
void require_stored_in_edges(const Graph& graph);

}  // namespace sluice::pagerank
