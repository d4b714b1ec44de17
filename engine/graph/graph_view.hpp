// The interface through which samplers read a graph, the same on host and device.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/search.hpp"
#include "engine/core/types.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// The position and the length of a vertex's list.
struct Row {
  EdgeIndex offset = 0;
  std::uint32_t degree = 0;
};

/// An edge that may be selected.
struct Edge {
  Vertex source = kNoVertex;
  Vertex target = kNoVertex;
  EdgeIndex position = 0;  ///< in /out/indices
};

/// Exponent of a positive weight: floor(log2(w)); for 0 the smallest value.
SLUICE_HD int weight_exponent(float weight) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t bits = __float_as_uint(weight);
#else
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(weight);
#endif
  const int biased = static_cast<int>(bits >> 23 & 0xff);
  const std::uint32_t fraction = bits & 0x7fffff;
  if (biased != 0) return biased - 127;
  if (fraction == 0) return -32768;
  int top = 22;
  while ((fraction >> top & 1) == 0) --top;
  return top - 149;
}

/// A weight as an integer (CONTRACT section 5): 0 stays 0, w > 0 is max(1, rint(w * 2^(31 - exponent))),
/// where `exponent` is that of the largest weight of the list. Below 2^32. Integer arithmetic: the same bits
/// everywhere.
SLUICE_HD std::uint64_t quantise_weight(float weight, int exponent) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t bits = __float_as_uint(weight);
#else
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(weight);
#endif
  const int biased = static_cast<int>(bits >> 23 & 0xff);
  const std::uint64_t fraction = bits & 0x7fffff;
  const std::uint64_t mantissa = biased == 0 ? fraction : fraction | 0x800000;
  if (mantissa == 0) return 0;
  // weight = mantissa * 2^(power), so the result is mantissa * 2^(power + 31 - exponent), rounded half to
  // even.
  const int shift = (biased == 0 ? -149 : biased - 150) + 31 - exponent;
  if (shift >= 0) return mantissa << shift;
  if (shift < -25) return 1;
  const std::uint64_t floor = mantissa >> -shift, remainder = mantissa & ((std::uint64_t{1} << -shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (-shift - 1);
  const std::uint64_t rounded = floor + (remainder > half || (remainder == half && (floor & 1)));
  return rounded == 0 ? 1 : rounded;
}

/// A view of a graph for samplers; trivially copyable, with pointers into the memory of one device.
struct GraphView {
  CsrView csr;
  const std::int16_t* exponents =
      nullptr;  ///< [vertices], exponent of each list's largest weight; null: unweighted
  bool undirected = false;
  const Vertex* hubs = nullptr;  ///< GPU: vertices of more than kHubDegree edges
  std::uint32_t hub_count = 0;

  /// Work on a whole list takes a block of lanes if the list is longer than this.
  static constexpr std::uint32_t kHubDegree = 4096;

  SLUICE_HD std::uint64_t vertices() const { return csr.vertices; }
  SLUICE_HD std::uint64_t edges() const { return csr.edges; }
  SLUICE_HD bool weighted() const { return exponents != nullptr; }
  SLUICE_HD Row row(Vertex v) const {
    const EdgeIndex begin = csr.offsets[v];
    return {begin, static_cast<std::uint32_t>(csr.offsets[v + std::uint64_t{1}] - begin)};
  }
  SLUICE_HD std::uint32_t degree(Vertex v) const { return row(v).degree; }
  SLUICE_HD Vertex target(EdgeIndex position) const { return csr.targets[position]; }
  SLUICE_HD float weight(EdgeIndex position) const { return csr.weights ? csr.weights[position] : 1.0f; }

  /// The weight of an edge as an integer bias, relative to its list.
  SLUICE_HD std::uint64_t weight_bias(const Edge& edge) const {
    return csr.weights ? quantise_weight(csr.weights[edge.position], exponents[edge.source]) : 1;
  }

  /// Position of the first entry in the list not below `target`: within [0, degree].
  SLUICE_HD std::uint32_t lower_bound(const Row& list, Vertex target) const {
    return count_while(list.degree, [&](std::uint32_t i) { return csr.targets[list.offset + i] < target; });
  }

  /// Whether v is in N(u). In an undirected graph the shorter of the two lists is searched.
  SLUICE_HD bool has_edge(Vertex u, Vertex v) const {
    return has_edge(u, row(u), v, undirected ? row(v) : Row{});
  }
  SLUICE_HD bool has_edge(Vertex u, const Row& list_u, Vertex v, const Row& list_v) const {
    const bool in_list_v = undirected && list_v.degree < list_u.degree;
    const Row& list = in_list_v ? list_v : list_u;
    const Vertex wanted = in_list_v ? u : v;
    const std::uint32_t position_in_list = lower_bound(list, wanted);
    return position_in_list < list.degree && csr.targets[list.offset + position_in_list] == wanted;
  }
};

}  // namespace sluice
