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
  SLUICE_HD bool is_skipped(Vertex v, Vertex root) const {
    return root != kNoVertex && !program.active(load(states + v), root);
  }
  SLUICE_HD bool join_edge(Vertex v, Vertex target, EdgeIndex e, const float* weights,
                           std::uint64_t max_steps = ~std::uint64_t{0}) const {
    const AccEdge<Vertex> edge{v, target, e, AccRound{1, 0}, states, weights};
    return !program.compute(edge) || join(program, states, v, target, max_steps);
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

/// Joins edges [begin, end) of every own vertex's list, except for skipped vertices. sums[0] counts these
/// edges, and sums[1] the vertices. With `deferred`, edges whose roots are far away are left out, and
/// *deferred is set.
template <class Program>
struct JoinRange {
  MergeRows<Program> rows;
  Vertex skipped_root;
  EdgeIndex begin, end;
  const Vertex* targets;
  const float* weights;
  unsigned long long* deferred = nullptr;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane& lane) const {
    const EdgeIndex edges = join_edges(row);
    lane.add(0, edges);
    lane.add(1, edges > 0);
  }
  SLUICE_HD EdgeIndex join_edges(std::uint64_t row) const {
    const EdgeIndex list = rows.offsets[row], degree = rows.offsets[row + 1] - list;
    const auto v = static_cast<Vertex>(rows.first + row);
    if (degree <= begin || rows.is_skipped(v, skipped_root)) return 0;
    const EdgeIndex last = degree < end ? degree : end;
    for (EdgeIndex e = list + begin; e < list + last; ++e)
      if (!rows.join_edge(v, targets[e], e, weights, deferred ? kMaxRootSteps : ~std::uint64_t{0}))
        store(deferred, 1ull);
    return last - begin;
  }
};

/// Joins the same edges once more, if any were deferred.
template <class Program>
struct JoinDeferred {
  JoinRange<Program> join;
  const unsigned long long* deferred;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane&) const {
    if (*deferred > 0) join.join_edges(row);
  }
};

/// JoinRange for the vertices that are joined first, or for all others.
template <class Program, bool early>
struct JoinSubset {
  JoinRange<Program> join;
  std::uint64_t rows;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    const std::uint64_t row = early ? early_row(i) : i;
    if (early ? row < rows : !is_joined_early(row)) join(row, lane);
  }
};

/// Joins the ends of all edges of vertices that are not skipped.
template <class Program>
struct JoinEdges {
  MergeRows<Program> rows;
  Vertex hub_root;
  const Vertex* targets;
  const float* weights;

  SLUICE_HD bool sends(Vertex v) const { return !rows.is_skipped(v, hub_root); }
  template <class Lane>
  SLUICE_HD void edge(Vertex v, EdgeIndex e, Lane&) const {
    rows.join_edge(v, targets[e], e, weights);
  }
};

/// Is a row's vertex not skipped?
template <class Program>
struct NotSkipped {
  MergeRows<Program> rows;
  Vertex hub_root;

  SLUICE_HD bool operator()(std::uint64_t row) const {
    return !rows.is_skipped(static_cast<Vertex>(rows.first + row), hub_root);
  }
};

template <MergeProgram Program, Traverser E, Residency R>
class Merge {
 public:
  Merge(const AccGraph& graph, const Program& program)
      : device_(graph.device()),
        part_(graph.rank_part()),
        executor_(device_, part_.lists().edges),
        states_(device_, part_, executor_, graph.vertices()),
        counters_(device_, LaneOutput::kSums + 1, "counts"),
        sampled_(device_),
        forests_(device_, part_, graph.vertices()),
        lists_(graph.complete() && device_.is_cuda() ? Adjacency(device_, graph.out())
                                                     : Adjacency(device_, part_, part_.out(), 0)) {
    output_.sums = counters_.data();
    view_ = {program, part_.first(), lists_.offsets(), states_.data()};
  }

