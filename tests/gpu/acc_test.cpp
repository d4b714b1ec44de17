// Active-Compute-Combine on a GPU: what the host finds, bit for bit, whatever the filter and the fusion.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <utility>

#include "acc/cases.hpp"
#include "engine/acc/rounds/short_lists.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/error.hpp"
#include "gpu/gpu.hpp"
#include "gpu/thread_ranks.hpp"

namespace sluice::test {
namespace {

/// Every filter with every fusion; each of them once where a sanitizer watches.
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

/// All of them; where a sanitizer watches, some that take few rounds.
std::vector<NamedGraph> graphs() {
  std::vector<NamedGraph> some;
  for (NamedGraph& graph : acc_graphs())
    if (!brief() || graph.name == "star of stars" || graph.name == "zoo") some.push_back(std::move(graph));
  return some;
}

std::vector<Vertex> sources(const Graph& graph) {
  std::vector<Vertex> some = some_sources(graph);
  some.resize(at_most(some.size(), 1));
  return some;
}

template <class T>
void expect_equal(const HostArray<T>& found, const HostArray<T>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin()));
}

/// A graph on the host and on the GPU.
struct Both {
  Both(const Device& host, const Device& gpu, const Graph& graph, const acc::AccNeeds& needs)
      : on_host(host, graph, needs), on_gpu(gpu, graph, needs) {}
  acc::AccGraph on_host, on_gpu;
};

void compare_searches(const Both& both, Vertex source, const acc::AccOptions& options) {
  const acc::BfsResult found = bfs(both.on_gpu, source, options), expected = bfs(both.on_host, source);
  expect_equal(found.depths, expected.depths);
  expect_equal(found.parents, expected.parents);
  EXPECT_EQ(found.stats.rounds, expected.stats.rounds);
  EXPECT_EQ(found.stats.trace.size(), std::min<std::uint64_t>(found.stats.rounds, acc::kTracedRounds));
}

Graph kronecker(unsigned scale = rmat_scale(), unsigned edge_factor = 16) {
  io::ConvertOptions rules;
  rules.undirected = true;
  rules.weights = io::WeightRule::uniform;
  return bench::generate_graph({io::GraphKind::kronecker, scale, edge_factor}, rules);
}

class GpuAcc : public OnGpu {};

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
          options.direction = directions[d];
          compare_searches(both, source, options);
        }
      }
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

/// Two chains, of which the last vertex is an end, and leads to the end of the other: when its turn comes,
/// both roots are far, and without that edge there were two components.
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

Vertex hub_of(const Graph& graph) {
  const EdgeIndex* const offsets = graph.out.offsets.data();
  Vertex hub = 0;
  for (Vertex v = 0; v < graph.vertices(); ++v)
    if (offsets[v + 1] - offsets[v] > offsets[hub + 1] - offsets[hub]) hub = v;
  return hub;
}

/// Runs of rounds that go the same way.
std::uint64_t phases(const acc::AccStats& stats) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < stats.trace.size(); ++i)
    count += i == 0 || stats.trace[i].pull != stats.trace[i - 1].pull;
  return count;
}

/// What starts a solver is a launch of its own.
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

/// Of aggregations: in both directions where they may pull, whatever the filter and the fusion.
/// Directions in which rounds may pull, and whether they must.
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

  // Most edges are those of vertices that go at once.
  const acc::AccStats phase = core_numbers(simple, 1024, options).stats;
  options.fusion = acc::AccFusion::all;
  const acc::AccStats all = core_numbers(simple, 1024, options).stats;

  EXPECT_GT(phase.pulls, 0u);
  EXPECT_GE(phase.kernel_launches, 1 + phases(phase));
  EXPECT_EQ(all.kernel_launches, 2u);
  EXPECT_EQ(all.pulls, phase.pulls);
}

