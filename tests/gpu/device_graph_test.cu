// Batches of changes to a graph in a GPU's memory give the host's lists, entry by entry.
#include "engine/pagerank/changes/device_graph.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "apps/bench/replay/recycled_memory.hpp"
#include "gpu/gpu.hpp"
#include "pagerank/batch_support.hpp"
#include "pagerank/cases.hpp"

namespace sluice::test {
namespace {

template <class T>
std::vector<T> fetch(const Device& gpu, const T* from, std::size_t size) {
  std::vector<T> values(size);
  copy_to_host(gpu, values.data(), from, size * sizeof(T));
  return values;
}

Graph copy_of(const Graph& graph) {
  const auto copy = []<class T>(const HostArray<T>& from) {
    HostArray<T> to(from.size());
    std::copy(from.begin(), from.end(), to.begin());
    return to;
  };
  Graph same;
  same.directed = graph.directed;
  same.weighted = graph.weighted;
  same.out = {copy(graph.out.offsets), copy(graph.out.targets), copy(graph.out.weights),
              copy(graph.out.times)};
  return same;
}

template <class T>
std::vector<T> values_of(const HostArray<T>& array) {
  return {array.begin(), array.end()};
}

std::uint64_t longest(const Csr& rows) {
  std::uint64_t most = 0;
  for (std::uint64_t v = 0; v < rows.vertices(); ++v)
    most = std::max<std::uint64_t>(most, rows.offsets[v + 1] - rows.offsets[v]);
  return most;
}

void expect_lists(const Device& gpu, const CsrView& lists, const Csr& expected, const char* which) {
  SCOPED_TRACE(which);
  ASSERT_EQ(lists.vertices, expected.vertices());
  ASSERT_EQ(lists.edges, expected.edges());
  EXPECT_EQ(fetch(gpu, lists.offsets, lists.vertices + 1), values_of(expected.offsets));
  EXPECT_EQ(fetch(gpu, lists.targets, lists.edges), values_of(expected.targets));
  if (lists.weights != nullptr)
    EXPECT_EQ(fetch(gpu, lists.weights, lists.edges), values_of(expected.weights));
}

TEST(DeviceGraphOnGpu, IsTheGraphOfTheHostAfterEveryBatch) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  std::mt19937_64 random(31);
  const cuda::Stream stream;
  bench::RecycledMemory travel(*gpu);
  auto graphs = rank_graphs();
  graphs.push_back({"large rmat", generated(io::GraphKind::rmat, 12, false, io::WeightRule::uniform)});
  for (auto& [name, start] : graphs) {
    SCOPED_TRACE(name);
    for (const bool weighted : {false, true}) {
      Graph graph = with_in_edges(weighted ? std::move(start) : copy_of(start));
      pagerank::DeviceGraph on_gpu(*gpu, graph, weighted);
      for (int i = 0; i < 6 && !testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE("batch " + std::to_string(i));
        const std::size_t size = i == 5 ? 300 : 3;
        const UpdateBatch batch = random_batch(random, graph, size, i % 3 == 1 ? 2 : 0);
        UpdateResult update =
            update_graph(std::move(graph), batch, 2, nullptr, i % 2 == 0 ? &travel : nullptr);
        on_gpu.apply(update.graph, update.changes, stream);
        stream.wait("a batch");
        expect_lists(*gpu, on_gpu.out(), update.graph.out, "out");
        EXPECT_EQ(on_gpu.max_out_degree(), longest(update.graph.out));
        if (update.graph.directed) expect_lists(*gpu, on_gpu.in(), update.graph.in, "in");
        graph = std::move(update.graph);
      }
    }
  }
}

/// A graph in a GPU's memory and the host's graph after the same batches.
class Followed {
 public:
  Followed(const Device& gpu, Graph start, bool weighted)
      : gpu_(gpu), travel_(gpu), graph_(with_in_edges(std::move(start))), on_gpu_(gpu, graph_, weighted) {}

  const Graph& graph() const { return graph_; }

  /// Returns the number of changed pairs.
  std::size_t apply(const UpdateBatch& batch) {
    UpdateResult update = update_graph(std::move(graph_), batch, 2, nullptr, &travel_);
    graph_ = std::move(update.graph);
    on_gpu_.apply(graph_, update.changes, stream_);
    stream_.wait("a batch");
    expect_lists(gpu_, on_gpu_.out(), graph_.out, "out");
    if (graph_.directed) expect_lists(gpu_, on_gpu_.in(), graph_.in, "in");
    EXPECT_EQ(on_gpu_.max_out_degree(), longest(graph_.out));
    const auto changes = fetch(gpu_, on_gpu_.changes(), update.changes.size());
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const EdgeChange &found = changes[i], &expected = update.changes[i];
      EXPECT_TRUE(found.source == expected.source && found.target == expected.target &&
                  found.removed == expected.removed && found.inserted == expected.inserted);
    }
    return changes.size();
  }

