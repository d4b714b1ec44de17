// What the examples share around their sampler or program: open the device, read the graph, print errors.
#pragma once

#include <cstdio>
#include <string>

#include "engine/core/error.hpp"
#include "engine/sampling/run.hpp"
#include "io/graph_file/graph_file.hpp"

namespace sluice::examples {

inline DeviceChoice device_of(const std::string& name) {
  if (name == "auto") return DeviceChoice::automatic;
  if (name == "host") return DeviceChoice::host;
  if (name == "cuda") return DeviceChoice::cuda;
  throw UsageError("the device is auto, host or cuda, not '" + name + "'");
}

/// For arguments GRAPH.h5 [auto|host|cuda]: calls body(device, graph) and returns the exit status.
template <class Body>
int run_on_graph(int argc, char** argv, Body&& body) {
  try {
    if (argc < 2 || argc > 3)
      throw UsageError("a graph file is missing: " + std::string(argv[0]) + " GRAPH.h5 [auto|host|cuda]");
    DeviceOptions options;
    options.choice = device_of(argc == 3 ? argv[2] : "auto");
    Device device(options);
    const Graph graph = io::read_graph(argv[1]);
    return body(device, graph);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.status());
  }
}

/// As run_on_graph, for samplers: calls body(graph) with a ResidentGraph.
template <class Body>
int run(int argc, char** argv, Body&& body) {
  return run_on_graph(argc, argv, [&](Device& device, const Graph& graph) {
    ResidentGraph resident(device, graph);
    return body(resident);
  });
}

/// Prints the first ten edges as: instance, depth, source, target.
struct SamplePrinter : SampleSink {
  void write(const SampleBatch& batch) override {
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

/// Calls draw(options, sink), prints the samples it writes to the sink, and returns the exit status.
template <class Draw>
int print_samples(ResidentGraph& graph, Draw&& draw) {
  SamplePrinter sink;
  const RunStats stats = draw(samples::Options{}, &sink);
  std::printf("%llu samples, %llu edges on %s\n", static_cast<unsigned long long>(stats.instances),
              static_cast<unsigned long long>(stats.sampled_edges), graph.device().name().c_str());
  return 0;
}

}  // namespace sluice::examples
