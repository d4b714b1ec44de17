// A traverser is an executor (exec/executor.hpp) that also iterates over the edges of lists: HostTraverser on
// a thread pool, cuda::CudaTraverser on a GPU.
//
//   for_each_edge(vertices, output, body)   body.edge(u, e, lane) for every edge e of every vertex u with
//                                           body.sends(u); sums[0] counts the edges
//                                           body.prefetch(e), body.prefetch_target(e): what the body reads
//                                           of the list from e on, and of the target of e, is needed soon
//   first_edge(rows, output, body)          for every row with body.wants(row): the first edge e with
//                                           body.hits(e) is passed to body.accept(row, e, lane); sums[0]
//                                           counts the edges up to it, or all
//   reduce_rows(rows, output, body)         for every row with body.begin(row, before): joins the values
//                                           that body.receives(row, e, value) sets for edges e, by
//                                           body.join() from body.identity(before) on, until
//                                           body.stops(before, total); then calls
//                                           body.end(row, before, total, lane). sums[0] counts the edges
//                                           tested. If receives() is false it leaves the value unchanged
//
// If the lane has kBinsByLevel, a body also calls its bin(v, level) and beyond(v). A traverser with
// kPullsIntoBits asks for the rows of first_edge() as words of bits, and returns in the same form those whose
// accept() is true (host_traverser.hpp).
#pragma once

#include <concepts>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/executor.hpp"

namespace sluice {

/// Vertices whose lists are read: `vertices`, or if that is null, `count` vertices from `begin` on.
struct VertexRange {
  const Vertex* vertices = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  std::uint64_t first = 0;  ///< the list of u begins at offsets[u - first]
  const EdgeIndex* offsets = nullptr;
  /// The targets of all lists, if these are in mapped host memory: kernels then read whole lines. Else null.
  const Vertex* mapped = nullptr;

  SLUICE_HD Vertex operator[](std::uint64_t i) const {
    return vertices != nullptr ? vertices[i] : static_cast<Vertex>(begin + i);
  }
  /// Two offsets: where the list of u begins and ends.
  SLUICE_HD const EdgeIndex* list(Vertex u) const { return offsets + (u - first); }
  /// The vertices [from, to) of these.
  VertexRange part(std::uint64_t from, std::uint64_t to) const {
    return {vertices != nullptr ? vertices + from : nullptr, begin + from, to - from, first, offsets, mapped};
  }
};

/// Rows [begin, end); the edges of row i begin at offsets[i].
struct RowRange {
  std::uint64_t begin = 0, end = 0;
  const EdgeIndex* offsets = nullptr;
};

/// Reduces edges [e, end) of a row (reduce_rows()) in order. Adds the number of edges tested to `edges`.
template <class Body, class Count>
SLUICE_HD typename Body::Value reduce_edges(const Body& body, std::uint64_t row, typename Body::Value before,
                                            EdgeIndex e, EdgeIndex end, Count& edges) {
  typename Body::Value total = body.identity(before), value{};
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