 private:
  const Device& gpu_;
  bench::RecycledMemory travel_;
  cuda::Stream stream_;
  Graph graph_;
  pagerank::DeviceGraph on_gpu_;
};

void add_edge(EdgeColumns& to, std::uint64_t u, std::uint64_t v, std::int64_t time = 0) {
  to.source.push_back(static_cast<Vertex>(u)), to.target.push_back(static_cast<Vertex>(v));
  to.weight.push_back(static_cast<float>(1 + (u + v) % 7)), to.time.push_back(time);
}

/// All edges but every `part`-th; 0: all edges.
EdgeColumns edges_of(const Graph& graph, std::uint64_t part) {
  EdgeColumns edges;
  for (std::uint64_t u = 0; u < graph.vertices(); ++u) {
    for (EdgeIndex e = graph.out.offsets[u]; e < graph.out.offsets[u + 1]; ++e) {
      if (part == 0 || e % part != 0) add_edge(edges, u, graph.out.targets[e]);
    }
  }
  return edges;
}

/// Batches with more changes than one thread stages. They have edits in every tile, tiles of inserted entries
/// alone, and very many insertions at one position.
TEST(DeviceGraphOnGpu, FollowsBatchesOfManyTimesTheGraph) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  for (const bool undirected : {false, true}) {
    for (const bool weighted : {false, true}) {
      SCOPED_TRACE(std::string(undirected ? "undirected" : "directed") + (weighted ? ", weighted" : ""));
      std::mt19937_64 random(5);
      Followed graph(*gpu, generated(io::GraphKind::rmat, 13, undirected, io::WeightRule::uniform), weighted);
      UpdateBatch half;
      half.deletions = edges_of(graph.graph(), 3);
      for (int i = 0; i < 60000; ++i) add_edge(half.insertions, random() % 8192, random() % 8192);
      EXPECT_GT(graph.apply(half), 100000u);
      UpdateBatch hub;  // doubles the number of lists; one list exceeds two tiles
      for (std::uint64_t v = 0; v < 16384; ++v) add_edge(hub.insertions, 77, v);
      graph.apply(hub);
      UpdateBatch none;
      none.deletions = edges_of(graph.graph(), 0);
      graph.apply(none);
      EXPECT_EQ(graph.graph().edges(), 0u);
      graph.apply(half);
      graph.apply({});
    }
  }
}

/// Batches in many pieces: lists are rewritten up to the first list of the next piece.
TEST(DeviceGraphOnGpu, FollowsBatchesThatTravelInPieces) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  for (const bool undirected : {false, true}) {
    for (const bool weighted : {false, true}) {
      SCOPED_TRACE(std::string(undirected ? "undirected" : "directed") + (weighted ? ", weighted" : ""));
      std::mt19937_64 random(5);
      const std::uint64_t n = std::uint64_t{1} << 15;
      Followed graph(*gpu, generated(io::GraphKind::rmat, 15, undirected, io::WeightRule::uniform), weighted);
      UpdateBatch batch;
      batch.deletions = edges_of(graph.graph(), 4);
      for (int i = 0; i < 400000; ++i) add_edge(batch.insertions, random() % n, random() % n);
      EXPECT_GT(graph.apply(batch), std::size_t{600000});
      UpdateBatch hub;  // pieces begin inside one list; new lists have no edges
      for (std::uint64_t v = 0; v < 300000; ++v) add_edge(hub.insertions, 77, n + v);
      EXPECT_GT(graph.apply(hub), std::size_t{290000});
      UpdateBatch back;
      back.deletions = std::move(hub.insertions);
      graph.apply(back);
    }
  }
}

/// Graphs with times keep all copies of an edge, so one change may insert more entries than a tile holds.
TEST(DeviceGraphOnGpu, InsertsManyCopiesOfAnEdge) {
  const auto gpu = open_gpu();
  REQUIRE_GPU(gpu);
  for (const bool weighted : {false, true}) {
    Graph start;
    start.weighted = true;
    const std::vector<Vertex> source{0, 0, 2}, target{1, 3, 0};
    const std::vector<float> weight{1, 2, 3};
    const std::vector<std::int64_t> time{1, 2, 3};
    start.out = build_csr(5, source, target, weight, time);
    start.in = transpose(start.out);
    Followed graph(*gpu, std::move(start), weighted);
    UpdateBatch copies;
    for (int i = 0; i < 9000; ++i) add_edge(copies.insertions, 2, 4, i), add_edge(copies.insertions, 0, 2, i);
    for (int i = 0; i < 3; ++i) add_edge(copies.insertions, 1, 4, i), add_edge(copies.insertions, 0, 1, i);
    graph.apply(copies);
    UpdateBatch fewer;
    add_edge(fewer.deletions, 2, 4), add_edge(fewer.insertions, 2, 4), add_edge(fewer.deletions, 0, 1);
    graph.apply(fewer);
    EXPECT_EQ(graph.graph().edges(), 2u + 9000 + 3 + 1);
  }
}

}  // namespace
}  // namespace sluice::test
