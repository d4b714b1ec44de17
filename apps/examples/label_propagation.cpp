// Propagates labels through a graph file: label_propagation GRAPH.h5 [auto|host|cuda]
// The same code also runs on a GPU if it is compiled by nvcc.
#include "apps/examples/label_propagation.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "apps/examples/example.hpp"

namespace {

/// Prints the ten smallest labels, and how many vertices have each.
int spread(const sluice::Device& device, const sluice::Graph& file) {
  const sluice::acc::AccGraph graph(device, file, {});
  const auto result = sluice::acc::run_acc(graph, LabelPropagation{});
  std::map<sluice::Vertex, std::uint64_t> sizes;
  for (const auto state : result.states)
    if (state != LabelPropagation::kNone) ++sizes[LabelPropagation::label(state)];
  int printed = 0;
  for (const auto& [label, size] : sizes) {
    if (printed++ < 10) std::printf("%u %llu\n", label, static_cast<unsigned long long>(size));
  }
  std::printf("%zu labels, %llu rounds on %s\n", sizes.size(),
              static_cast<unsigned long long>(result.stats.rounds), device.name().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return sluice::examples::run_on_graph(argc, argv, spread);
}