/// Every program on a graph that is worked on in one way on the GPU, and whole on the host.
void compare_programs(const Device& host, const Device& gpu, const Graph& graph, const acc::AccPlace& place,
                      acc::AccFilter filter = acc::AccFilter::jit) {
  const acc::AccNeeds both_ways{.in_edges = true, .weights = true};
  const acc::AccGraph on_gpu(gpu, graph, both_ways, place), on_host(host, graph, both_ways);
  for (const Vertex source : sources(graph)) {
    const acc::BfsResult expected = bfs(on_host, source);
    for (const acc::AccDirection direction :
         {acc::AccDirection::automatic, acc::AccDirection::push, acc::AccDirection::pull}) {
      const acc::BfsResult found = bfs(on_gpu, source, {.direction = direction, .filter = filter});
      expect_equal(found.depths, expected.depths);
      expect_equal(found.parents, expected.parents);
      EXPECT_EQ(found.stats.rounds, expected.stats.rounds);
      if (direction == acc::AccDirection::automatic) {
        EXPECT_EQ(found.stats.pulls, expected.stats.pulls);
        EXPECT_EQ(found.stats.edges, expected.stats.edges);
      } else {
        const bool pulls = direction == acc::AccDirection::pull && on_host.has_in_edges();
        EXPECT_EQ(found.stats.pulls, pulls ? found.stats.rounds : 0);
      }
    }
    expect_equal(sssp(on_gpu, source, 0, {.filter = filter}).distances, sssp(on_host, source).distances);
  }
  if (!graph.directed) {
    const acc::AccGraph simple_on_gpu(gpu, graph, {.simple = true}, place),
        simple_on_host(host, graph, {.simple = true});
    expect_equal(core_numbers(simple_on_gpu, 0, {.filter = filter}).cores,
                 core_numbers(simple_on_host).cores);
    expect_equal(core_numbers(simple_on_gpu, 3, {.filter = filter}).cores,
                 core_numbers(simple_on_host, 3).cores);
  }
  expect_equal(components(on_gpu).components, components(on_host).components);
}

TEST_F(GpuAcc, BringsListsInPartitions) {
  for (const auto& [name, graph] : graphs()) {
    SCOPED_TRACE(name);
    compare_programs(host_, *gpu_, graph,
                     {.paging = {.partitions = 6, .slots = 2, .transport = Transport::copied}});
    if (brief()) continue;
    compare_programs(host_, *gpu_, graph, {.paging = {.partitions = 40, .transport = Transport::copied}});
    compare_programs(host_, *gpu_, graph, {.paging = {.partitions = 5, .transport = Transport::mapped}});
    compare_programs(host_, *gpu_, graph, {.paging = {.partitions = 6, .slots = 2}});
  }
}

TEST_F(GpuAcc, FindsVerticesOfPartitionsByEveryFilter) {
  std::vector<NamedGraph> all = graphs();
  all.push_back({"Kronecker", kronecker(10)});
  const acc::AccPlace place{.paging = {.partitions = 6, .slots = 2}};
  for (const auto& [name, graph] : all) {
    SCOPED_TRACE(name);
    for (const acc::AccFilter filter : {acc::AccFilter::ballot, acc::AccFilter::online})
      compare_programs(host_, *gpu_, graph, place, filter);
  }

  const acc::AccGraph search(*gpu_, all.back().graph, {}, place);
  const auto ballots = [&](acc::AccFilter filter) {
    const acc::AccStats stats =
        bfs(search, hub_of(all.back().graph), {.direction = acc::AccDirection::push, .filter = filter}).stats;
    return std::pair(stats.refills, stats.rounds);
  };
  const auto [always, rounds] = ballots(acc::AccFilter::ballot);
  EXPECT_EQ(always, rounds);
  EXPECT_EQ(ballots(acc::AccFilter::online).first, 0u);
  const std::uint64_t sometimes = ballots(acc::AccFilter::jit).first;
  EXPECT_TRUE(sometimes > 0 && sometimes < rounds) << sometimes << " of " << rounds;
}

TEST_F(GpuAcc, FindsTheSameWithBinsOfAnySize) {
  const Graph graph = kronecker(12);
  const Both both(host_, *gpu_, graph, {.in_edges = true, .weights = true});
  const Both simple(host_, *gpu_, graph, {.simple = true});
  const Vertex source = hub_of(graph);
  std::uint64_t refills = ~std::uint64_t{0};
  for (const unsigned bin : {1u, 3u, 256u}) {
    compare_searches(both, source, {.bin = bin});
    const acc::AccOptions push{.direction = acc::AccDirection::push, .bin = bin};
    compare_searches(both, source, push);
    const std::uint64_t found = bfs(both.on_gpu, source, push).stats.refills;
    EXPECT_LE(found, refills) << "larger bins overflow less";
    refills = found;
    for (const acc::AccFilter filter : {acc::AccFilter::jit, acc::AccFilter::online}) {
      const acc::AccOptions options{.filter = filter, .bin = bin};
      expect_equal(sssp(both.on_gpu, source, 0, options).distances, sssp(both.on_host, source).distances);
      expect_equal(core_numbers(simple.on_gpu, 0, options).cores, core_numbers(simple.on_host).cores);
    }
  }
  EXPECT_GT(bfs(both.on_gpu, source, {.direction = acc::AccDirection::push, .bin = 1}).stats.refills, 0u);
  EXPECT_THROW(bfs(both.on_gpu, source, {.bin = 0}), UsageError);
}

