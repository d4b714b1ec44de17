// Replays of temporal graphs batch by batch, and of real graphs with random insertions and deletions. Errors
// of exact methods are at most those of static ranks, or 1e-9. Errors of frontiers are at most 1e-7, and are
// printed.
#include "apps/bench/replay/replay.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>

#include "cli/process.hpp"
#include "core/printed.hpp"
#include "engine/core/error.hpp"
#include "io/convert/convert.hpp"
#include "io/graph_file/graph_file.hpp"
#include "io/real_graph_counts.hpp"
#include "pagerank/batch_support.hpp"
#include "pagerank/oracle.hpp"

namespace sluice::test {
namespace {

using namespace bench;

const std::filesystem::path kData = paths::kSharedData;
constexpr double kExactError = 1e-9;
/// Ranks of these graphs are up to a few hundredths. Frontiers miss up to 1e-6 of them in each of some tens
/// of iterations; measured errors are below 5e-8.
constexpr double kFrontierError = 1e-7;
constexpr const char* kNames[] = {"static", "nd", "dt", "df", "dfp", "dfr"};

/// Edges that prefer small ids and repeat; vertices appear over time.
TemporalEdges generated_edges(std::uint64_t vertices, std::size_t size) {
  std::mt19937_64 random(23);
  TemporalEdges edges;
  edges.vertex_count = vertices;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t known = 2 + (vertices - 2) * i / size;
    edges.source.push_back(static_cast<Vertex>(random() % known));
    edges.target.push_back(static_cast<Vertex>(random() % known * (random() % known) / known));
  }
  return edges;
}

/// The edges of a file in order of time, with its ids.
TemporalEdges read_temporal(const std::string& name) {
  io::ReadOptions options;
  options.timestamps = true;
  const auto source = io::open_edge_file((kData / name).string(), options);
  io::EdgeBatch part;
  std::vector<std::array<std::int64_t, 3>> rows;
  while (source->next(part)) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      rows.push_back({part.time[i], static_cast<std::int64_t>(part.source[i]),
                      static_cast<std::int64_t>(part.target[i])});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a[0] < b[0]; });
  TemporalEdges edges;
  for (const auto& row : rows) {
    edges.source.push_back(static_cast<Vertex>(row[1])), edges.target.push_back(static_cast<Vertex>(row[2]));
    edges.vertex_count =
        std::max<std::uint64_t>(edges.vertex_count, static_cast<std::uint64_t>(std::max(row[1], row[2])) + 1);
  }
  return edges;
}

struct Errors {
  double linf = 0, l1 = 0;
};
using ErrorTable = std::map<pagerank::RankMethod, Errors>;

void note(ErrorTable& table, pagerank::RankMethod method, double linf, double l1) {
  Errors& largest = table[method];
  largest.linf = std::max(largest.linf, linf), largest.l1 = std::max(largest.l1, l1);
}

void print(const std::string& what, const ErrorTable& table) {
  std::string line = fmt::format("{:<44}", what);
  for (const auto& [method, errors] : table) {
    line += fmt::format(" {} {:.1e}/{:.1e}", kNames[static_cast<int>(method)], errors.linf, errors.l1);
  }
  std::puts((line + "  (largest linf/L1)").c_str());
}

bool is_frontier(pagerank::RankMethod method) {
  return method >= pagerank::RankMethod::dynamic_frontier;
}

void expect_replays(const std::string& name, const TemporalEdges& edges, pagerank::Dangling dangling,
                    double fraction, std::uint32_t batches) {
  const Device device({DeviceChoice::host, 2, 0});
  pagerank::Options rank;
  rank.dangling = dangling;
  ReplayOptions options;
  options.batch_fraction = fraction;
  options.batches = batches;
  ErrorTable table;
  std::uint32_t seen = 0;
  replay(device, edges, rank, options, [&](const ReplayBatch& batch) {
    ++seen;
    ASSERT_EQ(batch.runs.size(), 6u);
    for (const ReplayRun& run : batch.runs) {
      EXPECT_TRUE(run.converged);
      const double limit = std::max(batch.runs.front().linf, kExactError);
      EXPECT_LE(run.linf, is_frontier(run.method) ? kFrontierError : limit);
      note(table, run.method, run.linf, run.l1);
    }
  });
  EXPECT_EQ(seen, batches);
  print(fmt::format("{} {} {}", name, fraction,
                    dangling == pagerank::Dangling::uniform ? "uniform" : "self-loop"),
        table);
}

class Replay : public testing::TestWithParam<pagerank::Dangling> {};

TEST_P(Replay, OfGeneratedEdgesKeepsToTheStaticRanks) {
  const TemporalEdges edges = generated_edges(3000, 30000);

  for (const double fraction : {1e-7, 1e-4, 1e-3, 1e-2})
    expect_replays("generated", edges, GetParam(), fraction, fraction < 1e-3 ? 10 : 7);
}

