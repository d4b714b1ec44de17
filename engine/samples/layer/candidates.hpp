// The union of a frontier's lists as one CTPS on two levels: sums of lists first, then within the list.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/select/candidates.hpp"
#include "engine/select/options.hpp"

namespace sluice {

/// Candidate i of the union lies in the list l with bases[l] <= i < bases[l + 1].
struct LayerCandidates {
  using Index = std::uint64_t;

  GraphView graph;
  Bias bias;
  const std::uint64_t* cumulative;  ///< degree bias: CTPS of every list
  int exponent;                     ///< weight bias: of the frontier's largest weight (CONTRACT section 5)
  const Vertex* frontier;           ///< [lists]
  const std::uint64_t* sums;        ///< [lists] inclusive sums of the lists' biases
  const std::uint64_t* bases;       ///< [lists] inclusive sums of the lists' lengths
  std::uint32_t lists;

  SLUICE_HD std::uint64_t total() const { return lists == 0 ? 0 : sums[lists - 1]; }

  /// Bias of entry i of a list.
  SLUICE_HD std::uint64_t bias_at(const Row& row, std::uint64_t i) const {
    if (bias == Bias::none) return 1;
    if (bias == Bias::weight) return quantise_weight(graph.weight(row.offset + i), exponent);
    return graph.degree(graph.target(row.offset + i));
  }
  SLUICE_HD std::uint64_t find(std::uint64_t x) const {
    const std::uint32_t list = upper_bound(sums, lists, x);
    const Row row = graph.row(frontier[list]);
    std::uint64_t inner = x - before(sums, list);
    if (bias == Bias::degree)
      return before(bases, list) + upper_bound(cumulative + row.offset, row.degree, inner);
    if (bias == Bias::none) return before(bases, list) + inner;
    for (std::uint64_t i = 0;; ++i) {
      const std::uint64_t width = bias_at(row, i);
      if (inner < width) return before(bases, list) + i;
      inner -= width;
    }
  }
  SLUICE_HD std::uint64_t low(std::uint64_t candidate) const {
    const std::uint32_t list = upper_bound(bases, lists, candidate);
    const Row row = graph.row(frontier[list]);
    const std::uint64_t index = candidate - before(bases, list);
    std::uint64_t inner = index;
    if (bias == Bias::degree) inner = index == 0 ? 0 : cumulative[row.offset + index - 1];
    if (bias == Bias::weight) {
      inner = 0;
      for (std::uint64_t i = 0; i < index; ++i) inner += bias_at(row, i);
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

 private:
  SLUICE_HD static std::uint64_t before(const std::uint64_t* inclusive, std::uint32_t list) {
    return list == 0 ? 0 : inclusive[list - 1];
  }
};

}  // namespace sluice
