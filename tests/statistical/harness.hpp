// Access to the engine: the device under test, the number of draws, and sinks that pass on one instance at a
// time.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/exec/device.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::stat {

/// SLUICE_TEST_DEVICE=cuda runs every check on a GPU; the host is the default.
inline DeviceOptions test_device() {
  const char* name = std::getenv("SLUICE_TEST_DEVICE");
  DeviceOptions options;
  options.choice = name && std::string(name) == "cuda" ? DeviceChoice::cuda : DeviceChoice::host;
  options.threads = 2;
  return options;
}

/// The share of draws to make: SLUICE_STAT_SCALE=0.01 for slow builds (sanitizers). Fewer draws detect less,
/// but correct samplers still pass.
inline double draw_scale() {
  const char* text = std::getenv("SLUICE_STAT_SCALE");
  const double scale = text ? std::strtod(text, nullptr) : 1;
  return scale > 0 && scale <= 1 ? scale : 1;
}

inline std::uint64_t scaled(std::uint64_t draws) {
  return std::max<std::uint64_t>(100, static_cast<std::uint64_t>(static_cast<double>(draws) * draw_scale()));
}

/// A device with a graph on it.
struct Bench {
  explicit Bench(Graph of) : graph(std::move(of)), device(test_device()), resident(device, graph) {}

  Graph graph;
  Device device;
  ResidentGraph resident;

  /// The graph that draws are judged by: the sampled graph, unless a test of the checks sets another.
  CsrView view() const { return (judge ? *judge : graph).out.view(); }
  const Graph* judge = nullptr;
};

/// `copies` consecutive instances from each of `vertices`.
inline Starts repeat_starts(std::span<const Vertex> vertices, std::uint64_t copies) {
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.vertices.reserve(vertices.size() * copies);
  for (std::uint64_t i = 0; i < copies; ++i)
    starts.vertices.insert(starts.vertices.end(), vertices.begin(), vertices.end());
  return starts;
}

/// `copies` consecutive instances of each seed list.
inline Starts repeat_seeds(const std::vector<std::vector<Vertex>>& lists, std::uint64_t copies) {
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.offsets.push_back(0);
  for (std::uint64_t i = 0; i < copies; ++i) {
    for (const auto& list : lists) {
      starts.vertices.insert(starts.vertices.end(), list.begin(), list.end());
      starts.offsets.push_back(starts.vertices.size());
    }
  }
  return starts;
}

inline Starts random_starts(std::uint64_t count) {
  Starts starts;
  starts.mode = Starts::Mode::random;
  starts.count = count;
  return starts;
}

/// Calls `each(batch, index of the instance within it)` for every walk, and counts them.
template <class Each>
class WalkReader : public WalkSink {
 public:
  explicit WalkReader(Each each) : each_(std::move(each)) {}
  void write(const WalkBatch& batch) override {
    in_order_ = in_order_ && batch.first == count_;
    for (std::uint64_t i = 0; i < batch.count; ++i) each_(batch, i);
    count_ += batch.count;
  }
  Instance count() const { return count_; }
  bool in_order() const { return in_order_; }

 private:
  Each each_;
  Instance count_ = 0;
  bool in_order_ = true;
};

/// The sample of one instance.
struct SampleView {
  Instance instance = 0;
  std::span<const Vertex> seeds, source, target, vertices;
  std::span<const std::int32_t> depth;
  std::span<const EdgeIndex> edge;
};

/// Calls `each(sample)` for every instance, and counts them.
template <class Each>
class SampleReader : public SampleSink {
 public:
  explicit SampleReader(Each each) : each_(std::move(each)) {}
  void write(const SampleBatch& batch) override {
    in_order_ = in_order_ && batch.first == count_;
    std::size_t edge = 0, seed = 0, vertex = 0;
    const auto count_at = [](std::span<const std::uint64_t> counts, std::uint64_t i) {
      return counts.empty() ? 0 : counts[i];
    };
    for (std::uint64_t i = 0; i < batch.count; ++i) {
      const std::size_t edges = count_at(batch.edge_counts, i), seeds = count_at(batch.seed_counts, i),
                        vertices = count_at(batch.vertex_counts, i);
      each_(SampleView{batch.first + i, batch.seeds.subspan(seed, seeds), batch.source.subspan(edge, edges),
                       batch.target.subspan(edge, edges), batch.vertices.subspan(vertex, vertices),
                       batch.depth.subspan(edge, edges), batch.edge.subspan(edge, edges)});
      edge += edges;
      seed += seeds;
      vertex += vertices;
    }
    complete_ = complete_ && edge == batch.edge.size() && seed == batch.seeds.size() &&
                vertex == batch.vertices.size();
    count_ += batch.count;
  }
  Instance count() const { return count_; }
  /// True if batches were in order of instance, and their counts sum to their columns.
  bool in_order() const { return in_order_ && complete_; }

 private:
  Each each_;
  Instance count_ = 0;
  bool in_order_ = true, complete_ = true;
};

}  // namespace sluice::stat
