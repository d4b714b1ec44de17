// What checks of results share: how a fault is said, and who looks at which edges.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/row_pieces.hpp"
#include "partition/graph.hpp"
#include "partition/ranges.hpp"

namespace sluice::acc {

/// Throws RunError ("verify: ...") unless `right`.
template <class... Args>
void require(bool right, fmt::format_string<Args...> what, Args&&... args) {
  if (!right) throw RunError("verify: " + fmt::format(what, std::forward<Args>(args)...));
}

/// The vertices whose lists this rank looks at, [first, last): about as many edges on each of `ranks`.
struct CheckedShare {
  std::uint64_t first = 0, last = 0;

  CheckedShare(const Graph& graph, Communicator* ranks) : last(graph.vertices()) {
    if (ranks == nullptr || ranks->size() == 1 || last == 0) return;
    const auto rank = static_cast<std::size_t>(ranks->rank());
    const auto cut = balanced_ranges(graph.out.offsets.data(), graph.vertices(),
                                     static_cast<std::uint64_t>(ranks->size()));
    first = cut[rank], last = cut[rank + 1];
  }
  bool holds(std::uint64_t v) const { return v >= first && v < last; }
};

/// Calls use(u, v, weight) for every stored edge of the share, `threads` at a time: from memory, or from the
/// file in pieces. Weights are 1 where the graph has none, or `weights` is false.
template <class Use>
void for_each_edge(const Graph& graph, const CheckedShare& share, bool weights, unsigned threads, Use&& use) {
  constexpr std::uint64_t kRowsAtOnce = 1u << 12;
  if (share.first == share.last) return;
  weights = weights && graph.weighted;
  CsrView rows = graph.out.view();
  rows.offsets += share.first, rows.vertices = share.last - share.first;
  for_each_piece(rows, graph.edges_elsewhere.get(), true, weights,
                 [&](std::uint64_t begin, std::uint64_t end, const Vertex* targets, const float* some) {
                   parallel_blocks(threads, end - begin, kRowsAtOnce,
                                   [&](std::uint64_t from, std::uint64_t to, unsigned) {
                                     for (std::uint64_t row = begin + from; row < begin + to; ++row) {
                                       for (EdgeIndex e = rows.offsets[row]; e < rows.offsets[row + 1]; ++e)
                                         use(static_cast<Vertex>(share.first + row), targets[e],
                                             weights ? static_cast<double>(some[e]) : 1.0);
                                     }
                                   });
                 });
}

/// No rank goes on before all have found their share right, however long that takes.
inline void wait_for_checks(Communicator* ranks) {
  if (ranks != nullptr) ranks->barrier("the check of results");
}

}  // namespace sluice::acc
