// The host's executor (executor.hpp): threads that claim blocks of the work. A thread appends to a buffer of
// its own for each list, so that an atomic is paid for some tens of vertices at once, and adds to sums of its
// own, which go to those of all when the operation ends.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <vector>

#include "engine/exec/device.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/level_bins.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice {

/// One thread's output.
class alignas(64) HostLane {
 public:
  static constexpr bool kBinsByLevel = true;

  // Bodies are compiled for devices too, where they never meet this lane.
  SLUICE_HD void append(unsigned list, Vertex v) {
#if !defined(__CUDA_ARCH__)
    AppendBuffer& buffer = buffers_[list];
    buffer.vertices[buffer.size++] = v;
    if (buffer.size == kBuffered) flush(list);
#endif
  }
  SLUICE_HD void bin(Vertex v, std::uint64_t level) {
#if !defined(__CUDA_ARCH__)
    levels_->note(*bins_, v, level);
#endif
  }
  SLUICE_HD void beyond(Vertex v) {
#if !defined(__CUDA_ARCH__)
    levels_->note_beyond(*bins_, v);
#endif
  }
  SLUICE_HD void lowest(unsigned long long value) {
    lowest_ = value < lowest_ ? value : lowest_;
  }
  SLUICE_HD void add(unsigned sum, unsigned long long value) {
    sums_[sum] += value;
  }

  void begin(const LaneOutput& output, LevelBins& levels, unsigned thread) {
    output_ = output;
    if (buffers_.size() < output.number) buffers_.resize(output.number);
    levels_ = &levels, bins_ = &levels.of(thread);
  }
  /// Writes what is buffered.
  void end() {
    for (unsigned list = 0; list < output_.number; ++list)
      if (buffers_[list].size > 0) flush(list);
    for (unsigned i = 0; i < LaneOutput::kSums; ++i) {
      if (sums_[i] != 0) std::atomic_ref(output_.sums[i]).fetch_add(sums_[i], std::memory_order_relaxed);
      sums_[i] = 0;
    }
    if (lowest_ == ~0ull) return;
    const std::atomic_ref lowest(*output_.lowest);
    for (auto known = lowest.load(); lowest_ < known && !lowest.compare_exchange_weak(known, lowest_);) {
    }
    lowest_ = ~0ull;
  }

 private:
  static constexpr unsigned kBuffered = 64;
  struct AppendBuffer {
    unsigned size = 0;
    std::array<Vertex, kBuffered> vertices;
  };

  void flush(unsigned list) {
    AppendBuffer& buffer = buffers_[list];
    const auto at = std::atomic_ref(output_.sizes[list]).fetch_add(buffer.size, std::memory_order_relaxed);
    std::memcpy(output_.lists + output_.begins[list] + at, buffer.vertices.data(),
                buffer.size * sizeof(Vertex));
    buffer.size = 0;
  }

  LaneOutput output_;
  LevelBins* levels_ = nullptr;
  LevelBins::ThreadBins* bins_ = nullptr;
  std::vector<AppendBuffer> buffers_;  ///< by list
  unsigned long long sums_[LaneOutput::kSums] = {};
  unsigned long long lowest_ = ~0ull;
};

class HostExecutor {
 public:
  static constexpr bool kBinsByLevel = true;

  HostExecutor(const Device& device, std::uint64_t /*edges*/)
      : pool_(device.threads()), levels_(pool_), lanes_(pool_.size()) {}

  /// Vertices that wait, by level.
  LevelBins& levels() { return levels_; }

  template <class Body>
  void for_each(std::uint64_t count, const LaneOutput& output, const Body& body) {
    blocks(count, kItemsAtOnce, output, [&](std::uint64_t begin, std::uint64_t end, HostLane& lane) {
      const Body local = body;  // no store through a pointer can change it
      for (std::uint64_t i = begin; i < end; ++i) local(i, lane);
    });
  }

