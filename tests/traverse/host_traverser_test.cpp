// The host's traverser: how it visits lists.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "engine/traverse/host_traverser.hpp"

namespace sluice {
namespace {

/// Records the source of each edge. Vertex i has i edges.
struct Edges {
  Vertex* sources;

  bool sends(Vertex u) const { return u % 3 != 0; }
  template <class Lane>
  void edge(Vertex u, EdgeIndex e, Lane&) const {
    sources[e] = u;
  }
};

/// Counts edges that the calling thread visits, and edges of other threads.
struct CountThreads {
  std::thread::id caller;
  std::atomic<unsigned>*own, *others;

  bool sends(Vertex) const { return true; }
  template <class Lane>
  void edge(Vertex, EdgeIndex, Lane&) const {
    ++*(std::this_thread::get_id() == caller ? own : others);
  }
};

/// A word covers two rows, of which the odd one is wanted.
struct Search {
  Vertex* taken;
  std::uint32_t* words;

  std::uint64_t word(std::uint64_t row) const { return row / 2; }
  std::uint64_t first_row(std::uint64_t word) const { return 2 * word; }
  std::uint32_t wanted(std::uint64_t word, const RowRange& rows) const {
    return 2 * word + 1 < rows.end ? 2 : 0;
  }
  void prefetch(EdgeIndex) const {}
  bool hits(EdgeIndex e) const { return e % 5 == 0; }
  template <class Lane>
  bool accept(std::uint64_t row, EdgeIndex e, Lane&) const {
    taken[row] = static_cast<Vertex>(e);
    return e > 0;
  }
  template <class Lane>
  void found(std::uint64_t word, std::uint32_t bits, Lane& lane) const {
    words[word] = bits;
    lane.count(0, 1);
  }
};

class HostTraverserTest : public testing::TestWithParam<unsigned> {
 protected:
  const Device device_{{DeviceChoice::host, GetParam(), 0}};
  HostTraverser executor_{device_, 0};
};

TEST_P(HostTraverserTest, GoesOverTheEdgesOfVerticesThatSend) {
  constexpr Vertex kVertices = 300;
  std::vector<EdgeIndex> offsets(kVertices + 1);
  for (Vertex v = 0; v < kVertices; ++v) offsets[v + 1] = offsets[v] + v;
  std::vector<Vertex> sources(offsets.back(), kNoVertex);
  unsigned long long sums[LaneOutput::kSums] = {};
  LaneOutput output;
  output.sums = sums;

  executor_.for_each_edge({nullptr, 0, kVertices, 0, offsets.data()}, output, Edges{sources.data()});

  std::uint64_t edges = 0;
  for (Vertex v = 0; v < kVertices; ++v) {
    edges += v % 3 != 0 ? v : 0;
    for (EdgeIndex e = offsets[v]; e < offsets[v + 1]; ++e) ASSERT_EQ(sources[e], v % 3 != 0 ? v : kNoVertex);
  }
  EXPECT_EQ(sums[0], edges);
}

TEST_P(HostTraverserTest, LeavesFewEdgesToTheCaller) {
  constexpr Vertex kVertices = 2000;
  std::vector<EdgeIndex> offsets(kVertices + 1);
  for (Vertex v = 0; v < kVertices; ++v) offsets[v + 1] = offsets[v] + 1;
  unsigned long long sums[LaneOutput::kSums] = {};
  LaneOutput output;
  output.sums = sums;
  std::atomic<unsigned> own = 0, others = 0;

  for (int again = 0; again < 20; ++again)
    executor_.for_each_edge({nullptr, 0, kVertices, 0, offsets.data()}, output,
                            CountThreads{std::this_thread::get_id(), &own, &others}, LevelBins::kNone,
                            offsets.back());

  EXPECT_EQ(own, 20 * kVertices);
  EXPECT_EQ(others, 0u);
}

TEST_P(HostTraverserTest, TakesTheFirstEdgeThatHits) {
  constexpr std::uint64_t kRows = 2000;
  std::vector<EdgeIndex> offsets(kRows + 1);
  for (std::uint64_t row = 0; row < kRows; ++row) offsets[row + 1] = offsets[row] + row % 4;
  std::vector<Vertex> taken(kRows, kNoVertex);
  std::vector<std::uint32_t> words(kRows / 2);
  std::vector<unsigned long long> counts(4);
  const LaneOutput output{nullptr, nullptr, counts.data(), counts.data() + 1, nullptr, 1};

  executor_.first_edge({0, kRows, offsets.data()}, output, Search{taken.data(), words.data()});

  unsigned long long edges = 0, found = 0;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    EdgeIndex e = offsets[row];
    while (row % 2 == 1 && e < offsets[row + 1] && e % 5 != 0) ++e;
    const bool hits = row % 2 == 1 && e < offsets[row + 1];
    ASSERT_EQ(taken[row], hits ? static_cast<Vertex>(e) : kNoVertex) << row;
    if (row % 2 == 0) continue;
    ASSERT_EQ(words[row / 2], hits && e > 0 ? 2u : 0u) << row;
    edges += e - offsets[row] + hits;
    found += hits && e > 0;
  }
  EXPECT_EQ(counts, (std::vector<unsigned long long>{found, edges, 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(Threads, HostTraverserTest, testing::Values(1u, 2u, 5u));

}  // namespace
}  // namespace sluice
