// Merges over ranks and in partitions. Every rank joins the ends of its own edges in trees of all vertices,
// and the hosts join the trees of ranks. Where every edge is there in both directions, vertices of the tree
// that holds a hub are spared, and so are partitions that have no others: an edge out of that tree is also
// seen from its other end.
#pragma once

#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/forest.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/rounds/adjacency.hpp"
#include "engine/acc/rounds/rank_forests.hpp"
#include "engine/acc/rounds/vertex_states.hpp"
#include "engine/exec/executor.hpp"

namespace sluice::acc {

/// Pointers are to the executor's memory.
template <class Program>
struct MergeRows {
  Program program;
  std::uint64_t first = 0;
  const EdgeIndex* offsets = nullptr;  ///< [own vertices + 1]
  Vertex* states = nullptr;            ///< [vertices]
  bool spares = false;                 ///< are vertices of the hub's tree left out?

  /// Is this vertex known to be of the tree with that root? Later it may be of another, never less.
  SLUICE_HD bool is_spared(Vertex v, Vertex hub_root) const {
    return spares && !program.active(load(states + v), hub_root);
  }
  SLUICE_HD void join_edge(Vertex v, Vertex target, EdgeIndex e, const float* weights) const {
    const AccEdge<Vertex> edge{v, target, e, AccRound{1, 0}, states, weights};
    if (program.compute(edge)) join(program, states, v, target);
  }
};

/// The first edges of every own vertex: sums[0] counts them.
template <class Program>
struct JoinSome {
  MergeRows<Program> rows;
  const Vertex* targets;
  const float* weights;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane& lane) const {
    const EdgeIndex begin = rows.offsets[row], end = rows.offsets[row + 1];
    for (EdgeIndex e = begin; e < end && e < begin + kSampledEdges; ++e, lane.add(0, 1))
      rows.join_edge(static_cast<Vertex>(rows.first + row), targets[e], e, weights);
  }
};

/// All edges of vertices that are not spared.
template <class Program>
struct JoinEdges {
  MergeRows<Program> rows;
  Vertex hub_root;
  const Vertex* targets;
  const float* weights;

  SLUICE_HD bool sends(Vertex v) const { return !rows.is_spared(v, hub_root); }
  template <class Lane>
  SLUICE_HD void edge(Vertex v, EdgeIndex e, Lane&) const {
    rows.join_edge(v, targets[e], e, weights);
  }
};

struct Compress {
  Vertex* states;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t v, Lane&) const {
    compress(states, static_cast<Vertex>(v));
  }
};

/// The edges, by partition, of own vertices that are not spared.
template <class Program>
struct CountNotSpared {
  MergeRows<Program> rows;
  Vertex hub_root;
  OwnershipView partitions;   ///< of rows
  unsigned long long* edges;  ///< [partitions]

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane&) const {
    const EdgeIndex degree = rows.offsets[row + 1] - rows.offsets[row];
    if (degree == 0 || rows.is_spared(static_cast<Vertex>(rows.first + row), hub_root)) return;
    fetch_add(edges + partitions.owner(row), degree);
  }
};

template <MergeProgram Program, Executor E>
class PartitionedMerge {
 public:
  PartitionedMerge(const AccGraph& graph, const Program& program)
      : device_(graph.device()),
        rows_(*graph.rank_part()),
        executor_(device_, rows_.lists().edges),
        states_(device_, graph.vertices()),
        counters_(device_, LaneOutput::kSums + 1, "counts"),
        lists_(device_, rows_, rows_.out(), 0) {
    output_.sums = counters_.data();
    output_.lowest = counters_.data() + LaneOutput::kSums;
    view_ = {program, rows_.first(), lists_.offsets(), states_.data(), rows_.symmetric()};
  }

