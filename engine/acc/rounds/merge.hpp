// Merges. Every rank joins the ends of its own edges, in trees of all vertices; then ranks exchange trees
// until each has all (rank_forests.hpp). If every edge is stored in both directions, vertices of the largest
// tree are skipped, and partitions that have no others: an edge out of that tree is also read from its other
// end. The largest tree is assumed to be that of a hub; on the host with the whole graph, it is sampled.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/forest.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/rounds/adjacency.hpp"
#include "engine/acc/rounds/rank_forests.hpp"
#include "engine/acc/rounds/vertex_states.hpp"
#include "engine/graph/residency.hpp"
#include "engine/traverse/traverser.hpp"

namespace sluice::acc {

/// The view of own rows. Pointers are to the executor's memory.
template <class Program>
struct MergeRows {
  Program program;
  std::uint64_t first = 0;
  const EdgeIndex* offsets = nullptr;  ///< [own vertices + 1]
  Vertex* states = nullptr;            ///< [vertices]

  /// Is v known to be in the tree of `root`? Trees only merge, so this stays true.
  SLUICE_HD bool is_spared(Vertex v, Vertex root) const {
    return root != kNoVertex && !program.active(load(states + v), root);
  }
  SLUICE_HD bool join_edge(Vertex v, Vertex target, EdgeIndex e, const float* weights,
                           std::uint64_t most_steps = ~std::uint64_t{0}) const {
    const AccEdge<Vertex> edge{v, target, e, AccRound{1, 0}, states, weights};
    return !program.compute(edge) || join(program, states, v, target, most_steps);
  }
};

/// Makes every vertex a root.
struct BeginRoots {
  Vertex* states;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t v, Lane&) const {
    states[v] = static_cast<Vertex>(v);
  }
};

/// Joins edges [from, to) of every own vertex's list, except for spared vertices. sums[0] counts these edges,
/// and sums[1] the vertices. With `left`, edges whose roots are far away are skipped, and *left is set.
template <class Program>
struct JoinRange {
  MergeRows<Program> rows;
  Vertex spared_root;
  EdgeIndex from, to;
  const Vertex* targets;
  const float* weights;
  unsigned long long* left = nullptr;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane& lane) const {
    const EdgeIndex edges = join_edges(row);
    lane.add(0, edges);
    lane.add(1, edges > 0);
  }
  SLUICE_HD EdgeIndex join_edges(std::uint64_t row) const {
    const EdgeIndex list = rows.offsets[row], degree = rows.offsets[row + 1] - list;
    const auto v = static_cast<Vertex>(rows.first + row);
    if (degree <= from || rows.is_spared(v, spared_root)) return 0;
    const EdgeIndex last = degree < to ? degree : to;
    for (EdgeIndex e = list + from; e < list + last; ++e)
      if (!rows.join_edge(v, targets[e], e, weights, left ? kNearRoot : ~std::uint64_t{0})) store(left, 1ull);
    return last - from;
  }
};

/// Joins the same edges once more, if any were skipped.
template <class Program>
struct JoinLeft {
  JoinRange<Program> join;
  const unsigned long long* left;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane&) const {
    if (*left > 0) join.join_edges(row);
  }
};

/// JoinRange for the vertices that are joined first, or for all others.
template <class Program, bool first>
struct JoinSome {
  JoinRange<Program> join;
  std::uint64_t rows;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const std::uint64_t row = first ? first_joined(i) : i;
    if (first ? row < rows : !joins_first(row)) join(row, lane);
  }
};

/// Joins the ends of all edges of vertices that are not spared.
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

/// Is a row's vertex not spared?
template <class Program>
struct NotSpared {
  MergeRows<Program> rows;
  Vertex hub_root;

  SLUICE_HD bool operator()(std::uint64_t row) const {
    return !rows.is_spared(static_cast<Vertex>(rows.first + row), hub_root);
  }
};

template <MergeProgram Program, Traverser E, Residency R>
class Merge {
 public:
  Merge(const AccGraph& graph, const Program& program)
      : device_(graph.device()),
        rows_(graph.rank_part()),
        executor_(device_, rows_.lists().edges),
        states_(device_, rows_, executor_, graph.vertices()),
        counters_(device_, LaneOutput::kSums + 1, "counts"),
        sampled_(device_),
        forests_(device_, rows_, graph.vertices()),
        lists_(graph.complete() && device_.is_cuda() ? Adjacency(device_, graph.out())
                                                     : Adjacency(device_, rows_, rows_.out(), 0)) {
    output_.sums = counters_.data();
    view_ = {program, rows_.first(), lists_.offsets(), states_.data()};
  }

