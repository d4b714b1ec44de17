// Personalized PageRank on a GPU that does not hold the graph. Lists are read from its file, in partitions,
// or from other ranks, into a cache that may have to be emptied. Lists, scores and figures equal those of a
// host with the whole graph, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/evaluate.hpp"
#include "engine/ppr/query_workspace.hpp"
#include "exchange/thread_ranks.hpp"
#include "gpu/gpu.hpp"
#include "partition/elsewhere.hpp"
#include "ppr/on_ranks.hpp"

namespace sluice::test {
namespace {

class GpuStreamedPpr : public OnGpu {};

/// With this transport, the host gathers lists, too.
constexpr PagingOptions kCopied{.transport = Transport::copied};

TEST_F(GpuStreamedPpr, BringsListsFromTheFileAndInPartitions) {
  const std::uint64_t host_used = host_budget().used();
  struct Way {
    PagingOptions paging;
    bool file;
  };
  const PagingOptions few_slots{.partitions = 7, .slots = 2, .transport = Transport::copied};
  const Way ways[]{{{}, true},
                   {{.partitions = 7, .slots = 2, .transport = Transport::file}, true},
                   {{.partitions = 7}, false},
                   {kCopied, false},
                   {few_slots, false},
                   {few_slots, true}};
  std::size_t turn = 0;
  for (const bool undirected : {false, true}) {
    const auto make = [&] { return generated(io::GraphKind::rmat, 10, undirected, io::WeightRule::uniform); };
    const Graph in_memory = make(), in_file = elsewhere(make());
    const Starts starts = starts_of(queries_of(in_memory));
    for (const ppr::Options& options : methods_by_turns_weighted()) {
      const Ran whole = ran(host_, in_memory, starts, options);
      for (const auto& [paging, file] : ways) {
        if (brief() && turn++ % 19 != 0) continue;
        const Ran streamed = ran(*gpu_, file ? in_file : in_memory, starts, options, paging);
        const ppr::ListTraffic& traffic = streamed.stats.traffic;

        expect_same(streamed, whole);
        EXPECT_EQ(traffic.read_bytes > 0, file);
        EXPECT_GT(traffic.list_rounds, 0u);
        EXPECT_EQ(gpu_->memory().used(), 0u);
        if (options.method == ppr::Method::walks) {  // walks run where their lists are
          EXPECT_EQ(traffic.restarts, 0u);
          EXPECT_GT(traffic.partition_transfers + streamed.stats.mapped_bytes, 0u);
          continue;
        }
        EXPECT_GT(traffic.partitions, paging.partitions > 0 ? 1u : 0u);
        EXPECT_GT(traffic.partition_transfers, 0u);
        EXPECT_EQ(traffic.rounds, 0u);                     // the GPU has no slots
        EXPECT_GE(traffic.restarts, traffic.list_rounds);  // each round serves at least one query
        EXPECT_EQ(streamed.stats.mapped_bytes, 0u);
      }
    }
  }
  // The graphs' host memory is free again, too.
  EXPECT_EQ(host_budget().used(), host_used);
}

/// On a ring, each step needs a list that no query has read before.
TEST_F(GpuStreamedPpr, CountsHowOftenQueriesBeginAgain) {
  const auto make = [] { return generated(io::GraphKind::ring, 10, false, io::WeightRule::none); };
  const Graph in_memory = make(), in_file = elsewhere(make());
  ppr::Options options;
  options.length = 7;
  const Starts starts = starts_of({{{0, 1}}, {{300, 1}}, {{303, 1}}});
  const Ran whole = ran(host_, in_memory, starts, options);
  for (const Ran& streamed :
       {ran(*gpu_, in_file, starts, options), ran(*gpu_, in_memory, starts, options, kCopied)}) {
    expect_same(streamed, whole);
    // Query 300 misses 300, 301 and 302; then query 303 has read its lists up to 306.
    EXPECT_EQ(streamed.stats.traffic.list_rounds, 7u);
    EXPECT_EQ(streamed.stats.traffic.restarts, 7u + 4u + 7u);
  }
}

TEST_F(GpuStreamedPpr, AnswersAsTheHostOnHardGraphs) {
  std::size_t turn = 0;
  std::vector<ppr::Options> methods = group_methods();
  methods.push_back(one_by_one_methods()[4]);
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    const Starts starts = starts_of(queries_of(graph));
    for (ppr::Options& options : methods) {
      options.weighted = graph.weighted && !options.weighted;
      if (brief() && turn++ % 31 != 0) continue;
      const Ran whole = ran(host_, graph, starts, options);
      expect_same(ran(*gpu_, graph, starts, options, {.partitions = 3}), whole);
      expect_same(ran(*gpu_, graph, starts, options, {.partitions = 3, .transport = Transport::copied}),
                  whole);
    }
  }
}

/// The cache holds a few percent of the lists at a time.
TEST_F(GpuStreamedPpr, EmptiesACacheThatIsTooSmall) {
  const unsigned scale = brief() ? 9 : 12;
  const auto make = [&] { return generated(io::GraphKind::kronecker, scale, true, io::WeightRule::uniform); };
  const Graph in_memory = make(), in_file = elsewhere(make());
  const std::uint64_t lists = in_memory.edges() * (sizeof(Vertex) + sizeof(float));
  ppr::Options options;
  options.method = ppr::Method::push;
  options.residual_threshold = 1e-3;  // its lists have at most 6667 edges in total
  options.weighted = true;
  options.top = 20;
  const Ran whole = ran(host_, in_memory, {}, options);
  ppr::Options exact = options;
  exact.method = ppr::Method::exact;
  exact.residual_threshold = 0;
  exact.length = 5;
  exact.last_instance = 1;
  for (const Transport transport : {Transport::automatic, Transport::copied}) {
    SCOPED_TRACE(static_cast<int>(transport));
    const Graph& graph = transport == Transport::copied ? in_memory : in_file;
    const auto small = open_gpu(brief() ? 640u << 10 : 1u << 20);

    const Ran streamed = ran(*small, graph, {}, options, {.partitions = 8, .transport = transport});

    expect_same(streamed, whole);
    EXPECT_LE(small->memory().peak(), small->memory().ceiling());
    EXPECT_EQ(small->memory().used(), 0u);
    if (brief()) continue;
    EXPECT_GT(streamed.stats.traffic.host_to_device_bytes, lists + lists / 2);
    try {
      ran(*small, graph, {}, exact, {.transport = transport});
      ADD_FAILURE() << "all lists fitted";
    } catch (const BudgetError& error) {
      EXPECT_NE(std::string(error.what()).find("--device-memory"), std::string::npos) << error.what();
    }
    EXPECT_EQ(small->memory().used(), 0u);
  }
}

/// A query from a vertex without out-edges needs a workspace for all vertices: more than half of the free
/// memory.
TEST_F(GpuStreamedPpr, GivesMemoryOfListsToWorkspaces) {
  const auto make = [] { return generated(io::GraphKind::rmat, 14, false, io::WeightRule::none); };
  const Graph in_memory = make(), in_file = elsewhere(make());
  const std::uint64_t n = in_memory.vertices(), workspace = ppr::WorkspaceShape::of(n, n, 0).bytes();
  ppr::Options options;
  options.length = 1;
  options.dangling = ppr::Dangling::uniform;
  std::vector<WeightedSeeds> queries{{{0, 1}}, {{1, 1}}};
  for (Vertex v = 0; queries.size() < at_most(100, 4); ++v) {
    if (in_memory.out.offsets[v] == in_memory.out.offsets[v + 1]) queries.push_back({{v, 1}});
  }
  const Starts starts = starts_of(queries);
  const Ran whole = ran(host_, in_memory, starts, options);
  for (const PagingOptions& paging : {PagingOptions{}, kCopied}) {
    const std::uint64_t index = plan_ppr(*gpu_, in_file, starts, options, paging).graph_bytes;
    const auto small = open_gpu(workspace + index + (3u << 18));

    const Ran streamed = ran(*small, in_file, starts, options, paging);

    expect_same(streamed, whole);
    EXPECT_EQ(streamed.stats.peak_query_bytes, workspace);
    EXPECT_LE(small->memory().peak(), small->memory().ceiling());
  }
}

/// The lists of this query need more than half of the memory.
TEST_F(GpuStreamedPpr, GivesNearlyAllMemoryToOneQueryAlone) {
  const auto make = [] { return generated(io::GraphKind::kronecker, 12, true, io::WeightRule::uniform); };
  const Graph in_memory = make(), in_file = elsewhere(make());
  const auto degree = [&](Vertex v) { return in_memory.out.offsets[v + 1] - in_memory.out.offsets[v]; };
  Vertex hub = 0;
  for (Vertex v = 1; v < in_memory.vertices(); ++v) hub = degree(v) > degree(hub) ? v : hub;
  std::vector<Vertex> sources{hub};
  for (EdgeIndex e = in_memory.out.offsets[hub]; e < in_memory.out.offsets[hub + 1]; ++e)
    sources.push_back(in_memory.out.targets[e]);
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  std::uint64_t lists = 0;
  for (const Vertex v : sources) lists += degree(v) * (sizeof(Vertex) + sizeof(float));
  ppr::Options options;
  options.length = 2;
  options.weighted = true;
  const std::uint64_t n = in_memory.vertices(), workspace = ppr::WorkspaceShape::of(n, n, 0).bytes();
  const Starts starts = starts_of({{{hub, 1}}, {{1, 1}}, {{2, 1}}});
  const Ran whole = ran(host_, in_memory, starts, options);
  for (const PagingOptions& paging : {PagingOptions{}, kCopied}) {
    const std::uint64_t index = plan_ppr(*gpu_, in_file, starts, options, paging).graph_bytes;
    const auto small = open_gpu(index + workspace + lists + (64u << 10));

    const Ran streamed = ran(*small, in_file, starts, options, paging);

    expect_same(streamed, whole);
    EXPECT_LT(small->memory().ceiling() / 2, lists);
    EXPECT_LE(small->memory().peak(), small->memory().ceiling());
  }
}

TEST_F(GpuStreamedPpr, BringsAListThatIsLongerThanTheStage) {
  constexpr std::uint64_t kVertices = 1000, kLong = (1u << 20) + 12345;
  if (brief()) GTEST_SKIP() << "too long for a sanitizer";
  const auto make = [] {
    std::vector<stat::Edge> edges;
    for (std::uint64_t i = 0; i < kLong; ++i)
      edges.push_back({0, static_cast<Vertex>(i % kVertices), 1.0f + static_cast<float>(i % 7)});
    for (Vertex v = 1; v < kVertices; ++v) edges.push_back({v, (v * 7) % Vertex{kVertices}, 0.5f});
    return stat::make_graph(kVertices, std::move(edges), true);
  };
  const Graph in_memory = make(), in_file = elsewhere(make());
  ppr::Options options;
  options.length = 4;
  options.last_instance = 10;
  for (const bool weighted : {false, true}) {
    options.weighted = weighted;
    const Ran whole = ran(host_, in_memory, {}, options);
    expect_same(ran(*gpu_, in_file, {}, options), whole);
    expect_same(ran(*gpu_, in_memory, {}, options, kCopied), whole);
  }
}

TEST_F(GpuStreamedPpr, EvaluatesAsTheHost) {
  const auto make = [] {
    return generated(io::GraphKind::rmat, brief() ? 9 : 12, false, io::WeightRule::none);
  };
  const Graph in_memory = make(), in_file = elsewhere(make());
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.last_instance = at_most(40, 1);
  const auto strict_on = [&](const Device& device, const Graph& graph, const PagingOptions& paging) {
    KeptRows rows;
    const Starts starts;
    ppr::Evaluator evaluator(device, graph, starts, options, rows, paging);
    run_ppr(device, graph, starts, options, evaluator, paging);
    EXPECT_EQ(evaluator.queries(), rows.seeds.size());
    return std::pair(evaluator.truncated().strict, evaluator.limit().strict);
  };
  const auto expected = strict_on(host_, in_memory, {});
  EXPECT_EQ(strict_on(*gpu_, in_file, {}), expected);
  EXPECT_EQ(strict_on(*gpu_, in_memory, {.partitions = 5}), expected);
  EXPECT_EQ(strict_on(*gpu_, in_memory, {.partitions = 5, .transport = Transport::copied}), expected);
}

TEST_F(GpuStreamedPpr, ReadsInPlaceOnlyWhatIsInMemory) {
  const Graph graph = generated(io::GraphKind::rmat, 9, false, io::WeightRule::none);
  ppr::Options options;
  options.last_instance = 2;
  KeptRows rows;
  EXPECT_GT(run_ppr(*gpu_, graph, {}, options, rows, {.partitions = 7, .transport = Transport::mapped})
                .mapped_bytes,
            0u);
  const Graph in_file = elsewhere(generated(io::GraphKind::rmat, 9, false, io::WeightRule::none));
  EXPECT_THROW(run_ppr(*gpu_, in_file, {}, options, rows, {.transport = Transport::mapped}), UsageError);
  EXPECT_THROW(run_ppr(*gpu_, graph, {}, options, rows, {.transport = Transport::file}), UsageError);
}

/// The GPU receives one list without the rest of its partition.
TEST_F(GpuStreamedPpr, BringsAListAlone) {
  const Graph graph = generated(io::GraphKind::rmat, 14, false, io::WeightRule::uniform);
  const auto degree = [&](Vertex v) { return graph.out.offsets[v + 1] - graph.out.offsets[v]; };
  Vertex source = 0;
  while (degree(source) == 0 || degree(source) > 4) ++source;
  ppr::Options options;
  options.length = 1;
  options.weighted = true;
  const Starts starts = starts_of({{{source, 1}}});
  const Ran whole = ran(host_, graph, starts, options);
  for (const Transport transport : {Transport::automatic, Transport::copied}) {
    const Ran gathered = ran(*gpu_, graph, starts, options, {.partitions = 7, .transport = transport});

    expect_same(gathered, whole);
    EXPECT_EQ(gathered.stats.traffic.partition_transfers, 1u);
    EXPECT_LT(gathered.stats.traffic.host_to_device_bytes, graph.out.offsets.bytes() + 1024);
  }
}

// ---- ranks that each own a part of the lists

constexpr PagingOptions kByMessages{.peer_reads = false};

/// `asks`: lists arrive in messages instead of being read in other ranks' memory.
KeptRows on_gpus(int size, const Graph& graph, const Starts& starts, const ppr::Options& options,
                 const PagingOptions& paging = {}, bool asks = false, std::uint64_t memory = 64u << 20) {
  const OnRanks ran = on_ranks(
      size, graph, starts, options, paging, [memory] { return open_gpu(memory); },
      [&](std::size_t, const Device& device, const ppr::Options& own, KeptRows& rows,
          const PagingOptions& shard) { return run_ppr(device, graph, starts, own, rows, shard); });
  EXPECT_EQ(ran.asked() > 0, asks);
  EXPECT_LE(ran.peak, memory);
  return ran.rows;
}

TEST_F(GpuStreamedPpr, IsTheSameOnRanksThatShareTheGraphOut) {
  const auto make = [] {
    return generated(io::GraphKind::rmat, brief() ? 7 : 9, false, io::WeightRule::uniform);
  };
  const Graph in_memory = make(), in_file = elsewhere(make());
  const Starts starts = starts_of(queries_of(in_memory));
  for (const ppr::Options& options : watched(methods_by_turns_weighted(), 1, 9)) {
    const KeptRows expected = ran(host_, in_memory, starts, options).rows;
    EXPECT_TRUE(on_gpus(2, in_memory, starts, options) == expected);
    EXPECT_TRUE(on_gpus(3, in_file, starts, options) == expected);
    EXPECT_TRUE(on_gpus(2, in_memory, starts, options, kByMessages, true) == expected);
    EXPECT_TRUE(on_gpus(3, in_file, starts, options, {.partitions = 5}, true) == expected);
  }
  // With more ranks than queries, some ranks have no query.
  const Starts one = starts_of({{{0, 1}}});
  ppr::Options options;
  options.length = 3;
  const KeptRows expected = ran(host_, in_memory, one, options).rows;
  EXPECT_TRUE(on_gpus(4, in_memory, one, options) == expected);
  EXPECT_TRUE(on_gpus(4, in_memory, one, options, kByMessages, true) == expected);
}

/// Balls of a team that lack lists are dropped, and their lists are requested together.
TEST_F(GpuStreamedPpr, DiffusesBallsSideBySide) {
  const auto make = [] {
    return generated(io::GraphKind::rmat, brief() ? 7 : 10, false, io::WeightRule::uniform);
  };
  const Graph in_memory = make(), in_file = elsewhere(make());
  const Starts starts = starts_of(queries_of(in_memory));
  for (ppr::Options options : watched(one_by_one_methods(), 0, 6)) {
    options.weighted = options.stages.size() == 3;
    const Ran expected = ran(host_, in_memory, starts, options);
    for (const std::uint32_t balls : {2u, 4u, 16u}) {
      SCOPED_TRACE(testing::Message() << balls << " balls");
      options.balls = balls;

      expect_same(ran(*gpu_, in_file, starts, options), expected);
      expect_same(ran(*gpu_, in_memory, starts, options, {.partitions = 7}), expected);
      expect_same(ran(*gpu_, in_memory, starts, options, kCopied), expected);
      EXPECT_TRUE(on_gpus(2, in_memory, starts, options) == expected.rows);
      EXPECT_TRUE(on_gpus(2, in_memory, starts, options, kByMessages, true) == expected.rows);
      EXPECT_TRUE(on_gpus(3, in_file, starts, options, {.partitions = 5}, true) == expected.rows);
    }
  }
}

TEST_F(GpuStreamedPpr, EvaluatesOnRanksThatShareTheGraphOut) {
  const Graph graph = generated(io::GraphKind::rmat, brief() ? 7 : 9, false, io::WeightRule::none);
  ppr::Options options;
  options.method = ppr::Method::staged;
  options.top = 20;
  const Starts starts = starts_of(queries_of(graph));
  const auto evaluate = [&](const Device& device, const ppr::Options& own, const PagingOptions& paging) {
    KeptRows rows;
    ppr::Evaluator evaluator(device, graph, starts, own, rows, paging);
    run_ppr(device, graph, starts, own, evaluator, paging);
    return std::vector{evaluator.truncated().strict, evaluator.truncated().of_scored,
                       evaluator.limit().strict, evaluator.limit().of_scored};
  };
  const std::vector<double> expected = evaluate(host_, options, {});
  for (const bool reads : {true, false}) {
    std::vector<std::vector<double>> of_rank(2);
    Meeting::run(2, [&](int rank, Meeting& meeting) {
      ThreadCommunicator ranks(rank, meeting);
      const auto at = static_cast<std::size_t>(rank);
      const auto device = open_gpu(64u << 20);
      ppr::Options own = options;
      const Instance queries = starts.instances(graph.vertices());
      own.first_instance = queries * at / 2, own.last_instance = queries * (at + 1) / 2;
      of_rank[at] = evaluate(*device, own, {.shard = &ranks, .peer_reads = reads});
    });
    std::vector<double> sums(4);
    for (const auto& some : of_rank) std::ranges::transform(sums, some, sums.begin(), std::plus());
    EXPECT_EQ(sums, expected) << reads;
  }
}

TEST_F(GpuStreamedPpr, EmptiesCachesOfRanksByThemselves) {
  const unsigned scale = brief() ? 9 : 12;
  const Graph graph = generated(io::GraphKind::kronecker, scale, true, io::WeightRule::uniform);
  ppr::Options options;
  options.method = ppr::Method::push;
  options.residual_threshold = 1e-3;
  options.weighted = true;
  options.top = 20;
  const std::uint64_t memory = brief() ? 640u << 10 : 1u << 20;
  EXPECT_TRUE(on_gpus(3, graph, {}, options, {}, true, memory) == ran(host_, graph, {}, options).rows);
}

}  // namespace
}  // namespace sluice::test
