// Lists are used while the rest of the file is read: each list is used once, complete, and none after a
// fault.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>
#include <vector>

#include "engine/core/error.hpp"
#include "io/graph_file/graph_file.hpp"
#include "tests/io/graph_file_support.hpp"

namespace sluice::io {
namespace {

using test::message_of;
using test::poke;
using test::values;

/// Lists of 0 to 4 edges, vertices without edges at both ends, and a hub. Its list is longer than several of
/// the blocks that a thread reads.
Graph graph_with_hub() {
  constexpr std::uint64_t kVertices = 300'000, kIdle = 1000, kHub = 120'000, kHubDegree = 250'000;
  std::vector<EdgeIndex> offsets{0};
  std::vector<Vertex> targets;
  std::vector<float> weights;
  for (std::uint64_t v = 0; v < kVertices; ++v) {
    const bool idle = v < kIdle || v >= kVertices - kIdle;
    const std::uint64_t degree = v == kHub ? kHubDegree : idle ? 0 : v * 7 % 5;
    for (std::uint64_t i = 0; i < degree; ++i) {
      targets.push_back(static_cast<Vertex>(degree < 5 ? (v + i * 60'000) % kVertices : i));
      weights.push_back(static_cast<float>(targets.size() % 100));
    }
    std::sort(targets.end() - static_cast<std::ptrdiff_t>(degree), targets.end());
    offsets.push_back(targets.size());
  }
  Graph graph;
  graph.out = test::rows(offsets, targets, weights);
  graph.weighted = true;
  return graph;
}

class EdgesToComeTest : public testing::TestWithParam<unsigned> {
 protected:
  static const Graph& expected() {
    static const Graph graph = graph_with_hub();
    return graph;
  }

  void SetUp() override { write_graph(path, expected(), false); }

  test::TemporaryFolder folder;
  std::string path = folder / "graph.h5";
};

TEST_P(EdgesToComeTest, EachListIsUsedOnceAndWhole) {
  const Graph graph = begin_reading(path, {}, GetParam());
  ASSERT_TRUE(graph.pending_edges);
  EXPECT_FALSE(graph.pending_edges->complete());
  std::vector<std::atomic<int>> used(graph.vertices());
  std::atomic<std::uint64_t> different{0};

  graph.pending_edges->read(GetParam(), [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    for (std::uint64_t v = begin; v < end; ++v) {
      ++used[v];
      const EdgeIndex first = graph.out.offsets[v], last = graph.out.offsets[v + 1];
      const auto same = [&](const auto& ours, const auto& theirs) {
        return std::equal(ours.begin() + first, ours.begin() + last, theirs.begin() + first);
      };
      different += !same(graph.out.targets, expected().out.targets) ||
                   !same(graph.out.weights, expected().out.weights);
    }
  });

  EXPECT_TRUE(graph.pending_edges->complete());
  EXPECT_EQ(different, 0u);
  EXPECT_EQ(std::count(used.begin(), used.end(), 1), static_cast<std::ptrdiff_t>(graph.vertices()));
}

TEST_P(EdgesToComeTest, WithoutAnyUseTheGraphIsAsReadWhole) {
  const Graph graph = begin_reading(path, {}, GetParam());

  graph.pending_edges->read(GetParam());

  EXPECT_EQ(values(graph.out.targets), values(expected().out.targets));
  EXPECT_EQ(values(graph.out.weights), values(expected().out.weights));
}

TEST_P(EdgesToComeTest, OnceTheyAreThereNothingIsReadAgain) {
  const Graph graph = begin_reading(path, {}, GetParam());
  graph.pending_edges->read(GetParam());

  graph.pending_edges->read(GetParam(),
                            [](std::uint64_t, std::uint64_t, unsigned) { ADD_FAILURE() << "used again"; });
}

TEST_P(EdgesToComeTest, FaultsAreThoseOfReadGraphAndNoListWithOneIsUsed) {
  struct Damage {
    const char* dataset;
    EdgeIndex edge;
    float weight;  // otherwise an invalid target is written
  };
  const EdgeIndex in_hub = expected().out.offsets[120'000] + 100'000, last = expected().edges() - 1;
  for (const auto& [dataset, edge, weight] :
       {Damage{"/out/indices", 0, 0}, Damage{"/out/indices", in_hub, 0}, Damage{"/out/indices", last, 0},
        Damage{"/out/data", in_hub, -1}, Damage{"/out/data", last, std::numeric_limits<float>::infinity()}}) {
    write_graph(path, expected(), true);
    const std::uint64_t at = test::dataset_offset(path, dataset) + edge * 4;
    weight == 0 ? poke(path, at, std::int32_t{-1}) : poke(path, at, weight);
    const Graph graph = begin_reading(path, {}, GetParam());
    std::atomic<bool> used{false};
    const auto use = [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      if (graph.out.offsets[begin] <= edge && edge < graph.out.offsets[end]) used = true;
    };

    const std::string fault = message_of<InputError>([&] { read_graph(path, {}, GetParam()); });

    EXPECT_NE(fault, "");
    EXPECT_EQ(message_of<InputError>([&] { graph.pending_edges->read(GetParam(), use); }), fault);
    EXPECT_FALSE(used) << dataset << ' ' << edge;
    EXPECT_FALSE(graph.pending_edges->complete());
    EXPECT_EQ(message_of<InputError>([&] { graph.pending_edges->read(GetParam()); }), fault) << "asked again";
  }
}

TEST_P(EdgesToComeTest, AFileThatEndsEarlyLeavesNoThreadWaiting) {
  const Graph graph = begin_reading(path, {}, GetParam());
  // Cuts off everything behind the offsets while the file is open.
  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(test::dataset_offset(path, "/out/indices") + 4)), 0);

  const std::string fault = message_of<InputError>(
      [&] { graph.pending_edges->read(GetParam(), [](std::uint64_t, std::uint64_t, unsigned) {}); });

  EXPECT_NE(fault.find("reaches beyond the end of the file"), std::string::npos) << fault;
}

TEST_P(EdgesToComeTest, VerticesWithoutEdgesAreUsedToo) {
  Graph empty;
  empty.out = test::rows({0, 0, 0, 0}, {});
  write_graph(path, empty, true);
  const Graph graph = begin_reading(path, {}, GetParam());
  std::uint64_t used = 0;

  graph.pending_edges->read(GetParam(),
                            [&](std::uint64_t begin, std::uint64_t end, unsigned) { used += end - begin; });

  EXPECT_EQ(used, 3u);
}

INSTANTIATE_TEST_SUITE_P(Threads, EdgesToComeTest, testing::Values(1u, 2u, 7u));

}  // namespace
}  // namespace sluice::io
