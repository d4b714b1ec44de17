// Tables that are built from partitions equal those of the whole graph.
#include "engine/memory/tables/page_tables.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "engine/memory/partition_cache.hpp"
#include "statistical/graphs.hpp"

namespace sluice::test {
namespace {

constexpr std::uint32_t kPartitions = 5;

Graph weighted_graph() {
  constexpr std::uint64_t kVertices = 200;
  std::mt19937 random(3);
  std::vector<stat::Edge> edges;
  for (int i = 0; i < 3000; ++i) {
    const auto from = static_cast<Vertex>(random() % kVertices),
               to = static_cast<Vertex>(random() % kVertices);
    edges.push_back({from, to, static_cast<float>(random() % 5)});
  }
  return stat::make_graph(kVertices, std::move(edges), true);
}

TEST(PageTables, WideAliasSlotsOfPartitionsAreThoseOfTheGraph) {
  const Graph graph = weighted_graph();
  const Device device({DeviceChoice::host, 2});
  const NamedBias bias{Bias::weight};
  ResidentGraph whole(device, graph), parts(device, graph, {.partitions = kPartitions});
  BiasTables tables;
  const WideAlias* const expected = ensure_wide_alias(whole.impl(), tables, bias);
  PageRequest pages(parts.impl());
  request_wide_alias(parts.impl(), bias, pages);
  ASSERT_EQ(pages.columns.bytes_per_edge(), sizeof(Vertex) + sizeof(WideAlias));
  PagedPlan plan{
      PartitionPlan::of_count(graph.out.offsets.span(), {0, pages.columns.bytes_per_edge()}, kPartitions)};
  plan.slots = kPartitions;
  PartitionCache cache(parts.impl(), pages, std::move(plan), {.picks = 1});
  ASSERT_EQ(cache.partitions(), kPartitions);

  cache.make_resident(std::vector<std::uint32_t>{0, 1, 2, 3, 4});

  for (std::uint32_t p = 0; p < kPartitions; ++p) {
    const EdgeIndex begin = graph.out.offsets[cache.plan().partitions.begin(p)],
                    end = graph.out.offsets[cache.plan().partitions.end(p)];
    ASSERT_LT(begin, end);
    EXPECT_EQ(
        std::memcmp(cache.page(p).wide_alias + begin, expected + begin, (end - begin) * sizeof(WideAlias)), 0)
        << "partition " << p;
  }
}

}  // namespace
}  // namespace sluice::test
