// ACC on a GPU that holds the graph gives the host's results with every filter and every fusion.
#include <array>
#include <cstdint>
#include <utility>

#include "gpu/acc/acc.hpp"
#include "io/file_test_support.hpp"
#include "io/graph_file/graph_file.hpp"

namespace sluice::test {
namespace {

/// Every combination of filter and fusion; under a sanitizer each filter and each fusion once.
std::vector<acc::AccOptions> all_options() {
  std::vector<acc::AccOptions> all;
  const std::array filters{acc::AccFilter::jit, acc::AccFilter::ballot, acc::AccFilter::online,
                           acc::AccFilter::batch};
  const std::array fusions{acc::AccFusion::automatic, acc::AccFusion::none, acc::AccFusion::push_pull,
                           acc::AccFusion::all};
  for (std::size_t i = 0; i < filters.size(); ++i) {
    for (std::size_t j = 0; j < fusions.size(); ++j)
      if (!brief() || j == i % fusions.size())
        all.push_back({acc::AccDirection::automatic, filters[i], fusions[j]});
  }
  return all;
}

TEST_F(GpuAcc, SearchesAsTheHost) {
  for (const auto& [name, graph] : graphs()) {
    SCOPED_TRACE(name);
    const Both both(host_, *gpu_, graph, {.in_edges = true});
    for (const Vertex source : sources(graph)) {
      const std::array directions{acc::AccDirection::automatic, acc::AccDirection::push,
                                  acc::AccDirection::pull};
      std::size_t i = 0;
      for (acc::AccOptions options : all_options()) {
        ++i;
        for (std::size_t d = 0; d < directions.size(); ++d) {
          if (brief() && d != i % directions.size()) continue;
          if (directions[d] == acc::AccDirection::pull && !both.on_gpu.has_in_edges()) continue;
          options.direction = directions[d];
          compare_searches(both, source, options);
        }
      }
    }
  }
}

TEST_F(GpuAcc, SearchesGraphsWhoseEdgesComeLate) {
  for (const auto& [name, graph] : graphs()) {
    SCOPED_TRACE(name);
    const TemporaryFolder folder;
    const std::string path = folder / "graph.h5";
    io::write_graph(path, graph, false);
    const Graph on_host = io::begin_reading(path), on_gpu = io::begin_reading(path);
    const acc::AccGraph late(*gpu_, on_gpu, {}), late_on_host(host_, on_host, {}), whole(host_, graph, {});
    EXPECT_TRUE(on_host.pending_edges->complete() && on_gpu.pending_edges->complete());
    for (const Vertex source : sources(graph)) {
      const acc::BfsResult expected = bfs(whole, source);
      expect_equal(bfs(late, source).parents, expected.parents);
      expect_equal(bfs(late_on_host, source).parents, expected.parents);
    }
  }
}

TEST_F(GpuAcc, FindsTheHostsDistances) {
  for (const auto& [name, graph] : graphs()) {
    SCOPED_TRACE(name);
    const Both both(host_, *gpu_, graph, {.weights = true});
    for (const Vertex source : sources(graph)) {
      const acc::SsspResult expected = sssp(both.on_host, source);
      for (const acc::AccOptions& options : all_options())
        expect_equal(sssp(both.on_gpu, source, 0, options).distances, expected.distances);
    }
  }
}

TEST_F(GpuAcc, FindsTheHostsCoresAndComponents) {
  for (const auto& [name, graph] : graphs()) {
    SCOPED_TRACE(name);
    const Both simple(host_, *gpu_, graph, {.simple = true}), plain(host_, *gpu_, graph, {});
    for (const std::uint32_t k : {0u, 1u, 3u}) {
      const acc::CoreResult expected = core_numbers(simple.on_host, k);
      for (const acc::AccOptions& options : all_options())
        expect_equal(core_numbers(simple.on_gpu, k, options).cores, expected.cores);
    }
    expect_equal(components(plain.on_gpu).components, components(plain.on_host).components);
  }
}

TEST_F(GpuAcc, FillsAGridAndOverflowsItsBins) {
  const Graph graph = kronecker();
  const Both both(host_, *gpu_, graph, {.in_edges = true, .weights = true});
  for (const Vertex source : sources(graph)) {
    compare_searches(both, source, {});
    compare_searches(both, source, {.direction = acc::AccDirection::push});
    expect_equal(sssp(both.on_gpu, source).distances, sssp(both.on_host, source).distances);
  }
  expect_equal(components(both.on_gpu).components, components(both.on_host).components);
  const Both simple(host_, *gpu_, graph, {.simple = true});
  expect_equal(core_numbers(simple.on_gpu).cores, core_numbers(simple.on_host).cores);
}

TEST_F(GpuAcc, WalksALongPathWithoutALaunchARound) {
  const auto last = static_cast<Vertex>(at_most(100'000, 300));
  std::vector<stat::Edge> path;
  for (Vertex v = 0; v < last; ++v) path.push_back({v, v + 1, static_cast<float>(v % 4)});
  const Graph graph = stat::make_undirected(last + 1, path, true);
  const Both both(host_, *gpu_, graph, {.in_edges = true, .weights = true});

  compare_searches(both, 7, {});
  EXPECT_LT(bfs(both.on_gpu, 7).stats.kernel_launches, 10u);
  EXPECT_GT(bfs(both.on_gpu, 7, {.fusion = acc::AccFusion::none}).stats.kernel_launches, last - 10);
  expect_equal(sssp(both.on_gpu, 0).distances, sssp(both.on_host, 0).distances);
}

/// Two chains joined only by the edges of the last vertex. The roots of both chains are far away when that
/// vertex is processed, so a missed edge leaves two components.
TEST_F(GpuAcc, JoinsTheEndsOfLongChains) {
  const auto chain = static_cast<Vertex>(at_most(400'000, 3'000)), last = 2 * chain;
  std::vector<stat::Edge> edges{{last, last - 1, 1}, {chain - 1, last, 1}};
  for (Vertex v = 0; v + 1 < last; ++v)
    if (v != chain - 1) edges.push_back({v, v + 1, 1});
  const Graph graph = stat::make_graph(last + std::uint64_t{1}, edges, false);
  const Both both(host_, *gpu_, graph, {});

  const auto found = components(both.on_gpu).components;
  expect_equal(found, components(both.on_host).components);
  EXPECT_EQ(found[chain], 0u);
}

/// The number of runs of consecutive rounds with the same direction.
std::uint64_t phases(const acc::AccStats& stats) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < stats.trace.size(); ++i)
    count += i == 0 || stats.trace[i].pull != stats.trace[i - 1].pull;
  return count;
}

/// The initialization of a solver is a launch of its own.
TEST_F(GpuAcc, LaunchesARoundAPhaseOrAll) {
  const Graph graph = kronecker();
  const acc::AccGraph search(*gpu_, graph, {.in_edges = true});

  const Vertex source = hub_of(graph);
  const acc::AccStats none = bfs(search, source, {.fusion = acc::AccFusion::none}).stats,
                      phase = bfs(search, source, {.fusion = acc::AccFusion::push_pull}).stats,
                      all = bfs(search, source, {.fusion = acc::AccFusion::all}).stats;

  EXPECT_GT(phases(phase), 1u);
  EXPECT_EQ(none.kernel_launches, 1 + none.rounds);
  EXPECT_EQ(phase.kernel_launches, 1 + phases(phase));
  EXPECT_EQ(all.kernel_launches, 2u);
  EXPECT_EQ(all.push_registers, all.pull_registers);
  EXPECT_LT(phase.push_registers, all.push_registers);
  EXPECT_LT(phase.pull_registers, all.pull_registers);
  EXPECT_LT(none.push_registers, all.push_registers);
  EXPECT_LT(none.pull_registers, all.pull_registers);
}

/// Directions that allow pulls; true: every round must pull.
constexpr std::pair<acc::AccDirection, bool> kPulls[] = {{acc::AccDirection::automatic, false},
                                                         {acc::AccDirection::pull, true}};

TEST_F(GpuAcc, PullsDistances) {
  std::vector<NamedGraph> all = graphs();
  all.push_back({"Kronecker", kronecker()});
  for (const auto& [name, graph] : all) {
    SCOPED_TRACE(name);
    const Both search(host_, *gpu_, graph, {.in_edges = true, .weights = true});
    for (const Vertex source : sources(graph)) {
      const acc::SsspResult expected = sssp(search.on_host, source);
      for (acc::AccOptions options : all_options()) {
        for (const auto& [direction, must] : kPulls) {
          if (must && !search.on_gpu.has_in_edges()) continue;
          options.direction = direction;
          const acc::SsspResult found = sssp(search.on_gpu, source, 0, options);
          expect_equal(found.distances, expected.distances);
          EXPECT_TRUE(!must || found.stats.pulls == found.stats.rounds);
        }
      }
    }
  }
}

TEST_F(GpuAcc, PullsCores) {
  std::vector<NamedGraph> all = graphs();
  all.push_back({"Kronecker", kronecker()});
  for (const auto& [name, graph] : all) {
    SCOPED_TRACE(name);
    const Both simple(host_, *gpu_, graph, {.in_edges = true, .simple = true});
    const acc::CoreResult cores = core_numbers(simple.on_host), members = core_numbers(simple.on_host, 3);
    for (acc::AccOptions options : all_options()) {
      for (const auto& [direction, must] : kPulls) {
        options.direction = direction;
        const acc::CoreResult found = core_numbers(simple.on_gpu, 0, options);
        expect_equal(found.cores, cores.cores);
        EXPECT_TRUE(!must || found.stats.pulls == found.stats.rounds);
        expect_equal(core_numbers(simple.on_gpu, 3, options).cores, members.cores);
      }
    }
  }
}

TEST_F(GpuAcc, PullsCoresWhereManyVerticesGo) {
  const Graph graph = kronecker();
  const acc::AccGraph simple(*gpu_, graph, {.in_edges = true, .simple = true});
  acc::AccOptions options{.fusion = acc::AccFusion::push_pull};

  // Most edges belong to vertices that are removed in the same round, so a pull is cheaper.
  const acc::AccStats phase = core_numbers(simple, 1024, options).stats;
  options.fusion = acc::AccFusion::all;
  const acc::AccStats all = core_numbers(simple, 1024, options).stats;

  EXPECT_GT(phase.pulls, 0u);
  EXPECT_GE(phase.kernel_launches, 1 + phases(phase));
  EXPECT_EQ(all.kernel_launches, 2u);
  EXPECT_EQ(all.pulls, phase.pulls);
}

}  // namespace
}  // namespace sluice::test
