// Among how much a source splits its rank.
#pragma once

#include "engine/core/macros.hpp"
#include "engine/core/search.hpp"
#include "engine/core/types.hpp"
#include "partition/graph.hpp"

namespace sluice::pagerank {

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
  const EdgeIndex first = rows.offsets[row], last = rows.offsets[row + 1];
  EdgeIndex loop = first + count_below(rows.targets + first, last - first, v);
  for (; loop < last && rows.targets[loop] == v; ++loop) {
    if (rows.weights == nullptr || rows.weights[loop] > 0) return true;
  }
  return false;
}

SLUICE_HD bool has_loop(const CsrView& rows, Vertex v) {
  return has_loop(rows, v, v);
}

}  // namespace sluice::pagerank
