// An executor runs the bodies of kernels, for one vertex, edge or entry each: HostExecutor on a pool of
// threads, cuda::CudaExecutor on a GPU. Bodies are the same source for both.
//
//   for_each(count, output, body)           body(i, lane) for every i below `count`
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
//                                           edges that were looked at
//   sort_by_key(items, count, sorted, keys, place)
//                                           puts item(i) of items in order of key(i), which is below
//                                           keys.size(), and adds up weight(i) by key; or puts the items of
//                                           each key where place(keys) says, which gets both. Where it
//                                           names no places, items are not put anywhere
//   for_each_group<Counters>(count, groups, body)
//                                           body(group, i, counters) for every i below `count`; false where a
//                                           warp leaves the work to a block. group_sums(sums) are what all
//                                           groups have counted since the last call
//   for_each_group_aside<Counters>(counts, groups, body_of, shares)
//                                           body_of(i) by groups for every index below counts[i], for every
//                                           i: side by side on a GPU, each by at most shares[i] of
//                                           group_blocks() where shares are given. Returns the seconds of
//                                           each then, where they were timed
//   order_by_key(count, key_of, ordered)    the numbers below `count` in order of key_of(i), which is below
//                                           ordered.keys() or kNoKey, stably
//   exclusive_sum(counts, size)             counts become what is before each; returns the sum of all, which
//                                           it puts behind them
//
// Operations run in the order in which they are called, each after the one before has ended. Of a run that is
// only planned there is nothing to work on: for_each() and fill() do nothing then, read() reads zeros, and
// exclusive_sum() takes its memory alone. A body writes its output through its lane: append(list, v),
// lowest(value), add(sum, value); where the lane says kBinsByLevel, also bin(v, level) and beyond(v). An
// executor that says kPullsIntoBits asks for rows of first_edge() by words of bits, and hands back so those
// whose take() is true (host_executor.hpp).
// Bodies of for_each() that say kInOrder read what those for smaller i have written: these have begun then.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice {

/// Where lanes write; all memory is the executor's. Lists lie side by side: list i begins at
/// begins[i].
struct LaneOutput {
  static constexpr unsigned kSums = 2;

  Vertex* lists = nullptr;
  const std::uint64_t* begins = nullptr;  ///< [number]
  unsigned long long* sizes = nullptr;    ///< [number] of the lists
  unsigned long long* sums = nullptr;     ///< [kSums]
  unsigned long long* lowest = nullptr;   ///< [1]
  unsigned number = 0;                    ///< of lists
};

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

/// What sort_by_key() says of each key, in host memory, and counters that it needs, in the executor's.
struct KeyCounts {
  std::vector<std::uint64_t> begins;       ///< [keys + 1] where the items of a key begin
  std::vector<std::uint64_t> weights;      ///< [keys]
  unsigned long long* counters = nullptr;  ///< [3 * keys]

  unsigned size() const { return static_cast<unsigned>(weights.size()); }
};

/// Items in order of their keys.
struct PlaceInOrder {
  const std::vector<std::uint64_t>& operator()(const KeyCounts& keys) const { return keys.begins; }
};

/// Which groups take an index: one lane on the host. On a GPU a warp, a block, or a block where the warp
/// leaves the work to it.
enum class Groups { warps, blocks, warps_then_blocks };
inline constexpr unsigned kGroupSums = 3;

/// Of groups that count nothing.
struct NoCounters {
  static constexpr unsigned kSums = 0;
  SLUICE_HD std::uint64_t value(unsigned) const { return 0; }
};

/// The key of an item that has no place in the order.
inline constexpr std::uint32_t kNoKey = ~std::uint32_t{0};

/// Items in order of a small key.
struct OrderedItems {
  OrderedItems(std::size_t keys, const char* called) : begins(keys + 1), purpose(called) {}

  std::vector<std::uint64_t> begins;  ///< [keys + 1] where the items of a key begin
  Buffer<std::uint32_t> items;        ///< in the executor's memory
  const char* purpose;

