// Rounds of shortest paths and cores that pull on the host give the bytes of rounds that push.
#include <gtest/gtest.h>

#include "acc/cases.hpp"
#include "acc/oracle.hpp"
#include "apps/examples/label_propagation.hpp"
#include "engine/acc/run.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/error.hpp"
#include "exchange/thread_ranks.hpp"

namespace sluice::test {
namespace {

constexpr acc::AccOptions kPush{.direction = acc::AccDirection::push},
    kPull{.direction = acc::AccDirection::pull}, kAuto{};

template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

Graph kronecker(unsigned scale) {
  return generated(io::GraphKind::kronecker, scale, true, io::WeightRule::uniform);
}

std::vector<NamedGraph> graphs() {
  std::vector<NamedGraph> all = acc_graphs();
  all.push_back({"Kronecker", kronecker(11)});
  all.push_back({"grid", generated(io::GraphKind::grid, 8, true, io::WeightRule::uniform)});
  all.push_back({"hub with a rim", hub_with_rim()});
  all.push_back(
      {"isolated vertices", stat::make_undirected(90, {{3, 40, 1}, {40, 41, 0.5f}, {70, 71, 0}}, true)});
  return all;
}

/// Nine vertices have twelve neighbours each, twelve vertices have nine.
Graph bipartite() {
  std::vector<stat::Edge> edges;
  for (Vertex a = 0; a < 9; ++a)
    for (Vertex b = 9; b < 21; ++b) edges.push_back({a, b});
  return stat::make_undirected(21, edges, false);
}

/// Cores by a program without add(), so values of several edges cannot be summed.
struct PlainCores {
  using State = std::uint32_t;
  static constexpr acc::Combine kCombine = acc::Combine::aggregation;
  static constexpr bool kRepeats = false;

