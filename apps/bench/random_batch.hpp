// Batches of random insertions and deletions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "partition/graph.hpp"
#include "partition/update.hpp"

namespace sluice::bench {

/// Lines of a batch that changes `fraction` of the stored edges.
inline double batch_lines(const Graph& graph, double fraction) {
  return fraction * static_cast<double>(graph.edges()) / (graph.directed ? 1 : 2);
}

/// So many, at least two: half of them insert edges between any two vertices, half delete stored edges.
inline UpdateBatch random_batch(const Graph& graph, double fraction, std::mt19937_64& random) {
  const auto half = static_cast<std::uint64_t>(std::max(1.0, std::round(batch_lines(graph, fraction) / 2)));
  UpdateBatch batch;
  const auto add = [&](EdgeColumns& to, std::uint64_t u, std::uint64_t v) {
    to.source.push_back(static_cast<Vertex>(u)), to.target.push_back(static_cast<Vertex>(v));
    to.weight.push_back(1), to.time.push_back(0);
  };
  const HostArray<EdgeIndex>& offsets = graph.out.offsets;
  for (std::uint64_t i = 0; i < half; ++i) {
    add(batch.insertions, random() % graph.vertices(), random() % graph.vertices());
    const EdgeIndex edge = random() % graph.edges();
    const auto source = std::upper_bound(offsets.begin(), offsets.end(), edge) - offsets.begin() - 1;
    add(batch.deletions, static_cast<std::uint64_t>(source), graph.out.targets[edge]);
  }
  return batch;
}

}  // namespace sluice::bench