  template <class Body>
  void for_each_edge(const VertexRange& vertices, const LaneOutput& output, const Body& body) {
    blocks(vertices.count, kListsAtOnce, output, [&](std::uint64_t begin, std::uint64_t end, HostLane& lane) {
      const Body local = body;
      std::uint64_t edges = 0;
      for (std::uint64_t i = begin; i < end; ++i) {
        const Vertex u = vertices[i];
        if (!local.sends(u)) continue;
        const EdgeIndex* const list = vertices.offsets + (u - vertices.first);
        const EdgeIndex last = list[1];
        edges += last - list[0];
        for (EdgeIndex e = list[0]; e < last; ++e) local.edge(u, e, lane);
      }
      lane.add(0, edges);
    });
  }

  template <class Body>
  void first_edge(const RowRange& rows, const LaneOutput& output, const Body& body) {
    const EdgeIndex* const offsets = rows.offsets;
    const auto search = [&](std::uint64_t begin, std::uint64_t end, HostLane& lane) {
      const Body local = body;
      std::uint64_t edges = 0;
      for (std::uint64_t row = rows.begin + begin; row < rows.begin + end; ++row) {
        if (!local.wants(row)) continue;
        if constexpr (requires { local.prefetch(EdgeIndex{}); })
          if (row + kListsAhead < rows.end) local.prefetch(offsets[row + kListsAhead]);
        const EdgeIndex first = offsets[row], last = offsets[row + 1];
        EdgeIndex e = first;
        while (e < last && !local.hits(e)) ++e;
        edges += std::min(e + 1, last) - first;
        if (e < last) local.take(row, e, lane);
      }
      lane.add(0, edges);
    };
    blocks(rows.end - rows.begin, kItemsAtOnce, output, search);
  }

  /// In one thread: the items of a round are few beside their edges.
  template <class Items>
  void sort_by_key(const Items& items, std::uint64_t count, Vertex* sorted, KeyCounts& keys) {
    keys.begins.assign(keys.size() + 1, 0);
    std::ranges::fill(keys.weights, 0);
    for (std::uint64_t i = 0; i < count; ++i) {
      const unsigned key = items.key(i);
      ++keys.begins[key + 1];
      keys.weights[key] += items.weight(i);
    }
    for (unsigned key = 0; key < keys.size(); ++key) keys.begins[key + 1] += keys.begins[key];
    next_.assign(keys.begins.begin(), keys.begins.end());
    for (std::uint64_t i = 0; i < count; ++i) sorted[next_[items.key(i)]++] = items.item(i);
  }

  void fill(void* at, int byte, std::uint64_t bytes) {
    if (bytes > 0) std::memset(at, byte, bytes);
  }
  void read(std::uint64_t* to, const unsigned long long* from, std::uint64_t count, const char*) {
    std::copy_n(from, count, to);
  }
  void wait(const char*) {}
  std::uint64_t launches() const { return 0; }

 private:
  static constexpr std::uint64_t kItemsAtOnce = 1u << 12, kListsAtOnce = 64;
  /// A search reads the beginning of a list, which is prefetched so many rows before.
  static constexpr std::uint64_t kListsAhead = 8;

  /// Calls work(begin, end, lane) over [0, count) in blocks of at most `grain`.
  template <class Work>
  void blocks(std::uint64_t count, std::uint64_t grain, const LaneOutput& output, Work&& work) {
    if (count == 0) return;
    const unsigned threads = count <= grain ? 1 : pool_.size();
    for (unsigned thread = 0; thread < threads; ++thread) lanes_[thread].begin(output, levels_, thread);
    pool_.blocks(count, grain, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      work(begin, end, lanes_[thread]);
    });
    for (unsigned thread = 0; thread < threads; ++thread) lanes_[thread].end();
  }

  ThreadPool pool_;
  LevelBins levels_;
  std::vector<HostLane> lanes_;      ///< [threads]
  std::vector<std::uint64_t> next_;  ///< by key, where the next item goes
};

static_assert(Executor<HostExecutor>);

}  // namespace sluice
