// Runs random walks of pools of vertices on a graph file: weighted_pool GRAPH.h5 [auto|host|cuda]
#include "apps/examples/weighted_pool.hpp"

#include <cstdio>

#include "apps/examples/example.hpp"

namespace {

/// Prints the edges of the first five pools, one pool per line.
struct Printer : sluice::WalkSink {
  void write(const sluice::WalkBatch& batch) override {
    const std::size_t row = batch.edges.size() / batch.count;
    for (std::size_t i = 0; i < batch.count && batch.first + i < 5; ++i) {
      for (std::size_t at = i * row; at < (i + 1) * row && batch.edges[at] != sluice::kNoVertex; at += 2)
        std::printf("%u-%u ", batch.edges[at], batch.edges[at + 1]);
      std::printf("\n");
    }
  }
};

int walk(sluice::ResidentGraph& graph) {
  constexpr std::uint32_t kSteps = 3;
  Printer sink;
  sluice::Starts starts;
  starts.mode = sluice::Starts::Mode::random;
  starts.count = 100;
  const auto stats =
      sluice::samples::run_pool(graph, starts, WeightedPool{}, kSteps, sluice::walks::Options{}, &sink);
  std::printf("%llu pools, %llu edges on %s\n", static_cast<unsigned long long>(stats.instances),
              static_cast<unsigned long long>(stats.sampled_edges), graph.device().name().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return sluice::examples::run(argc, argv, walk);
}
