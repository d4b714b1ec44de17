// PageRank on several ranks with a GPU each gives the ranks and residuals of one process on the host, bit for
// bit. With sliced rows, ranks send the results of one piece while the next is computed. With listed rows,
// resident or in partitions, ranks send all results at once. Ranks are threads that share the GPU.
#include <gtest/gtest.h>

#include <functional>

#include "acc/edges_elsewhere.hpp"
#include "engine/pagerank/static/sliced_sweep.hpp"
#include "gpu/gpu.hpp"
#include "gpu/thread_ranks.hpp"
#include "pagerank/cases.hpp"

namespace sluice::test {
namespace {

/// More iterations than are in flight at once.
constexpr unsigned kIterations = 7;

/// The results of a sweep.
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

Swept sweep_on_host(const Graph& graph, const pagerank::Options& options) {
  const Device host({DeviceChoice::host, 2, 0});
  const auto alone = make_single_rank();
  const pagerank::RankGraph whole(graph, options, 2, *alone);
  const auto made = make_host_sweep(host, whole, options, {}, *alone);
  return sweep(*made, options, graph.vertices());
}

/// Bytes of one vertex's contribution.
std::uint64_t share_bytes(const pagerank::Options& options) {
  return options.precision == pagerank::RankPrecision::f32 ? 4 : 8;
}

/// Compares the ranks with one process on `graph`. `file`, if given, is the same graph with its edges in a
/// file.
void expect_as_alone(const Graph& graph, const pagerank::Options& options, int size,
                     const pagerank::SweepPieces& pieces, const Graph* file = nullptr) {
  SCOPED_TRACE(std::to_string(pieces.count) + " pieces on " + std::to_string(size) + " ranks");
  const Swept expected = sweep_on_host(graph, options);
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
    // Each rank sends the contributions of its vertices with out-edges to all others, before and in each
    // iteration. Up to two iterations run ahead. Contributions of vertices whose edges all weigh 0 may be
    // sent too.
    const std::uint64_t share = share_bytes(options), others = static_cast<std::uint64_t>(size) - 1,
                        times = swept.changes.size() + 1,
                        sources = static_cast<std::uint64_t>(std::count_if(
                            own.divisors(), own.divisors() + rows, [](double d) { return d > 0; })),
                        sent = made->traffic().exchanged_bytes;
    EXPECT_GE(sent, times * sources * share * others);
    if (!options.weighted)
      EXPECT_LE(sent, ((times + 2) * sources * share + rows * sizeof(std::uint32_t)) * others);
    meeting.exchange<int>(rank, 0, [](std::size_t, const int&) {});  // others may still read this memory
  });
}

/// Bytes that a rank with connected GPUs sends through the hosts in an iteration of listed rows: totals
/// alone.
constexpr std::uint64_t kTotalsBytes = 9 * sizeof(std::uint64_t);

