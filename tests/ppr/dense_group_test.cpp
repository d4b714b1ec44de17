// Queries in dense rows on the host give the lists, scores and figures of tables, bit for bit.
#include "engine/ppr/dense/group.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "engine/core/error.hpp"
#include "engine/ppr/adjacency/in_edges.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/query_route.hpp"
#include "ppr/ran.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;

/// Runs with rows, or where they pay, and compares with tables.
Ran compare(const Graph& graph, const Starts& starts, ppr::Options options, unsigned threads = 2) {
  const Device device({DeviceChoice::host, threads, 0});
  const Ran found = ran(device, graph, starts, options);
  options.state = ppr::State::sparse;
  const Ran expected = ran(device, graph, starts, options);
  expect_same(found, expected);
  expect_same_figures(found.rows, expected.rows);
  return found;
}

Starts random_starts(Instance count) {
  Starts starts;
  starts.mode = Starts::Mode::random;
  starts.count = count;
  return starts;
}

TEST(PprSideBySide, AnswersAsTablesDoOnHardGraphs) {
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (const ppr::Options& options : dense_methods()) compare(graph, starts_of(queries_of(graph)), options);
  }
}

TEST(PprSideBySide, EndsWhereTablesDoForAnyTolerance) {
  const Graph graph = generated(io::GraphKind::rmat, 7, false, io::WeightRule::uniform);
  for (ppr::Options options : ppr_rules()) {
    options.state = ppr::State::dense;
    options.top = 7;
    // Mass under way is close to the tolerance, so its rounding decides whether it exceeds it.
    for (const double tolerance : {0.3, 1e-6, 1e-12, 3e-17, 1e-18, 0.0}) {
      options.alpha = tolerance < 1e-12 ? 0.3 : 0.85;
      options.tolerance = tolerance;
      compare(graph, starts_of(queries_of(graph)), options);
    }
  }
}

TEST(PprSideBySide, HasRowsOfAnyWidthAndGroupsThatAreNotFull) {
  const Graph graph = generated(io::GraphKind::rmat, 8, false, io::WeightRule::uniform);
  ppr::Options options;
  options.state = ppr::State::dense;
  options.top = 9;
  options.length = 5;
  for (const Instance count : {1u, 2u, 3u, 7u, 9u, 40u}) {
    for (const unsigned threads : {1u, 3u}) {
      options.weighted = !options.weighted;
      compare(graph, random_starts(count), options, threads);
    }
  }
}

TEST(PprSideBySide, ListsTheSmallestIdsAmongEqualScores) {
  const Vertex leaves = 2000;
  std::vector<stat::Edge> edges;
  for (Vertex v = 1; v <= leaves; ++v) edges.push_back({leaves + 1, v});
  const Graph graph = stat::make_graph(leaves + 2, edges, false, true);
  ppr::Options options;
  options.state = ppr::State::dense;
  for (const std::uint32_t length : {0u, 1u, 3u}) {
    options.length = length;
    for (const std::uint32_t top : {1u, 200u, 1500u, 5000u}) {
      options.top = top;
      compare(graph, starts_of({{{leaves + 1, 1}}, {{0, 1}}, {{7, 1}, {9, 2}}}), options);
    }
  }
}

TEST(PprSideBySide, BeginsOnceAStepInATableTakesLonger) {
  // A small ring that its queries never leave, beside a graph that other queries reach completely.
  std::vector<stat::Edge> edges;
  for (Vertex v = 0; v < 5; ++v) edges.push_back({v, (v + 1) % 5});
  for (Vertex v = 5; v < 400; ++v) {
    for (Vertex i = 0; i < 9; ++i) edges.push_back({v, 5 + (v * 17 + i * i * 31) % 395});
  }
  const Graph graph = stat::make_graph(400, edges, false, true);
  const auto peak_from = [&](Vertex first, Vertex last) {
    std::vector<WeightedSeeds> queries;
    for (Vertex v = first; v < last; ++v) queries.push_back({{v, 1}, {(v + 1) % last, 0.5}});
    const Device device({DeviceChoice::host, 1, 0});
    ppr::Options options;
    const Ran found = ran(device, graph, starts_of(queries), options);
    options.state = ppr::State::sparse;
    expect_same(found, ran(Device({DeviceChoice::host, 1, 0}), graph, starts_of(queries), options));
    return device.memory().peak();
  };
  const std::uint64_t rows = ppr::DenseShape{400, 4}.group_bytes();
  EXPECT_LT(peak_from(0, 4), rows);
  EXPECT_GT(peak_from(5, 9), rows);
}

