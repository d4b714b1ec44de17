// Among how much a source splits its rank.
#pragma once

#include <algorithm>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// The out-degree of v, or the sum of its out-weights, in the order of the list: a list is never cut, so the
/// sum is the same everywhere.
SLUICE_HD double out_weight(const CsrView& out, Vertex v, bool weighted) {
  if (!weighted) return static_cast<double>(out.offsets[v + 1] - out.offsets[v]);
  double sum = 0;
  for (EdgeIndex i = out.offsets[v]; i < out.offsets[v + 1]; ++i) sum += out.weights[i];
  return sum;
}

/// Whether the list of v, row `row`, holds v itself; `rows` are out-edges or in-edges. A loop that carries
/// nothing is none: its vertex could have nowhere to leave its rank.
SLUICE_HD bool has_loop(const CsrView& rows, std::uint64_t row, Vertex v) {
  const auto [low, high] =
      std::equal_range(rows.targets + rows.offsets[row], rows.targets + rows.offsets[row + 1], v);
  if (rows.weights == nullptr) return low != high;
  return std::any_of(rows.weights + (low - rows.targets), rows.weights + (high - rows.targets),
                     [](float weight) { return weight > 0; });
}

SLUICE_HD bool has_loop(const CsrView& rows, Vertex v) {
  return has_loop(rows, v, v);
}

}  // namespace sluice
