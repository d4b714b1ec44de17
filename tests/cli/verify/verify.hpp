// The graph and the helpers of tests of verifiers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/batch/starts.hpp"
#include "engine/core/error.hpp"
#include "partition/elsewhere.hpp"

namespace sluice::apps {

/// 0 -> 1, 2 (weight 0); 1 -> 2; 2 -> 0; vertex 3 is a dead end.
inline Graph small_graph() {
  Graph graph;
  graph.weighted = true;
  graph.out.offsets = HostArray<EdgeIndex>(5);
  graph.out.targets = HostArray<Vertex>(4);
  graph.out.weights = HostArray<float>(4);
  std::copy_n(std::vector<EdgeIndex>{0, 2, 3, 4, 4}.begin(), 5, graph.out.offsets.begin());
  std::copy_n(std::vector<Vertex>{1, 2, 2, 0}.begin(), 4, graph.out.targets.begin());
  std::copy_n(std::vector<float>{1, 0, 1, 1}.begin(), 4, graph.out.weights.begin());
  return graph;
}

inline Starts starts_at(std::vector<Vertex> vertices, std::vector<std::uint64_t> offsets = {}) {
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.vertices = std::move(vertices);
  starts.offsets = std::move(offsets);
  return starts;
}

/// True if check(graph) passes, with edges in memory and in a file.
template <class Check>
bool passes(Check&& check) {
  const auto passes_on = [&](const Graph& graph) {
    try {
      check(graph);
    } catch (const RunError&) {
      return false;
    }
    return true;
  };
  const bool in_memory = passes_on(small_graph()), in_file = passes_on(test::elsewhere(small_graph()));
  EXPECT_EQ(in_memory, in_file);
  return in_memory;
}

}  // namespace sluice::apps
