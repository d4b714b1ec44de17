// Queries whose lists are brought in partitions, from memory and from the file. Results equal those of the
// whole graph, bit for bit, within the given memory.
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "io/graph_file/graph_file.hpp"
#include "ppr/ran.hpp"
#include "temporary_folder.hpp"

namespace sluice::test {
namespace {

TEST(PprPartitions, ChangeNoBit) {
  const Device device({DeviceChoice::host, 2, 0});
  for (const bool undirected : {false, true}) {
    const Graph graph = generated(io::GraphKind::rmat, 7, undirected, io::WeightRule::uniform);
    auto queries = queries_of(graph);
    const Starts all = starts_of(queries);
    queries.erase(queries.begin(), queries.end() - 2);
    const Starts few = starts_of(queries);
    for (const ppr::Options& options : methods_by_turns_weighted()) {
      const Starts& starts = is_one_by_one(options) ? few : all;  // each needs many rounds
      const Ran whole = ran(device, graph, starts, options);
      EXPECT_EQ(whole.stats.traffic.partitions, 1u);
      EXPECT_EQ(whole.stats.traffic.list_rounds, 0u);
      for (const PagingOptions& paging :
           {PagingOptions{.partitions = 2, .slots = 2, .transport = Transport::copied},
            PagingOptions{.partitions = 7, .slots = 3}, PagingOptions{.partitions = 64, .slots = 2},
            PagingOptions{.partitions = 7, .transport = Transport::mapped}}) {
        const Ran parts = ran(device, graph, starts, options, paging);

        expect_same(parts, whole);
        EXPECT_GT(parts.stats.traffic.partitions, 1u);
        EXPECT_LE(parts.stats.traffic.partitions, paging.partitions);
        if (options.method == ppr::Method::walks && paging.transport == Transport::automatic) {
          // If few walks wait for a partition, they read it in place.
          EXPECT_GT(parts.stats.traffic.partition_transfers + parts.stats.mapped_bytes, 0u);
        } else {
          EXPECT_EQ(parts.stats.traffic.partition_transfers > 0, paging.transport != Transport::mapped);
        }
        EXPECT_GT(parts.stats.traffic.list_rounds, 0u);
        EXPECT_EQ(parts.stats.traffic.restarts, 0u);
      }
    }
  }
}

TEST(PprPartitions, ComeFromTheFileToo) {
  const Device device({DeviceChoice::host, 2, 0});
  const TemporaryFolder folder;
  io::write_graph(folder / "graph.h5", generated(io::GraphKind::rmat, 9, false, io::WeightRule::uniform),
                  true);
  const Graph in_memory = io::read_graph(folder / "graph.h5"), in_file = io::open_graph(folder / "graph.h5");
  const Starts starts = starts_of(queries_of(in_memory));
  for (const ppr::Options& options : methods_by_turns_weighted()) {
    const Ran whole = ran(device, in_memory, starts, options);
    for (const PagingOptions& paging :
         {PagingOptions{}, PagingOptions{.partitions = 7, .slots = 2, .transport = Transport::file}}) {
      const Ran parts = ran(device, in_file, starts, options, paging);

      expect_same(parts, whole);
      EXPECT_GT(parts.stats.traffic.read_bytes, 0u);
    }
  }
}

TEST(PprPartitions, ChangeNoBitOfAnyGraph) {
  const Device device({DeviceChoice::host, 3, 0});
  ppr::Options push;
  push.method = ppr::Method::push;
  push.tolerance = 1e-5;
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    const Starts starts = starts_of(queries_of(graph));
    expect_same(ran(device, graph, starts, push, {.partitions = 5}), ran(device, graph, starts, push));
  }
}

/// A partition that no query needs is not brought, and one that was brought stays while it fits.
TEST(PprPartitions, AreBroughtOnceWhereTheyFit) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = generated(io::GraphKind::ring, 10, false, io::WeightRule::none);
  ppr::Options options;
  options.length = 200;

  const Ran parts = ran(device, graph, starts_of({{{0, 1}}, {{300, 1}}}), options, {.partitions = 8});

  EXPECT_EQ(parts.stats.traffic.partitions, 8u);
  EXPECT_EQ(parts.stats.traffic.partition_transfers, 4u);  // 128 vertices each: 0 to 199, and 300 to 499
  EXPECT_EQ(parts.stats.traffic.list_rounds, 2u);          // both queries reach a second partition
}

/// Each query needs about 400 KiB; all together need far more than the memory.
TEST(PprPartitions, StayWithinTheDeviceMemory) {
  const Graph graph = generated(io::GraphKind::kronecker, 12, true, io::WeightRule::none);
  ppr::Options options;
  options.last_instance = 100;
  options.length = 6;
  const Device ample({DeviceChoice::host, 4, 0}), tight({DeviceChoice::host, 4, 2u << 20});

  const Ran parts = ran(tight, graph, {}, options, {.partitions = 16});

  expect_same(parts, ran(ample, graph, {}, options));
  EXPECT_LE(tight.memory().peak(), 2u << 20);
  EXPECT_EQ(tight.memory().used(), 0u);
  EXPECT_GT(2 * parts.stats.peak_query_bytes, 200u << 10);
  EXPECT_GT(parts.stats.traffic.restarts, 0u);
  // The memory reserved for queries is not all used.
  expect_same(parts, ran(ample, graph, {}, options, {.partitions = 16}));
  EXPECT_LE(ample.memory().peak(), 64u << 20);
}

/// Memory for one query suffices for a hundred, whose results then come in smaller batches.
TEST(PprPartitions, AreAnsweredInSmallBatchesWhereResultsLeaveNoMemory) {
  const Graph graph = generated(io::GraphKind::kronecker, 11, true, io::WeightRule::none);
  const PagingOptions paging{.partitions = 16};
  ppr::Options one, all;
  one.length = all.length = 4, one.last_instance = 1, all.last_instance = 100;
  std::uint64_t least = 64u << 10;
  for (bool fits = false; !fits; least += 1u << 10) {
    try {
      ran(Device({DeviceChoice::host, 2, least}), graph, {}, one, paging);
      fits = true;
    } catch (const BudgetError&) {
    }
  }
  const Device device({DeviceChoice::host, 2, least + least / 32});

  const Ran parts = ran(device, graph, {}, all, paging);

  expect_same(parts, ran(Device({DeviceChoice::host, 2, 0}), graph, {}, all));
  EXPECT_LE(device.memory().peak(), device.memory().ceiling());
}

TEST(PprPartitions, SayWhatIsTooLittle) {
  const Graph graph = generated(io::GraphKind::kronecker, 12, true, io::WeightRule::none);
  KeptRows rows;
  ppr::Options options;
  options.length = 6;
  const Device tight({DeviceChoice::host, 2, 300u << 10});

  EXPECT_THROW(run_ppr(tight, graph, {}, options, rows, {.partitions = 64}), BudgetError);
  EXPECT_LE(tight.memory().peak(), 300u << 10);
  EXPECT_EQ(tight.memory().used(), 0u);
}

}  // namespace
}  // namespace sluice::test
