// The host's executor (executor.hpp): threads claim blocks of the work. Each thread has its own buffer for
// each list, so that one atomic serves some tens of vertices. It also has its own sums, which are added to
// the output's when the operation ends.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/device.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/group.hpp"
#include "engine/exec/order_in_blocks.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice {

/// One thread's output.
class alignas(64) HostLane {
 public:
  // Bodies are compiled for devices too, where they never run with this lane.
  [[gnu::always_inline]] SLUICE_HD void append(unsigned list, Vertex v) {
#if !defined(__CUDA_ARCH__)
    AppendBuffer& buffer = buffers_[list];
    buffer.vertices[buffer.size++] = v;
    if (buffer.size == kBufferSize) flush(list);
#endif
  }
  /// Adds to the size of a list alone: the body stores these vertices elsewhere.
  void count(unsigned list, int vertices) {
    buffers_[list].counted += static_cast<std::uint64_t>(vertices);
  }
  SLUICE_HD void lowest(unsigned long long value) {
    lowest_ = value < lowest_ ? value : lowest_;
  }
  SLUICE_HD void add(unsigned sum, unsigned long long value) {
    sums_[sum] += value;
  }

  void begin(const LaneOutput& output) {
    output_ = output;
    if (buffers_.size() < output.list_count) buffers_.resize(output.list_count);
  }
  unsigned long long group_sums[kGroupSums] = {};

  /// Writes the buffered vertices, and combines sizes, sums and the lowest value into the output.
  void end() {
    for (unsigned list = 0; list < output_.list_count; ++list) {
      if (buffers_[list].size > 0) flush(list);
      if (const std::uint64_t counted = std::exchange(buffers_[list].counted, 0); counted > 0)
        std::atomic_ref(output_.sizes[list]).fetch_add(counted, std::memory_order_relaxed);
    }
    for (unsigned i = 0; i < LaneOutput::kSums; ++i) {
      if (sums_[i] != 0) std::atomic_ref(output_.sums[i]).fetch_add(sums_[i], std::memory_order_relaxed);
      sums_[i] = 0;
    }
    if (lowest_ == ~0ull) return;
    const std::atomic_ref lowest(*output_.lowest);
    for (auto current = lowest.load();
         lowest_ < current && !lowest.compare_exchange_weak(current, lowest_);) {
    }
    lowest_ = ~0ull;
  }

 private:
  static constexpr unsigned kBufferSize = 64;
  struct AppendBuffer {
    unsigned size = 0;
    std::uint64_t counted = 0;
    std::array<Vertex, kBufferSize> vertices;
  };

  // Not inlined, so that append() is: a body appends for most of the entries that it reads.
  [[gnu::noinline]] void flush(unsigned list) {
    AppendBuffer& buffer = buffers_[list];
    const auto position =
        std::atomic_ref(output_.sizes[list]).fetch_add(buffer.size, std::memory_order_relaxed);
    std::memcpy(output_.lists + output_.begins[list] + position, buffer.vertices.data(),
                buffer.size * sizeof(Vertex));
    buffer.size = 0;
  }

  LaneOutput output_;
  std::vector<AppendBuffer> buffers_;  ///< by list
  unsigned long long sums_[LaneOutput::kSums] = {};
  unsigned long long lowest_ = ~0ull;
};

/// `L` is HostLane or derived from it.
template <class L>
class HostExecutorOf {
 public:
  using Lane = L;

  explicit HostExecutorOf(const Device& device)
      : device_(device), pool_(device.threads()), lanes_(pool_.size()) {}

  /// A thread claims `grain` items at a time: few if each item is a row.
  template <class Body>
  void for_each(std::uint64_t count, const LaneOutput& output, const Body& body,
                std::uint64_t grain = kItemsPerBlock) {
    for_each_block(count, grain, output, [&](std::uint64_t begin, std::uint64_t end, Lane& lane) {
      const Body local = body;  // no store through a pointer can change the copy
      for (std::uint64_t i = begin; i < end; ++i) local(i, lane);
    });
  }

  /// Calls body(i, part, lane) for every i below `count`, and join() to merge the threads' parts in `total`.
  template <class Total, class Body, class Join>
  void reduce(std::uint64_t count, const LaneOutput& output, Total& total, const Body& body, Join&& join,
              std::uint64_t grain) {
    std::vector<Total> parts(lanes_.size());
    for_each_block(count, grain, output, [&](std::uint64_t begin, std::uint64_t end, Lane& lane) {
      const Body local = body;
      Total part;
      for (std::uint64_t i = begin; i < end; ++i) local(i, part, lane);
      join(parts[static_cast<std::size_t>(&lane - lanes_.data())], part);
    });
    for (const Total& part : parts) join(total, part);
  }

