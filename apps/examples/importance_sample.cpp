// Samples a graph file by importance: importance_sample GRAPH.h5 [auto|host|cuda]
#include "apps/examples/importance_sample.hpp"

#include "apps/examples/example.hpp"

int main(int argc, char** argv) {
  return sluice::examples::run(argc, argv, [](sluice::ResidentGraph& graph) {
    return sluice::examples::print_samples(graph, [&](const sluice::samples::Options& options, auto* sink) {
      return sluice::samples::run_sample(graph, sluice::Starts{}, ImportanceSample{}, options, sink);
    });
  });
}