TEST_F(GpuAcc, BringsNoPartitionWithoutActiveVertices) {
  const Graph graph = stretches(true);
  const acc::AccGraph search(*gpu_, graph, {.weights = true},
                             {.paging = {.partitions = 4, .slots = 2, .transport = Transport::copied}});

  const acc::AccStats one = bfs(search, 230).stats, last = bfs(search, 399).stats,
                      far = sssp(search, 110).stats;

  EXPECT_EQ(one.partition_transfers, 1u);
  EXPECT_EQ(one.rounds, 70u);
  EXPECT_EQ(last.partition_transfers, 0u);
  EXPECT_EQ(far.partition_transfers, 1u);
}

/// Hubs whose lists are the whole grid's, and others that are a warp's.
Graph stars() {
  std::vector<stat::Edge> edges;
  for (Vertex v = 3; v < 9000; ++v) {
    edges.push_back({v % 2, v, static_cast<float>(v % 7)});
    if (v % 3 == 0) edges.push_back({2 * (v % 2), v, static_cast<float>(v % 5)});
    if (v % 11 == 0) edges.push_back({v, 3 + v % 100, 1});
  }
  return stat::make_undirected(9000, edges, true);
}

TEST_F(GpuAcc, TakesHubsByTheGridWhereItIsSharedOut) {
  for (const Transport transport : {Transport::copied, Transport::mapped})
    compare_programs(host_, *gpu_, stars(), {.paging = {.partitions = 3, .transport = transport}});
}

/// Were some partitions read in place, and others brought?
void expect_both(const acc::AccStats& stats) {
  EXPECT_GT(stats.mapped_bytes, 0u);
  EXPECT_GT(stats.partition_transfers, 0u);
}

TEST_F(GpuAcc, WorksInPartitionsWhereTheGraphDoesNotFit) {
  const Graph graph = kronecker();
  const std::uint64_t lists = graph.edges() * (sizeof(Vertex) + sizeof(float));
  const auto small = open_gpu(graph.vertices() * 40 + lists / 3 + (1u << 20));
  REQUIRE_GPU(small);

  const auto alone = make_alone();

  compare_programs(host_, *small, graph, {.ranks = alone.get()});

  EXPECT_LE(small->memory().peak(), small->memory().ceiling());
  if (brief()) return;  // all fits
  const acc::AccGraph search(*small, graph, {.in_edges = true, .weights = true}, {.ranks = alone.get()}),
      simple(*gpu_, graph, {.simple = true}, {.paging = {.partitions = 24, .slots = 6}});
  const Vertex hub = hub_of(graph);
  const acc::AccStats found = sssp(search, hub).stats;
  EXPECT_GT(found.partitions, 1u);
  expect_both(found);
  expect_both(core_numbers(simple).stats);
  expect_both(components(search).stats);
  EXPECT_GT(bfs(search, hub).stats.mapped_bytes, 0u);
}

TEST_F(GpuAcc, KeepsShortListsWhereOthersAreBrought) {
  const Graph graph = kronecker(12, 64);
  const acc::AccPlace place{.paging = {.partitions = 24, .slots = 12}};
  const acc::AccGraph search(*gpu_, graph, {.weights = true}, place);
  const acc::RankPart& part = search.rank_part();
  ASSERT_TRUE(acc::ShortLists::of(*gpu_, part, part.out(), graph.edges() * 8).any());

  compare_programs(host_, *gpu_, graph, place);
  EXPECT_EQ(acc::plan_sssp(*gpu_, graph, place).partitions, sssp(search, hub_of(graph)).stats.partitions);
}

TEST(GpuAccRanks, FindWhatTheHostFinds) {
  REQUIRE_GPU(open_gpu());
  std::vector<NamedGraph> all = graphs();
  all.push_back({"stars", stars()});
  on_ranks_of_gpu([&](const Device& host, const Device& gpu, Communicator& ranks, DeviceRanks& link) {
    for (const auto& [name, graph] : all) {
      SCOPED_TRACE(name);
      compare_programs(host, gpu, graph, {.ranks = &ranks});
      compare_programs(host, gpu, graph, {.ranks = &ranks, .link = &link});
      compare_programs(host, gpu, graph, {.ranks = &ranks}, acc::AccFilter::ballot);
      compare_programs(host, gpu, graph, {.ranks = &ranks, .link = &link}, acc::AccFilter::ballot);
    }
  });
}

