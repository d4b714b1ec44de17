// The part of the graph that a rank processes: the lists of a contiguous range of vertices, in memory or
// brought in partitions; or a whole graph, in the memory of one process. Every rank has states of all
// vertices. Those of its own vertices are current; values for other ranks' vertices are combined into its
// copies (push_bodies.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/acc/options.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exchange/nccl.hpp"
#include "engine/exchange/router.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/memory/sweep_pages.hpp"

namespace sluice::acc {

struct AccNeeds {
  bool in_edges = false;  ///< if the graph has them; none are computed
  bool weights = false;
  bool simple = false;        ///< undirected, each neighbour once, no self-loops
  bool on_hosts = false;      ///< ranks exchange only data in host memory
  bool makes_simple = false;  ///< for plans: the simple form differs from the graph
  /// Bytes that a device needs to hold the whole graph; 0: as most programs need.
  std::uint64_t whole_bytes = 0;
};

/// Are the lists of a whole undirected graph, in memory or in its file, free of self-loops and duplicate
/// neighbours? Each of `ranks` (null: one process) checks its own lists.
bool has_simple_lists(const Graph& graph, Communicator* ranks, unsigned threads);

class RankPart {
 public:
  /// Keeps references to all arguments. No simple form is made of a directed graph on ranks or in partitions,
  /// or of a graph in its file: throws UsageError if the user asked for ranks or partitions, else
  /// BudgetError.
  RankPart(const Device& device, const Graph& graph, const AccNeeds& needs, const AccPlace& place);

  /// Is it a whole graph, whose lists this process accesses in place?
  bool complete() const { return complete_; }
  Communicator& ranks() const { return router_.ranks(); }
  /// Router for the vertices of all ranks; columns are in device memory, or in host memory if needs are
  /// `on_hosts`.
  const Router& router() const { return router_; }
  /// Connection between the GPUs of ranks; null: they exchange through the hosts.
  DeviceRanks* link() const { return link_; }
  /// Own vertices [first(), last()); row i of lists() is vertex first() + i.
  std::uint64_t first() const { return router_.first(); }
  std::uint64_t last() const { return router_.last(); }
  /// The ranges of vertices of all ranks.
  const Ownership& owners() const { return router_.owners(); }
  const CsrView& lists() const { return rows_.csr; }
  /// The own vertices' out-lists, as lists(), and their in-lists, if needed and stored.
  const SweepRows& out() const { return rows_; }
  const SweepRows& in() const { return in_rows_; }
  std::uint64_t degree(Vertex v) const {
    const EdgeIndex* offsets = rows_.csr.offsets + (v - first());
    return offsets[1] - offsets[0];
  }
  /// The largest out-degree of an own vertex.
  std::uint64_t largest_degree() const {
    return longest_list({rows_.csr.offsets, rows_.csr.vertices + 1}, device_.threads());
  }
  /// Own rows with at least `min_edges` edges, ascending.
  std::vector<Vertex> long_rows(std::uint64_t min_edges) const {
    return long_lists({rows_.csr.offsets, rows_.csr.vertices + 1}, min_edges, device_.threads());
  }
  /// Is every edge stored in both directions?
  bool symmetric() const { return symmetric_; }
  bool weighted() const { return weighted_; }
  const PagingOptions& paging() const { return paging_; }
  const std::string& scratch() const { return scratch_; }
  /// Mean weight of all ranks' edges, estimated from a sample; equal on all ranks. All ranks call it.
  double mean_weight() const;

  /// Are `lists` (out() or in()) brought in partitions, given what the device holds now?
  bool has_pages(const SweepRows& lists) const;
  /// The most partitions that most jobs have.
  std::uint64_t max_partitions() const;
  /// Makes the partitions of out() or in(), in at most `max_bytes` bytes. Returns null if lists are read in
  /// place. Other device memory must be allocated before. Lists in host memory are page-locked for a GPU, as
  /// long as `locks` live, if they may be read in place or are long enough for it. `used_bytes`: bytes
  /// already used of the slots that the user asked for.
  std::unique_ptr<SweepPages> make_pages(const SweepRows& lists, std::vector<PageLock>& locks,
                                         std::uint64_t max_bytes = ~std::uint64_t{0},
                                         std::uint64_t used_bytes = 0) const;

 private:
  void make_simple_form(const Graph& graph, const AccPlace& place);

  const Device& device_;
  std::unique_ptr<Communicator> single_;
  std::unique_ptr<DeviceRanks> made_link_;
  DeviceRanks* link_;
  Router router_;
  PagingOptions paging_;
  std::string scratch_;
  SweepRows rows_{CsrView{}}, in_rows_{CsrView{}};
  Csr simple_;
  bool complete_, symmetric_, weighted_;
};

}  // namespace sluice::acc
