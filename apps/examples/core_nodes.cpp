// Samples the core of a graph file: core_nodes GRAPH.h5 [auto|host|cuda]
#include "apps/examples/core_nodes.hpp"

#include "apps/examples/example.hpp"

int main(int argc, char** argv) {
  return sluice::examples::run(argc, argv, [](sluice::ResidentGraph& graph) {
    return sluice::examples::print_samples(graph, [&](const sluice::samples::Options& options, auto* sink) {
      return sluice::samples::run_one_pass(graph, sluice::Starts{}, CoreNodes{}, options, sink);
    });
  });
}
