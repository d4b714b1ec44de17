// A graph whose edges are read on demand, as from a file.
#pragma once

#include <algorithm>
#include <memory>

#include "partition/graph.hpp"

namespace sluice::test {

class EdgesElsewhere final : public EdgeSource {
 public:
  explicit EdgesElsewhere(const Graph& graph) : graph_(graph) {}
  void read_targets(EdgeIndex first, std::span<Vertex> out) const override {
    std::copy_n(graph_.out.targets.data() + first, out.size(), out.begin());
  }
  void read_weights(EdgeIndex first, std::span<float> out) const override {
    std::copy_n(graph_.out.weights.data() + first, out.size(), out.begin());
  }

 private:
  const Graph& graph_;
};

/// The same undirected graph with only its offsets in memory. Keeps a reference.
inline Graph left_elsewhere(const Graph& whole) {
  Graph graph;
  graph.out.offsets = HostArray<EdgeIndex>(whole.out.offsets.size());
  std::copy(whole.out.offsets.begin(), whole.out.offsets.end(), graph.out.offsets.begin());
  graph.directed = whole.directed;
  graph.weighted = whole.weighted;
  graph.edge_source = std::make_shared<EdgesElsewhere>(whole);
  return graph;
}

}  // namespace sluice::test
