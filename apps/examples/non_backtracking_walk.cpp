// Runs non-backtracking walks on a graph file: non_backtracking_walk GRAPH.h5 [auto|host|cuda]
// The same code also runs on a GPU if it is compiled by nvcc.
#include "apps/examples/non_backtracking_walk.hpp"

#include <cstdio>

#include "apps/examples/example.hpp"

namespace {

/// Prints the first five walks, one per line.
struct Printer : sluice::WalkSink {
  void write(const sluice::WalkBatch& batch) override {
    const std::size_t row = std::size_t{batch.length} + 1;
    for (std::size_t i = 0; i < batch.count && batch.first + i < 5; ++i) {
      for (const sluice::Vertex v : batch.walks.subspan(i * row, row)) {
        if (v != sluice::kNoVertex) std::printf("%u ", v);
      }
      std::printf("\n");
    }
  }
};

int walk(sluice::ResidentGraph& graph) {
  sluice::walks::Options options;
  options.length = 10;
  Printer sink;
  const auto stats = sluice::walks::run_walk(graph, sluice::Starts{}, NonBacktrackingWalk{}, options, &sink);
  std::printf("%llu walks, %llu steps on %s\n", static_cast<unsigned long long>(stats.instances),
              static_cast<unsigned long long>(stats.steps), graph.device().name().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return sluice::examples::run(argc, argv, walk);
}
