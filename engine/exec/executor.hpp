// An executor runs the bodies of kernels, for one vertex or entry each: HostExecutor on a pool of threads,
// cuda::CudaExecutor on a GPU. Bodies are the same source for both. (engine/traverse goes over edges.)
//
//   for_each(count, output, body)           body(i, lane) for every i below `count`
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
// lowest(value), add(sum, value).
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
  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t, Lane&) const {}
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
  executor.for_each(std::uint64_t{}, output, body);
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
