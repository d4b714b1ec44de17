// Layer samples at the edge of what they can hold.
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

/// One vertex with `loops` edges to itself: its list's biases by degree sum to the square of that.
Graph knot(std::uint64_t loops) {
  Graph graph;
  graph.out.offsets = HostArray<EdgeIndex>(2);
  graph.out.offsets[0] = 0, graph.out.offsets[1] = loops;
  graph.out.targets = HostArray<Vertex>(loops);
  std::fill_n(graph.out.targets.begin(), loops, Vertex{0});
  return graph;
}

TEST(Layer, SaysWhenBiasesOfManyCopiesPassTheLargestSum) {
  constexpr std::uint64_t kLoops = 1u << 22, kCopies = 1u << 20;  // 2^64 together
  const Graph graph = knot(kLoops);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph resident(device, graph);
  SampleOptions options;
  options.kind = SampleKind::layer, options.bias = Bias::degree, options.revisit = true;
  options.layer_sizes = {5};
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.vertices.assign(kCopies, 0);

  starts.offsets = {0, kCopies - 1};
  EXPECT_EQ(run_samples(resident, starts, options, nullptr).sampled_edges, 5u);
  starts.offsets = {0, kCopies};
  EXPECT_THROW(run_samples(resident, starts, options, nullptr), RunError);
  options.revisit = false;
  EXPECT_EQ(run_samples(resident, starts, options, nullptr).sampled_edges, 5u);
}

}  // namespace
}  // namespace sluice::test
