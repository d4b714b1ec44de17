// Shared code of result checks: the error message, and loops over the edges that this rank checks.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "partition/graph.hpp"

namespace sluice::acc {

/// Throws RunError ("verify: ...") unless `condition`.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw RunError("verify: " + fmt::format(format, std::forward<Args>(args)...));
}

struct CheckedList {
  Vertex v;
  EdgeIndex begin, end;
  const Vertex* targets;  ///< indexed by position in the graph
  const float* weights;   ///< null: all weights are 1

  double weight(EdgeIndex e) const { return weights == nullptr ? 1 : static_cast<double>(weights[e]); }
};

/// Calls use(list) for every list of `own_rows`, from memory or from the file in pieces. Each of `threads`
/// threads takes `at_once` lists at a time. Lists have no weights if the graph has none, or `weights` is
/// false.
template <class Use>
void for_each_list(const Graph& graph, const OwnedRows& own_rows, bool weights, unsigned threads,
                   std::uint64_t at_once, Use&& use) {
  if (own_rows.first == own_rows.last) return;
  weights = weights && graph.weighted;
  const SweepRows rows =
      SweepRows::of(graph.out.view(), graph.edge_source.get(), weights, own_rows.first, own_rows.last);
  for_row_blocks(rows.csr, rows.file, true, weights, threads, at_once,
                 [&](const CsrView& lists, std::uint64_t begin, std::uint64_t end) {
                   for (std::uint64_t row = begin; row < end; ++row)
                     use(CheckedList{static_cast<Vertex>(own_rows.first + row), lists.offsets[row],
                                     lists.offsets[row + 1], lists.targets, lists.weights});
                 });
}

/// Calls use(u, v, weight) for every stored edge of the lists of `own_rows`, on `threads` threads.
template <class Use>
void for_each_edge(const Graph& graph, const OwnedRows& own_rows, bool weights, unsigned threads, Use&& use) {
  constexpr std::uint64_t kListsAtOnce = 1u << 12;
  for_each_list(graph, own_rows, weights, threads, kListsAtOnce, [&](const CheckedList& list) {
    for (EdgeIndex e = list.begin; e < list.end; ++e) use(list.v, list.targets[e], list.weight(e));
  });
}

/// Waits until all ranks have found their share of the result right, however long that takes.
inline void wait_for_checks(Communicator* ranks) {
  if (ranks != nullptr) ranks->barrier("the check of results");
}

}  // namespace sluice::acc
