// What checks of results share: how a fault is said, and who looks at which edges.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "partition/graph.hpp"

namespace sluice::acc {

/// Throws RunError ("verify: ...") unless `right`.
template <class... Args>
void require(bool right, fmt::format_string<Args...> what, Args&&... args) {
  if (!right) throw RunError("verify: " + fmt::format(what, std::forward<Args>(args)...));
}

struct CheckedList {
  Vertex v;
  EdgeIndex begin, end;
  const Vertex* targets;  ///< by position in the graph
  const float* weights;   ///< null: 1

  double weight(EdgeIndex e) const { return weights == nullptr ? 1 : static_cast<double>(weights[e]); }
};

/// Calls use(list) for every list of `own`: from memory, or from the file in pieces. Each of `threads` takes
/// `at_once` at a time. Lists have no weights where the graph has none, or `weights` is false.
template <class Use>
void for_each_list(const Graph& graph, const OwnRows& own, bool weights, unsigned threads,
                   std::uint64_t at_once, Use&& use) {
  if (own.first == own.last) return;
  weights = weights && graph.weighted;
  const SweepRows rows =
      SweepRows::of(graph.out.view(), graph.edges_elsewhere.get(), weights, own.first, own.last);
  for_row_blocks(rows.in, rows.file, true, weights, threads, at_once,
                 [&](const CsrView& lists, std::uint64_t begin, std::uint64_t end) {
                   for (std::uint64_t row = begin; row < end; ++row)
                     use(CheckedList{static_cast<Vertex>(own.first + row), lists.offsets[row],
                                     lists.offsets[row + 1], lists.targets, lists.weights});
                 });
}

/// Calls use(u, v, weight) for every stored edge of these lists, `threads` at a time.
template <class Use>
void for_each_edge(const Graph& graph, const OwnRows& own, bool weights, unsigned threads, Use&& use) {
  constexpr std::uint64_t kListsAtOnce = 1u << 12;
  for_each_list(graph, own, weights, threads, kListsAtOnce, [&](const CheckedList& list) {
    for (EdgeIndex e = list.begin; e < list.end; ++e) use(list.v, list.targets[e], list.weight(e));
  });
}

/// No rank goes on before all have found their share right, however long that takes.
inline void wait_for_checks(Communicator* ranks) {
  if (ranks != nullptr) ranks->barrier("the check of results");
}

}  // namespace sluice::acc
