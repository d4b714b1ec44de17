// The trees of ranks are merged. If few vertices have another root than most, ranks send these as pairs;
// otherwise they send all states.
#include "engine/acc/rounds/rank_forests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "acc/cases.hpp"
#include "engine/acc/programs/wcc.hpp"
#include "engine/exec/host_executor.hpp"
#include "exchange/thread_ranks.hpp"

namespace sluice::acc {
namespace {

constexpr Vertex kVertices = 3000, kHub = 5;

using Edges = std::vector<std::pair<Vertex, Vertex>>;

std::vector<Vertex> all_roots() {
  std::vector<Vertex> states(kVertices);
  for (Vertex v = 0; v < kVertices; ++v) states[v] = v;
  return states;
}

/// The smallest vertex that is connected with each.
std::vector<Vertex> roots_of(std::span<const Edges> edges) {
  std::vector<Vertex> roots = all_roots();
  const auto root = [&](Vertex v) {
    while (roots[v] != v) v = roots[v];
    return v;
  };
  for (const Edges& some : edges) {
    for (const auto& [u, v] : some) {
      const Vertex a = root(u), b = root(v);
      roots[std::max(a, b)] = std::min(a, b);
    }
  }
  for (Vertex v = 0; v < kVertices; ++v) roots[v] = root(v);
  return roots;
}

/// Most vertices have an edge to the hub, or to a vertex of each `stride`; a few have random edges.
Edges edges_of(int rank, Vertex stride) {
  std::mt19937 random(static_cast<unsigned>(rank + 1));
  Edges edges;
  for (unsigned i = 0; i < kVertices / 2; ++i) {
    const auto v = static_cast<Vertex>(random() % kVertices);
    edges.emplace_back(v, stride == 0 ? kHub : v / stride * stride);
  }
  for (unsigned i = 0; i < 20; ++i) edges.emplace_back(random() % kVertices, random() % kVertices);
  return edges;
}

class RankForestsTest : public testing::TestWithParam<int> {
 protected:
  /// Vertices whose root is neither the hub's root nor themselves.
  static std::size_t count_others(const std::vector<Vertex>& states) {
    std::size_t others = 0;
    for (Vertex v = 0; v < kVertices; ++v) others += states[v] != v && states[v] != states[kHub];
    return others;
  }

  /// `hub`: the vertex that ranks assume to be the root of most.
  void expect_joined(Vertex stride, bool as_pairs, Vertex hub = kNoVertex) const {
    std::vector<Edges> edges;
    for (int rank = 0; rank < GetParam(); ++rank) edges.push_back(edges_of(rank, stride));
    const std::vector<Vertex> expected = roots_of(edges);
    const Graph graph = stat::make_graph(kVertices, {{0, 1}}, false);
    test::Meeting::run(GetParam(), [&](int rank, test::Meeting& meeting) {
      test::ThreadCommunicator ranks(rank, meeting);
      const Device device({DeviceChoice::host, 1});
      AccPlace place;
      place.ranks = &ranks;
      const RankPart part(device, graph, {}, place);
      HostExecutor executor(device);
      RankForests forests(device, part, kVertices);
      std::vector<Vertex> states = all_roots();
      for (const auto& [u, v] : edges[static_cast<std::size_t>(rank)])
        join(Components{}, states.data(), u, v);
      for (Vertex v = 0; v < kVertices; ++v) compress(states.data(), v);
      EXPECT_EQ(count_others(states) <= kVertices / RankForests::kVerticesPerPair, as_pairs);

      SampledRoots sampled(device);
      forests.join(executor, Components{}, states.data(), sampled, hub);

      EXPECT_EQ(states, expected) << "on rank " << rank;
    });
  }
};

TEST_P(RankForestsTest, TakePairsBesideTheTreeOfMost) {
  expect_joined(0, true);
  expect_joined(0, true, kHub);
}

TEST_P(RankForestsTest, TakeAllStatesWhereManyHangFromOtherRoots) {
  expect_joined(7, false);
}

INSTANTIATE_TEST_SUITE_P(Ranks, RankForestsTest, testing::Values(1, 2, 3, 4, 5));

}  // namespace
}  // namespace sluice::acc