  std::uint32_t keys() const { return static_cast<std::uint32_t>(begins.size() - 1); }
  std::uint64_t size() const { return begins.back(); }
  std::uint64_t count(std::size_t key) const { return begins[key + 1] - begins[key]; }
  /// Of every key.
  std::vector<std::uint64_t> counts() const {
    std::vector<std::uint64_t> all(keys());
    for (std::uint32_t key = 0; key < keys(); ++key) all[key] = count(key);
    return all;
  }
};

/// Items are numbered in 32 bits; more wait for smaller batches.
inline void check_items(std::uint64_t items) {
  if (items > std::numeric_limits<std::uint32_t>::max())
    throw BudgetError("more than 2^32 - 1 items are in order of a key at once");
}

namespace detail {

/// A body and items of nothing, for the concept below.
struct EmptyBody {
  using Value = std::uint64_t;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t, Lane&) const {}
  template <class Lane>
  SLUICE_HD void edge(Vertex, EdgeIndex, Lane&) const {}
  template <class Lane>
  SLUICE_HD bool take(std::uint64_t, EdgeIndex, Lane&) const {
    return false;
  }
  SLUICE_HD bool sends(Vertex) const { return false; }
  SLUICE_HD bool wants(std::uint64_t) const { return false; }
  SLUICE_HD bool hits(EdgeIndex) const { return false; }
  SLUICE_HD bool begin(std::uint64_t, Value&) const { return false; }
  SLUICE_HD Value none(Value) const { return 0; }
  SLUICE_HD bool receives(std::uint64_t, EdgeIndex, Value&) const { return false; }
  SLUICE_HD Value join(Value a, Value) const { return a; }
  SLUICE_HD bool stops(Value, Value) const { return false; }
  template <class Lane>
  SLUICE_HD void end(std::uint64_t, Value, Value, Lane&) const {}
  SLUICE_HD unsigned key(std::uint64_t) const { return 0; }
  SLUICE_HD Vertex item(std::uint64_t) const { return 0; }
  SLUICE_HD std::uint64_t weight(std::uint64_t) const { return 0; }
};
struct EmptyGroupBody {
  template <class Group, class Counters>
  SLUICE_HD bool operator()(const Group&, std::uint64_t, Counters&) const {
    return true;
  }
};
struct EmptyGroupBodies {
  EmptyGroupBody operator()(std::size_t) const { return {}; }
};
struct EmptyKey {
  SLUICE_HD std::uint32_t operator()(std::uint64_t) const { return 0; }
};

}  // namespace detail

template <class E>
concept Executor = requires(E& executor, const LaneOutput& output, const detail::EmptyBody& body,
                            Vertex* vertices, KeyCounts& keys, void* memory, std::uint64_t* counts,
                            const unsigned long long* sums, OrderedItems& ordered) {
  { E::kBinsByLevel } -> std::convertible_to<bool>;
  { E::kPullsIntoBits } -> std::convertible_to<bool>;
  executor.for_each(std::uint64_t{}, output, body);
  executor.for_each_edge(VertexRange{}, output, body);
  executor.first_edge(RowRange{}, output, body);
  executor.reduce_rows(RowRange{}, output, body);
  // Not by order_by_key(), which sorts stably: a GPU takes 12 bytes an item for that, and passes of a radix
  // sort.
  executor.sort_by_key(body, std::uint64_t{}, vertices, keys);
  executor.template for_each_group<NoCounters>(std::uint64_t{}, Groups::warps, detail::EmptyGroupBody{});
  executor.template for_each_group_aside<NoCounters>(std::span<const std::uint64_t>{}, Groups::warps,
                                                     detail::EmptyGroupBodies{});
  { executor.group_blocks() } -> std::same_as<unsigned>;
  executor.group_sums(counts);
  executor.order_by_key(std::uint64_t{}, detail::EmptyKey{}, ordered);
  { executor.exclusive_sum(counts, std::uint64_t{}) } -> std::same_as<std::uint64_t>;
  executor.fill(memory, 0, std::uint64_t{});
  executor.read(counts, sums, std::uint64_t{}, "label");
  executor.wait("label");
  { executor.launches() } -> std::same_as<std::uint64_t>;
};

}  // namespace sluice
