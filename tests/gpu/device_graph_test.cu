// Batches applied to a graph in a GPU's memory: the lists that the host makes, entry by entry.
#include "engine/rank/device_graph.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "gpu/gpu.hpp"
#include "rank/batch_support.hpp"
#include "rank/cases.hpp"

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
  same.out = {copy(graph.out.offsets), copy(graph.out.targets), copy(graph.out.weights)};
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
  auto graphs = rank_graphs();
  graphs.push_back({"large rmat", generated(io::GraphKind::rmat, 12, false, io::WeightRule::uniform)});
  for (auto& [name, start] : graphs) {
    SCOPED_TRACE(name);
    for (const bool weighted : {false, true}) {
      Graph graph = with_in_edges(weighted ? std::move(start) : copy_of(start));
      cuda::DeviceGraph on_gpu(*gpu, graph, weighted);
      for (int i = 0; i < 6 && !testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE("batch " + std::to_string(i));
        const std::size_t size = i == 5 ? 300 : 3;
        const UpdateBatch batch = random_batch(random, graph, size, i % 3 == 1 ? 2 : 0);
        UpdateResult update = update_graph(std::move(graph), batch, 2);
        on_gpu.apply(update.graph, update.changes, stream);
        stream.wait("a batch");
        expect_lists(*gpu, on_gpu.out(), update.graph.out, "out");
        EXPECT_EQ(on_gpu.longest_out(), longest(update.graph.out));
        if (update.graph.directed) expect_lists(*gpu, on_gpu.in(), update.graph.in, "in");
        graph = std::move(update.graph);
      }
    }
  }
}

}  // namespace
}  // namespace sluice::test
