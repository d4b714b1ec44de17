// Conversion writes the same bytes with any memory, threads and batches, keeps its budget, and leaves no
// temporary files.
#include <algorithm>
#include <optional>

#include "apps/bench/generated_graph.hpp"
#include "core/host_ceiling.hpp"
#include "core/printed.hpp"
#include "io/convert/edge_sorter.hpp"
#include "io/convert_fixture.hpp"
#include "sanitized.hpp"

namespace sluice::io {
namespace {

constexpr std::uint64_t kTiny = 32u << 20;

class ConvertBudget : public ConvertTest {
 protected:
  ConvertStats convert_edges(const std::vector<InputEdge>& edges, const std::string& name,
                             ConvertOptions options, std::size_t batch = 50000) {
    MemorySource source(edges, {{}, false, true, true, "test"}, batch);
    return convert(source, path(name), options);
  }
};

TEST_F(ConvertBudget, ExternalSortWritesTheBytesThatMemoryDoes) {
  const auto edges = random_edges(200000, 2500000, 13);
  for (unsigned bits = 0; bits < 4; bits += test::unless_sanitized(1u, 3u)) {
    ConvertOptions options;
    options.undirected = bits & 1;
    options.timestamps = bits & 2;
    options.weights = bits == 0 ? WeightRule::uniform : WeightRule::column;
    options.reverse = true;
    options.force = true;
    const ConvertStats whole = convert_edges(edges, "memory.h5", options);
    options.threads = 2;
    const test::HostCeiling tiny(kTiny);

    const ConvertStats external = convert_edges(edges, "external.h5", options, 33333);

    EXPECT_EQ(whole.sort_runs, 0u);
    EXPECT_GT(external.sort_runs, 1u);
    EXPECT_EQ(whole.duplicates, external.duplicates);
    EXPECT_EQ(whole.checksum, external.checksum);
    ASSERT_TRUE(test::read_file(path("memory.h5")) == test::read_file(path("external.h5"))) << bits;
    EXPECT_EQ(files(), 2u);
  }
}

TEST_F(ConvertBudget, AGraphInMemoryIsTheSameWhereTheSortLeavesMemory) {
  const auto edges = random_edges(200000, 2500000, 13);
  ConvertOptions options;
  options.threads = 2;
  options.scratch = path("");
  const auto make = [&](ConvertStats& stats) {
    MemorySource source(edges, {{}, false, true, true, "test"}, 33333);
    return convert_in_memory(source, options, &stats);
  };
  ConvertStats whole_stats, stats;
  const Graph whole = make(whole_stats);
  const test::HostCeiling tiny(kTiny);

  const Graph external = make(stats);

  EXPECT_EQ(whole_stats.sort_runs, 0u);
  EXPECT_GT(stats.sort_runs, 1u);
  EXPECT_EQ(whole_stats.duplicates, stats.duplicates);
  EXPECT_TRUE(std::ranges::equal(whole.out.offsets.span(), external.out.offsets.span()));
  EXPECT_TRUE(std::ranges::equal(whole.out.targets.span(), external.out.targets.span()));
  EXPECT_EQ(files(), 0u);
}

TEST_F(ConvertBudget, ManyRunsAreMergedInSeveralPasses) {
  EdgeSorter<EdgeRecord<true, false>> sorter({true, false, 2, path("")});
  sorter.set_memory(1u << 20);
  const auto edges = random_edges(1000, 3000000, 14);
  std::map<std::uint64_t, float> expected;

  for (std::size_t i = 0; i < edges.size(); i += 1000) {
    auto* const added = sorter.add(1000);
    for (std::size_t j = 0; j < 1000; ++j) {
      added[j].set_ends(static_cast<Vertex>(edges[i + j].source), static_cast<Vertex>(edges[i + j].target));
      added[j].set_weight(edges[i + j].weight);
      expected.emplace(added[j].key(), edges[i + j].weight);
    }
  }
  sorter.finish();

  auto next = expected.begin();
  EXPECT_GT(sorter.runs(), 40u);
  EXPECT_EQ(sorter.size(), expected.size());
  EXPECT_EQ(sorter.dropped(), edges.size() - expected.size());
  sorter.scan([&](std::span<const EdgeRecord<true, false>> records) {
    for (const auto& record : records) {
      ASSERT_EQ(record.key(), next->first);
      ASSERT_EQ(record.weight(), next->second);
      ++next;
    }
  });
}

TEST_F(ConvertBudget, BytesDoNotDependOnThreadsOrBatches) {
  const auto edges = random_edges(3000, 200000, 15, 7);
  ConvertOptions options;
  options.undirected = true;
  options.weights = WeightRule::column;
  convert_edges(edges, "one.h5", options, 1u << 20);
  options.threads = 3;

  convert_edges(edges, "three.h5", options, 999);

  EXPECT_TRUE(test::read_file(path("one.h5")) == test::read_file(path("three.h5")));
}

TEST_F(ConvertBudget, ChargesNoMoreThanItMay) {
  const auto edges = random_edges(1000000, 3000000, 16);
  const std::uint64_t before = host_budget().used();
  for (unsigned bits = 0; bits < 4; bits += test::unless_sanitized(1u, 3u)) {
    ConvertOptions options;
    options.undirected = true;
    options.reverse = true;
    options.timestamps = bits & 1;
    options.threads = bits & 2 ? 4 : 1;
    options.force = true;
    const test::HostCeiling tiny(kTiny);

    const ConvertStats stats = convert_edges(edges, "graph.h5", options);

    EXPECT_GT(stats.sort_runs, 1u);
    EXPECT_EQ(host_budget().used(), before);
  }
}

TEST_F(ConvertBudget, ABudgetTooSmallSaysWhatIsNeeded) {
  const auto edges = random_edges(10, 100, 17);
  const HostArray<char> held(5u << 19, "a test");  // 2.5 MiB, beside the batch of edges
  test::HostCeiling ceiling;
  try {
    host_budget().set_ceiling(4u << 20);
    convert_edges(edges, "graph.h5", {});
    FAIL() << "nothing thrown";
  } catch (const BudgetError& error) {
    EXPECT_NE(std::string(error.what()).find("needs at least 19.00 MiB, 4.00 MiB are allowed"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(files(), 0u);

  host_budget().set_ceiling(19u << 20);

  EXPECT_EQ(convert_edges(edges, "graph.h5", {}).input_edges, 100u);
}

TEST_F(ConvertBudget, SparseIdsBeyondTheBudgetAreRankedInPieces) {
  // 1.6 M ids: a list of 13 MB, of which a quarter of the budget holds only a part.
  const auto edges = random_edges(std::uint64_t{1} << 40, 800000, 18, 1u << 20);
  ConvertOptions options;
  options.undirected = true;
  const ConvertStats whole = convert_edges(edges, "memory.h5", options);
  options.threads = 2;
  const test::HostCeiling tiny(kTiny);

  const ConvertStats pieces = convert_edges(edges, "pieces.h5", options);

  EXPECT_TRUE(whole.compacted);
  EXPECT_EQ(pieces.unused_ids, whole.unused_ids);
  EXPECT_TRUE(test::read_file(path("memory.h5")) == test::read_file(path("pieces.h5")));
  EXPECT_EQ(files(), 2u);
}

TEST_F(ConvertBudget, TheSetOfIdsGrowsWhileTheSortIsFull) {
  // Small ids fill the sort; then each of few edges makes the set of ids grow.
  auto edges = random_edges(1000, 1400000, 20);
  for (std::uint64_t id = 1000; id < 30000000; id += id / 3) edges.push_back({id, id + 1});
  ConvertOptions options;
  options.keep_duplicates = true;
  const ConvertStats whole = convert_edges(edges, "memory.h5", options);
  const test::HostCeiling tiny(kTiny);

  const ConvertStats external = convert_edges(edges, "external.h5", options);

  EXPECT_GT(external.sort_runs, 1u);
  EXPECT_EQ(whole.checksum, external.checksum);
}

TEST_F(ConvertBudget, AFaultInTheInputLeavesNothingBehind) {
  MemorySource source(random_edges(1000, 3000000, 19), {{}, false, true, true, "test"}, 50000);
  source.fail_after = 2900000;
  ConvertOptions options;
  const test::HostCeiling tiny(kTiny);
  options.timestamps = true;

  EXPECT_THROW(convert(source, path("graph.h5"), options), InputError);
  EXPECT_EQ(files(), 0u);
}

TEST_F(ConvertBudget, HugeIdsWithoutCompactionNameTheOption) {
  ConvertOptions options;
  options.compact = false;

  try {
    convert_edges({{1, std::uint64_t{1} << 40}}, "graph.h5", options);
    FAIL() << "nothing thrown";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("--compact"), std::string::npos) << error.what();
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(ConvertBudget, RefusesBadWeightsMissingColumnsAndExistingFiles) {
  ConvertOptions options;
  options.weights = WeightRule::column;
  EXPECT_THROW(convert_edges({{1, 2, -1}}, "graph.h5", options), InputError);
  MemorySource plain({{1, 2}}, {{}, false, false, false, "test"});
  EXPECT_THROW(convert(plain, path("graph.h5"), options), InputError);
  options.weights = WeightRule::none;
  options.timestamps = true;
  EXPECT_THROW(convert(plain, path("graph.h5"), options), InputError);
  options.timestamps = false;
  convert(plain, path("graph.h5"), options);

  EXPECT_THROW(convert(plain, path("graph.h5"), options), UsageError);
}

class GenerateGraph : public ConvertTest, public testing::WithParamInterface<GraphKind> {};

TEST_P(GenerateGraph, InMemoryEqualsGeneratingIntoAFile) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    const GenerateOptions generate{GetParam(), bits & 1 ? 13u : 4u, 9, 6, 1 + bits % 3};
    ConvertOptions options;
    options.undirected = bits & 2;
    options.keep_self_loops = bits & 4;
    options.keep_duplicates = bits & 8;
    options.reverse = bits & 16;
    if (bits & 32) options.compact = true;
    options.weights = bits & 4 ? WeightRule::none : WeightRule::uniform;
    options.seed = 6;
    options.threads = 1 + bits % 3;
    options.force = true;
    SCOPED_TRACE(bits);
    const auto source = make_generator(generate);
    const ConvertStats expected = convert(*source, path("graph.h5"), options);
    const Graph file = read_graph(path("graph.h5"), {.in = options.reverse});
    ConvertStats stats;

    const Graph memory = bench::generate_graph(generate, options, &stats);

    const auto same = [](const auto& a, const auto& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end());
    };
    for (const auto& [a, b] : {std::pair(&file.out, &memory.out), std::pair(&file.in, &memory.in)}) {
      EXPECT_TRUE(same(a->offsets, b->offsets));
      EXPECT_TRUE(same(a->targets, b->targets));
      EXPECT_TRUE(same(a->weights, b->weights));
    }
    EXPECT_TRUE(same(file.original_ids, memory.original_ids));
    EXPECT_EQ(file.directed, memory.directed);
    EXPECT_EQ(file.origin, memory.origin);
    EXPECT_EQ(stats.edges, expected.edges);
    EXPECT_EQ(stats.duplicates, expected.duplicates);
    EXPECT_EQ(stats.self_loops, expected.self_loops);
    EXPECT_EQ(stats.unused_ids, expected.unused_ids);
    EXPECT_EQ(stats.input_edges, expected.input_edges);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, GenerateGraph,
                         testing::Values(GraphKind::rmat, GraphKind::kronecker, GraphKind::uniform,
                                         GraphKind::grid, GraphKind::ring));

}  // namespace
}  // namespace sluice::io
