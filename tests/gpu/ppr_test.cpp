// Personalized PageRank on a GPU: the lists, scores and figures of the host, bit for bit.
#include "engine/ppr/ppr.hpp"

#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "gpu/gpu.hpp"
#include "ppr/oracle.hpp"

namespace sluice::test {
namespace {

class GpuPpr : public testing::Test {
 protected:
  void SetUp() override {
    gpu_ = open_gpu();
    REQUIRE_GPU(gpu_);
  }

  static KeptRows rows_of(const Device& device, const Graph& graph, const Starts& starts,
                          const PprOptions& options) {
    KeptRows rows;
    run_ppr(device, graph, starts, options, rows);
    return rows;
  }

  void compare(const Device& gpu, const Graph& graph, const Starts& starts, const PprOptions& options) {
    const KeptRows found = rows_of(gpu, graph, starts, options),
                   expected = rows_of(host_, graph, starts, options);
    EXPECT_TRUE(found == expected);
    ASSERT_EQ(found.figures.size(), expected.figures.size());
    for (std::size_t i = 0; i < found.figures.size(); ++i) {
      EXPECT_EQ(found.figures[i].error, expected.figures[i].error) << i;
      EXPECT_EQ(found.figures[i].held, expected.figures[i].held) << i;
      EXPECT_EQ(found.figures[i].edges, expected.figures[i].edges) << i;
      EXPECT_EQ(found.figures[i].reached, expected.figures[i].reached) << i;
    }
  }

  const Device host_{{DeviceChoice::host, usable_cores(), 0}};
  std::unique_ptr<Device> gpu_;
};

TEST_F(GpuPpr, AnswersAsTheHostOnHardGraphs) {
  std::size_t turn = 0;
  for (const auto& [name, graph] : rank_graphs()) {
    SCOPED_TRACE(name);
    for (PprOptions options : group_methods()) {
      for (const bool weighted : {false, true}) {
        if (brief() && turn++ % 16 != 0) continue;
        options.weighted = weighted;
        compare(*gpu_, graph, starts_of(queries_of(graph)), options);
      }
    }
  }
}

TEST_F(GpuPpr, AsksAgainWhereQueriesReachMoreThanTheirRoom) {
  io::ConvertOptions rules;
  rules.undirected = true;
  rules.weights = io::WeightRule::uniform;
  const Graph graph = io::generate_graph({io::GraphKind::kronecker, std::min(rmat_scale(), 16u)}, rules);
  PprOptions options;
  options.last_instance = at_most(1000, 3);
  options.weighted = true;
  for (const std::uint32_t length : {2u, 3u, 5u}) {
    options.length = length;
    compare(*gpu_, graph, Starts{}, options);
  }
  options.length = 0;
  options.weighted = false;
  options.method = PprMethod::push;
  options.residual_threshold = 1e-6;
  compare(*gpu_, graph, Starts{}, options);
  options.method = PprMethod::staged;
  options.residual_threshold = 0;
  compare(*gpu_, graph, Starts{}, options);
}

TEST_F(GpuPpr, ListsAsManyAsAreAskedFor) {
  const Graph graph = generated(io::GraphKind::kronecker, brief() ? 9 : 12, true, io::WeightRule::none);
  PprOptions options;
  options.tolerance = 1e-4;
  options.last_instance = at_most(20, 1);
  for (const std::uint32_t top : {1u, 512u, 513u, 3000u, 10000u}) {
    options.top = top;
    compare(*gpu_, graph, Starts{}, options);
  }
}

TEST_F(GpuPpr, WorksInWavesAndFewRoomsWhereMemoryIsShort) {
  const Graph graph = generated(io::GraphKind::rmat, 14, false, io::WeightRule::none);
  const auto small = open_gpu(3u << 20);
  PprOptions options;
  options.method = PprMethod::push;
  options.residual_threshold = 1e-5;
  options.last_instance = at_most(2000, 5);
  compare(*small, graph, Starts{}, options);

  const auto tiny = open_gpu(1u << 18);
  EXPECT_THROW(rows_of(*tiny, graph, Starts{}, options), BudgetError);
}

TEST_F(GpuPpr, RefusesWhatItCannotDo) {
  const Graph graph = generated(io::GraphKind::ring, 4, false, io::WeightRule::none);
  PprOptions options;
  options.dangling = PprDangling::uniform;
  EXPECT_THROW(rows_of(*gpu_, graph, Starts{}, options), UsageError);
  options.dangling = PprDangling::seed;
  options.method = PprMethod::staged;
  options.one_by_one = true;
  EXPECT_THROW(rows_of(*gpu_, graph, Starts{}, options), UsageError);
}

}  // namespace
}  // namespace sluice::test
