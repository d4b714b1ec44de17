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
  constexpr std::uint64_t kMost = 2642245;  // the largest number whose cube is below 2^64
  const Graph below = knot(kMost), above = knot(kMost + 1);
  Device device({DeviceChoice::host, 1, 0});
  ResidentGraph fits(device, below), does_not(device, above);
  const PagingOptions in_parts{.transport = Transport::copied};
  ResidentGraph fits_in_parts(device, below, in_parts), does_not_in_parts(device, above, in_parts);
  SampleOptions options;
  options.kind = SampleKind::layer, options.bias = Bias::degree, options.revisit = true;
  options.layer_sizes = {kMost + 1, 5};  // the first layer takes every loop, each of which is a copy then
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.vertices = {0};

  EXPECT_EQ(run_samples(fits, starts, options, nullptr).sampled_edges, kMost + 5);
  EXPECT_EQ(run_samples(fits_in_parts, starts, options, nullptr).sampled_edges, kMost + 5);
  EXPECT_THROW(run_samples(does_not, starts, options, nullptr), RunError);
  EXPECT_THROW(run_samples(does_not_in_parts, starts, options, nullptr), RunError);
  options.revisit = false;
  EXPECT_EQ(run_samples(does_not, starts, options, nullptr).sampled_edges, kMost + 1);
}

}  // namespace
}  // namespace sluice::test
