// An executor runs kernel bodies, each call for one vertex or entry: HostExecutor on a pool of threads,
// cuda::CudaExecutor on a GPU. Both run the same source. (engine/traverse iterates over edges.)
//
//   for_each(count, output, body)           body(i, lane) for every i below `count`
//   sort_by_key(items, count, sorted, keys, place)
//                                           writes items.item(i) to `sorted` in order of items.key(i), which
//                                           is below keys.size(), and sums items.weight(i) by key in `keys`.
//                                           place(keys) returns where the items of each key begin; if it
//                                           returns no positions, no item is written
//   for_each_group<Counters>(count, groups, body)
//                                           body(group, i, counters) for every i below `count`; it returns
//                                           false if a warp leaves the work to a block. group_sums(sums)
//                                           reads the sums of all groups' counters since the last call
//   for_each_group_concurrently<Counters>(counts, groups, body_of, shares)
//                                           for every i, body_of(i) by groups for every index below
//                                           counts[i]. A GPU runs them concurrently, each on at most
//                                           shares[i] of group_blocks() if shares are given; then it returns
//                                           the seconds of each, if they were timed
//   order_by_key(count, key_of, ordered)    sorts the numbers below `count` stably by key_of(i), which is
//                                           below ordered.keys(), or kNoKey for numbers to leave out
//   exclusive_sum(counts, size)             replaces counts by their exclusive prefix sums; returns the sum
//                                           of all, which it also writes to counts[size]
//
// Operations run in the order in which they are called, each after the one before has ended. A planned run
// has no data: for_each() and fill() do nothing, read() returns zeros, and exclusive_sum() only allocates
// memory. A body writes its output through its lane: append(list, v), lowest(value), add(sum, value).
// A body of for_each() with a member kInOrder may read what calls for smaller i write: they began before.
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

/// The output of lanes, in the executor's memory. All lists share one array, in which list i begins at
/// begins[i].
struct LaneOutput {
  static constexpr unsigned kSums = 2;

  Vertex* lists = nullptr;
  const std::uint64_t* begins = nullptr;  ///< [list_count]
  unsigned long long* sizes = nullptr;    ///< [list_count] entries in each list
  unsigned long long* sums = nullptr;     ///< [kSums]
  unsigned long long* lowest = nullptr;   ///< [1]
  unsigned list_count = 0;                ///< number of lists
};

/// Results of sort_by_key() by key, in host memory, and the counters that it needs, in the executor's memory.
struct KeyCounts {
  std::vector<std::uint64_t> begins;       ///< [keys + 1] where the items of a key begin
  std::vector<std::uint64_t> weights;      ///< [keys] sum of its items' weights
  unsigned long long* counters = nullptr;  ///< [3 * keys]

  unsigned size() const { return static_cast<unsigned>(weights.size()); }
};

/// Places items in order of their keys.
struct PlaceInOrder {
  const std::vector<std::uint64_t>& operator()(const KeyCounts& keys) const { return keys.begins; }
};

/// Which group processes an index. On the host it is one lane; on a GPU a warp, a block, or a warp that may
/// leave the work to a block.
enum class Groups { warps, blocks, warps_then_blocks };
inline constexpr unsigned kGroupSums = 3;

/// Counters of groups that count nothing.
struct NoCounters {
  static constexpr unsigned kSums = 0;
  SLUICE_HD std::uint64_t value(unsigned) const { return 0; }
};

/// The key of an item that order_by_key() leaves out.
inline constexpr std::uint32_t kNoKey = ~std::uint32_t{0};

/// Items sorted by a small key: the result of order_by_key().
struct OrderedItems {
  OrderedItems(std::size_t keys, const char* label) : begins(keys + 1), purpose(label) {}

  std::vector<std::uint64_t> begins;  ///< [keys + 1] where the items of a key begin
  Buffer<std::uint32_t> items;        ///< in the executor's memory
  const char* purpose;

  std::uint32_t keys() const { return static_cast<std::uint32_t>(begins.size() - 1); }
  std::uint64_t size() const { return begins.back(); }
  std::uint64_t count(std::size_t key) const { return begins[key + 1] - begins[key]; }
  /// The number of items of every key.
  std::vector<std::uint64_t> counts() const {
    std::vector<std::uint64_t> all(keys());
    for (std::uint32_t key = 0; key < keys(); ++key) all[key] = count(key);
    return all;
  }
};

/// Throws BudgetError if 32 bits cannot number the items: batches must then be smaller.
inline void check_items(std::uint64_t items) {
  if (items > std::numeric_limits<std::uint32_t>::max())
    throw BudgetError("more than 2^32 - 1 items are sorted by key at once");
}

namespace detail {

/// An empty body, and items without content, for the concept below.
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
  // Not implemented by order_by_key(), which is stable: on a GPU that costs 12 bytes an item and the passes
  // of a radix sort.
  executor.sort_by_key(body, std::uint64_t{}, vertices, keys);
  executor.template for_each_group<NoCounters>(std::uint64_t{}, Groups::warps, detail::EmptyGroupBody{});
  executor.template for_each_group_concurrently<NoCounters>(std::span<const std::uint64_t>{}, Groups::warps,
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
