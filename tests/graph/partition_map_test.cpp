// The partitions of a graph that are present, and the answers of lists: yes, no, or absent.
#include "engine/graph/partition_map.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "engine/graph/residency.hpp"
#include "statistical/graphs.hpp"

namespace sluice {
namespace {

constexpr std::uint32_t kNoSlot = PageMap::kNoSlot;

/// A graph whose partitions are present as `slot_of` says; slot s has a copy of the edges of its partition.
class Parts {
 public:
  Parts(const Graph& graph, std::vector<std::uint64_t> begins, std::vector<std::uint32_t> slot_of)
      : owners_(std::move(begins)), slot_of_(std::move(slot_of)) {
    view.csr = {graph.vertices(), graph.edges(), graph.out.offsets.data(), nullptr, nullptr};
    view.undirected = !graph.directed;
    copies_.resize(slot_of_.size() + 1), pages_.resize(slot_of_.size() + 1);
    for (std::size_t p = 0; p < slot_of_.size(); ++p) {
      if (slot_of_[p] == kNoSlot) continue;
      const EdgeIndex first = graph.out.offsets[owners_.begin(p)], last = graph.out.offsets[owners_.end(p)];
      std::vector<Vertex>& copy = copies_[slot_of_[p]];
      copy.assign(graph.out.targets.data() + first, graph.out.targets.data() + last);
      pages_[slot_of_[p]].targets = rebase(copy.data(), first);
    }
  }

  PageMap map() const { return {owners_.view(), slot_of_.data(), pages_.data(), kNoSlot}; }
  std::vector<PageView>& pages() { return pages_; }

  GraphView view;  ///< without edges

 private:
  Ownership owners_;
  std::vector<std::uint32_t> slot_of_;
  std::vector<std::vector<Vertex>> copies_;  ///< by slot
  std::vector<PageView> pages_;              ///< by slot
};

/// 0 and 1 are in one partition, 2 and 3 in another; 4 and 5, without edges, are in a third.
Graph directed() {
  return stat::make_graph(6, {{0, 1}, {0, 3}, {1, 2}, {2, 0}, {2, 5}, {3, 3}}, false);
}
const std::vector<std::uint64_t> kBegins{0, 2, 4, 6};

TEST(Moved, IsIndexedByPositionsInTheWholeGraph) {
  std::vector<std::uint64_t> memory(3);
  std::iota(memory.begin(), memory.end(), 100);

  std::uint64_t* const by_position = rebase(memory.data(), 1000);

  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(by_position) + 1002 * sizeof(std::uint64_t),
            reinterpret_cast<std::uintptr_t>(&memory[2]));
}

TEST(PageMap, FindsTheSlotOfTheOwningPartition) {
  const Graph graph = directed();
  Parts parts(graph, kBegins, {1, kNoSlot, 0});
  const PageMap map = parts.map();

  EXPECT_EQ(map.owner(Vertex{1}), 0u);
  EXPECT_EQ(map.owner(Vertex{2}), 1u);
  EXPECT_EQ(map.slot(1), 1u);
  EXPECT_EQ(map.slot(2), kNoSlot);
  EXPECT_EQ(map.slot(5), 0u);
}

TEST(PageMap, AnswersAsTheWholeGraphWhereAllIsHere) {
  const Graph graph = directed();
  Parts parts(graph, kBegins, {2, 0, 1});
  GraphView whole = parts.view;
  whole.csr.targets = graph.out.targets.data();
  std::uint64_t read = 0;

  for (Vertex u = 0; u < 6; ++u) {
    for (Vertex v = 0; v < 6; ++v) {
      EXPECT_EQ(Partitioned{parts.map()}.edge_lookup(read).has_edge(parts.view, u, v),
                Whole().has_edge(whole, u, v))
          << u << " -> " << v;
    }
  }
  EXPECT_EQ(read, 0u) << "nothing is read in place";
}

TEST(PageMap, SaysThatTheListOfADirectedEdgesSourceIsAbsent) {
  const Graph graph = directed();
  Parts parts(graph, kBegins, {0, kNoSlot, kNoSlot});
  std::uint64_t read = 0;

  EXPECT_EQ(parts.map().has_edge(parts.view, 0, 3, read), Answer::yes);
  EXPECT_EQ(parts.map().has_edge(parts.view, 1, 3, read), Answer::no);
  EXPECT_EQ(parts.map().has_edge(parts.view, 2, 0, read), Answer::unknown);
}

TEST(PageMap, NeedsNoPartitionForAVertexWithoutAList) {
  const Graph graph = directed();
  Parts parts(graph, kBegins, {kNoSlot, kNoSlot, kNoSlot});
  std::uint64_t read = 0;

  EXPECT_EQ(parts.map().has_edge(parts.view, 4, 0, read), Answer::no);
  parts.view.undirected = true;
  EXPECT_EQ(parts.map().has_edge(parts.view, 2, 4, read), Answer::no);
}

TEST(PageMap, AsksTheOtherEndOfAnUndirectedEdge) {
  const Graph graph = stat::make_graph(6, {{0, 3}, {3, 0}, {1, 2}, {2, 1}, {3, 5}, {5, 3}}, false, false);
  Parts parts(graph, kBegins, {kNoSlot, 0, kNoSlot});
  std::uint64_t read = 0;

  EXPECT_EQ(parts.map().has_edge(parts.view, 0, 3, read), Answer::yes) << "3 is here";
  EXPECT_EQ(parts.map().has_edge(parts.view, 0, 2, read), Answer::no) << "2 is here";
  EXPECT_EQ(parts.map().has_edge(parts.view, 0, 5, read), Answer::unknown) << "neither is here";
}

TEST(PageMap, CountsWhatASearchReadsInPlace) {
  const Graph graph = directed();
  Parts parts(graph, kBegins, {0, 1, kNoSlot});
  PageMap map = parts.map();
  map.in_place = 1;
  std::uint64_t read = 0;

  map.has_edge(parts.view, 0, 3, read);
  EXPECT_EQ(read, 0u) << "partition 0 has a slot";
  map.has_edge(parts.view, 2, 5, read);
  EXPECT_EQ(read, 2 * kTargetBytes) << "a search of two entries looks at both";
}

TEST(PageMap, SearchesListsThatAreCoded) {
  const Graph graph = directed();
  Parts parts(graph, kBegins, {0, kNoSlot, kNoSlot});
  const std::vector<Vertex> list{1, 3};
  const EliasFano code = EliasFano::of(6, 2);
  const CodedRow row{5, 2};  // of vertex 0
  std::vector<std::uint32_t> words(row.begin + code.words());
  ASSERT_TRUE(code.write(list, words.data() + row.begin));
  parts.pages()[0] = {.coded = {&row, words.data()}};
  PageMap map = parts.map();
  map.in_place = 0;
  std::uint64_t read = 0;

  EXPECT_EQ(map.has_edge(parts.view, 0, 3, read), Answer::yes);
  EXPECT_EQ(map.has_edge(parts.view, 0, 2, read), Answer::no);
  EXPECT_EQ(read, 2 * coded_search_bytes(2));
}

}  // namespace
}  // namespace sluice