  void run(AccStats& stats) {
    executor_.fill(counters_.data(), 0, counters_.bytes());
    if constexpr (R::kComplete) {
      run_whole(stats);
    } else {
      run_partitioned(stats);
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
  std::uint64_t own_rows() const { return part_.last() - part_.first(); }

  void begin_roots() { executor_.for_each(states_.size(), {}, BeginRoots{states_.data()}); }
  /// Sets every state to the root of the vertex's tree.
  void compress_states() { executor_.for_each(states_.size(), output_, Compress{states_.data()}); }

  void join_range(Vertex skipped_root, EdgeIndex begin, EdgeIndex end) {
    const SweepPage whole = lists_.lists().whole();
    executor_.for_each(own_rows(), output_,
                       JoinRange<Program>{view_, skipped_root, begin, end, whole.sources, whole.weights});
  }

  /// Joins the sampled edges in steps, so that few lanes change the same words at a time.
  void join_sampled() {
    const SweepPage whole = lists_.lists().whole();
    unsigned long long* const deferred = counters_.data() + LaneOutput::kSums;
    JoinRange<Program> first{view_, kNoVertex, 0, 1, whole.sources, whole.weights};
    const JoinDeferred<Program> join_deferred{first, deferred};
    first.deferred = deferred;
    executor_.for_each(own_rows(), output_, first);
    compress_states();
    executor_.for_each(own_rows(), {}, join_deferred);
    const JoinRange<Program> others{view_, kNoVertex, 1, kSampledEdges, whole.sources, whole.weights};
    executor_.for_each(count_early_rows(own_rows()), output_, JoinSubset<Program, true>{others, own_rows()});
    compress_states();
    executor_.for_each(own_rows(), output_, JoinSubset<Program, false>{others, own_rows()});
  }

  /// Rounds that join one edge of every vertex, then a round for all remaining edges.
  void run_whole(AccStats& stats) {
    begin_roots();
    LargestTree largest;
    EdgeIndex joined = 0;
    while (joined < kSampledEdges && largest.share < kDominantShare) {
      join_range(kNoVertex, joined, joined + 1);
      ++joined;
      end_round(stats);
      if (part_.symmetric()) largest = sampled_.largest(executor_, states_.data(), 0, states_.size());
    }
    join_range(largest.root, joined, std::numeric_limits<Vertex>::max());
    end_round(stats);
  }

  void end_round(AccStats& stats) {
    compress_states();
    std::array<std::uint64_t, 2> sums;
    executor_.read(sums.data(), counters_.data(), sums.size(), "a round of a merge");
    executor_.fill(counters_.data(), 0, counters_.bytes());
    stats.add({.active = sums[1], .edges = sums[0]});
  }

  void run_partitioned(AccStats& stats) {
    begin_roots();
    std::vector<bool> done(lists_.paged() ? lists_.partitions() : 0);
    lists_.paged() ? join_first_partition(done) : join_sampled();
    const Vertex hub_root = find_hub();
    lists_.paged() ? join_partitions(done, hub_root) : join(lists_.lists().whole(), hub_root);
    std::uint64_t sums[] = {0, own_rows()};
    executor_.read(sums, counters_.data(), 1, "the edges of a merge");
    part_.ranks().all_reduce(sums, Reduce::sum, "a round's vertices and edges");
    forests_.join(executor_, view_.program, states_.data(), sampled_, most_below_hub_ ? hub_ : kNoVertex);
    executor_.wait("the trees of ranks");
    stats.add({.active = sums[1], .edges = sums[0]});
  }

  /// Chooses the hub, whose tree's vertices are skipped, the same on all ranks; returns its root or
  /// kNoVertex. It is a small vertex (lists begin with these) that every rank finds in its own largest tree;
  /// or else the vertex of most edges, which may join that tree later. All ranks call it.
  Vertex find_hub() {
    if (!part_.symmetric()) return kNoVertex;
    compress_states();
    constexpr std::uint64_t kHubs = SampledRoots::kMaxFirst;
    std::array<std::uint64_t, kHubs + 1> in_largest{};
    const std::span first_roots(in_largest.data(), std::min<std::uint64_t>(kHubs, states_.size()));
    const Vertex root =
        sampled_.largest(executor_, states_.data(), part_.first(), part_.last(), first_roots).root;
    if (part_.ranks().size() == 1) return hub_ = root;
    for (std::uint64_t& of_vertex : first_roots) of_vertex = own_rows() == 0 || of_vertex == root;
    in_largest.back() = max_degree_key();
    part_.ranks().all_reduce(in_largest, Reduce::min, "the tree of most vertices");
    const auto common = std::find(in_largest.begin(), in_largest.end() - 1, 1u);
    most_below_hub_ = common != in_largest.end() - 1;
    hub_ = static_cast<Vertex>(most_below_hub_ ? common - in_largest.begin() : in_largest.back());
    return most_below_hub_ && own_rows() > 0 ? root : root_of_hub();
  }

  /// Returns the first vertex of highest degree in a sample of own vertices. The bits above it hold a number
  /// that falls with its degree, so that the minimum over ranks has the highest degree.
  std::uint64_t max_degree_key() const {
    constexpr std::uint64_t kSampled = 64;  // vertices, whose degree reads are far apart
    const std::uint64_t stride = own_rows() / kSampled + 1, max_degree = ~std::uint32_t{0};
    std::uint64_t min_key = ~std::uint64_t{0};
    for (std::uint64_t v = part_.first(); v < part_.last(); v += stride)
      min_key = std::min(min_key,
                         (max_degree - std::min(part_.degree(static_cast<Vertex>(v)), max_degree)) << 32 | v);
    return min_key;
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
    executor_.for_each_edge({nullptr, part_.first() + page.begin, page.end - page.begin, part_.first(),
                             lists_.offsets(), page.mapped()},
                            output_, JoinEdges<Program>{view_, hub_root, page.sources, page.weights});
  }

  /// Joins all edges of partitions on the device: reading them costs less than bringing another partition.
  void join_waiting(const std::vector<std::uint64_t>& waiting, Vertex hub_root) {
    lists_.visit_edges(executor_, waiting,
                       [&](const SweepPage& page) { join(page, page.in_place ? hub_root : kNoVertex); });
  }

  /// Joins the partition of the highest sampled degree: other partitions may then be skipped.
  void join_first_partition(std::vector<bool>& done) {
    if (own_rows() == 0) return;
    const SweepPages& pages = *lists_.lists().pages();
    const std::uint32_t p = pages.plan().owner(static_cast<Vertex>(max_degree_key()) - part_.first());
    std::vector<std::uint64_t> waiting(done.size());
    waiting[p] = pages.edges(p);
    join_waiting(waiting, kNoVertex);
    done[p] = true;
  }

  /// Joins the other partitions, a few at first: then more partitions may be skipped.
  void join_partitions(std::vector<bool>& done, Vertex hub_root) {
    for (std::uint64_t count = 1;; count *= 2) {
      std::vector<std::uint64_t> waiting = edges_not_skipped(hub_root);
      std::uint64_t selected = 0;
      for (std::uint64_t p = 0; p < done.size(); ++p) {
        if (done[p] || selected == count) waiting[p] = 0;
        if (waiting[p] == 0) continue;
        done[p] = true;
        ++selected;
      }
      if (selected == 0) return;
      join_waiting(waiting, hub_root);
      hub_root = compress_all();
    }
  }

  /// Edges of vertices that are not skipped, by partition.
  std::vector<std::uint64_t> edges_not_skipped(Vertex hub_root) {
    return lists_.count_edges(executor_, own_rows(), NotSkipped<Program>{view_, hub_root});
  }

  const Device& device_;
  const RankPart& part_;
  E executor_;
  VertexStates<Vertex, E> states_;
  Buffer<unsigned long long> counters_;  ///< sums, and whether edges were deferred
  SampledRoots sampled_;
  RankForests forests_;
  Adjacency lists_;
  LaneOutput output_;
  MergeRows<Program> view_;
  Vertex hub_ = kNoVertex;
  bool most_below_hub_ = false;  ///< most own vertices of every rank are in the hub's tree
};

}  // namespace sluice::acc
