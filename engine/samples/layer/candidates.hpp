// The union of a frontier's lists as a CTPS of two levels: prefix sums over lists, then within a list.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/select/candidates.hpp"

namespace sluice::samples {

/// The form of a list's biases.
enum class LayerBias : std::uint32_t {
  uniform,  ///< all biases are 1
  tabled,   ///< the list has a CTPS
  weight,   ///< weights scaled by the frontier's largest (CONTRACT section 5), summed when needed
};

/// The candidates of a union, numbered list by list: candidate i is in the first list l with i < bases[l].
struct LayerCandidates {
  using Index = std::uint64_t;

  GraphView graph;
  LayerBias bias;
  const std::uint64_t* cumulative;  ///< tabled: CTPS of every list
  int exponent;                     ///< weight bias: exponent of the frontier's largest weight
  const Vertex* frontier;           ///< [lists]
  const std::uint64_t* sums;        ///< [lists] inclusive sums of the lists' biases
  const std::uint64_t* bases;       ///< [lists] inclusive sums of the lists' lengths
  std::uint32_t lists;

  SLUICE_HD std::uint64_t total() const { return lists == 0 ? 0 : sums[lists - 1]; }

  /// Bias of entry i of a list.
  SLUICE_HD std::uint64_t bias_at(const Row& row, std::uint64_t i) const {
    if (bias == LayerBias::uniform) return 1;
    if (bias == LayerBias::weight) return weight_at(row, i);
    return ctps(row).width(static_cast<std::uint32_t>(i));
  }
  SLUICE_HD std::uint64_t find(std::uint64_t x) const {
    const std::uint32_t list = upper_bound(sums, lists, x);
    const Row row = graph.row(frontier[list]);
    std::uint64_t inner = x - before(sums, list);
    if (bias == LayerBias::tabled) return before(bases, list) + ctps(row).find(inner);
    if (bias == LayerBias::uniform) return before(bases, list) + inner;
    for (std::uint64_t i = 0;; ++i) {
      const std::uint64_t width = weight_at(row, i);
      if (inner < width) return before(bases, list) + i;
      inner -= width;
    }
  }
  SLUICE_HD std::uint64_t low(std::uint64_t candidate) const {
    const std::uint32_t list = upper_bound(bases, lists, candidate);
    const Row row = graph.row(frontier[list]);
    const std::uint64_t index = candidate - before(bases, list);
    std::uint64_t inner = index;
    if (bias == LayerBias::tabled) inner = ctps(row).low(static_cast<std::uint32_t>(index));
    if (bias == LayerBias::weight) {
      inner = 0;
      for (std::uint64_t i = 0; i < index; ++i) inner += weight_at(row, i);
    }
    return before(sums, list) + inner;
  }
  SLUICE_HD std::uint64_t width(std::uint64_t candidate) const {
    const Edge edge = at(candidate);
    return bias_at(graph.row(edge.source), edge.position - graph.row(edge.source).offset);
  }
  SLUICE_HD Edge at(std::uint64_t candidate) const {
    const std::uint32_t list = upper_bound(bases, lists, candidate);
    const EdgeIndex position = graph.row(frontier[list]).offset + (candidate - before(bases, list));
    return {frontier[list], graph.target(position), position};
  }
  SLUICE_HD std::uint64_t weight_at(const Row& row, std::uint64_t i) const {
    return quantise_weight(graph.weight(row.offset + i), exponent);
  }
  /// CTPS of a list, for tabled bias.
  SLUICE_HD CtpsCandidates ctps(const Row& row) const { return {cumulative + row.offset, row.degree}; }
  SLUICE_HD static std::uint64_t before(const std::uint64_t* inclusive, std::uint32_t list) {
    return list == 0 ? 0 : inclusive[list - 1];
  }
};

}  // namespace sluice::samples
