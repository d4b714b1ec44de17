// User-defined samplers with the installed library: samplers host|cuda
// The device must draw what one host thread draws on the whole graph: with the graph whole, in partitions,
// and on the ranks of mpirun.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "core_nodes.hpp"
#include "engine/exchange/launch.hpp"
#include "engine/sampling/run.hpp"
#include "importance_sample.hpp"
#include "non_backtracking_walk.hpp"
#include "rare_layers.hpp"
#include "weighted_pool.hpp"

namespace {

struct Walks : sluice::WalkSink {
  void write(const sluice::WalkBatch& batch) override {
    all.insert(all.end(), batch.walks.begin(), batch.walks.end());
    all.insert(all.end(), batch.edges.begin(), batch.edges.end());
  }
  std::vector<sluice::Vertex> all;
};

struct Samples : sluice::SampleSink {
  void write(const sluice::SampleBatch& batch) override {
    for (std::size_t i = 0; i < batch.source.size(); ++i)
      all.insert(all.end(), {batch.source[i], batch.target[i]});
  }
  std::vector<sluice::Vertex> all;
};

/// Draws edges of the first half of the vertices.
struct EarlyEdges {
  static constexpr bool kDrawsVertices = false;
  std::uint64_t sample_size(const sluice::Graph&) const { return 40; }
  std::uint64_t universe(const sluice::Graph& graph) const { return graph.out.offsets[graph.vertices() / 2]; }
};

/// A graph with hubs, dead ends and weights.
sluice::Graph scattered() {
  constexpr std::size_t kVertices = 2000;
  const auto degree = [](std::size_t v) { return v % 50 == 0 ? 300 : v % 9; };
  sluice::Graph graph;
  graph.directed = graph.weighted = true;
  graph.out.offsets = sluice::HostArray<sluice::EdgeIndex>(kVertices + 1);
  graph.out.offsets[0] = 0;
  for (std::size_t v = 0; v < kVertices; ++v) graph.out.offsets[v + 1] = graph.out.offsets[v] + degree(v);
  graph.out.targets = sluice::HostArray<sluice::Vertex>(graph.out.offsets[kVertices]);
  graph.out.weights = sluice::HostArray<float>(graph.out.offsets[kVertices]);
  for (std::size_t v = 0; v < kVertices; ++v) {
    for (std::size_t e = graph.out.offsets[v]; e < graph.out.offsets[v + 1]; ++e) {
      const std::size_t i = e - graph.out.offsets[v];
      graph.out.targets[e] = static_cast<sluice::Vertex>((v * 7 + i * 6) % kVertices);
      graph.out.weights[e] = static_cast<float>(1 + (v + i) % 8);
    }
  }
  return graph;
}

class Checks {
 public:
  Checks(sluice::Device& device, sluice::Communicator& ranks) : device_(device), ranks_(ranks) {}

  /// Compares the samples of run(resident, sink).
  template <class Sink, class Run>
  void same_everywhere(const char* sampler, const Run& run) {
    const auto drawn = [&](sluice::Device& device, const sluice::PagingOptions& paging) {
      sluice::ResidentGraph resident(device, graph_, paging);
      Sink sink;
      run(resident, &sink);
      return sink.all;
    };
    sluice::Device host({sluice::DeviceChoice::host, 1, 0});
    const auto expected = drawn(host, {});
    expect(!expected.empty(), sampler, "draws");
    expect(drawn(device_, {.partitions = 1}) == expected, sampler, "whole");
    expect(drawn(device_, {.partitions = 7, .slots = 2}) == expected, sampler, "in partitions");
    if (ranks_.size() > 1)
      expect(drawn(device_, {.partitions = 7, .slots = 2, .shard = &ranks_}) == expected, sampler,
             "on ranks");
  }

  bool passed() const { return passed_; }

 private:
  void expect(bool right, const char* sampler, const char* where) {
    if (ranks_.is_root() || !right) std::printf("%s, %s: %s\n", sampler, where, right ? "right" : "WRONG");
    passed_ &= right;
  }

  sluice::Device& device_;
  sluice::Communicator& ranks_;
  const sluice::Graph graph_ = scattered();
  bool passed_ = true;
};

bool check(sluice::Device& device, sluice::Communicator& ranks) {
  Checks checks(device, ranks);
  checks.same_everywhere<Walks>("walk", [](sluice::ResidentGraph& graph, Walks* sink) {
    sluice::walks::Options options;
    options.length = 12;
    sluice::walks::run_walk(graph, {}, NonBacktrackingWalk{}, options, sink);
  });
  checks.same_everywhere<Samples>("traversal", [](sluice::ResidentGraph& graph, Samples* sink) {
    sluice::samples::run_sample(graph, {}, ImportanceSample{}, {}, sink);
  });
  checks.same_everywhere<Samples>("layers", [](sluice::ResidentGraph& graph, Samples* sink) {
    sluice::samples::run_layer(graph, {}, RareLayers{}, {}, sink);
  });
  checks.same_everywhere<Walks>("pools", [](sluice::ResidentGraph& graph, Walks* sink) {
    sluice::samples::run_pool(graph, {}, WeightedPool{}, 6, sluice::walks::Options{}, sink);
  });
  checks.same_everywhere<Samples>("nodes", [](sluice::ResidentGraph& graph, Samples* sink) {
    sluice::samples::run_one_pass(graph, {}, CoreNodes{}, sluice::samples::Options{}, sink);
  });
  checks.same_everywhere<Samples>("edges", [](sluice::ResidentGraph& graph, Samples* sink) {
    sluice::samples::run_one_pass(graph, {}, EarlyEdges{}, sluice::samples::Options{}, sink);
  });
  return checks.passed();
}

/// Null without such a device, after a message.
std::unique_ptr<sluice::Device> open(sluice::DeviceChoice choice) {
  try {
    return std::make_unique<sluice::Device>(sluice::DeviceOptions{choice, 2, 0});
  } catch (const sluice::UsageError& error) {
    std::printf("skipped: %s\n", error.what());
    return nullptr;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool on_gpu = argc > 1 && std::string_view(argv[1]) == "cuda";
  const auto ranks =
      sluice::connect(sluice::detect_launch([](const char* name) { return std::getenv(name); }));
  const auto device = open(on_gpu ? sluice::DeviceChoice::cuda : sluice::DeviceChoice::host);
  const bool passed = !device || check(*device, *ranks);
  ranks->close();
  return passed ? 0 : 1;
}
