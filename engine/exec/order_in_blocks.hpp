// A stable sort of items by a small key, on the host's threads. Blocks of items are counted, and then written
// to their positions, each block by one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/threads.hpp"

namespace sluice {

/// Sorts items [0, count) by key into positions from begins[0] on, and sets `begins`, [keys + 1], to where
/// the items of each key begin. parallel(count, grain, body(begin, end, thread)) lets threads claim blocks.
/// visit(begin, end, emit) calls emit(item, key), in order, for the items of [begin, end) to be sorted. It is
/// called twice and must emit the same items. put(position, item, key) is called once for each.
template <class Parallel, class Visit, class Put>
void order_in_blocks(unsigned threads, std::uint64_t count, std::span<std::uint64_t> begins,
                     Parallel&& parallel, Visit&& visit, Put&& put) {
  constexpr std::uint64_t kItemsPerCount = 16;  // so that adding up the counts costs less than counting
  const std::uint64_t keys = begins.size() - 1;
  const std::uint64_t blocks =
      std::clamp<std::uint64_t>(count / (kItemsPerCount * keys), 1, std::uint64_t{4} * threads);
  const std::uint64_t grain = std::max<std::uint64_t>((count + blocks - 1) / blocks, 1);
  std::vector<std::uint64_t> positions(blocks * keys, 0);
  const auto for_each = [&](const auto& emit) {
    parallel(count, grain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      std::uint64_t* const block_positions = positions.data() + begin / grain * keys;
      visit(begin, end, [&](auto item, std::uint32_t key) { emit(block_positions[key], item, key); });
    });
  };
  for_each([](std::uint64_t& items, auto, std::uint32_t) { ++items; });
  std::uint64_t position = begins[0];
  for (std::uint64_t key = 0; key < keys; ++key) {
    begins[key] = position;
    for (std::uint64_t block = 0; block < blocks; ++block)
      position += std::exchange(positions[block * keys + key], position);
  }
  begins[keys] = position;
  for_each([&put](std::uint64_t& next, auto item, std::uint32_t key) { put(next++, item, key); });
}

/// The same on `threads` threads that the process keeps (parallel_blocks).
template <class Visit, class Put>
void order_in_blocks(unsigned threads, std::uint64_t count, std::span<std::uint64_t> begins, Visit&& visit,
                     Put&& put) {
  const auto parallel = [threads](std::uint64_t all, std::uint64_t grain, auto&& body) {
    parallel_blocks(threads, all, grain, body);
  };
  order_in_blocks(threads, count, begins, parallel, visit, put);
}

}  // namespace sluice
