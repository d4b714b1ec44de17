// What a rank works on: the lists of a contiguous range of vertices, in memory or brought in partitions; or a
// whole graph, whose one process has all of them in memory.
// States of all vertices lie on every rank. Those of its own vertices are true there; what they send to other
// ranks' vertices is combined in the states that it keeps of those (push_bodies.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
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
  bool in_edges = false;  ///< where the graph has them; none are made
  bool weights = false;
  bool simple = false;    ///< direction ignored, each neighbour once, no self-loops
  bool on_hosts = false;  ///< ranks exchange what lies in host memory alone
  bool made = false;      ///< of a run that is only planned: that form is another one than the graph's own
  /// What a device that has the graph whole must hold, where that is not what most programs take.
  std::uint64_t whole_bytes = 0;
};

/// Are the lists of a whole undirected graph, wherever its edges are, free of self-loops and of neighbours
/// that come twice? Each of `ranks` (null: this one alone) looks at its own.
bool has_simple_lists(const Graph& graph, Communicator* ranks, unsigned threads);

class RankPart {
 public:
  /// Keeps references to all. Of a directed graph on ranks or in partitions, or of one that stays in its
  /// file, no simple form is made: throws UsageError where the user asked for that place, else BudgetError.
  RankPart(const Device& device, const Graph& graph, const AccNeeds& needs, const AccPlace& place);

  /// Is it a whole graph, whose lists this process reaches in place?
  bool complete() const { return complete_; }
  Communicator& ranks() const { return router_.ranks(); }
  /// Of the vertices of all ranks: columns of the device's memory, or the host's where needs are `on_hosts`.
  const Router& router() const { return router_; }
  /// Connects the GPUs of ranks; null: they exchange through the hosts.
  DeviceRanks* link() const { return link_; }
  /// Vertices [first(), last()), whose lists are lists(): row i is vertex first() + i.
  std::uint64_t first() const { return router_.first(); }
  std::uint64_t last() const { return router_.last(); }
  /// The vertices of all ranks.
  const Ownership& owners() const { return router_.owners(); }
  const CsrView& lists() const { return rows_.in; }
  /// The same lists, and the vertices' in-lists: where they are wanted and there.
  const SweepRows& out() const { return rows_; }
  const SweepRows& in() const { return in_rows_; }
  std::uint64_t degree(Vertex v) const {
    const EdgeIndex* at = rows_.in.offsets + (v - first());
    return at[1] - at[0];
  }
  /// Of own vertices.
  std::uint64_t largest_degree() const {
    return longest_list({rows_.in.offsets, rows_.in.vertices + 1}, device_.threads());
  }
  /// Own rows with at least so many edges, ascending.
  std::vector<Vertex> long_rows(std::uint64_t least) const {
    return long_lists({rows_.in.offsets, rows_.in.vertices + 1}, least, device_.threads());
  }
  /// Is every edge there in both directions?
  bool symmetric() const { return symmetric_; }
  bool weighted() const { return weighted_; }
  const PagingOptions& paging() const { return paging_; }
  const std::string& scratch() const { return scratch_; }
  /// Of all ranks' edges, as far as a sample shows, and the same on all of them. They all call it.
  double mean_weight() const;

  /// Are out() or in() brought in partitions, beside what the device holds so far?
  bool has_pages(const SweepRows& lists) const;
  /// Of most jobs: how many partitions there may be.
  std::uint64_t most_partitions() const;
  /// The partitions of out() or in(), in `most` bytes; null where lists are read in place. What else the
  /// device is to hold must be there already. Lists in host memory are page-locked for a GPU for as long as
  /// `locks` live, if they may be read in place or are long enough for it.
  /// Of slots that are asked for, some may be `taken`: so many bytes.
  std::unique_ptr<SweepPages> make_pages(const SweepRows& lists, std::vector<PageLock>& locks,
                                         std::uint64_t most = ~std::uint64_t{0},
                                         std::uint64_t taken = 0) const;

 private:
  void make_simple(const Graph& graph, const AccPlace& place);

  const Device& device_;
  std::unique_ptr<Communicator> alone_;
  std::unique_ptr<DeviceRanks> own_link_;
  DeviceRanks* link_;
  Router router_;
  PagingOptions paging_;
  std::string scratch_;
  SweepRows rows_{CsrView{}}, in_rows_{CsrView{}};
  Csr made_;
  bool complete_, symmetric_, weighted_;
};

}  // namespace sluice::acc
