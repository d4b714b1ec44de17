// Batches of random insertions and deletions, in the numbers that the scripts of DF-P's authors draw.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "partition/graph.hpp"
#include "partition/update.hpp"

namespace sluice::bench {

/// Number of changes in a batch that changes `fraction` of the stored edges.
inline double batch_lines(const Graph& graph, double fraction) {
  return fraction * static_cast<double>(graph.edges()) / (graph.directed ? 1 : 2);
}

/// The fraction of insertions in a batch.
inline constexpr double kInsertions = 0.8;

/// At least one change of each kind: insertions between any two vertices, and deletions of stored edges.
inline UpdateBatch random_batch(const Graph& graph, double fraction, std::mt19937_64& random) {
  const double lines = batch_lines(graph, fraction);
  const auto count = [&](double part) { return std::max(1LL, std::llround(lines * part)); };
  UpdateBatch batch;
  const auto add = [&](EdgeColumns& to, std::uint64_t u, std::uint64_t v) {
    to.source.push_back(static_cast<Vertex>(u)), to.target.push_back(static_cast<Vertex>(v));
    to.weight.push_back(1), to.time.push_back(0);
  };
  const HostArray<EdgeIndex>& offsets = graph.out.offsets;
  for (auto i = count(kInsertions); i > 0; --i)
    add(batch.insertions, random() % graph.vertices(), random() % graph.vertices());
  for (auto i = count(1 - kInsertions); i > 0; --i) {
    const EdgeIndex edge = random() % graph.edges();
    const auto source = std::upper_bound(offsets.begin(), offsets.end(), edge) - offsets.begin() - 1;
    add(batch.deletions, static_cast<std::uint64_t>(source), graph.out.targets[edge]);
  }
  return batch;
}

}  // namespace sluice::bench
