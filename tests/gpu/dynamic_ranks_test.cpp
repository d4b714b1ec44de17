// Dynamic PageRank on several ranks with GPUs gives the ranks, iterations and frontiers of one process on the
// host, bit for bit. Ranks are threads that share the GPU. They exchange through the host, or from GPU to GPU
// over a link that stands for NCCL.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "exchange/thread_ranks.hpp"
#include "gpu/gpu.hpp"
#include "gpu/thread_ranks.hpp"
#include "pagerank/cases.hpp"
#include "pagerank/course.hpp"

namespace sluice::test {
namespace {

enum class Way { hosts, gpus };
constexpr Way kWays[] = {Way::hosts, Way::gpus};

/// The results of each rank's batches. Each rank has its own copy of the graph, since memory cannot be
/// page-locked twice. `in_file`: ranks read its edges from a file. GPUs that hold the graph fuse small
/// iterations if they exchange through hosts, and launch them one by one over the link. Only the latter
/// exchange sums of all vertices. `by_hosts` receives the bytes that all ranks sent through their hosts.
std::vector<Followed> follow_on_ranks(const std::function<Course()>& make, const pagerank::Options& options,
                                      const pagerank::Result& start, std::size_t method, int size, Way way,
                                      const PagingOptions& paging, bool in_file,
                                      std::atomic<std::uint64_t>* by_hosts = nullptr) {
  std::vector<Followed> on_ranks(static_cast<std::size_t>(size));
  Meeting::run(size, [&](int rank, Meeting& meeting) {
    const Device gpu({DeviceChoice::cuda, 1, 1u << 28});
    ThreadCommunicator ranks(rank, meeting);
    const auto link = make_thread_link(rank, meeting);
    on_ranks[static_cast<std::size_t>(rank)] =
        follow(gpu, in_file ? course_elsewhere(make()) : make(), options, start, method,
               {.paging = paging, .ranks = &ranks, .link = way == Way::gpus ? link.get() : nullptr},
               way == Way::hosts);
    if (by_hosts != nullptr) *by_hosts += ranks.bytes_sent();
  });
  return on_ranks;
}

void expect_as_alone(const std::function<Course()>& make, pagerank::Options options, std::size_t method,
                     int size, const PagingOptions& paging = {}, bool in_file = false) {
  if (brief()) options.max_iterations = 3;
  const Device host({DeviceChoice::host, 2, 0});
  const Course course = make();
  const pagerank::Result start = pagerank::run_pagerank(host, course.before, options);
  const Followed alone = follow(host, course, options, start, method, {});
  for (const Way way : kWays) {
    if (way == Way::gpus && size == 1) continue;
    SCOPED_TRACE(way == Way::gpus ? "from GPU to GPU" : "through hosts");
    expect_same(follow_on_ranks(make, options, start, method, size, way, paging, in_file), alone);
  }
}

TEST(GpuDynamicOnRanks, IsThatOfOneProcess) {
  REQUIRE_GPU(open_gpu());
  for (std::size_t method = 0; method < std::size(kFollowers); ++method) {
    for (const int size : {2, 3}) {
      if (brief() && size != 2 + static_cast<int>(method % 2)) continue;
      SCOPED_TRACE("method " + std::to_string(method) + " on " + std::to_string(size));
      pagerank::Options options;
      options.tolerance = 1e-7;
      options.norm = size == 3 ? pagerank::RankNorm::l2 : pagerank::RankNorm::linf;
      options.weighted = size == 3;
      options.dangling = method % 2 == 0 ? pagerank::Dangling::uniform : pagerank::Dangling::self_loop;
      expect_as_alone([] { return course_of(rank_rmat(false, true), 6); }, options, method, size);
      if (!brief()) expect_as_alone([] { return course_of(rank_rmat(true, false), 6); }, {}, method, size);
    }
  }
}

TEST(GpuDynamicOnRanks, MayOwnNoVertexOrNoEdge) {
  REQUIRE_GPU(open_gpu());
  pagerank::Options options;
  options.weighted = true;
  const auto graphs = [] {
    std::vector<NamedGraph> all = rank_graphs();
    all.push_back({"without vertices at first", stat::make_graph(0, {}, true, true)});
    return all;
  };
  const std::vector<NamedGraph> all = graphs();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const NamedGraph& named = all[i];
    if (named.graph.vertices() > 100 || named.name == "extreme weights") continue;
    for (std::size_t method = 0; method < std::size(kFollowers); ++method) {
      if (method != i % std::size(kFollowers) && brief()) continue;
      SCOPED_TRACE(named.name + ", method " + std::to_string(method));
      options.dangling = method % 2 == 0 ? pagerank::Dangling::uniform : pagerank::Dangling::self_loop;
      expect_as_alone([&] { return course_of(with_in_edges(std::move(graphs()[i].graph)), 2); }, options,
                      method, 4);
    }
  }
}

TEST(GpuDynamicOnRanks, WorksInPartitions) {
  REQUIRE_GPU(open_gpu());
  pagerank::Options options;
  options.tolerance = 1e-7;
  for (std::size_t method = 0; method < std::size(kFollowers); ++method) {
    expect_as_alone([] { return course_of(rank_rmat(false, true), 6); }, options, method, 3,
                    {.partitions = 7, .slots = 2});
  }
}

TEST(GpuDynamicOnRanks, FollowsFromTheFile) {
  REQUIRE_GPU(open_gpu());
  for (std::size_t method = 0; method < std::size(kFollowers); ++method) {
    SCOPED_TRACE("method " + std::to_string(method));
    pagerank::Options options;
    options.tolerance = 1e-7;
    options.dangling = method % 2 == 0 ? pagerank::Dangling::uniform : pagerank::Dangling::self_loop;
    expect_as_alone([] { return course_of(rank_rmat(true, false), 6); }, options, method, 1,
                    {.partitions = 7, .slots = 3}, true);
    options.weighted = true;
    expect_as_alone([] { return course_of(rank_rmat(false, true), 6); }, options, method, brief() ? 1 : 3, {},
                    true);
  }
}

/// Bytes that ranks sent from GPU to GPU in the first batch, and its iterations. `all_rows`: bytes to send
/// the contributions of all vertices once. `by_hosts`: bytes through the hosts in all batches.
struct Exchanged {
  std::uint64_t bytes = 0, iterations = 0, all_rows = 0, by_hosts = 0;
};

Exchanged exchanged(io::GraphKind kind, pagerank::RankMethod method, const PagingOptions& paging,
                    std::size_t batch = 2, bool in_file = false) {
  constexpr int kSize = 3;
  const auto make = [&] { return course_of(generated(kind, 14, true, io::WeightRule::uniform), batch); };
  const auto at = static_cast<std::size_t>(std::ranges::find(kFollowers, method) - kFollowers);
  const Device host({DeviceChoice::host, 2, 0});
  pagerank::Options options;
  if (brief()) options.max_iterations = 3;
  const Course course = make();
  const pagerank::Result start = pagerank::run_pagerank(host, course.before, options);
  const Followed alone = follow(host, course, options, start, at, {});

  std::atomic<std::uint64_t> by_hosts{0};
  const auto on_ranks =
      follow_on_ranks(make, options, start, at, kSize, Way::gpus, paging, in_file, &by_hosts);

  expect_same(on_ranks, alone);
  Exchanged all{0, alone.results[0].iterations,
                course.before.vertices() * sizeof(pagerank::FixedRank) * (kSize - 1), by_hosts};
  for (const Followed& followed : on_ranks) all.bytes += followed.results[0].traffic.exchanged_bytes;
  return all;
}

/// Each rank holds its own part of the graph.
constexpr PagingOptions kParts{.partitions = 3, .slots = 2};

TEST(GpuDynamicOnRanks, SendFewRowsOneByOne) {
  REQUIRE_GPU(open_gpu());
  const Exchanged few = exchanged(io::GraphKind::grid, pagerank::RankMethod::residual_frontier, kParts);

  EXPECT_GT(few.bytes, 0u);
  EXPECT_LT(few.bytes, few.all_rows);
}

/// This holds for every transport of in-edges. Hosts exchange flags of dangling vertices once, and totals,
/// but no contributions: fewer bytes than the contributions of one iteration.
TEST(GpuDynamicOnRanks, SendManyRowsAsAWhole) {
  REQUIRE_GPU(open_gpu());
  const PagingOptions mapped{.partitions = 3, .transport = Transport::mapped},
      file{.partitions = 3, .transport = Transport::file};
  for (const PagingOptions& paging : {kParts, mapped, file}) {
    const Exchanged many = exchanged(io::GraphKind::kronecker, pagerank::RankMethod::naive_dynamic, paging, 2,
                                     paging.transport == Transport::file);

    EXPECT_GT(many.iterations, 0u);
    EXPECT_GE(many.bytes, many.iterations * many.all_rows);
    EXPECT_LT(many.by_hosts, many.all_rows);
    if (brief()) break;
  }
}

TEST(GpuDynamicOnRanks, ShareOutManySumsOfAWholeGraph) {
  REQUIRE_GPU(open_gpu());
  const Exchanged many = exchanged(io::GraphKind::kronecker, pagerank::RankMethod::naive_dynamic, {});

  EXPECT_GT(many.iterations, 0u);
  EXPECT_EQ(many.bytes, many.iterations * many.all_rows);
}

/// Ranks exchange marks of all vertices if members whose change spreads have many edges, yet not all vertices
/// become members. Marks are one byte a vertex, sent beside the sums of some iterations.
TEST(GpuDynamicOnRanks, ShareOutManyMarksOfAWholeGraph) {
  REQUIRE_GPU(open_gpu());
  if (brief()) GTEST_SKIP() << "takes more iterations than a brief test has";
  const Exchanged many = exchanged(io::GraphKind::kronecker, pagerank::RankMethod::pruned_frontier, {}, 40);

  EXPECT_EQ(many.bytes % (many.all_rows / sizeof(pagerank::FixedRank)), 0u);
  EXPECT_NE(many.bytes % many.all_rows, 0u);
}

TEST(GpuDynamicOnRanks, FindFewSumsOfAWholeGraphEach) {
  REQUIRE_GPU(open_gpu());
  const Exchanged few = exchanged(io::GraphKind::grid, pagerank::RankMethod::residual_frontier, {});

  EXPECT_GT(few.iterations, 0u);
  EXPECT_EQ(few.bytes, 0u);
}

}  // namespace
}  // namespace sluice::test