/// Compares listed rows on connected and on unconnected GPUs. `make` makes one graph for each rank, since
/// memory cannot be page-locked twice. `in_file`: edges are in a file.
void expect_listed_as_alone(const std::function<Graph()>& make, const pagerank::Options& options, int size,
                            const PagingOptions& paging = {}, bool in_file = false) {
  const Swept expected = sweep_on_host(make(), options);
  for (const bool linked : {true, false}) {
    SCOPED_TRACE(std::to_string(size) + (linked ? " ranks, from GPU to GPU" : " ranks, through hosts"));
    Meeting::run(size, [&](int rank, Meeting& meeting) {
      const Device gpu({DeviceChoice::cuda, 1, std::uint64_t{1} << 28});
      ThreadCommunicator ranks(rank, meeting);
      ThreadDeviceRanks link(rank, meeting);
      const Graph graph = make(), file = in_file ? left_elsewhere(graph) : Graph();
      const pagerank::RankGraph own(in_file ? file : graph, options, 1, ranks);
      const std::uint64_t rows = own.in().vertices;

      const auto made = make_cuda_sweep(
          gpu, own, options,
          {.paging = paging, .rows = pagerank::RankRows::listed, .link = linked ? &link : nullptr}, ranks);
      const std::uint64_t by_hosts_before = ranks.bytes_sent(), by_gpus_before = link.bytes_sent();
      const Swept swept = sweep(*made, options, rows);
      const std::uint64_t by_hosts = ranks.bytes_sent() - by_hosts_before,
                          by_gpus = link.bytes_sent() - by_gpus_before, iterations = swept.changes.size(),
                          all = iterations * rows * share_bytes(options) *
                                (static_cast<std::uint64_t>(size) - 1);

      EXPECT_EQ(swept.changes, expected.changes) << "rank " << rank;
      EXPECT_TRUE(std::equal(swept.ranks.begin(), swept.ranks.end(), expected.ranks.begin() + own.first()))
          << "rank " << rank;
      EXPECT_EQ(by_gpus, linked ? all : 0);
      EXPECT_EQ(made->traffic().exchanged_bytes, link.bytes_sent());
      if (linked) EXPECT_LE(by_hosts, iterations * kTotalsBytes);
      if (!linked) EXPECT_GE(by_hosts, all);
      meeting.exchange<int>(rank, 0, [](std::size_t, const int&) {});  // others may still read this memory
    });
  }
}

/// Some ranks have no vertices or no edges, and some pieces have no rows.
TEST(GpuPageRankRanks, AreThatOfOneProcessOnHardGraphs) {
  REQUIRE_GPU(open_gpu());
  for (const auto& [name, graph] : rank_graphs()) {
    if (brief() && graph.vertices() > 12 && name != "kronecker") continue;
    SCOPED_TRACE(name);
    for (const pagerank::Options& options : rank_options()) {
      expect_as_alone(graph, options, 2, {3, 2});
      if (!brief()) expect_as_alone(graph, options, 4, {pagerank::kMaxPieces, 3});
    }
  }
}

/// Every piece has hubs, listed rows and slices.
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
    if (!brief()) expect_as_alone(graph, options, 2, {pagerank::kDefaultPieces, 8});
  }
}

/// One thread runs the same kernels, which racecheck can follow.
TEST(GpuSweepPieces, OfOneRankAreThatOfOneSweep) {
  REQUIRE_GPU(open_gpu());
  io::ConvertOptions rules;
  rules.undirected = true;
  const Graph graph = bench::generate_graph({io::GraphKind::kronecker, rmat_scale()}, rules);
  for (const pagerank::Options& options : rank_options()) {
    if (options.weighted) continue;
    expect_as_alone(graph, options, 1, {3, 2});
    if (!brief()) expect_as_alone(graph, options, 1, {pagerank::kDefaultPieces, 8});
  }
}

TEST(GpuPageRankRanks, ListRowsOfHardGraphs) {
  REQUIRE_GPU(open_gpu());
  const std::vector<NamedGraph> graphs = rank_graphs();
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    if (brief() && graphs[i].graph.vertices() > 12) continue;
    SCOPED_TRACE(graphs[i].name);
    for (const pagerank::Options& options : rank_options()) {
      const auto make = [i] { return std::move(rank_graphs()[i].graph); };
      expect_listed_as_alone(make, options, options.weighted ? 4 : 2);
    }
  }
}

TEST(GpuPageRankRanks, BringInEdgesInPartitions) {
  REQUIRE_GPU(open_gpu());
  const auto directed = [] { return rank_rmat(false, true); };
  const auto undirected = [] { return rank_rmat(true, false); };
  for (const pagerank::Options& options : rank_options()) {
    expect_listed_as_alone(directed, options, 2,
                           {.partitions = 7, .slots = 2, .transport = Transport::copied});
    if (brief()) continue;
    expect_listed_as_alone(directed, options, 3, {.partitions = 9, .transport = Transport::mapped});
    expect_listed_as_alone(undirected, options, 3, {.partitions = 7, .transport = Transport::file}, true);
    expect_listed_as_alone(undirected, options, 2, {}, true);
  }
}

/// Vertices are numbered by out-degree, while rows are sorted by in-degree.
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