  void run(AccStats& stats) {
    executor_.fill(counters_.data(), 0, counters_.bytes());
    if constexpr (R::kComplete) {
      run_whole(stats);
    } else {
      run_shared_out(stats);
    }
  }

  /// All ranks already have all states.
  void finish(AccStats& stats) {
    if constexpr (R::kComplete) return;
    stats.add_traffic(lists_.lists().traffic());
    stats.kernel_launches = executor_.launches();
  }

  /// States, in the executor's memory.
  const Vertex* states() const { return states_.data(); }

  void plan(AccStats& stats) const { stats.add_traffic(lists_.lists().traffic()); }

 private:
  std::uint64_t own_rows() const { return rows_.last() - rows_.first(); }

  void begin_roots() { executor_.for_each(states_.size(), {}, BeginRoots{states_.data()}); }
  /// Sets every state to the root of the vertex's tree.
  void compress_states() { executor_.for_each(states_.size(), output_, Compress{states_.data()}); }

  void join_some(Vertex spared_root, EdgeIndex from, EdgeIndex to) {
    const SweepPage whole = lists_.lists().whole();
    executor_.for_each(own_rows(), output_,
                       JoinRange<Program>{view_, spared_root, from, to, whole.sources, whole.weights});
  }

  /// Joins the sampled edges in steps, so that few lanes change the same words at a time.
  void join_sampled() {
    const SweepPage whole = lists_.lists().whole();
    unsigned long long* const left = counters_.data() + LaneOutput::kSums;
    JoinRange<Program> first{view_, kNoVertex, 0, 1, whole.sources, whole.weights};
    const JoinLeft<Program> again{first, left};
    first.left = left;
    executor_.for_each(own_rows(), output_, first);
    compress_states();
    executor_.for_each(own_rows(), {}, again);
    const JoinRange<Program> others{view_, kNoVertex, 1, kSampledEdges, whole.sources, whole.weights};
    executor_.for_each(count_first_joined(own_rows()), output_, JoinSome<Program, true>{others, own_rows()});
    compress_states();
    executor_.for_each(own_rows(), output_, JoinSome<Program, false>{others, own_rows()});
  }

  /// Rounds that join one edge of every vertex, then a round for all remaining edges.
  void run_whole(AccStats& stats) {
    begin_roots();
    LargestTree largest;
    EdgeIndex joined = 0;
    while (joined < kSampledEdges && largest.share < kNearlyAll) {
      join_some(kNoVertex, joined, joined + 1);
      ++joined;
      end_round(stats);
      if (rows_.symmetric()) largest = sampled_.largest(executor_, states_.data(), 0, states_.size());
    }
    join_some(largest.root, joined, std::numeric_limits<Vertex>::max());
    end_round(stats);
  }

  void end_round(AccStats& stats) {
    compress_states();
    std::array<std::uint64_t, 2> sums;
    executor_.read(sums.data(), counters_.data(), sums.size(), "a round of a merge");
    executor_.fill(counters_.data(), 0, counters_.bytes());
    stats.add({.active = sums[1], .edges = sums[0]});
  }

  void run_shared_out(AccStats& stats) {
    begin_roots();
    std::vector<bool> done(lists_.paged() ? lists_.partitions() : 0);
    lists_.paged() ? join_first_partition(done) : join_sampled();
    const Vertex hub_root = find_hub();
    lists_.paged() ? join_partitions(done, hub_root) : join(lists_.lists().whole(), hub_root);
    std::uint64_t sums[] = {0, own_rows()};
    executor_.read(sums, counters_.data(), 1, "the edges of a merge");
    rows_.ranks().all_reduce(sums, Reduce::sum, "a round's vertices and edges");
    forests_.join(executor_, view_.program, states_.data(), sampled_, most_hang_from_hub_ ? hub_ : kNoVertex);
    executor_.wait("the trees of ranks");
    stats.add({.active = sums[1], .edges = sums[0]});
  }

