// The union of a frontier's lists as one CTPS on two levels: sums of lists first, then within the list.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/select/candidates.hpp"

namespace sluice::samples {

/// How the biases of a list are known.
enum class LayerBias : std::uint32_t {
  uniform,  ///< all are 1
  tabled,   ///< by the list's CTPS
  weight,   ///< by its weights and the frontier's largest one (CONTRACT section 5): they must be added up
};

/// Candidate i of the union lies in the list l with bases[l] <= i < bases[l + 1].
struct LayerCandidates {
  using Index = std::uint64_t;

  GraphView graph;
  LayerBias bias;
  const std::uint64_t* cumulative;  ///< tabled: CTPS of every list
  int exponent;                     ///< by weight: of the frontier's largest weight
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
  /// Tabled: a list's CTPS.
  SLUICE_HD CtpsCandidates ctps(const Row& row) const { return {cumulative + row.offset, row.degree}; }
  SLUICE_HD static std::uint64_t before(const std::uint64_t* inclusive, std::uint32_t list) {
    return list == 0 ? 0 : inclusive[list - 1];
  }
};

}  // namespace sluice::samples
