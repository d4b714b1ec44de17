// Samples a graph file by importance: importance_sample GRAPH.h5 [auto|host|cuda]
#include "apps/examples/importance_sample.hpp"

#include <cstdio>

#include "apps/examples/example.hpp"

namespace {

/// Prints the first few edges as: instance, depth, source, target.
struct Printer : sluice::SampleSink {
  void write(const sluice::SampleBatch& batch) override {
    std::size_t at = 0;
    for (std::size_t i = 0; i < batch.count; ++i) {
      for (std::uint64_t j = 0; j < batch.edge_counts[i]; ++j, ++at) {
        if (printed++ >= 10) continue;
        std::printf("%llu %d %u %u\n", static_cast<unsigned long long>(batch.first + i), batch.depth[at],
                    batch.source[at], batch.target[at]);
      }
    }
  }
  std::uint64_t printed = 0;
};

int sample(sluice::ResidentGraph& graph) {
  Printer sink;
  const auto stats =
      sluice::run_sample(graph, sluice::Starts{}, ImportanceSample{}, sluice::SampleOptions{}, &sink);
  std::printf("%llu samples, %llu edges on %s\n", static_cast<unsigned long long>(stats.instances),
              static_cast<unsigned long long>(stats.sampled_edges), graph.device().name().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return sluice::examples::run(argc, argv, sample);
}
