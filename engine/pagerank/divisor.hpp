// Among how much a source splits its rank.
#pragma once

#include "engine/core/macros.hpp"
#include "engine/core/search.hpp"
#include "engine/core/types.hpp"
#include "engine/pagerank/options.hpp"
#include "partition/graph.hpp"

namespace sluice::pagerank {

/// A vertex without a loop, with one in its lists, and with one that `self_loop` gave it.
enum class Loop : std::uint8_t { none, stored, added };

/// Among how much a source splits its rank, and its loop.
struct RankSource {
  double divisor = 0;
  Loop loop = Loop::none;
};

/// The out-degree of a row, or the sum of its out-weights, in the order of the list: a list is never cut, so
/// the sum is the same everywhere.
SLUICE_HD double out_weight(const CsrView& out, std::uint64_t row, bool weighted) {
  if (!weighted) return static_cast<double>(out.offsets[row + 1] - out.offsets[row]);
  double sum = 0;
  for (EdgeIndex i = out.offsets[row]; i < out.offsets[row + 1]; ++i) sum += out.weights[i];
  return sum;
}

/// Whether the list of v, row `row`, holds v itself. A loop that carries nothing is none: its vertex could
/// have nowhere to leave its rank.
SLUICE_HD bool has_loop(const CsrView& rows, std::uint64_t row, Vertex v) {
  const EdgeIndex first = rows.offsets[row], last = rows.offsets[row + 1];
  EdgeIndex loop = first + count_below(rows.targets + first, last - first, v);
  for (; loop < last && rows.targets[loop] == v; ++loop) {
    if (rows.weights == nullptr || rows.weights[loop] > 0) return true;
  }
  return false;
}

/// Of v, whose out-edges are row `row`.
SLUICE_HD RankSource source_of(CsrView out, std::uint64_t row, Vertex v, bool weighted, Dangling dangling) {
  if (!weighted) out.weights = nullptr;
  const RankSource source{out_weight(out, row, weighted), has_loop(out, row, v) ? Loop::stored : Loop::none};
  if (source.loop == Loop::stored || dangling != Dangling::self_loop) return source;
  return {source.divisor + 1, Loop::added};
}

}  // namespace sluice::pagerank
