// A stable, parallel radix sort of edge records by (source, target).
// The top bits split the records into buckets that fit a cache (one pass over memory, all threads), and each
// bucket is then sorted from its lowest digit upwards by one thread. A bucket that holds more than a thread's
// share (a hub, or ids crowded at one end) is split again by all threads.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "engine/exec/order_in_blocks.hpp"
#include "engine/exec/threads.hpp"
#include "partition/edge_record.hpp"

namespace sluice {

/// The bits that sources and targets use; the sorted key holds them without a gap.
struct KeyLayout {
  unsigned source_bits = 32;
  unsigned target_bits = 32;

  unsigned bits() const { return source_bits + target_bits; }
  template <class Record>
  std::uint64_t packed(const Record& record) const {
    return static_cast<std::uint64_t>(record.source()) << target_bits | record.target();
  }
};

/// The narrowest layout that holds every record.
template <class Record>
KeyLayout layout_of(std::span<const Record> records, unsigned threads) {
  std::atomic<std::uint64_t> all_bits{0};
  parallel_blocks(threads, records.size(), 1u << 20, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    std::uint64_t bits_used = 0;
    for (std::uint64_t i = begin; i < end; ++i) bits_used |= records[i].key();
    all_bits.fetch_or(bits_used);
  });
  return {static_cast<unsigned>(std::bit_width(all_bits.load() >> 32)),
          static_cast<unsigned>(std::bit_width(all_bits.load() & 0xffffffffu))};
}

namespace radix {

inline constexpr unsigned kMaxDigit = 11;      // 2048 counters and destinations stay in the L1 cache
inline constexpr std::size_t kInsertion = 32;  // in shorter lists, counters cost more than moves
inline constexpr std::size_t kLeafRecords = 1u
                                            << 16;  // records that a core's own cache holds, with the spare

template <class Record>
void insertion_sort(Record* records, std::size_t size) {
  for (std::size_t i = 1; i < size; ++i) {
    const Record moved = records[i];
    std::size_t hole = i;
    for (; hole > 0 && records[hole - 1].key() > moved.key(); --hole) records[hole] = records[hole - 1];
    records[hole] = moved;
  }
}

/// Sorts by the low `bits` of the packed key, lowest digit first; `into_other`: the result is in `other`.
template <class Record>
void sort_leaf(Record* from, Record* other, std::size_t size, KeyLayout layout, unsigned bits,
               bool into_other) {
  Record* const result = into_other ? other : from;
  if (size <= kInsertion) {
    insertion_sort(from, size);
  } else if (bits > 0) {
    const unsigned widest = size < 4096 ? 8 : kMaxDigit;
    const unsigned passes = (bits + widest - 1) / widest, digit = (bits + passes - 1) / passes;
    const std::uint64_t mask = (std::uint64_t{1} << digit) - 1;
    std::array<std::uint64_t, 6u << kMaxDigit> counts;  // 6 digits of 11 bits, or 8 of 8
    std::fill_n(counts.begin(), static_cast<std::size_t>(passes) << digit, 0);
    for (std::size_t i = 0; i < size; ++i) {
      std::uint64_t key = layout.packed(from[i]);
      for (unsigned pass = 0; pass < passes; ++pass, key >>= digit) ++counts[(pass << digit) + (key & mask)];
    }
    for (unsigned pass = 0; pass < passes; ++pass) {
      std::uint64_t* const next = counts.data() + (static_cast<std::size_t>(pass) << digit);
      const unsigned shift = pass * digit;
      if (next[layout.packed(from[0]) >> shift & mask] == size) continue;  // all equal in this digit
      std::uint64_t sum = 0;
      for (std::uint64_t value = 0; value <= mask; ++value) {
        const std::uint64_t count = next[value];
        next[value] = sum;
        sum += count;
      }
      for (std::size_t i = 0; i < size; ++i) other[next[layout.packed(from[i]) >> shift & mask]++] = from[i];
      std::swap(from, other);
    }
  }
  if (from != result) std::memcpy(static_cast<void*>(result), from, size * sizeof(Record));
}

/// Moves records from `from` to `other` by the bits [shift, shift + digit) of their key, stably; returns the
/// starts of the 2^digit buckets, and the end.
template <class Record>
std::vector<std::uint64_t> split(const Record* from, Record* other, std::size_t size, KeyLayout layout,
                                 unsigned shift, unsigned digit, unsigned threads) {
  const std::uint64_t buckets = std::uint64_t{1} << digit, mask = buckets - 1;
  std::vector<std::uint64_t> starts(buckets + 1);
  order_in_blocks(
      threads, size, starts,
      [&](std::uint64_t begin, std::uint64_t end, const auto& emit) {
        for (std::uint64_t i = begin; i < end; ++i)
          emit(from[i], static_cast<std::uint32_t>(layout.packed(from[i]) >> shift & mask));
      },
      [other](std::uint64_t place, const Record& record, std::uint32_t) { other[place] = record; });
  return starts;
}

/// Calls body(bucket, workers) for each bucket [begins[b], begins[b + 1]): for most on one thread each, side
/// by side; for those of more than half a thread's share one after the other, on all threads.
template <class Body>
void for_each_bucket(std::span<const std::uint64_t> begins, unsigned threads, Body&& body) {
  const std::uint64_t buckets = begins.size() - 1, size = begins.back() - begins.front();
  const std::uint64_t share =
      threads == 1 ? size + 1 : std::max<std::uint64_t>(size / threads / 2, kLeafRecords);
  parallel_blocks(threads, buckets, 1, [&](std::uint64_t bucket, std::uint64_t, unsigned) {
    if (begins[bucket + 1] - begins[bucket] < share) body(bucket, 1u);
  });
  for (std::uint64_t bucket = 0; bucket < buckets; ++bucket)
    if (begins[bucket + 1] - begins[bucket] >= share) body(bucket, threads);
}

/// Sorts by the low `bits` of the packed key; the result is in `other` if `into_other`, else in `from`.
template <class Record>
void sort_level(Record* from, Record* other, std::size_t size, KeyLayout layout, unsigned bits,
                bool into_other, unsigned threads) {
  if (size <= kLeafRecords || bits == 0) {
    sort_leaf(from, other, size, layout, bits, into_other);
    return;
  }
  const unsigned wanted = static_cast<unsigned>(std::bit_width(size / (kLeafRecords / 4)));
  const unsigned digit = std::min({wanted, kMaxDigit, bits});
  const std::vector<std::uint64_t> starts = split(from, other, size, layout, bits - digit, digit, threads);
  for_each_bucket(starts, threads, [&](std::uint64_t bucket, unsigned workers) {
    const std::uint64_t begin = starts[bucket], count = starts[bucket + 1] - begin;
    if (count) sort_level(other + begin, from + begin, count, layout, bits - digit, !into_other, workers);
  });
}

}  // namespace radix

/// Sorts `records` by (source, target), stably; `spare` is as long and is overwritten.
template <class Record>
void sort_records(std::span<Record> records, std::span<Record> spare, unsigned threads) {
  threads = std::max(threads, 1u);
  const KeyLayout layout = layout_of(std::span<const Record>(records), threads);
  radix::sort_level(records.data(), spare.data(), records.size(), layout, layout.bits(), false, threads);
}

}  // namespace sluice
