// Vote programs with small frontiers, whose rounds one cluster makes. Results and rounds equal the host's.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/acc/resident_cuda/cuda_vote.cuh"
#include "engine/acc/rounds/vote.hpp"
#include "engine/acc/solve.hpp"
#include "engine/exec/threads.hpp"
#include "engine/traverse/host_traverser.hpp"
#include "gpu/gpu.hpp"
#include "statistical/graphs.hpp"

namespace sluice::test {

/// Distance to the nearest start vertex. `earliest`: see kEarliest of acc/program.hpp.
template <bool earliest>
struct Nearest {
  using State = std::uint32_t;
  static constexpr acc::Combine kCombine = acc::Combine::vote;
  static constexpr bool kEarliest = earliest;

  Vertex apart = 1;

  SLUICE_HD State init(Vertex v, std::uint64_t) const { return starts(v) ? 0 : ~State{0}; }
  SLUICE_HD bool starts(Vertex v) const { return v % apart == 0; }
  SLUICE_HD State compute(const acc::AccEdge<State>& edge) const { return edge.at.round; }
  SLUICE_HD State combine(State into, State value, acc::AccRound) const {
    return value < into ? value : into;
  }
  SLUICE_HD bool active(State, State before, acc::AccRound) const { return before == ~State{0}; }
  SLUICE_HD bool settled(State state) const { return state != ~State{0}; }
};

namespace {

using Edges = std::vector<stat::Edge>;

Edges path(Vertex vertices) {
  Edges edges;
  for (Vertex v = 0; v + 1 < vertices; ++v) edges.push_back({v, v + 1});
  return edges;
}

Edges grid(Vertex side) {
  Edges edges;
  for (Vertex v = 0; v < side * side; ++v) {
    if (v % side + 1 < side) edges.push_back({v, v + 1});
    if (v + side < side * side) edges.push_back({v, v + side});
  }
  return edges;
}

/// Layers of the given widths. Each vertex behind the first layer has two neighbours in the layer before.
Edges layers(const std::vector<Vertex>& widths) {
  Edges edges;
  Vertex before = 0;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const Vertex first = before + widths[i - 1];
    for (Vertex j = 0; j < widths[i]; ++j) {
      edges.push_back({before + j % widths[i - 1], first + j});
      if (widths[i - 1] > 1) edges.push_back({before + (7 * j + 3) % widths[i - 1], first + j});
    }
    before = first;
  }
  return edges;
}

/// A frontier that crosses every threshold between block, cluster and grid in both directions.
std::vector<Vertex> swelling() {
  std::vector<Vertex> widths;
  const auto add = [&](Vertex width, int times) {
    widths.insert(widths.end(), times, static_cast<Vertex>(at_most(width, 40)));
  };
  const int run = brief() ? 5 : 14;
  add(1, run);
  for (const Vertex width : {4, 16, 64, 256, 1024, 4096, 12000, 20000, 20000, 9000, 3000, 600, 100})
    add(width, 1);
  for (const Vertex width : {30, 33, 31, 34, 8, 90, 20}) add(width, brief() ? 1 : 4);
  add(40, run), add(2000, 2);  // 40 vertices with 100 edges each on the way
  add(7500, run), add(8300, 2), add(7500, run), add(13000, 2), add(16300, 2), add(16500, 2), add(5000, run);
  add(2, run);
  return widths;
}

/// A tree in which one contiguous quarter of a frontier has nearly all children: more than a block's worklist
/// holds.
Edges lopsided() {
  struct Node {
    Vertex vertex;
    bool rich;
  };
  struct Children {
    unsigned of_rich, of_poor;
  };
  Edges edges = path(20);
  std::vector<Node> front{{19, true}};
  Vertex next = 20;
  for (const Children& children : {Children{31, 31}, {3, 3}, {31, 31}, {31, 1}, {1, 1}, {1, 1}}) {
    std::vector<Node> made;
    for (const Node& node : front) {
      for (unsigned c = 0; c < (node.rich ? children.of_rich : children.of_poor); ++c) {
        edges.push_back({node.vertex, next});
        made.push_back({next++, front.size() == 1 ? c < 8 : node.rich});
      }
    }
    front = std::move(made);
  }
  return edges;
}

/// Leaves beside a path: some vertices have so many that a warp or a block processes their lists.
Edges hubs_on_a_path(Vertex vertices) {
  Edges edges = path(vertices);
  Vertex leaf = vertices;
  for (Vertex v = 15; v < vertices; v += 23) {
    for (const Vertex last = leaf + (v % 3 == 0 ? 200 : v % 3 == 1 ? 40 : 29); leaf < last; ++leaf)
      edges.push_back({v, leaf});
  }
  return edges;
}

Vertex vertices_of(const Edges& edges) {
  Vertex last = 0;
  for (const stat::Edge& edge : edges) last = std::max({last, edge.from, edge.to});
  return last + 1;
}

/// The same edges with vertex ids in random order.
Edges shuffled(Edges edges) {
  std::vector<Vertex> ids(vertices_of(edges));
  std::iota(ids.begin(), ids.end(), 0);
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[i * 2654435761u % i]);
  for (stat::Edge& edge : edges) edge.from = ids[edge.from], edge.to = ids[edge.to];
  return edges;
}