TEST_P(Replay, OfRealEdgesKeepsToTheStaticRanks) {
  REQUIRE_REAL_GRAPHS(real_graph_counts());

  for (const char* name : {"CollegeMsg.txt.gz", "email-Eu-core-temporal.txt.gz"}) {
    const TemporalEdges edges = read_temporal(name);
    for (const double fraction : {1e-5, 1e-4, 1e-3}) expect_replays(name, edges, GetParam(), fraction, 20);
  }
}

TEST_P(Replay, OfRandomBatchesOnRealGraphsKeepsToTheStaticRanks) {
  REQUIRE_REAL_GRAPHS(real_graph_counts());
  const Device device({DeviceChoice::host, 2, 0});
  const TemporaryFolder folder;
  pagerank::Options options;
  options.dangling = GetParam();
  std::mt19937_64 random(29);

  for (const char* name : {"wiki-Vote.txt.gz", "ca-GrQc.csv.gz", "rome99.gr.gz", "wb-cs-stanford.txt.gz"}) {
    io::ConvertOptions rules;
    rules.force = rules.reverse = true;
    rules.undirected = name == std::string("ca-GrQc.csv.gz");
    io::convert(*io::open_edge_file((kData / name).string(), {}), folder / "graph.h5", rules);
    for (const double fraction : {1e-7, 1e-4, 1e-2}) {
      SCOPED_TRACE(fmt::format("{} {}", name, fraction));
      Graph graph = io::read_graph(folder / "graph.h5", {.in = true});
      graph.original_ids = {};
      const pagerank::Result first = pagerank::run_pagerank(device, graph, options);
      std::map<pagerank::RankMethod, pagerank::DynamicRanks> ranks;
      for (const pagerank::RankMethod method : ReplayOptions().methods)
        ranks.emplace(method, pagerank::DynamicRanks(device, graph, first.ranks.span(), options));
      ErrorTable table;
      for (int i = 0; i < 3; ++i) {
        const auto half = static_cast<std::size_t>(fraction * static_cast<double>(graph.edges()) / 2) + 1;
        const UpdateBatch batch = random_batch(random, graph, half, i == 1 ? 3 : 0);
        UpdateResult update = update_graph(std::move(graph), batch, 2);
        graph = std::move(update.graph);
        const auto exact = exact_ranks(device, graph, options);
        const RankError of_static =
            error_of(pagerank::run_pagerank(device, graph, options).ranks.span(), exact);
        for (auto& [method, state] : ranks) {
          EXPECT_EQ(state.follow(graph, update.changes, {method}).end, pagerank::RankEnd::converged);
          const RankError error = error_of(ranks_of(state), exact);
          EXPECT_LE(error.linf, is_frontier(method) ? kFrontierError : std::max(of_static.linf, kExactError));
          note(table, method, error.linf, error.l1);
        }
      }
      print(fmt::format("{} {} {}", name, fraction,
                        GetParam() == pagerank::Dangling::uniform ? "uniform" : "self-loop"),
            table);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dangling, Replay,
                         testing::Values(pagerank::Dangling::uniform, pagerank::Dangling::self_loop));

/// Expects that the host budget is charged for edges before they are read.
class ChargedEdges final : public TemporalSource {
 public:
  explicit ChargedEdges(TemporalEdges edges) : edges_(std::move(edges)) {}

  std::uint64_t vertices() const override { return edges_.vertices(); }
  std::uint64_t size() const override { return edges_.size(); }
  void read(std::uint64_t first, std::span<Vertex> source, std::span<Vertex> target) const override {
    EXPECT_GE(host_budget().used() - before_, source.size_bytes() + target.size_bytes()) << first;
    edges_.read(first, source, target);
  }

 private:
  TemporalEdges edges_;
  std::uint64_t before_ = host_budget().used();
};

TEST(Replay, CountsWhatComesAgainAndEndsWithTheEdges) {
  const Device device({DeviceChoice::host, 1, 0});
  const TemporalEdges edges(4, {0, 1, 2, 0, 1, 3}, {1, 2, 3, 1, 2, 0});
  ReplayOptions options;
  options.initial = 0.5;
  options.batch_fraction = 0.34;
  std::vector<UpdateCounts> counts;

  replay(device, edges, {}, options, [&](const ReplayBatch& batch) { counts.push_back(batch.counts); });

  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].present, 2u);
  EXPECT_EQ(counts[1].inserted, 1u);
}

TEST(Replay, ChargesABatchBeforeItIsRead) {
  const Device device({DeviceChoice::host, 1, 0});
  ReplayOptions options;
  options.initial = 0, options.batch_fraction = 1, options.methods = {};
  replay(device, ChargedEdges(generated_edges(20, 100'000)), {}, options, {});
}

TEST(Replay, RefusesOptionsOutOfRange) {
  const Device device({DeviceChoice::host, 1, 0});
  const TemporalEdges edges(2, {0}, {1});
  for (const auto& [initial, fraction] : {std::pair{-0.1, 0.1}, {1.1, 0.1}, {0.9, 0.0}, {0.9, 1.5}}) {
    ReplayOptions options;
    options.initial = initial, options.batch_fraction = fraction;
    EXPECT_THROW(replay(device, edges, {}, options, {}), UsageError);
  }
}

}  // namespace
}  // namespace sluice::test