TEST(PprSideBySide, FindsTheSameInAnyMemoryThatTablesDoWith) {
  const Graph graph = generated(io::GraphKind::rmat, 9, false, io::WeightRule::none);
  ppr::Options options;
  options.top = 10;
  options.tolerance = 1e-4;
  const Starts starts = random_starts(30);
  const KeptRows expected = ran(Device({DeviceChoice::host, 2, 0}), graph, starts, options).rows;
  std::size_t in_tables = 0, in_rows = 0;
  for (std::uint64_t memory = 64 << 10; memory < (2u << 20); memory += memory / 8) {
    /// The peak of memory; none: the budget was too small.
    const auto peak_of = [&](ppr::State state) -> std::optional<std::uint64_t> {
      const Device device({DeviceChoice::host, 2, memory});
      ppr::Options of_state = options;
      of_state.state = state;
      try {
        EXPECT_TRUE(ran(device, graph, starts, of_state).rows == expected) << memory;
        EXPECT_LE(device.memory().peak(), memory);
        return device.memory().peak();
      } catch (const BudgetError&) {
        return {};
      }
    };
    const auto tables = peak_of(ppr::State::sparse), either = peak_of(ppr::State::automatic);
    EXPECT_TRUE(either || !tables) << memory;
    EXPECT_TRUE(peak_of(ppr::State::dense) || memory < (256 << 10)) << memory;
    if (!tables || !either) continue;
    ++(*either > *tables + ppr::DenseShape{graph.vertices(), 1}.group_bytes() ? in_rows : in_tables);
  }
  EXPECT_GT(in_tables, 0u);
  EXPECT_GT(in_rows, 0u);
}

TEST(PprSideBySide, PlansItsRows) {
  const Graph graph = generated(io::GraphKind::rmat, 9, false, io::WeightRule::none);
  const Device device({DeviceChoice::host, 2, 0});
  ppr::Options options;
  for (const Instance queries : {1u, 5u, 100u}) {
    options.last_instance = queries;
    options.state = ppr::State::dense;
    const ppr::Plan plan = plan_ppr(device, graph, Starts{}, options);
    EXPECT_GE(plan.rows_bytes,
              ppr::DenseShape({graph.vertices(), 1}).group_bytes() + ppr::InEdges::peak_bytes(graph));
    const Device own({DeviceChoice::host, 2, 0});
    const ppr::Stats stats = ran(own, graph, Starts{}, options).stats;
    EXPECT_LE(own.memory().peak(), plan.batch_bytes + plan.rows_bytes + (32 << 10)) << queries;
    EXPECT_LE(stats.peak_query_bytes, plan.largest_query_bytes + (4 << 10)) << queries;
    options.state = ppr::State::sparse;
    EXPECT_EQ(plan_ppr(device, graph, Starts{}, options).rows_bytes, 0u);
  }
}

TEST(PprSideBySide, SaysWhereItCannot) {
  const Graph graph = generated(io::GraphKind::rmat, 8, false, io::WeightRule::none);
  ppr::Options options;
  options.state = ppr::State::dense;
  const Device device({DeviceChoice::host, 2, 0}), tiny({DeviceChoice::host, 2, 12 << 10});
  EXPECT_THROW(ran(device, graph, Starts{}, options, {.partitions = 4}), UsageError);
  options.top = 1;
  EXPECT_THROW(ran(tiny, graph, random_starts(1), options), BudgetError);
}

TEST(PprInEdges, TakeNoMoreThanTheySay) {
  const Device device({DeviceChoice::host, 2, 0});
  for (const io::WeightRule weights : {io::WeightRule::none, io::WeightRule::uniform}) {
    const Graph graph = generated(io::GraphKind::rmat, 10, false, weights);
    MemoryBudget& host = host_budget();
    const std::uint64_t ceiling = host.ceiling();
    host.set_ceiling(host.used() + ppr::InEdges::peak_bytes(graph));
    EXPECT_NO_THROW(ppr::InEdges(device, graph));
    host.set_ceiling(ceiling);
  }
  const Graph both = generated(io::GraphKind::rmat, 6, true, io::WeightRule::none);
  EXPECT_EQ(ppr::InEdges::peak_bytes(both), 0u);
  EXPECT_EQ(&ppr::InEdges(device, both).rows(), &both.out);
}

TEST(PprHostFit, IsAGroupForEachWorkerAsWideAsItsQueries) {
  const auto width = [](std::uint64_t queries, std::uint64_t workers, std::uint64_t memory = kPlenty) {
    const ppr::DenseFit fit = ppr::DenseFit::on_host(1000, queries, workers, 64, memory);
    EXPECT_LE(fit.groups * (fit.shape.group_bytes() + 64), memory);
    return std::pair(fit.groups, fit.shape.width);
  };
  using Fit = std::pair<std::uint64_t, std::uint32_t>;
  EXPECT_EQ(width(1, 4), Fit(4, 1));
  EXPECT_EQ(width(9, 4), Fit(4, 4));
  EXPECT_EQ(width(1'000'000, 4), Fit(4, 8));
  const std::uint64_t group = ppr::DenseShape{1000, 8}.group_bytes() + 64;
  EXPECT_EQ(width(1000, 4, 4 * group), Fit(4, 8));
  EXPECT_EQ(width(1000, 4, 4 * group - 1), Fit(4, 4));
  EXPECT_EQ(width(1000, 4, ppr::DenseShape{1000, 1}.group_bytes() + 64), Fit(1, 1));
  EXPECT_EQ(width(1000, 4, 1000).first, 0u);
}

TEST(PprHostRoute, LeavesTablesOnceAStepGoesAlongMuchOfTheGraph) {
  EXPECT_EQ(ppr::min_edges_for_rows(1000, 7000, 8), 1000u);
  EXPECT_EQ(ppr::min_edges_for_rows(1000, 7000, 1), 2000u);
  for (std::uint32_t width = 1; width < ppr::kHostDenseWidth; width *= 2)
    EXPECT_GE(ppr::min_edges_for_rows(1000, 5000, width), ppr::min_edges_for_rows(1000, 5000, 2 * width));
}

}  // namespace
}  // namespace sluice::test