  void run(AccStats& stats) {
    states_.begin(rows_, view_.program, true);
    executor_.fill(counters_.data(), 0, counters_.bytes());
    hub_ = hub_of(rows_, states_.size());
    lists_.paged() ? join_partitions() : join_whole();
    executor_.wait("the last edges of a merge");
    states_.read(0, states_.size());
    ThreadPool pool(device_.threads());
    join_ranks(rows_, view_.program, pool, {states_.on_host(), states_.size()});
    std::vector<std::uint64_t> sums(1);
    executor_.read(sums.data(), counters_.data(), 1, "the edges of a merge");
    sums.push_back(own_rows());
    rows_.ranks().all_reduce(sums, Reduce::sum, "a round's vertices and edges");
    stats.add({.active = sums[1], .edges = sums[0]});
    lists_.lists().add_traffic(stats);
    stats.kernel_launches = executor_.launches();
  }

  /// In host memory.
  const Vertex* states() const { return states_.on_host(); }

 private:
  std::uint64_t own_rows() const { return rows_.last() - rows_.first(); }

  /// Makes the root of every vertex its state, and returns the hub's.
  Vertex compress_all() {
    executor_.for_each(states_.size(), output_, Compress{states_.data()});
    executor_.wait("joining trees");
    Vertex root = 0;
    copy_to_host(device_, &root, states_.data() + hub_, sizeof root);
    return root;
  }

  void join(const MergeRows<Program>& view, const SweepPage& page, Vertex hub_root) {
    executor_.for_each_edge(
        {nullptr, rows_.first() + page.begin, page.end - page.begin, rows_.first(), lists_.offsets()},
        output_, JoinEdges<Program>{view, hub_root, page.sources, page.weights});
  }

  /// Some edges of every vertex, and then all of those outside of the hub's tree.
  void join_whole() {
    const SweepPage whole = lists_.lists().whole();
    executor_.for_each(own_rows(), output_, JoinSome<Program>{view_, whole.sources, whole.weights});
    join(view_, whole, compress_all());
  }

  /// A few partitions first, the hub's own before all: what these have joined may spare the others.
  void join_partitions() {
    std::vector<bool> done(lists_.partitions());
    // In a partition that is here all edges are joined: to look at them costs less than to bring another one.
    MergeRows<Program> all = view_;
    all.spares = false;
    const auto join_waiting = [&](const std::vector<std::uint64_t>& waiting) {
      lists_.visit(executor_, waiting, [&](const SweepPage& page) { join(all, page, kNoVertex); });
    };
    if (rows_.owns(hub_)) {
      const PartitionPlan& plan = lists_.lists().pages()->plan();
      const std::uint32_t p = plan.owner(static_cast<Vertex>(hub_ - rows_.first()));
      std::vector<std::uint64_t> waiting(done.size());
      waiting[p] = 1;
      join_waiting(waiting);
      done[p] = true;
    }
    for (std::uint64_t count = 1;; count *= 2) {
      std::vector<std::uint64_t> waiting = edges_not_spared(compress_all());
      std::uint64_t some = 0;
      for (std::uint64_t p = 0; p < done.size(); ++p) {
        if (done[p] || some == count) waiting[p] = 0;
        if (waiting[p] == 0) continue;
        done[p] = true;
        ++some;
      }
      if (some == 0) return;
      join_waiting(waiting);
    }
  }

  /// Of every partition.
  std::vector<std::uint64_t> edges_not_spared(Vertex hub_root) {
    return lists_.count(executor_, own_rows(),
                        [&](const OwnershipView& partitions, unsigned long long* edges) {
                          return CountNotSpared<Program>{view_, hub_root, partitions, edges};
                        });
  }

  const Device& device_;
  const RankPart& rows_;
  E executor_;
  VertexStates<Vertex> states_;
  Buffer<unsigned long long> counters_;  ///< sums, and the lowest
  Adjacency lists_;
  LaneOutput output_;
  MergeRows<Program> view_;
  Vertex hub_ = 0;
};

}  // namespace sluice::acc
