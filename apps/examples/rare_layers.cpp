// Samples a graph file in layers: rare_layers GRAPH.h5 [auto|host|cuda]
#include "apps/examples/rare_layers.hpp"

#include "apps/examples/example.hpp"

int main(int argc, char** argv) {
  return sluice::examples::run(argc, argv, [](sluice::ResidentGraph& graph) {
    return sluice::examples::print_samples(graph, [&](const sluice::samples::Options& options, auto* sink) {
      return sluice::samples::run_layer(graph, sluice::Starts{}, RareLayers{}, options, sink);
    });
  });
}