  SLUICE_HD State init(Vertex, std::uint64_t degree) const { return static_cast<State>(degree); }
  SLUICE_HD State compute(const acc::AccEdge<State>&) const { return 1; }
  SLUICE_HD State combine(State into, State, acc::AccRound at) const {
    return into > at.level ? into - 1 : into;
  }
  SLUICE_HD bool active(State now, State, acc::AccRound at) const { return now == at.level; }
  SLUICE_HD std::uint64_t level(State state) const { return state; }
};
static_assert(acc::AggregationProgram<PlainCores> && !acc::PullableProgram<PlainCores>);

class Pulls : public testing::TestWithParam<unsigned> {
 protected:
  const Device device_{{DeviceChoice::host, GetParam(), 0}};
};

TEST_P(Pulls, FindTheDistancesOfPushes) {
  for (const auto& [name, graph] : graphs()) {
    const acc::AccGraph search(device_, graph, {.in_edges = true, .weights = true});
    if (!search.has_in_edges()) continue;
    for (const Vertex source : some_sources(graph)) {
      for (const double delta : {0.0, 1e9}) {
        SCOPED_TRACE(name + " from " + std::to_string(source) + ", delta " + std::to_string(delta));
        const acc::SsspResult pushed = sssp(search, source, delta, kPush),
                              pulled = sssp(search, source, delta, kPull),
                              either = sssp(search, source, delta, kAuto);

        EXPECT_EQ(pushed.stats.pulls, 0u);
        EXPECT_EQ(pulled.stats.pulls, pulled.stats.rounds);
        EXPECT_TRUE(same(pulled.distances, pushed.distances));
        EXPECT_TRUE(same(either.distances, pushed.distances));
      }
    }
  }
}

TEST_P(Pulls, FindTheCoresOfPushes) {
  for (const auto& [name, graph] : graphs()) {
    const acc::AccGraph simple(device_, graph, {.in_edges = true, .simple = true});
    for (const std::uint32_t k : {0u, 2u, 3u, 20u, 60u}) {
      SCOPED_TRACE(name + ", k " + std::to_string(k));
      const acc::CoreResult pushed = core_numbers(simple, k, kPush), pulled = core_numbers(simple, k, kPull),
                            either = core_numbers(simple, k, kAuto);

      EXPECT_EQ(pushed.stats.pulls, 0u);
      EXPECT_EQ(pulled.stats.pulls, pulled.stats.rounds);
      EXPECT_TRUE(same(pulled.cores, pushed.cores));
      EXPECT_TRUE(same(either.cores, pushed.cores));
    }
  }
}

TEST_P(Pulls, AreMadeWhereTheyAreLessWork) {
  const Graph graph = kronecker(12), path = generated(io::GraphKind::grid, 12, true, io::WeightRule::none);
  const acc::AccGraph search(device_, graph, {.in_edges = true, .weights = true}),
      simple(device_, graph, {.in_edges = true, .simple = true}), far(device_, path, {.in_edges = true});

  const acc::AccStats wide = sssp(search, 1, 100, kAuto).stats, narrow = sssp(far, 0, 0, kAuto).stats,
                      members = core_numbers(simple, 64, kAuto).stats,
                      pushed = core_numbers(simple, 64, kPush).stats;

  for (const acc::AccStats& stats : {wide, members}) {
    EXPECT_GT(stats.pulls, 0u);
    EXPECT_LT(stats.pulls, stats.rounds);
    std::uint64_t edges = 0, pulls = 0;
    for (const acc::AccRoundTrace& round : stats.trace) edges += round.edges, pulls += round.pull;
    EXPECT_EQ(edges, stats.edges);
    EXPECT_EQ(pulls, stats.pulls);
  }
  EXPECT_NE(members.edges, pushed.edges);
  EXPECT_EQ(narrow.pulls, 0u) << "each would look at all states";
}

/// A pull reads every state, so the last few vertices push, although they have most of the remaining edges.
TEST_P(Pulls, AreNotMadeForAFewVertices) {
  constexpr Vertex kPairs = 4000, kClique = 16;
  std::vector<stat::Edge> edges;
  for (Vertex v = 0; v < 2 * kPairs; v += 2) edges.push_back({v, v + 1});
  for (Vertex a = 0; a < kClique; ++a)
    for (Vertex b = a + 1; b < kClique; ++b) edges.push_back({2 * kPairs + a, 2 * kPairs + b});
  const Graph graph = stat::make_undirected(2 * kPairs + kClique, edges, false);
  const acc::AccGraph simple(device_, graph, {.in_edges = true, .simple = true});

  const acc::AccStats stats = core_numbers(simple, 0, kAuto).stats;

  ASSERT_EQ(stats.rounds, 2u);
  EXPECT_TRUE(stats.trace[0].pull);
  EXPECT_FALSE(stats.trace[1].pull);
}

/// Separate cliques: each level removes one, which in the last two levels has most of the remaining edges.
TEST_P(Pulls, AreMadeOnceFewEdgesAreLeft) {
  std::vector<stat::Edge> edges;
  Vertex first = 0;
  for (Vertex size = 4; size <= 24; first += size, ++size)
    for (Vertex a = 0; a < size; ++a)
      for (Vertex b = a + 1; b < size; ++b) edges.push_back({first + a, first + b});
  const Graph graph = stat::make_undirected(first, edges, false);
  const acc::AccGraph simple(device_, graph, {.in_edges = true, .simple = true});

  const acc::AccStats stats = core_numbers(simple, 0, kAuto).stats;

  ASSERT_EQ(stats.rounds, 21u);
  for (std::size_t i = 0; i < stats.rounds; ++i) EXPECT_EQ(stats.trace[i].pull, i >= 19) << i;
}

/// A single level, so any state may change, even of vertices that have sent. The clique beside the source has
/// half of all edges.
TEST_P(Pulls, CountVerticesOfTheLevelThatHaveSent) {
  constexpr Vertex kClique = 128, kEach = 20, kRing = kClique * kEach;
  std::vector<stat::Edge> edges;
  for (Vertex a = 1; a <= kClique; ++a) {
    edges.push_back({0, a});
    for (Vertex b = a + 1; b <= kClique; ++b) edges.push_back({a, b});
  }
  for (Vertex i = 0; i < kRing; ++i) {
    edges.push_back({1 + i / kEach, 1 + kClique + i});
    for (Vertex step = 1; step <= 3; ++step)
      edges.push_back({1 + kClique + i, 1 + kClique + (i + step) % kRing});
  }
  const Graph graph = stat::make_undirected(1 + kClique + kRing, edges, false);

  const acc::AccStats stats = sssp(acc::AccGraph(device_, graph, {.in_edges = true}), 0, 1e9, kAuto).stats;

  EXPECT_EQ(stats.rounds, 2u);
  EXPECT_EQ(stats.pulls, 0u);
}

/// Each of nine vertices loses three of twelve neighbours until it is at the level, and then reads no more.
TEST_P(Pulls, StopWhereNothingChangesAnyMore) {
  const Graph graph = bipartite();
  const acc::AccGraph simple(device_, graph, {.in_edges = true, .simple = true});

  EXPECT_EQ(core_numbers(simple, 10, kPull).stats.edges, 9u * 3u);
  EXPECT_EQ(core_numbers(simple, 10, kPush).stats.edges, graph.edges());
}

TEST_P(Pulls, OfAProgramOfOnesOwn) {
  const Graph graph = kronecker(11);
  const acc::AccGraph lists(device_, graph, {.in_edges = true}),
      simple(device_, graph, {.in_edges = true, .simple = true});
  const auto pulled = acc::run_acc(lists, LabelPropagation{}, kPull),
             pushed = acc::run_acc(lists, LabelPropagation{}, kPush);
  const auto plain = acc::run_acc(simple, PlainCores{}, kAuto);

  EXPECT_TRUE(same(pulled.states, pushed.states));
  EXPECT_EQ(pulled.stats.pulls, pulled.stats.rounds);
  EXPECT_EQ(pushed.stats.pulls, 0u);
  EXPECT_TRUE(same(plain.states, oracle_cores(graph)));
  EXPECT_EQ(plain.stats.pulls, 0u) << "nothing to collect";
}

INSTANTIATE_TEST_SUITE_P(Threads, Pulls, testing::Values(1u, 2u, 4u));

TEST(PullsOfLevels, AreRefusedWithoutInEdges) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph directed = rank_rmat(false, false), undirected = rank_rmat(true, false);
  for (const acc::AccPlace& place : {acc::AccPlace{}, acc::AccPlace{.paging = {.partitions = 2}}}) {
    const acc::AccGraph without(device, directed, {.in_edges = true}, place),
        not_wanted(device, undirected, {}, place), simple(device, undirected, {.simple = true}, place);
    for (const acc::AccGraph* graph : {&without, &not_wanted}) {
      EXPECT_THROW(bfs(*graph, 0, kPull), UsageError);
      EXPECT_THROW(sssp(*graph, 0, 0, kPull), UsageError);
      EXPECT_EQ(bfs(*graph, 0, kAuto).stats.pulls, 0u);
      EXPECT_EQ(sssp(*graph, 0, 0, kAuto).stats.pulls, 0u);
    }
    EXPECT_THROW(core_numbers(simple, 0, kPull), UsageError);
    EXPECT_EQ(core_numbers(simple, 0, kAuto).stats.pulls, 0u);
    EXPECT_THROW(run_acc(not_wanted, PlainCores{}, kPull), UsageError);
  }
}

/// Rounds in partitions have the directions of rounds on a whole graph. A rank pushes until it has no vertex
/// left, so rounds on ranks may differ.
TEST(PullsOfLevels, AreThoseOfAWholeGraph) {
  const Device device({DeviceChoice::host, 1, 0});
  const Graph graph = kronecker(12);
  const auto runs = [&](const acc::AccPlace& place) {
    const acc::AccGraph search(device, graph, {.in_edges = true, .weights = true}, place),
        simple(device, graph, {.in_edges = true, .simple = true}, place);
    return std::vector<acc::AccStats>{sssp(search, 1, 100, kAuto).stats,
                                      core_numbers(simple, 64, kAuto).stats};
  };
  const std::vector<acc::AccStats> whole = runs({});

  const std::vector<acc::AccStats> parts = runs({.paging = {.partitions = 7, .slots = 3}});

  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_GT(whole[i].pulls, 0u);
    EXPECT_EQ(parts[i].pulls, whole[i].pulls);
    EXPECT_EQ(parts[i].trace[0].pull, whole[i].trace[0].pull);
  }
  Meeting::run(3, [&](int rank, Meeting& meeting) {
    ThreadCommunicator ranks(rank, meeting);
    const std::vector<acc::AccStats> found = runs({.ranks = &ranks});
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_GT(found[i].pulls, 0u);
      EXPECT_LT(found[i].pulls, found[i].rounds);
      EXPECT_EQ(found[i].trace[0].pull, whole[i].trace[0].pull);
    }
  });
}

/// Pairs of vertices, and a ring whose vertices have four neighbours. Once the pairs are active, their states
/// cannot change.
TEST(PullsOfLevels, BringPartitionsThatMayChange) {
  constexpr Vertex kPairs = 200, kRing = 100;
  std::vector<stat::Edge> edges;
  for (Vertex v = 0; v < 2 * kPairs; v += 2) edges.push_back({v, v + 1});
  for (Vertex v = 0; v < kRing; ++v)
    for (const Vertex step : {1u, 2u}) edges.push_back({2 * kPairs + v, 2 * kPairs + (v + step) % kRing});
  const Graph graph = stat::make_undirected(2 * kPairs + kRing, edges, false);
  const Device device({DeviceChoice::host, 1, 0});
  const acc::AccGraph simple(device, graph, {.in_edges = true, .simple = true},
                             {.paging = {.partitions = 4, .slots = 2, .transport = Transport::copied}});

  const acc::CoreResult cores = core_numbers(simple, 0, kPull);

  EXPECT_TRUE(same(cores.cores, oracle_cores(graph)));
  EXPECT_EQ(cores.stats.rounds, 2u);
  EXPECT_EQ(cores.stats.partition_transfers, 2u);
}

}  // namespace
}  // namespace sluice::test
