// A traverser is an executor (exec/executor.hpp) that goes over the edges of lists, too: HostTraverser on the
// threads of a pool, cuda::CudaTraverser on a GPU.
//
//   for_each_edge(vertices, output, body)   body.edge(u, e, lane) for every edge e of every vertex u for
//   which
//                                           body.sends(u); sums[0] counts them
//                                           body.prefetch(e), body.prefetch_target(e): what it reads of the
//                                           list from e on, and of the target of e, is needed soon
//   first_edge(rows, output, body)          of every row for which body.wants(row) the first edge for which
//                                           body.hits(e) goes to body.take(row, e, lane); sums[0] counts the
//                                           edges up to it, or all
//   reduce_rows(rows, output, body)         of every row for which body.begin(row, before) holds, the values
//                                           that body.receives(row, e, value) says edges e have, joined by
//                                           body.join() from body.none(before) on, until body.stops(before,
//                                           total): body.end(row, before, total, lane). sums[0] counts the
//                                           edges that were looked at. Where receives() is false it leaves
//                                           the value alone
//
// Where the lane says kBinsByLevel, a body also calls its bin(v, level) and beyond(v). A traverser that says
// kPullsIntoBits asks for rows of first_edge() by words of bits, and hands back so those whose take() is true
// (host_traverser.hpp).
#pragma once

#include <concepts>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/executor.hpp"

namespace sluice {

/// Vertices whose lists are read: `vertices`, or, where that is null, those from `begin` on.
struct VertexRange {
  const Vertex* vertices = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  std::uint64_t first = 0;  ///< the list of u begins at offsets[u - first]
  const EdgeIndex* offsets = nullptr;
  /// Where lists are in host memory that a GPU has mapped: the targets of all. Kernels read whole lines then.
  const Vertex* mapped = nullptr;

  SLUICE_HD Vertex operator[](std::uint64_t i) const {
    return vertices != nullptr ? vertices[i] : static_cast<Vertex>(begin + i);
  }
  /// Where the list of u begins and ends.
  SLUICE_HD const EdgeIndex* list(Vertex u) const { return offsets + (u - first); }
  /// The vertices [from, to) of these.
  VertexRange part(std::uint64_t from, std::uint64_t to) const {
    return {vertices != nullptr ? vertices + from : nullptr, begin + from, to - from, first, offsets, mapped};
  }
};

/// Rows [begin, end), row i from offsets[i] on.
struct RowRange {
  std::uint64_t begin = 0, end = 0;
  const EdgeIndex* offsets = nullptr;
};

/// What edges [e, end) of a row come to (reduce_rows()), one after the other; `edges` grows by those that
/// were looked at.
template <class Body, class Count>
SLUICE_HD typename Body::Value reduce_edges(const Body& body, std::uint64_t row, typename Body::Value before,
                                            EdgeIndex e, EdgeIndex end, Count& edges) {
  typename Body::Value total = body.none(before), value{};
  for (; e < end; ++e) {
    ++edges;
    if (!body.receives(row, e, value)) continue;
    total = body.join(total, value);
    if (body.stops(before, total)) break;
  }
  return total;
}

template <class E>
concept Traverser = Executor<E> && requires {
  { E::kBinsByLevel } -> std::convertible_to<bool>;
  { E::kPullsIntoBits } -> std::convertible_to<bool>;
};

}  // namespace sluice
