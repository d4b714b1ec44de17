// The divisor of a source: the out-degree or sum of out-weights by which it divides its rank.
#pragma once

#include "engine/core/macros.hpp"
#include "engine/core/search.hpp"
#include "engine/core/types.hpp"
#include "engine/pagerank/options.hpp"
#include "partition/graph.hpp"

namespace sluice::pagerank {

/// The self-loop of a vertex: none, one stored in its list, or one that Dangling::self_loop added.
enum class Loop : std::uint8_t { none, stored, added };

/// The divisor and the self-loop of a source.
struct RankSource {
  double divisor = 0;
  Loop loop = Loop::none;
};

/// The out-degree of a row, or the sum of its out-weights in list order. A list is never cut, so the sum is
/// the same everywhere.
SLUICE_HD double out_weight(const CsrView& out, std::uint64_t row, bool weighted) {
  if (!weighted) return static_cast<double>(out.offsets[row + 1] - out.offsets[row]);
  double sum = 0;
  for (EdgeIndex i = out.offsets[row]; i < out.offsets[row + 1]; ++i) sum += out.weights[i];
  return sum;
}

/// Whether the list of v, row `row`, contains v itself. A self-loop of weight 0 does not count: a vertex with
/// no other edge could not pass on its rank.
SLUICE_HD bool has_loop(const CsrView& rows, std::uint64_t row, Vertex v) {
  const EdgeIndex first = rows.offsets[row], last = rows.offsets[row + 1];
  EdgeIndex loop = first + count_below(rows.targets + first, last - first, v);
  for (; loop < last && rows.targets[loop] == v; ++loop) {
    if (rows.weights == nullptr || rows.weights[loop] > 0) return true;
  }
  return false;
}

/// The divisor and the self-loop of v, whose out-edges are row `row`.
SLUICE_HD RankSource source_of(CsrView out, std::uint64_t row, Vertex v, bool weighted, Dangling dangling) {
  if (!weighted) out.weights = nullptr;
  const RankSource source{out_weight(out, row, weighted), has_loop(out, row, v) ? Loop::stored : Loop::none};
  if (source.loop == Loop::stored || dangling != Dangling::self_loop) return source;
  return {source.divisor + 1, Loop::added};
}

}  // namespace sluice::pagerank
