// Core numbers where the simple undirected form of a graph lies in a scratch file: those of one in memory,
// from whatever the graph stores, in ranges of any size.
#include "engine/acc/simple_file.hpp"

#include <gtest/gtest.h>

#include "acc/cases.hpp"
#include "acc/oracle.hpp"
#include "engine/acc/solve.hpp"
#include "engine/core/error.hpp"
#include "exchange/thread_ranks.hpp"
#include "io/file_test_support.hpp"
#include "partition/build.hpp"
#include "partition/elsewhere.hpp"

namespace sluice::test {
namespace {

/// A folder of its own, which must be empty in the end, and the ledger's ceiling as it was.
class SimpleFileTest : public testing::Test {
 protected:
  ~SimpleFileTest() override {
    EXPECT_EQ(temporary_.entries(), 0u);
    host_accountant().set_ceiling(ceiling_);
  }

  /// From now on so much may be taken.
  static void leave(std::uint64_t bytes) { host_accountant().set_ceiling(host_accountant().used() + bytes); }
  void leave_all() const { host_accountant().set_ceiling(ceiling_); }

  AccPlace from_file(Communicator* ranks = nullptr) const {
    return {.paging = {.transport = Transport::file}, .ranks = ranks, .scratch = folder_};
  }
  /// A file's lists, in memory.
  static std::vector<std::vector<Vertex>> lists_of(const SimpleFile& file) {
    std::vector<std::vector<Vertex>> lists;
    const CsrView rows = file.lists();
    for (std::uint64_t v = 0; v < rows.vertices; ++v) {
      lists.emplace_back(rows.offsets[v + 1] - rows.offsets[v]);
      file.read_targets(rows.offsets[v], lists.back());
    }
    return lists;
  }
  static std::vector<std::vector<Vertex>> lists_of(const Csr& csr, std::uint64_t first, std::uint64_t last) {
    std::vector<std::vector<Vertex>> lists;
    for (std::uint64_t v = first; v < last; ++v)
      lists.emplace_back(csr.targets.data() + csr.offsets[v], csr.targets.data() + csr.offsets[v + 1]);
    return lists;
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.file("");
  const std::uint64_t ceiling_ = host_accountant().ceiling();
};

/// Many edges of few vertices, some of them both ways, twice, or to themselves.
Graph dense(bool directed, bool with_in) {
  std::vector<stat::Edge> edges;
  std::uint64_t state = 7;
  for (int i = 0; i < 200'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto u = static_cast<Vertex>((state >> 33) % 1000), v = static_cast<Vertex>((state >> 50) % 1000);
    edges.push_back({u, v / (1 + u % 3)});
  }
  if (!directed) return stat::make_undirected(1000, edges, false);
  Graph graph = stat::make_graph(1000, edges, false);
  if (with_in) graph.in = transpose(graph.out);
  return graph;
}

TEST_F(SimpleFileTest, HoldsEveryNeighbourOnce) {
  for (const bool directed : {true, false}) {
    for (const bool with_in : {false, true}) {
      leave_all();
      const Graph whole = dense(directed, directed && with_in),
                  file = elsewhere(dense(directed, directed && with_in));
      const auto expected = lists_of(simple_undirected(whole, 1), 100, 900);
      for (const Graph* graph : {&whole, &file}) {
        // All at once, and a few lists at a time.
        for (const std::uint64_t room : {std::uint64_t{64} << 20, std::uint64_t{200} << 10}) {
          SCOPED_TRACE(testing::Message() << directed << with_in << (graph == &file) << room);
          leave(room);
          const SimpleFile made(*graph, 100, 900, folder_, 3);

          EXPECT_EQ(lists_of(made), expected);
          EXPECT_GE(made.scratch_bytes(), made.lists().edges * sizeof(Vertex));
          EXPECT_LE(made.scratch_bytes(), SimpleFile::most_bytes(*graph, graph->edges()));
        }
      }
    }
  }
}

TEST_F(SimpleFileTest, GivesTheCoresOfMemory) {
  auto graphs = acc_graphs();
  for (auto& [name, graph] : graphs) {
    const auto expected = oracle_cores(graph);
    const Graph file = elsewhere(std::move(graph));
    for (const int size : {1, 2, 3}) {
      SCOPED_TRACE(name + " on " + std::to_string(size));
      Meeting::run(size, [&](int rank, Meeting& meeting) {
        const Device device({DeviceChoice::host, 2, 0});
        ThreadCommunicator ranks(rank, meeting);
        const AccGraph simple(device, file, {.simple = true}, from_file(&ranks));
        const CoreResult found = core_numbers(simple), members = core_numbers(simple, 2);
        EXPECT_TRUE(std::ranges::equal(found.cores, expected));
        for (std::size_t v = 0; v < expected.size(); ++v)
          EXPECT_EQ(members.cores[v] >= 2, expected[v] >= 2) << v;
      });
    }
  }
}

/// The graph in memory would be 800 kB, its form up to 1.6 MB, and both at once while that is made.
TEST_F(SimpleFileTest, TakesAQuarterOfTheGraph) {
  for (const bool directed : {true, false}) {
    for (const bool with_in : {false, true}) {
      if (!directed && with_in) continue;
      SCOPED_TRACE(testing::Message() << directed << with_in);
      leave_all();
      const Device device({DeviceChoice::host, 2, 0});
      const Graph whole = dense(directed, with_in), file = elsewhere(dense(directed, with_in));
      const auto expected = oracle_cores(whole);
      const std::uint64_t bytes = whole.edges() * sizeof(Vertex) * (with_in ? 2 : 1);
      const AccPlace place{.scratch = folder_};

      leave(bytes / 4);
      const AccPlan plan = plan_cores(device, file, place, true);
      const AccGraph simple(device, file, {.simple = true}, place);
      const CoreResult found = core_numbers(simple);

      EXPECT_TRUE(std::ranges::equal(found.cores, expected));
      EXPECT_GT(found.stats.scratch_bytes, 0u);
      EXPECT_LE(found.stats.scratch_bytes, plan.scratch_bytes);
      EXPECT_GT(found.stats.partitions, 1u);
      EXPECT_LE(plan.host_bytes, bytes / 4);
      if (directed && !with_in) {
        EXPECT_THROW(AccGraph(device, file, {.simple = true}), UsageError) << "no folder is named";
      } else {
        EXPECT_THROW(core_numbers(AccGraph(device, file, {.simple = true})), BudgetError);
      }
    }
  }
}

/// A graph that is in memory, and has no room there for another form of itself.
TEST_F(SimpleFileTest, IsMadeOfListsInMemoryToo) {
  const Device device({DeviceChoice::host, 2, 0});
  for (const bool directed : {true, false}) {
    leave_all();
    const Graph whole = dense(directed, false);
    const auto expected = oracle_cores(whole);
    leave(whole.edges() * sizeof(Vertex) / 2);

    const AccGraph simple(device, whole, {.simple = true}, {.scratch = folder_});
    const CoreResult found = core_numbers(simple);

    ASSERT_NE(simple.owned(), nullptr);
    EXPECT_TRUE(std::ranges::equal(found.cores, expected));
    EXPECT_GT(found.stats.scratch_bytes, 0u);
  }
}

TEST_F(SimpleFileTest, IsNotMadeWhereItNeedNotBe) {
  const Device device({DeviceChoice::host, 1, 0});
  const Graph directed = dense(true, false), simple = generated(io::GraphKind::kronecker, 10, true, {});

  EXPECT_EQ(
      core_numbers(AccGraph(device, directed, {.simple = true}, {.scratch = folder_})).stats.scratch_bytes,
      0u);
  EXPECT_EQ(plan_cores(device, directed, {.scratch = folder_}, true).scratch_bytes, 0u);
  const Graph file = elsewhere(generated(io::GraphKind::kronecker, 10, true, {}));
  EXPECT_EQ(core_numbers(AccGraph(device, file, {.simple = true}, from_file())).stats.scratch_bytes, 0u);
  EXPECT_EQ(plan_cores(device, file, from_file(), true).scratch_bytes, 0u);
  EXPECT_GT(plan_cores(device, elsewhere(dense(false, false)), from_file(), true).scratch_bytes, 0u);
}

TEST_F(SimpleFileTest, NamesTheFolderThatIsNotThere) {
  try {
    SimpleFile(dense(true, false), 0, 10, folder_ + "absent", 1);
    FAIL() << "there is a file";
  } catch (const RunError& error) {
    EXPECT_EQ(std::string(error.what()).find(folder_ + "absent"), 0u) << error.what();
  }
}

TEST_F(SimpleFileTest, SaysThatTwoListsDoNotFit) {
  const Graph hub = hub_with_rim(), file = elsewhere(hub_with_rim());
  const Graph* const both[] = {&hub, &file};
  for (const Graph* graph : both) {
    leave(6000);  // offsets of 500 vertices, and less than the hub's list
    EXPECT_THROW(SimpleFile(*graph, 0, 500, folder_, 1), BudgetError);
  }
}

}  // namespace
}  // namespace sluice::test
