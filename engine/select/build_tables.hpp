// Builds tables from a fixed bias, on the host. Every entry is a pure integer function of the list's biases,
// so the tables are the same on any number of threads, and the same as on the GPU (build_tables.cuh).
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/exec/device.hpp"
#include "engine/exec/threads.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/graph/wide.hpp"
#include "engine/select/alias.hpp"

namespace sluice {

/// What a GPU takes while it makes alias slots of hubs, a block a multiprocessor: each has scratch for the
/// largest list.
inline std::uint64_t hub_scratch_bytes(const Device& device, std::uint64_t hubs, std::uint64_t max_degree) {
  constexpr std::uint64_t kEntry = 16 + sizeof(std::uint32_t);
  return std::min<std::uint64_t>(device.multiprocessors(), hubs) * max_degree * kEntry;
}

}  // namespace sluice

namespace sluice::host {

inline constexpr std::uint64_t kVerticesPerBlock = 1024;

/// Vertices [begin, end), clipped to the graph's.
struct VertexRange {
  std::uint64_t begin = 0;
  std::uint64_t end = ~std::uint64_t{0};
};

/// Calls body(vertex, row) for every vertex of the range, in parallel.
template <class Body>
void for_each_list(unsigned threads, const GraphView& graph, const VertexRange& range, Body&& body) {
  const std::uint64_t last = std::min(range.end, graph.vertices());
  parallel_blocks(threads, last - std::min(range.begin, last), kVerticesPerBlock,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t v = range.begin + begin; v < range.begin + end; ++v)
                      body(static_cast<Vertex>(v), graph.row(static_cast<Vertex>(v)));
                  });
}

template <class BiasOf>
void build_ctps(unsigned threads, const GraphView& graph, const BiasOf& bias, std::uint64_t* cumulative,
                const VertexRange& range = {}) {
  for_each_list(threads, graph, range, [&](Vertex v, const Row& row) {
    std::uint64_t sum = 0;
    for (EdgeIndex at = row.offset; at < row.offset + row.degree; ++at) {
      sum += bias.edge_bias(graph, {v, graph.target(at), at});
      cumulative[at] = sum;
    }
  });
}

/// Calls emit(index, AliasSlot) for every entry of a list.
template <class BiasOf, class Emit>
void list_alias(const GraphView& graph, const BiasOf& bias, Vertex v, const Row& row, Emit&& emit) {
  const auto bias_at = [&](std::uint32_t i) {
    return static_cast<std::uint64_t>(
        bias.edge_bias(graph, {v, graph.target(row.offset + i), row.offset + i}));
  };
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < row.degree; ++i) total += bias_at(i);
  build_alias(row.degree, total, bias_at, emit);
}

/// Calls emit(row, index, AliasSlot) for every entry of every list.
template <class BiasOf, class Emit>
void for_each_alias(unsigned threads, const GraphView& graph, const BiasOf& bias, const VertexRange& range,
                    Emit&& emit) {
  for_each_list(threads, graph, range, [&](Vertex v, const Row& row) {
    list_alias(graph, bias, v, row, [&](std::uint32_t i, const AliasSlot& slot) { emit(row, i, slot); });
  });
}

template <class BiasOf>
void build_alias_slots(unsigned threads, const GraphView& graph, const BiasOf& bias,
                       std::uint64_t* thresholds, std::uint32_t* others, const VertexRange& range = {}) {
  for_each_alias(threads, graph, bias, range, [&](const Row& row, std::uint32_t i, const AliasSlot& slot) {
    thresholds[row.offset + i] = slot.threshold;
    others[row.offset + i] = slot.other;
  });
}

template <class BiasOf>
void build_wide_alias(unsigned threads, const GraphView& graph, const BiasOf& bias, WideAlias* slots) {
  for_each_alias(threads, graph, bias, {}, [&](const Row& row, std::uint32_t i, const AliasSlot& slot) {
    WideAlias& wide = slots[row.offset + i];
    wide = WideAlias{};
    if (slot.other == kNoVertex) return;
    wide.threshold = slot.threshold;
    wide.own = graph.target(row.offset + i);
    wide.other = graph.target(row.offset + slot.other);
    wide.own_row = PackedRow::of(graph.row(wide.own));
    wide.other_row = PackedRow::of(graph.row(wide.other));
  });
}

/// Largest bias and number of positive biases of each list; either output may be null.
template <class BiasOf>
void build_bounds(unsigned threads, const GraphView& graph, const BiasOf& bias, std::uint64_t* bounds,
                  std::uint32_t* positive, const VertexRange& range = {}) {
  for_each_list(threads, graph, range, [&](Vertex v, const Row& row) {
    std::uint64_t largest = 0;
    std::uint32_t count = 0;
    for (EdgeIndex at = row.offset; at < row.offset + row.degree; ++at) {
      const std::uint64_t b = bias.edge_bias(graph, {v, graph.target(at), at});
      largest = std::max(largest, b);
      count += b > 0;
    }
    if (bounds) bounds[v] = largest;
    if (positive) positive[v] = count;
  });
}

inline void build_exponents(unsigned threads, const GraphView& graph, std::int16_t* exponents,
                            const VertexRange& range = {}) {
  for_each_list(threads, graph, range, [&](Vertex v, const Row& row) {
    float largest = 0;
    for (EdgeIndex at = row.offset; at < row.offset + row.degree; ++at)
      largest = std::max(largest, graph.weight(at));
    exponents[v] = static_cast<std::int16_t>(weight_exponent(largest));
  });
}

/// Calls emit(position, target) for every edge; the target's row is on its way to the cache.
template <class Emit>
void for_each_edge(unsigned threads, const GraphView& graph, Emit&& emit) {
  parallel_blocks(threads, graph.edges(), 1u << 16, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    constexpr std::uint64_t kAhead = 32;
    for (std::uint64_t at = begin; at < end; ++at) {
      if (at + kAhead < end) __builtin_prefetch(graph.csr.offsets + graph.target(at + kAhead));
      emit(at, graph.target(at));
    }
  });
}

inline void build_wide_edges(unsigned threads, const GraphView& graph, WideEdge* edges) {
  for_each_edge(threads, graph, [&](EdgeIndex at, Vertex target) {
    edges[at] = {PackedRow::of(graph.row(target)), target, 0};
  });
}

inline void build_packed_edges(unsigned threads, const GraphView& graph, EdgePacking packing,
                               std::uint64_t* edges) {
  for_each_edge(threads, graph,
                [&](EdgeIndex at, Vertex target) { edges[at] = packing.pack(target, graph.row(target)); });
}

}  // namespace sluice::host