TEST(GpuAccRanks, SayWhatBallotsFound) {
  REQUIRE_GPU(open_gpu());
  const Graph graph = stars();
  on_ranks_of_gpu([&](const Device&, const Device& gpu, Communicator& ranks, DeviceRanks& link) {
    const acc::AccGraph search(gpu, graph, {.in_edges = true}, {.ranks = &ranks, .link = &link});
    acc::AccOptions options{.direction = acc::AccDirection::push, .filter = acc::AccFilter::ballot};
    const acc::AccStats found = bfs(search, 0, options).stats;
    EXPECT_GT(found.rounds, 1u);
    ASSERT_FALSE(found.trace.empty());
    for (const acc::AccRoundTrace& round : found.trace) EXPECT_TRUE(round.refilled);
    options.filter = acc::AccFilter::online;
    EXPECT_THROW(bfs(search, 0, options), UsageError);
  });
}

TEST(GpuAccRanks, HandOverFromGpuToGpu) {
  REQUIRE_GPU(open_gpu());
  const Graph graph = stars();
  on_ranks_of_gpu([&](const Device&, const Device& gpu, Communicator& ranks, DeviceRanks& link) {
    const acc::AccGraph search(gpu, graph, {.in_edges = true}, {.ranks = &ranks, .link = &link});

    EXPECT_GT(bfs(search, 0, {.direction = acc::AccDirection::pull}).stats.exchanged_bytes, 0u);
    EXPECT_GT(bfs(search, 0, {.direction = acc::AccDirection::push}).stats.exchanged_bytes, 0u);
    EXPECT_GT(components(search).stats.exchanged_bytes, 0u);
  });
}

// One rank works alone for long, and where the path leaves it and comes back both do.
TEST(GpuAccRanks, FollowAPathFromRankToRank) {
  REQUIRE_GPU(open_gpu());
  constexpr Vertex kVertices = 3000;
  std::vector<stat::Edge> edges;
  for (Vertex v = 0; v + 1 < kVertices; ++v) edges.push_back({v, v + 1});
  for (Vertex v = 10; v < kVertices; v += 700) edges.push_back({v, kVertices - 1 - v});
  const Graph graph = stat::make_undirected(kVertices, edges, false);
  on_ranks_of_gpu([&](const Device& host, const Device& gpu, Communicator& ranks, DeviceRanks& link) {
    compare_programs(host, gpu, graph, {.ranks = &ranks, .link = &link});
    const acc::AccGraph search(gpu, graph, {.in_edges = true}, {.ranks = &ranks, .link = &link});
    const acc::AccGraph whole(host, graph, {.in_edges = true});
    EXPECT_EQ(bfs(search, 5).stats.rounds, bfs(whole, 5).stats.rounds);
  });
}

// One kernel begins, one makes all rounds: ranks swap what they send in the middle of it.
TEST(GpuAccRanks, SwapInsideOfKernels) {
  REQUIRE_GPU(open_gpu());
  const Graph graph = stars();
  on_ranks_of_gpu([&](const Device&, const Device& gpu, Communicator& ranks, DeviceRanks& link) {
    const acc::AccPlace place{.ranks = &ranks, .link = &link};
    const acc::AccGraph search(gpu, graph, {.in_edges = true}, place);
    for (const auto& found : {bfs(search, 0, {.direction = acc::AccDirection::push}).stats,
                              bfs(search, 0, {.direction = acc::AccDirection::pull}).stats,
                              sssp(acc::AccGraph(gpu, graph, {.weights = true}, place), 0).stats,
                              core_numbers(acc::AccGraph(gpu, graph, {.simple = true}, place)).stats}) {
      EXPECT_EQ(found.kernel_launches, 2u);
      EXPECT_GT(found.exchanged_bytes, 0u);
    }
  });
}

TEST_F(GpuAcc, RefusesWhatChoosesAmongKernelsOfWholeGraphs) {
  const Graph graph = stat::make_graph(3, {{0, 1}, {1, 2}}, false);
  const acc::AccGraph search(*gpu_, graph, {}, {.paging = {.partitions = 2}});

  EXPECT_THROW(bfs(search, 0, {.filter = acc::AccFilter::batch}), UsageError);
  EXPECT_THROW(bfs(search, 0, {.fusion = acc::AccFusion::none}), UsageError);
  EXPECT_THROW(sssp(search, 0, 0, {.direction = acc::AccDirection::pull}), UsageError);
}

}  // namespace
}  // namespace sluice::test