class GpuSmallFrontier : public OnGpu {
 protected:
  acc::AccStats compare(const Graph& graph, Vertex source, const acc::AccOptions& options = {}) {
    const acc::AccNeeds needs{.in_edges = true};
    const acc::AccGraph on_host(host_, graph, needs), on_gpu(*gpu_, graph, needs);
    const acc::BfsResult found = bfs(on_gpu, source, options), expected = bfs(on_host, source, options);
    EXPECT_TRUE(std::equal(found.depths.begin(), found.depths.end(), expected.depths.begin()));
    EXPECT_TRUE(std::equal(found.parents.begin(), found.parents.end(), expected.parents.begin()));
    compare_rounds(found.stats, expected.stats);
    return found.stats;
  }

  /// The edges that a pull reads depend on the group that reads them, so only pushes are compared.
  static void compare_rounds(const acc::AccStats& found, const acc::AccStats& expected) {
    EXPECT_EQ(found.rounds, expected.rounds);
    EXPECT_EQ(found.pulls, expected.pulls);
    if (expected.pulls == 0) EXPECT_EQ(found.edges, expected.edges);
    ASSERT_EQ(found.trace.size(), expected.trace.size());
    for (std::size_t i = 0; i < found.trace.size(); ++i) {
      const acc::AccRoundTrace &is = found.trace[i], &was = expected.trace[i];
      ASSERT_EQ(is.pull, was.pull) << "round " << i + 1;
      ASSERT_EQ(is.active, was.active) << "round " << i + 1;
      if (!is.pull) ASSERT_EQ(is.edges, was.edges) << "round " << i + 1;
    }
  }

  /// Compares a directed graph, where no round can pull, and an undirected one with and without pulls.
  void compare_all(const Edges& edges, Vertex source = 0) {
    const Vertex vertices = vertices_of(edges);
    {
      SCOPED_TRACE("directed");
      compare(stat::make_graph(vertices, edges, false), source);
    }
    if (brief()) return;
    const Graph both = stat::make_undirected(vertices, edges, false);
    {
      SCOPED_TRACE("undirected");
      compare(both, source);
    }
    SCOPED_TRACE("push alone");
    compare(both, source, {.direction = acc::AccDirection::push});
  }
};

TEST_F(GpuSmallFrontier, FollowsAPathInFewLaunches) {
  const auto vertices = static_cast<Vertex>(at_most(20'000, 200));
  const Graph graph = stat::make_undirected(vertices, path(vertices), false);

  EXPECT_LT(compare(graph, 0).kernel_launches, 10u);
  if (brief()) return;
  EXPECT_LT(compare(graph, vertices / 2).kernel_launches, 10u);
  EXPECT_LT(compare(graph, vertices - 1, {.direction = acc::AccDirection::push}).kernel_launches, 4u);
}

TEST_F(GpuSmallFrontier, GoesOverAGrid) {
  const auto side = static_cast<Vertex>(at_most(400, 14));

  compare_all(grid(side));
  if (brief()) return;
  compare_all(grid(side), side * side / 2 + side / 2);
  const Edges mixed = shuffled(grid(side));
  compare_all(mixed, mixed.front().from);
}

TEST_F(GpuSmallFrontier, SwellsAndShrinks) {
  const Edges edges = layers(swelling());

  compare_all(edges);
  if (brief()) return;
  const Edges mixed = shuffled(edges);
  compare_all(mixed, mixed.front().from);
}

TEST_F(GpuSmallFrontier, LosesNothingOfAFullList) {
  const Edges edges = lopsided();

  for (int i = 0; i < (brief() ? 1 : 5); ++i) compare_all(edges);
}

TEST_F(GpuSmallFrontier, LeavesLongListsToTheGrid) {
  compare_all(hubs_on_a_path(static_cast<Vertex>(at_most(2000, 60))));
}

template <bool earliest>
void compare_nearest(const acc::AccGraph& on_host, const acc::AccGraph& on_gpu, Vertex apart) {
  const Nearest<earliest> program{apart};
  acc::AccStats found, expected;
  acc::Vote<Nearest<earliest>, HostTraverser, Whole> host(on_host, program, {});
  acc::CudaVote<Nearest<earliest>> gpu(on_gpu.device(), on_gpu, program, {});

  host.run(expected), gpu.run(found);

  std::vector<std::uint32_t> states(on_gpu.vertices());
  copy_to_host(on_gpu.device(), states.data(), gpu.states(), states.size() * sizeof(std::uint32_t));
  EXPECT_TRUE(std::equal(states.begin(), states.end(), host.states()));
  EXPECT_EQ(found.rounds, expected.rounds);
}

TEST_F(GpuSmallFrontier, StartsAtManyVertices) {
  const auto side = static_cast<Vertex>(at_most(300, 14));
  const Graph graph = stat::make_undirected(side * side, grid(side), false);
  const acc::AccGraph on_host(host_, graph, {}), on_gpu(*gpu_, graph, {});

  for (const Vertex apart : {side * side, side * side / 3, 5000u, 701u}) {
    SCOPED_TRACE(apart);
    compare_nearest<true>(on_host, on_gpu, apart);
    if (brief()) break;
    compare_nearest<false>(on_host, on_gpu, apart);
  }
}

}  // namespace
}  // namespace sluice::test