  /// Runs in one thread: a round has few items beside their edges.
  template <class Items, class Place = PlaceInOrder>
  void sort_by_key(const Items& items, std::uint64_t count, Vertex* sorted, KeyCounts& keys,
                   const Place& place = {}) {
    keys.begins.assign(keys.size() + 1, 0);
    std::ranges::fill(keys.weights, 0);
    key_of_.resize(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const unsigned key = key_of_[i] = items.key(i);
      ++keys.begins[key + 1];
      keys.weights[key] += items.weight(i);
    }
    for (unsigned key = 0; key < keys.size(); ++key) keys.begins[key + 1] += keys.begins[key];
    next_ = place(std::as_const(keys));
    if (next_.empty()) return;
    for (std::uint64_t i = 0; i < count; ++i) sorted[next_[key_of_[i]]++] = items.item(i);
  }

  /// A group is one lane.
  template <class Counters, class Body>
  void for_each_group(std::uint64_t count, Groups, const Body& body) {
    const std::uint64_t grain =
        std::clamp<std::uint64_t>(count / (std::uint64_t{4} * pool_.size()), 1, kGroupsPerBlock);
    pool_.for_each_block(count, grain, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      for (std::uint64_t i = begin; i < end; ++i) {
        Counters counters;
        body(SingleLane{}, i, counters);
        for (unsigned sum = 0; sum != Counters::kSums; ++sum)
          lanes_[thread].group_sums[sum] += counters.value(sum);
      }
    });
  }
  unsigned group_blocks() const { return pool_.size(); }
  /// Runs one i after the other, each on all threads.
  template <class Counters, class BodyOf>
  std::vector<double> for_each_group_concurrently(std::span<const std::uint64_t> counts, Groups groups,
                                                  const BodyOf& body_of, std::span<const unsigned> = {}) {
    for (std::size_t i = 0; i < counts.size(); ++i) for_each_group<Counters>(counts[i], groups, body_of(i));
    return {};
  }
  void group_sums(std::uint64_t* sums) {
    for (unsigned sum = 0; sum < kGroupSums; ++sum) {
      sums[sum] = 0;
      for (Lane& lane : lanes_) sums[sum] += std::exchange(lane.group_sums[sum], 0);
    }
  }

  template <class KeyOf>
  void order_by_key(std::uint64_t count, const KeyOf& key_of, OrderedItems& ordered) {
    check_items(count);
    ordered.items.reserve(device_, count, ordered.purpose);
    ordered.begins[0] = 0;
    order_in_blocks(
        pool_.size(), count, ordered.begins,
        [this](std::uint64_t all, std::uint64_t grain, auto&& body) {
          pool_.for_each_block(all, grain, body);
        },
        [&](std::uint64_t from, std::uint64_t to, const auto& emit) {
          for (std::uint64_t item = from; item < to; ++item) {
            const std::uint32_t key = key_of(item);
            if (key != kNoKey) emit(static_cast<std::uint32_t>(item), key);
          }
        },
        [items = ordered.items.data()](std::uint64_t place, std::uint32_t item, std::uint32_t) {
          items[place] = item;
        });
  }

  std::uint64_t exclusive_sum(std::uint64_t* counts, std::uint64_t size) {
    if (device_.is_planning()) return 0;
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < size; ++i) sum += std::exchange(counts[i], sum);
    return counts[size] = sum;
  }

  void fill(void* memory, int byte, std::uint64_t bytes) {
    if (bytes > 0 && !device_.is_planning()) std::memset(memory, byte, bytes);
  }
  void read(std::uint64_t* to, const unsigned long long* from, std::uint64_t count, const char*) {
    device_.is_planning() ? std::fill_n(to, count, 0) : std::copy_n(from, count, to);
  }
  void wait(const char*) {}
  /// The stream of all operations: null, because each call completes its work.
  void* stream() const { return nullptr; }
  std::uint64_t order_bytes() const { return 0; }
  std::uint64_t launches() const { return 0; }

 private:
  static constexpr std::uint64_t kItemsPerBlock = 1u << 12, kGroupsPerBlock = 16;

 protected:
  /// Calls work(begin, end, lane) over [0, count) in blocks of at most `grain`.
  template <class Work>
  void for_each_block(std::uint64_t count, std::uint64_t grain, const LaneOutput& output, Work&& work) {
    if (count == 0 || device_.is_planning()) return;
    const unsigned threads = count <= grain ? 1 : pool_.size();
    for (unsigned thread = 0; thread < threads; ++thread) lanes_[thread].begin(output);
    pool_.for_each_block(count, grain, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      work(begin, end, lanes_[thread]);
    });
    for (unsigned thread = 0; thread < threads; ++thread) lanes_[thread].end();
  }

  const Device& device_;
  ThreadPool pool_;
  std::vector<Lane> lanes_;  ///< [threads]

 private:
  std::vector<std::uint64_t> next_;  ///< by key, the position of the next item
  std::vector<unsigned> key_of_;     ///< [items]
};

using HostExecutor = HostExecutorOf<HostLane>;
static_assert(Executor<HostExecutor>);

}  // namespace sluice
