// ACC on ranks that share one GPU.
#include "engine/core/error.hpp"
#include "gpu/acc/acc.hpp"
#include "gpu/thread_ranks.hpp"

namespace sluice::test {
namespace {

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

// One rank has the whole frontier for many rounds; both ranks work where the path crosses between them.
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

// One kernel initializes and one makes all rounds, so ranks must exchange messages inside a kernel.
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

}  // namespace
}  // namespace sluice::test
