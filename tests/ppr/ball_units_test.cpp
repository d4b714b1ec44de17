// Units of a query's mass by its ball, d |G_L|, computed by hand, and scores for a given number of units.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/core/error.hpp"
#include "ppr/ran.hpp"

namespace sluice::test {
namespace {

using ppr::BallDegree;

/// Vertices within `steps` steps of the seeds, and their out-edges.
struct Ball {
  Ball(const Graph& graph, const WeightedSeeds& seeds, std::uint32_t steps) {
    const auto& offsets = graph.out.offsets;
    std::vector<bool> inside(graph.vertices());
    std::vector<Vertex> last, next;
    for (const auto& seed : seeds) next.push_back(seed.first);
    for (std::uint32_t step = 0; !next.empty(); ++step) {
      last.clear();
      for (const Vertex v : next) {
        if (inside[v]) continue;
        inside[v] = true;
        last.push_back(v);
        ++vertices, edges += offsets[v + 1] - offsets[v];
        largest = std::max<std::uint64_t>(largest, offsets[v + 1] - offsets[v]);
      }
      next.clear();
      if (step == steps) break;
      for (const Vertex v : last)
        next.insert(next.end(), &graph.out.targets[offsets[v]],
                    &graph.out.targets[offsets[v]] + (offsets[v + 1] - offsets[v]));
    }
  }
  std::uint64_t units(BallDegree degree) const {
    const std::uint64_t d = degree == BallDegree::largest ? largest : (edges + vertices - 1) / vertices;
    return std::clamp<std::uint64_t>(d * vertices, 1, ~0u);
  }
  std::uint64_t vertices = 0, edges = 0, largest = 0;
};

/// Methods with few and with many steps before the ball ends, together and one by one.
std::vector<ppr::Options> counted_methods() {
  std::vector<ppr::Options> all(5);
  for (ppr::Options& options : all) options.method = ppr::Method::staged, options.top = 20;
  all[0].method = all[1].method = ppr::Method::exact;
  all[0].length = 1, all[1].length = 4;
  all[2].stages = {2, 1}, all[2].residual_threshold = 1e-3;
  all[3].stages = {1, 2}, all[3].one_by_one = true, all[3].balls = 3;
  all[4].stages = {2, 2}, all[4].one_by_one = true, all[4].table = 3;
  all[4].table_limit = ppr::TableLimit::hard, all[4].dangling = ppr::Dangling::uniform;
  return all;
}

std::uint32_t steps_of(const ppr::Options& options) {
  if (options.method == ppr::Method::exact) return options.length;
  return static_cast<std::uint32_t>(std::accumulate(options.stages.begin(), options.stages.end(), 0));
}

TEST(BallUnits, AreThoseOfTheBallAndGiveTheScoresOfAsMany) {
  const Device device({DeviceChoice::host, 2, 0});
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (ppr::Options options : counted_methods()) {
      options.weighted = graph.weighted && options.one_by_one;
      for (const BallDegree degree : {BallDegree::average, BallDegree::largest}) {
        for (const auto& query : queries_of(graph)) {
          const Starts starts = starts_of({query});
          const std::uint64_t units = Ball(graph, query, steps_of(options)).units(degree);
          options.unit_degree = degree, options.score_units = 0;
          const Ran found = ran(device, graph, starts, options);
          options.unit_degree = BallDegree::none, options.score_units = static_cast<std::uint32_t>(units);

          EXPECT_EQ(found.rows.figures[0].units, units);
          expect_same(found, ran(device, graph, starts, options));
        }
      }
    }
  }
}

TEST(BallUnits, AreTheSameInPartitions) {
  const Graph graph = generated(io::GraphKind::rmat, 9, false, io::WeightRule::uniform);
  const Starts starts = starts_of(queries_of(graph));
  for (ppr::Options options : counted_methods()) {
    options.weighted = options.one_by_one;
    for (const BallDegree degree : {BallDegree::average, BallDegree::largest}) {
      options.unit_degree = degree;
      const Ran expected = ran(Device({DeviceChoice::host, 1, 0}), graph, starts, options);
      for (const PagingOptions& paging :
           {PagingOptions{.partitions = 2, .slots = 2, .transport = Transport::copied},
            PagingOptions{.partitions = 7, .transport = Transport::mapped}}) {
        const Ran found = ran(Device({DeviceChoice::host, 2, 0}), graph, starts, options, paging);

        expect_same(found, expected);
        expect_same_figures(found.rows, expected.rows);
      }
    }
  }
}

/// A hub's out-edges, times the vertices of its ball, exceed 32 bits.
TEST(BallUnits, AreAsManyAs32BitsHoldAndAtLeastOne) {
  constexpr Vertex kLeaves = 70000;
  std::vector<stat::Edge> star;
  for (Vertex v = 1; v <= kLeaves; ++v) star.push_back({0, v});
  const Graph graph = stat::make_graph(kLeaves + 1, star, false);
  ppr::Options options;
  options.length = 1;
  options.unit_degree = BallDegree::largest;
  EXPECT_EQ(solve(graph, options, {{0, 1}}).figures.units, ~0u);
  EXPECT_EQ(solve(graph, options, {{1, 1}}).figures.units, 1u);
  options.unit_degree = BallDegree::average;
  EXPECT_EQ(solve(graph, options, {{0, 1}}).figures.units, kLeaves + 1);
}

TEST(BallUnits, NeedABallThatEnds) {
  const Graph graph = generated(io::GraphKind::ring, 4, false, io::WeightRule::none);
  const Device device({DeviceChoice::host, 1, 0});
  ppr::Options options;
  options.unit_degree = BallDegree::average;
  EXPECT_THROW(ran(device, graph, {}, options), UsageError);
  options.length = 3;
  EXPECT_NO_THROW(ran(device, graph, {}, options));
  options.score_units = 1000;
  EXPECT_THROW(ran(device, graph, {}, options), UsageError);
}

}  // namespace
}  // namespace sluice::test
