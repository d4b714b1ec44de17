// Walks a ring v, v+1, v+2, ... with the installed library, ranks its vertices and searches it.
#include <cmath>
#include <cstdio>
#include <numeric>

#include "engine/acc/solve.hpp"
#include "engine/pagerank/static/pagerank.hpp"
#include "engine/sampling/run.hpp"
#include "partition/graph.hpp"

namespace {

class RingSink : public sluice::WalkSink {
 public:
  void write(const sluice::WalkBatch& batch) override {
    const std::size_t row = batch.length + 1;
    for (std::size_t i = 0; i < batch.walks.size(); ++i) {
      const auto start = static_cast<sluice::Vertex>(batch.first + i / row);
      wrong += batch.walks[i] != (start + i % row) % 100;
    }
    walks += batch.count;
  }

  std::uint64_t walks = 0, wrong = 0;
};

/// The number of vertices whose rank differs from that of all others.
std::uint64_t wrong_ranks(const sluice::Device& device, const sluice::Graph& ring) {
  const sluice::pagerank::Result result = sluice::pagerank::run_pagerank(device, ring, {.tolerance = 1e-12});
  std::uint64_t wrong = result.converged() ? 0 : 1;
  for (const double rank : result.ranks)
    wrong += std::abs(rank * static_cast<double>(ring.vertices()) - 1) > 1e-9;
  return wrong;
}

/// The number of vertices whose distance from vertex 0 is not their number.
std::uint64_t wrong_depths(const sluice::Device& device, const sluice::Graph& ring) {
  const sluice::acc::AccGraph graph(device, ring, {});
  const sluice::acc::BfsResult result = sluice::acc::bfs(graph, 0);
  std::uint64_t wrong = 0;
  for (std::size_t v = 0; v < ring.vertices(); ++v) wrong += result.depths[v] != static_cast<std::int32_t>(v);
  return wrong;
}

}  // namespace

int main() {
  constexpr std::size_t kVertices = 100;
  sluice::Graph graph;
  graph.directed = true;
  graph.out.offsets = sluice::HostArray<sluice::EdgeIndex>(kVertices + 1);
  graph.out.targets = sluice::HostArray<sluice::Vertex>(kVertices);
  std::iota(graph.out.offsets.begin(), graph.out.offsets.end(), sluice::EdgeIndex{0});
  std::iota(graph.out.targets.begin(), graph.out.targets.end(), sluice::Vertex{1});
  graph.out.targets[kVertices - 1] = 0;

  sluice::Device device(sluice::DeviceOptions{.choice = sluice::DeviceChoice::host});
  sluice::ResidentGraph resident(device, graph);
  sluice::walks::Options options;
  options.length = 10;
  RingSink sink;
  const auto stats = sluice::sampling::run_walks(resident, {}, options, &sink);

  std::printf("%llu walks, %llu steps, %llu wrong\n", static_cast<unsigned long long>(sink.walks),
              static_cast<unsigned long long>(stats.steps), static_cast<unsigned long long>(sink.wrong));
  const std::uint64_t ranks = wrong_ranks(device, graph), depths = wrong_depths(device, graph);
  std::printf("%llu wrong ranks, %llu wrong depths\n", static_cast<unsigned long long>(ranks),
              static_cast<unsigned long long>(depths));
  const bool walked = sink.walks == kVertices && stats.steps == kVertices * 10 && sink.wrong == 0;
  return walked && ranks == 0 && depths == 0 ? 0 : 1;
}
