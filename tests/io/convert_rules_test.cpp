// Converted graphs compared with a reference made of maps and sets.
#include "core/host_ceiling.hpp"
#include "io/convert_fixture.hpp"

namespace sluice::io {
namespace {

class ConvertRules : public ConvertTest {
 protected:
  /// Converts, and compares file and statistics with the reference.
  void expect_reference(const std::vector<InputEdge>& edges, const EdgeStreamInfo& info,
                        ConvertOptions options) {
    options.force = true;
    const Reference expected = make_reference(edges, info, options);
    MemorySource source(edges, info, 700);

    const ConvertStats stats = convert(source, path("graph.h5"), options);

    const Graph graph = read_graph(path("graph.h5"), {.in = options.reverse});
    EXPECT_EQ(stats.input_edges, edges.size());
    EXPECT_EQ(stats.edges, expected.edges);
    EXPECT_EQ(stats.self_loops, expected.self_loops);
    EXPECT_EQ(stats.duplicates, expected.duplicates);
    EXPECT_EQ(stats.vertices, expected.out.size());
    EXPECT_EQ(stats.checksum, graph.checksum);
    EXPECT_EQ(stats.compacted, !graph.original_ids.empty());
    EXPECT_EQ(graph.directed, !(options.undirected || info.undirected));
    EXPECT_EQ(graph.weighted, options.weights != WeightRule::none);
    expect_rows(graph.out, expected.out);
    if (options.reverse) expect_rows(graph.in, expected.in);
    ASSERT_EQ(graph.original_ids.size(), expected.original_ids.size());
    for (std::size_t i = 0; i < expected.original_ids.size(); ++i) {
      ASSERT_EQ(static_cast<std::uint64_t>(graph.original_ids[i]), expected.original_ids[i]);
    }
    check_graph(path("graph.h5"));
  }
};

const EdgeStreamInfo kPlain{{}, false, true, true, "test"};  // has both columns, which options may ignore

TEST_F(ConvertRules, EveryCombinationOfOptionsEqualsTheReference) {
  const auto edges = random_edges(60, 3000, 5);
  for (unsigned bits = 0; bits < 64; ++bits) {
    for (const WeightRule weights : {WeightRule::none, WeightRule::column, WeightRule::uniform}) {
      ConvertOptions options;
      options.undirected = bits & 1;
      options.keep_self_loops = bits & 2;
      options.keep_duplicates = bits & 4;
      options.timestamps = bits & 8;
      options.reverse = bits & 16;
      if (bits & 32) options.compact = true;
      options.weights = weights;
      options.threads = 1 + bits % 3;
      SCOPED_TRACE(testing::Message() << "options " << bits << ", weights " << static_cast<int>(weights));
      expect_reference(edges, kPlain, options);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(ConvertRules, CompactsByItselfOnlyWhenMoreThanHalfTheRangeIsUnused) {
  const auto dense = random_edges(40, 2000, 6, 2);  // ids 0, 2, ..., 78: 39 of 79 unused
  const auto sparse = random_edges(40, 2000, 6, 3);

  for (const auto& edges : {dense, sparse}) {
    for (const std::optional<bool> compact :
         {std::optional<bool>(), std::optional(true), std::optional(false)}) {
      ConvertOptions options;
      options.compact = compact;
      options.undirected = true;
      options.weights = WeightRule::uniform;
      expect_reference(edges, kPlain, options);
    }
  }
}

TEST_F(ConvertRules, DeclaredVerticesCountAsRange) {
  EdgeStreamInfo info = kPlain;
  info.vertices = 500;
  ConvertOptions options;
  expect_reference(random_edges(40, 300, 7), info, options);

  options.compact = false;
  expect_reference(random_edges(40, 300, 7), info, options);
}

TEST_F(ConvertRules, SourcesThatSayUndirectedAreMirrored) {
  EdgeStreamInfo info = kPlain;
  info.undirected = true;

  expect_reference(random_edges(50, 1000, 8), info, {});
}

TEST_F(ConvertRules, TheFirstOfTwoMirroredEdgesGivesBothTheirWeight) {
  const std::vector<InputEdge> edges{{1, 0, 7}, {0, 1, 9}, {1, 0, 8}};
  ConvertOptions options;
  options.undirected = true;
  options.weights = WeightRule::column;
  MemorySource source(edges, kPlain);

  convert(source, path("graph.h5"), options);

  const Graph graph = read_graph(path("graph.h5"));
  ASSERT_EQ(graph.edges(), 2u);
  EXPECT_EQ(graph.out.weights[0], 7);
  EXPECT_EQ(graph.out.weights[1], 7);
}

TEST_F(ConvertRules, ParallelEdgesWithTimesKeepTheirOrderInTheInput) {
  const std::vector<InputEdge> edges{{0, 1, 1, 30}, {0, 1, 1, 10}, {0, 2, 1, 5}, {0, 1, 1, 20}};
  ConvertOptions options;
  options.timestamps = true;
  MemorySource source(edges, kPlain);

  convert(source, path("graph.h5"), options);

  const Graph graph = read_graph(path("graph.h5"));
  EXPECT_EQ(std::vector(graph.out.times.begin(), graph.out.times.end()),
            (std::vector<std::int64_t>{30, 10, 20, 5}));
}

TEST_F(ConvertRules, HugeSparseIdsAreCompactedInOrder) {
  for (const std::uint64_t stretch :
       {std::uint64_t{1} << 33, std::uint64_t{1} << 56, (std::uint64_t{1} << 56) + 3}) {
    const auto edges = random_edges(120, 5000, 9, stretch);
    for (unsigned bits = 0; bits < 8; ++bits) {
      ConvertOptions options;
      options.undirected = bits & 1;
      options.keep_self_loops = options.keep_duplicates = bits & 2;
      options.timestamps = bits & 4;
      options.weights = bits & 1 ? WeightRule::column : WeightRule::uniform;
      options.reverse = true;
      options.threads = 2;
      expect_reference(edges, kPlain, options);
    }
  }
}

TEST_F(ConvertRules, HugeIdsAfterManySmallOnesLeaveEveryRuleAsItIs) {
  auto edges = random_edges(100, 3000, 10);
  edges.push_back({5, (std::uint64_t{1} << 63) - 1, 3, 4});
  const auto more = random_edges(100, 3000, 11);
  edges.insert(edges.end(), more.begin(), more.end());

  for (unsigned bits = 0; bits < 8; ++bits) {
    ConvertOptions options;
    options.undirected = bits & 1;
    options.keep_duplicates = bits & 2;
    options.keep_self_loops = bits & 4;
    options.weights = WeightRule::column;
    expect_reference(edges, kPlain, options);
  }
}

TEST_F(ConvertRules, IdsBeyondTheBitmapsShareAreCollectedInAList) {
  const auto edges = random_edges(300, 4000, 12, 1000003);  // up to 3e8: one bit each would exceed 32 MiB
  for (const std::optional<bool> compact : {std::optional<bool>(), std::optional(true)}) {
    ConvertOptions options;
    const test::HostCeiling tiny(32u << 20);
    options.compact = compact;
    options.undirected = true;
    expect_reference(edges, kPlain, options);
  }
}

TEST_F(ConvertRules, UniformWeightsLieInTheHalfOpenIntervalAndAreSymmetric) {
  double sum = 0;
  for (Vertex u = 0; u < 300; ++u) {
    for (Vertex v = 0; v < 300; ++v) {
      const float weight = uniform_weight(3, u, v);
      ASSERT_GT(weight, 0);
      ASSERT_LE(weight, 1);
      ASSERT_EQ(weight, uniform_weight(3, v, u));
      sum += u < v ? weight : 0;
    }
  }

  EXPECT_NEAR(sum / (300 * 299 / 2), 0.5, 5 * 0.2887 / 211.8);  // five standard errors
}

TEST_F(ConvertRules, AnInputWithoutEdgesKeepsItsDeclaredVertices) {
  EdgeStreamInfo info = kPlain;
  info.vertices = 9;
  ConvertOptions options;
  options.reverse = true;

  expect_reference({}, info, options);
  expect_reference({}, kPlain, options);
}

}  // namespace
}  // namespace sluice::io
