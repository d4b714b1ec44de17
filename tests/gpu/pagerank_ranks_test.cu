// PageRank on several ranks with a GPU each, who send each other what one piece of their rows gives while the
// next is swept: the ranks and residuals of one process on the host, bit for bit. Ranks are threads that
// share the GPU.
#include <gtest/gtest.h>

#include "acc/edges_elsewhere.hpp"
#include "engine/pagerank/static/sliced_sweep.hpp"
#include "gpu/gpu.hpp"
#include "gpu/thread_ranks.hpp"
#include "pagerank/cases.hpp"

namespace sluice::test {
namespace {

/// Iterations: more than are in flight at once, by some.
constexpr unsigned kIterations = 7;

/// What a sweep comes to.
struct Swept {
  std::vector<double> changes;
  HostArray<double> ranks;
};

Swept sweep(pagerank::Sweep& sweep, const pagerank::Options& options, std::uint64_t rows) {
  Swept swept;
  for (unsigned i = 0; i < (brief() ? 3 : kIterations); ++i)
    swept.changes.push_back(sweep.step().norm(options.norm));
  swept.ranks = HostArray<double>(rows, "ranks");
  sweep.read_ranks(swept.ranks.span());
  return swept;
}

/// `graph`, or `file`, which has its edges elsewhere, if given.
void expect_as_alone(const Graph& graph, const pagerank::Options& options, int size,
                     const pagerank::SweepPieces& pieces, const Graph* file = nullptr) {
  SCOPED_TRACE(std::to_string(pieces.count) + " pieces on " + std::to_string(size) + " ranks");
  const Device host({DeviceChoice::host, 2, 0});
  const auto alone = make_alone();
  const pagerank::RankGraph whole(graph, options, 2, *alone);
  const auto reference = make_host_sweep(host, whole, options, {}, *alone);
  const Swept expected = sweep(*reference, options, graph.vertices());
  Meeting::run(size, [&](int rank, Meeting& meeting) {
    const Device gpu({DeviceChoice::cuda, 1, std::uint64_t{1} << 30});
    ThreadCommunicator ranks(rank, meeting);
    const pagerank::RankGraph own(file == nullptr ? graph : *file, options, 1, ranks);
    const std::uint64_t rows = own.in().vertices;

    const auto made = sweep_sliced_rows(gpu, own, options, pieces,
                                        std::make_unique<ThreadDeviceRanks>(rank, meeting), ranks);
    const Swept swept = sweep(*made, options, rows);

    EXPECT_EQ(swept.changes, expected.changes) << "rank " << rank;
    EXPECT_TRUE(std::equal(swept.ranks.begin(), swept.ranks.end(), expected.ranks.begin() + own.first()))
        << "rank " << rank;
    // Contributions of this rank's vertices with out-edges go to every other, at first and in every
    // iteration, of which some are ahead. Those of weight 0 alone may be among them.
    const std::uint64_t share = options.precision == pagerank::RankPrecision::f32 ? 4 : 8,
                        others = static_cast<std::uint64_t>(size) - 1, times = swept.changes.size() + 1,
                        sources = static_cast<std::uint64_t>(std::count_if(
                            own.divisors(), own.divisors() + rows, [](double d) { return d > 0; })),
                        sent = made->traffic().exchanged_bytes;
    EXPECT_GE(sent, times * sources * share * others);
    if (!options.weighted)
      EXPECT_LE(sent, ((times + 2) * sources * share + rows * sizeof(std::uint32_t)) * others);
    meeting.exchange<int>(rank, 0, [](std::size_t, const int&) {});  // others may read what is here
  });
}

/// Ranks without vertices and without edges, and more pieces than rows.
TEST(GpuPageRankRanks, AreThatOfOneProcessOnHardGraphs) {
  REQUIRE_GPU(open_gpu());
  for (const auto& [name, graph] : rank_graphs()) {
    if (brief() && graph.vertices() > 12 && name != "kronecker") continue;
    SCOPED_TRACE(name);
    for (const pagerank::Options& options : rank_options()) {
      expect_as_alone(graph, options, 2, {3, 2});
      if (!brief()) expect_as_alone(graph, options, 4, {pagerank::kMostPieces, 3});
    }
  }
}

/// Hubs, lists and slices in every piece.
TEST(GpuPageRankRanks, SweepLargePieces) {
  REQUIRE_GPU(open_gpu());
  io::ConvertOptions rules;
  rules.undirected = true;
  const Graph graph = bench::generate_graph({io::GraphKind::kronecker, rmat_scale()}, rules),
              file = left_elsewhere(graph);
  for (const pagerank::Options& options : rank_options()) {
    if (options.weighted) continue;
    expect_as_alone(graph, options, 2, {1, 1});
    expect_as_alone(graph, options, 3, {3, 2});
    expect_as_alone(graph, options, 2, {2, 2}, &file);
    if (!brief()) expect_as_alone(graph, options, 2, {pagerank::kUsualPieces, 8});
  }
}

/// The same kernels by one thread, which racecheck can follow.
TEST(GpuSweepPieces, OfOneRankAreThatOfOneSweep) {
  REQUIRE_GPU(open_gpu());
  io::ConvertOptions rules;
  rules.undirected = true;
  const Graph graph = bench::generate_graph({io::GraphKind::kronecker, rmat_scale()}, rules);
  for (const pagerank::Options& options : rank_options()) {
    if (options.weighted) continue;
    expect_as_alone(graph, options, 1, {3, 2});
    if (!brief()) expect_as_alone(graph, options, 1, {pagerank::kUsualPieces, 8});
  }
}

/// Numbers by out-degree, rows by in-degree.
TEST(GpuPageRankRanks, SweepPiecesOfDirectedGraphs) {
  REQUIRE_GPU(open_gpu());
  for (const bool reverse : {false, true}) {
    const Graph graph = rank_rmat(false, reverse);
    for (const pagerank::Options& options : rank_options()) {
      expect_as_alone(graph, options, 2, {2, 2});
      if (!brief()) expect_as_alone(graph, options, 3, {5, 3});
    }
  }
}

}  // namespace
}  // namespace sluice::test
