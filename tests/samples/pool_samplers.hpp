// User-defined pool samplers.
#pragma once

#include "engine/samples/pool/pool.hpp"

namespace sluice::test {

/// Selects two entries and two neighbours by weight.
struct TwoByTwo {
  std::uint32_t seeds = 3;

  SLUICE_HD std::uint32_t pool_size() const { return seeds; }
  SLUICE_HD std::uint32_t frontier_size() const { return 2; }
  SLUICE_HD std::uint32_t neighbor_size() const { return 2; }
  SLUICE_HD std::uint64_t vertex_bias(const GraphView& graph, Vertex v) const { return 1 + graph.degree(v); }
  SLUICE_HD std::uint64_t edge_bias(const GraphView& graph, const Edge& edge) const {
    return graph.weight_bias(edge);
  }
};

/// Selects distinct neighbours: only one of an entry that has no more.
struct TwoDistinct : TwoByTwo {
  SLUICE_HD bool replacement() const { return false; }
};

/// Selects one entry and five distinct neighbours, uniformly; neighbours of high degree are not added to the
/// pool.
struct FiveOfOne {
  std::uint32_t seeds = 7;

  SLUICE_HD std::uint32_t pool_size() const { return seeds; }
  SLUICE_HD std::uint32_t neighbor_size() const { return 5; }
  SLUICE_HD bool replacement() const { return false; }
  SLUICE_HD std::uint64_t vertex_bias(const GraphView& graph, Vertex v) const { return graph.degree(v); }
  SLUICE_HD Vertex update(const GraphView& graph, Vertex, Vertex to) const {
    return graph.degree(to) > 20 ? kNoVertex : to;
  }
};

/// Selects two entries and one uniform neighbour of each, which is dropped, replaced by the entry, or added.
struct PickyPool {
  std::uint32_t seeds = 20;

  SLUICE_HD std::uint32_t pool_size() const { return seeds; }
  SLUICE_HD std::uint32_t frontier_size() const { return 2; }
  SLUICE_HD std::uint64_t vertex_bias(const GraphView& graph, Vertex v) const { return graph.degree(v); }
  SLUICE_HD Vertex update(const GraphView& graph, Vertex from, Vertex to) const {
    if (to % 5 == 0) return kNoVertex;
    return graph.degree(to) % 2 == 0 ? from : to;
  }
};

/// The built-in kind with all optional functions defined.
struct SpelledOut {
  std::uint32_t seeds = 12;

  SLUICE_HD std::uint32_t pool_size() const { return seeds; }
  SLUICE_HD std::uint32_t frontier_size() const { return 1; }
  SLUICE_HD std::uint32_t neighbor_size() const { return 1; }
  SLUICE_HD std::uint64_t vertex_bias(const GraphView& graph, Vertex v) const { return graph.degree(v); }
  SLUICE_HD std::uint64_t edge_bias(const GraphView&, const Edge&) const { return 1; }
  SLUICE_HD Vertex update(const GraphView&, Vertex, Vertex to) const { return to; }
};

}  // namespace sluice::test
