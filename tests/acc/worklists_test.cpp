// Worklists of partitions and ranks as a GPU's lanes build them, here with threads. There are no bins of
// levels, and no words of bits that one thread owns.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "acc/cases.hpp"
#include "acc/oracle.hpp"
#include "engine/acc/programs/bfs.hpp"
#include "engine/acc/programs/kcore.hpp"
#include "engine/acc/programs/sssp.hpp"
#include "engine/acc/run.hpp"
#include "exchange/thread_ranks.hpp"

namespace sluice::test {
namespace {

struct PlainLane : HostLane {
  static constexpr bool kBinsByLevel = false, kPullsIntoBits = false;
};

std::atomic<std::uint64_t> descents{0};  ///< lists that were not in order of vertices

class PlainTraverser : public HostExecutorOf<PlainLane> {
 public:
  static constexpr bool kBinsByLevel = false, kPullsIntoBits = false;

  PlainTraverser(const Device& device, std::uint64_t) : HostExecutorOf(device) {}

  template <class Body>
  void for_each_edge(const VertexRange& vertices, const LaneOutput& output, const Body& body) {
    for (std::uint64_t i = 1; i < vertices.count; ++i) descents += vertices[i] < vertices[i - 1];
    for_each_block(vertices.count, 3, output, [&](std::uint64_t begin, std::uint64_t end, Lane& lane) {
      for (std::uint64_t i = begin; i < end; ++i) {
        const Vertex u = vertices[i];
        if (!body.sends(u)) continue;
        for (EdgeIndex e = vertices.list(u)[0]; e < vertices.list(u)[1]; ++e) {
          lane.add(0, 1);
          body.edge(u, e, lane);
        }
      }
    });
  }
  template <class Body>
  void first_edge(const RowRange& rows, const LaneOutput& output, const Body& body) {
    for_each_block(rows.end - rows.begin, 3, output, [&](std::uint64_t begin, std::uint64_t end, Lane& lane) {
      for (std::uint64_t row = rows.begin + begin; row < rows.begin + end; ++row) {
        if (!body.wants(row)) continue;
        for (EdgeIndex e = rows.offsets[row]; e < rows.offsets[row + 1]; ++e) {
          lane.add(0, 1);
          if (!body.hits(e)) continue;
          body.accept(row, e, lane);
          break;
        }
      }
    });
  }
  template <class Body>
  void reduce_rows(const RowRange& rows, const LaneOutput& output, const Body& body) {
    for_each_block(rows.end - rows.begin, 3, output, [&](std::uint64_t begin, std::uint64_t end, Lane& lane) {
      std::uint64_t edges = 0;
      for (std::uint64_t row = rows.begin + begin; row < rows.begin + end; ++row) {
        typename Body::Value before{};
        if (!body.begin(row, before)) continue;
        body.end(row, before,
                 reduce_edges(body, row, before, rows.offsets[row], rows.offsets[row + 1], edges), lane);
      }
      lane.add(0, edges);
    });
  }
};

template <class Program>
void expect_states_of_host(const Device& device, const Graph& graph, const acc::AccNeeds& needs,
                           const acc::AccPlace& place, const Program& program, acc::AccFilter filter) {
  const acc::AccGraph whole(device, graph, needs), parts(device, graph, needs, place);
  const auto expected = acc::run_acc(whole, program);
  for (const auto direction :
       {acc::AccDirection::automatic, acc::AccDirection::push, acc::AccDirection::pull}) {
    const auto solver = acc::make_solver<Program, PlainTraverser, Partitioned>(
        parts, program, {.direction = direction, .filter = filter});
    acc::AccStats stats;
    solver->run(stats);
    solver->finish(stats);
    EXPECT_TRUE(std::equal(expected.states.begin(), expected.states.end(), solver->states()));
    EXPECT_GT(stats.rounds, 0u);
    if (direction != acc::AccDirection::automatic) {
      EXPECT_EQ(stats.pulls, direction == acc::AccDirection::pull ? stats.rounds : 0);
    }
    if (filter == acc::AccFilter::ballot) {
      EXPECT_EQ(stats.refills, stats.rounds);
    }
  }
}

void expect_programs_of_host(const Device& device, const Graph& graph, const acc::AccPlace& place,
                             acc::AccFilter filter) {
  const acc::AccNeeds both{.in_edges = true, .weights = true}, simple{.in_edges = true, .simple = true};
  for (const Vertex source : some_sources(graph)) {
    expect_states_of_host(device, graph, both, place, acc::BreadthFirst{source}, filter);
    expect_states_of_host(device, graph, both, place, acc::ShortestPaths{source, 4}, filter);
  }
  expect_states_of_host(device, graph, simple, place, acc::CoreNumbers{}, filter);
}

class WorklistsOfLanes : public testing::TestWithParam<acc::AccFilter> {};

/// With ballots every list is in order of vertices, in one process and on ranks. Runs with brought partitions
/// are not checked for that.
TEST_P(WorklistsOfLanes, FindWhatTheHostFinds) {
  const Device device({DeviceChoice::host, 3, 0});
  const NamedGraph all[]{
      {"Kronecker", generated(io::GraphKind::kronecker, 10, true, io::WeightRule::uniform)},
      {"grid", generated(io::GraphKind::grid, 10, true, io::WeightRule::uniform)},
      {"hub with a rim", hub_with_rim()}};
  descents = 0;
  for (const auto& [name, graph] : all) {
    SCOPED_TRACE(name);
    expect_programs_of_host(device, graph, {}, GetParam());
    Meeting::run(3, [&](int rank, Meeting& meeting) {
      ThreadCommunicator ranks(rank, meeting);
      expect_programs_of_host(device, graph, {.ranks = &ranks}, GetParam());
    });
  }
  EXPECT_EQ(descents == 0, GetParam() == acc::AccFilter::ballot);
  expect_programs_of_host(device, all[0].graph, {.paging = {.partitions = 5, .slots = 2}}, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Filters, WorklistsOfLanes,
                         testing::Values(acc::AccFilter::jit, acc::AccFilter::ballot,
                                         acc::AccFilter::online));

}  // namespace
}  // namespace sluice::test
