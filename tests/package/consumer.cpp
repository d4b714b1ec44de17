// Walks a ring through the installed library: v, v+1, v+2, ...
#include <cstdio>
#include <numeric>

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

}  // namespace

int main() {
  constexpr std::size_t kVertices = 100;
  sluice::Graph graph;
  graph.out.offsets = sluice::HostArray<sluice::EdgeIndex>(kVertices + 1);
  graph.out.targets = sluice::HostArray<sluice::Vertex>(kVertices);
  std::iota(graph.out.offsets.begin(), graph.out.offsets.end(), sluice::EdgeIndex{0});
  std::iota(graph.out.targets.begin(), graph.out.targets.end(), sluice::Vertex{1});
  graph.out.targets[kVertices - 1] = 0;

  sluice::Device device(sluice::DeviceOptions{.choice = sluice::DeviceChoice::host});
  sluice::ResidentGraph resident(device, graph);
  sluice::WalkOptions options;
  options.length = 10;
  RingSink sink;
  const auto stats = sluice::run_walks(resident, {}, options, &sink);

  std::printf("%llu walks, %llu steps, %llu wrong\n", static_cast<unsigned long long>(sink.walks),
              static_cast<unsigned long long>(stats.steps), static_cast<unsigned long long>(sink.wrong));
  return sink.walks == kVertices && stats.steps == kVertices * 10 && sink.wrong == 0 ? 0 : 1;
}
