// What checks of results share: how a fault is said, and who looks at which edges.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/memory/sweep_lists.hpp"
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
  Ownership owners;  ///< the ranks
  std::uint64_t first, last;

  CheckedShare(const Graph& graph, Communicator* ranks)
      : owners(balanced_ranges(graph.out.offsets.data(), graph.vertices(),
                               static_cast<std::uint64_t>(ranks == nullptr ? 1 : ranks->size()))) {
    const auto rank = static_cast<std::uint64_t>(ranks == nullptr ? 0 : ranks->rank());
    first = owners.begin(rank), last = owners.end(rank);
  }
  bool holds(std::uint64_t v) const { return v >= first && v < last; }
};

struct CheckedList {
  Vertex v;
  EdgeIndex begin, end;
  const Vertex* targets;  ///< by position in the graph
  const float* weights;   ///< null: 1

  double weight(EdgeIndex e) const { return weights == nullptr ? 1 : static_cast<double>(weights[e]); }
};

/// Calls use(list) for every list of the share: from memory, or from the file in pieces. Each of `threads`
/// takes `at_once` at a time. Lists have no weights where the graph has none, or `weights` is false.
template <class Use>
void for_each_list(const Graph& graph, const CheckedShare& share, bool weights, unsigned threads,
                   std::uint64_t at_once, Use&& use) {
  if (share.first == share.last) return;
  weights = weights && graph.weighted;
  CsrView rows = graph.out.view();
  rows.offsets += share.first, rows.vertices = share.last - share.first;
  for_row_blocks(rows, graph.edges_elsewhere.get(), true, weights, threads, at_once,
                 [&](const CsrView& lists, std::uint64_t begin, std::uint64_t end) {
                   for (std::uint64_t row = begin; row < end; ++row)
                     use(CheckedList{static_cast<Vertex>(share.first + row), lists.offsets[row],
                                     lists.offsets[row + 1], lists.targets, lists.weights});
                 });
}

/// Calls use(u, v, weight) for every stored edge of the share, `threads` at a time.
template <class Use>
void for_each_edge(const Graph& graph, const CheckedShare& share, bool weights, unsigned threads, Use&& use) {
  constexpr std::uint64_t kListsAtOnce = 1u << 12;
  for_each_list(graph, share, weights, threads, kListsAtOnce, [&](const CheckedList& list) {
    for (EdgeIndex e = list.begin; e < list.end; ++e) use(list.v, list.targets[e], list.weight(e));
  });
}

/// No rank goes on before all have found their share right, however long that takes.
inline void wait_for_checks(Communicator* ranks) {
  if (ranks != nullptr) ranks->barrier("the check of results");
}

}  // namespace sluice::acc