  /// Chooses the hub, whose tree's vertices are spared, the same on all ranks; returns its root or kNoVertex.
  /// It is a small vertex (lists begin with these) that every rank finds in its own largest tree; or else the
  /// vertex of most edges, which may join that tree later. All ranks call it.
  Vertex find_hub() {
    if (!rows_.symmetric()) return kNoVertex;
    compress_states();
    constexpr std::uint64_t kHubs = SampledRoots::kFirst;
    std::array<std::uint64_t, kHubs + 1> all{};
    const std::span few(all.data(), std::min<std::uint64_t>(kHubs, states_.size()));
    const Vertex root = sampled_.largest(executor_, states_.data(), rows_.first(), rows_.last(), few).root;
    if (rows_.ranks().size() == 1) return hub_ = root;
    for (std::uint64_t& of_vertex : few) of_vertex = own_rows() == 0 || of_vertex == root;
    all.back() = most_edges();
    rows_.ranks().all_reduce(all, Reduce::min, "the tree of most vertices");
    const auto common = std::find(all.begin(), all.end() - 1, 1u);
    most_hang_from_hub_ = common != all.end() - 1;
    hub_ = static_cast<Vertex>(most_hang_from_hub_ ? common - all.begin() : all.back());
    return most_hang_from_hub_ && own_rows() > 0 ? root : root_of_hub();
  }

  /// Returns the first vertex of highest degree in a sample of own vertices. The bits above it hold a number
  /// that falls with its degree, so that the minimum over ranks has the highest degree.
  std::uint64_t most_edges() const {
    constexpr std::uint64_t kSampled = 64;  // vertices, whose degree reads are far apart
    const std::uint64_t stride = own_rows() / kSampled + 1, most = ~std::uint32_t{0};
    std::uint64_t first = ~std::uint64_t{0};
    for (std::uint64_t v = rows_.first(); v < rows_.last(); v += stride)
      first = std::min(first, (most - std::min(rows_.degree(static_cast<Vertex>(v)), most)) << 32 | v);
    return first;
  }

  /// Sets every state to its root, and returns the hub's root, or kNoVertex.
  Vertex compress_all() {
    compress_states();
    executor_.wait("joining trees");
    return root_of_hub();
  }
  Vertex root_of_hub() const {
    if (hub_ == kNoVertex) return kNoVertex;
    Vertex root = 0;
    copy_to_host(device_, &root, states_.data() + hub_, sizeof root);
    return root;
  }

  void join(const SweepPage& page, Vertex hub_root) {
    executor_.for_each_edge({nullptr, rows_.first() + page.begin, page.end - page.begin, rows_.first(),
                             lists_.offsets(), page.mapped()},
                            output_, JoinEdges<Program>{view_, hub_root, page.sources, page.weights});
  }

  /// Joins all edges of partitions on the device: reading them costs less than bringing another partition.
  void join_waiting(const std::vector<std::uint64_t>& waiting, Vertex hub_root) {
    lists_.visit_edges(executor_, waiting,
                       [&](const SweepPage& page) { join(page, page.in_place ? hub_root : kNoVertex); });
  }

  /// Joins the partition of the highest sampled degree: its tree may spare other partitions.
  void join_first_partition(std::vector<bool>& done) {
    if (own_rows() == 0) return;
    const SweepPages& pages = *lists_.lists().pages();
    const std::uint32_t p = pages.plan().owner(static_cast<Vertex>(most_edges()) - rows_.first());
    std::vector<std::uint64_t> waiting(done.size());
    waiting[p] = pages.edges(p);
    join_waiting(waiting, kNoVertex);
    done[p] = true;
  }

  /// Joins the other partitions, a few at first: the trees joined so far may spare more partitions.
  void join_partitions(std::vector<bool>& done, Vertex hub_root) {
    for (std::uint64_t count = 1;; count *= 2) {
      std::vector<std::uint64_t> waiting = edges_not_spared(hub_root);
      std::uint64_t some = 0;
      for (std::uint64_t p = 0; p < done.size(); ++p) {
        if (done[p] || some == count) waiting[p] = 0;
        if (waiting[p] == 0) continue;
        done[p] = true;
        ++some;
      }
      if (some == 0) return;
      join_waiting(waiting, hub_root);
      hub_root = compress_all();
    }
  }

  /// Edges of vertices that are not spared, by partition.
  std::vector<std::uint64_t> edges_not_spared(Vertex hub_root) {
    return lists_.count_edges(executor_, own_rows(), NotSpared<Program>{view_, hub_root});
  }

  const Device& device_;
  const RankPart& rows_;
  E executor_;
  VertexStates<Vertex, E> states_;
  Buffer<unsigned long long> counters_;  ///< sums, and whether edges were skipped
  SampledRoots sampled_;
  RankForests forests_;
  Adjacency lists_;
  LaneOutput output_;
  MergeRows<Program> view_;
  Vertex hub_ = kNoVertex;
  bool most_hang_from_hub_ = false;  ///< most own vertices of every rank are in the hub's tree
};

}  // namespace sluice::acc
