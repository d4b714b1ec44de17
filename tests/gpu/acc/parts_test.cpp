// ACC on a GPU that reads the graph in partitions.
#include "engine/acc/rounds/short_lists.hpp"
#include "engine/core/error.hpp"
#include "gpu/acc/acc.hpp"

namespace sluice::test {
namespace {

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

  const acc::AccGraph search(*gpu_, all.back().graph, {.in_edges = true}, place);
  const auto ballots = [&](acc::AccFilter filter, acc::AccDirection direction = acc::AccDirection::push) {
    const acc::AccStats stats =
        bfs(search, hub_of(all.back().graph), {.direction = direction, .filter = filter}).stats;
    return std::pair(stats.refills, stats.rounds);
  };
  const auto [always, rounds] = ballots(acc::AccFilter::ballot);
  EXPECT_EQ(always, rounds);
  EXPECT_EQ(ballots(acc::AccFilter::ballot, acc::AccDirection::pull), std::pair(rounds, rounds));
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

TEST_F(GpuAcc, TakesHubsByTheGridWhereItIsSharedOut) {
  for (const Transport transport : {Transport::copied, Transport::mapped})
    compare_programs(host_, *gpu_, stars(), {.paging = {.partitions = 3, .transport = transport}});
}

/// Expects that the run read some partitions in place and copied others.
void expect_both(const acc::AccStats& stats) {
  EXPECT_GT(stats.mapped_bytes, 0u);
  EXPECT_GT(stats.partition_transfers, 0u);
}

TEST_F(GpuAcc, WorksInPartitionsWhereTheGraphDoesNotFit) {
  const Graph graph = kronecker();
  const std::uint64_t lists = graph.edges() * (sizeof(Vertex) + sizeof(float));
  const auto small = open_gpu(graph.vertices() * 40 + lists / 3 + (1u << 20));
  REQUIRE_GPU(small);

  const auto alone = make_single_rank();

  compare_programs(host_, *small, graph, {.ranks = alone.get()});

  EXPECT_LE(small->memory().peak(), small->memory().ceiling());
  if (lists <= small->memory().ceiling()) return;  // small R-MAT graphs fit whole
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
  ASSERT_TRUE(acc::ShortLists::make(*gpu_, part, part.out(), graph.edges() * 8).any());

  compare_programs(host_, *gpu_, graph, place);
  const auto solve = [&](const acc::AccGraph& on) { return sssp(on, hub_of(graph)); };
  EXPECT_EQ(plan_solver(*gpu_, graph, {.weights = true}, place, {}, solve).partitions,
            solve(search).stats.partitions);
}

/// Each partition has lists for lanes, for warps and for blocks.
TEST_F(GpuAcc, PullsInPartitions) {
  const Graph graph = kronecker(12);
  const acc::AccNeeds paths{.in_edges = true, .weights = true}, cores{.in_edges = true, .simple = true};
  const Both search(host_, *gpu_, graph, paths), simple(host_, *gpu_, graph, cores);
  const auto distances = sssp(search.on_host, 1).distances;
  const auto members = core_numbers(simple.on_host, 64).cores;
  for (const Transport transport : {Transport::copied, Transport::mapped, Transport::automatic}) {
    const acc::AccPlace place{.paging = {.partitions = 6, .slots = 2, .transport = transport}};
    const acc::AccGraph search_parts(*gpu_, graph, paths, place), simple_parts(*gpu_, graph, cores, place);
    compare_directions(search_parts, acc::AccFilter::jit, [&](const acc::AccOptions& options) {
      const acc::SsspResult found = sssp(search_parts, 1, 0, options);
      expect_equal(found.distances, distances);
      return found.stats;
    });
    compare_directions(simple_parts, acc::AccFilter::jit, [&](const acc::AccOptions& options) {
      const acc::CoreResult found = core_numbers(simple_parts, 64, options);
      expect_equal(found.cores, members);
      if (options.direction == acc::AccDirection::automatic) {
        EXPECT_GT(found.stats.pulls, 0u);
      }
      return found.stats;
    });
  }
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
