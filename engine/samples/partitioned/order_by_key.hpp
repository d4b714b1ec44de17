// Items in order of a small key: the partition whose list they wait for, or the rank that owns it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/threads.hpp"

namespace sluice {

/// Items are numbered in 32 bits; more wait for smaller batches.
inline void check_items(std::uint64_t items) {
  if (items > std::numeric_limits<std::uint32_t>::max())
    throw BudgetError("more than 2^32 - 1 lists are wanted at once");
}

/// The key of an item that has no place in the order.
inline constexpr std::uint32_t kNoKey = ~std::uint32_t{0};

namespace host {

/// Puts the items below `items` in order of key_of(item), which is below counts.size() or kNoKey; items of
/// one key stay in order. `counts` become the items of each key, `places` where they begin; returns how many
/// there are. Blocks of items are counted, then put in their places, each by one thread.
template <class KeyOf>
std::uint64_t order_by_key(const Device& device, std::uint64_t items, const KeyOf& key_of,
                           Buffer<std::uint32_t>& order, std::vector<std::uint64_t>& counts,
                           std::vector<std::uint64_t>& places) {
  check_items(items);
  constexpr std::uint64_t kItemsPerCount = 16;  // so that counting costs more than adding the counts up
  order.reserve(device, items, "the queue of lists");
  const std::uint64_t keys = counts.size();
  const std::uint64_t blocks =
      std::clamp<std::uint64_t>(items / (kItemsPerCount * keys), 1, std::uint64_t{4} * device.threads());
  const std::uint64_t grain = (items + blocks - 1) / blocks;
  std::vector<std::uint64_t> sums(blocks * keys, 0);
  const auto for_each = [&](const auto& body) {
    parallel_blocks(device.threads(), items, grain, [&](std::uint64_t from, std::uint64_t to, unsigned) {
      std::uint64_t* const own = sums.data() + from / grain * keys;
      for (std::uint64_t item = from; item < to; ++item) {
        const std::uint32_t key = key_of(item);
        if (key != kNoKey) body(own[key], static_cast<std::uint32_t>(item));
      }
    });
  };
  for_each([](std::uint64_t& count, std::uint32_t) { ++count; });
  std::uint64_t sum = 0;
  for (std::uint64_t key = 0; key < keys; ++key) {
    places[key] = sum;
    for (std::uint64_t block = 0; block < blocks; ++block)
      sum += std::exchange(sums[block * keys + key], sum);
    counts[key] = sum - places[key];
  }
  for_each([&](std::uint64_t& place, std::uint32_t item) { order.data()[place++] = item; });
  return sum;
}

}  // namespace host
}  // namespace sluice
