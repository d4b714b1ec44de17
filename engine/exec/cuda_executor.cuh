// The executor of a GPU (executor.hpp): each operation launches kernels.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/algorithms/scan.hpp"
#include "engine/exec/algorithms/sort.hpp"
#include "engine/exec/cuda_groups.cuh"
#include "engine/exec/cuda_lane.cuh"
#include "engine/exec/executor.hpp"
#include "engine/exec/grid.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/occupancy.cuh"
#include "engine/exec/stream.cuh"

namespace sluice::cuda {

// ---- kernels

template <class Body>
__global__ void __launch_bounds__(kTeamBlock)
    for_each_kernel(std::uint64_t count, LaneOutput output, Body body) {
  CudaLane lane(output);
  for (std::uint64_t i = GridTeam{}.rank(); i < count; i += GridTeam{}.size()) body(i, lane);
  __syncwarp();
  lane.report();
}

/// The lanes of a warp whose items have the same key. They update the key's counters together: with few keys,
/// the atomics of all lanes would wait for each other.
struct KeyPeers {
  unsigned lanes;

  __device__ explicit KeyPeers(unsigned key) : lanes(__match_any_sync(__activemask(), key)) {}
  __device__ bool is_leader() const {
    return threadIdx.x % kWarp == static_cast<unsigned>(__ffs(static_cast<int>(lanes))) - 1;
  }
  __device__ unsigned size() const { return static_cast<unsigned>(__popc(lanes)); }
  /// The sum over these lanes of values below 2^52.
  __device__ unsigned long long sum(std::uint64_t value) const {
    constexpr unsigned kHalf = 26;
    const unsigned low = __reduce_add_sync(lanes, static_cast<unsigned>(value & ((1u << kHalf) - 1)));
    return low + (std::uint64_t{__reduce_add_sync(lanes, static_cast<unsigned>(value >> kHalf))} << kHalf);
  }
};

/// Counts the items of each key and adds up their weights.
template <class Items>
struct CountKeys {
  Items items;
  unsigned keys;
  unsigned long long* counts;  ///< [2][keys] items, then weights

  __device__ void operator()(std::uint64_t i, CudaLane&) const {
    const unsigned key = items.key(i);
    const std::uint64_t item_weight = items.weight(i);
    const KeyPeers peers(key);
    const unsigned long long weight = peers.sum(item_weight);
    if (!peers.is_leader()) return;
    atomicAdd(counts + key, static_cast<unsigned long long>(peers.size()));
    atomicAdd(counts + keys + key, weight);
  }
};

template <class Items>
struct ScatterByKey {
  Items items;
  unsigned long long* places;  ///< [keys] the position of the next item
  Vertex* sorted;

  __device__ void operator()(std::uint64_t i, CudaLane&) const {
    const unsigned key = items.key(i);
    sorted[claim_position(places, key)] = items.item(i);
  }
};

// ---- the executor

class CudaExecutor {
 public:
  using Lane = CudaLane;

  explicit CudaExecutor(const Device& device)
      : device_(device),
        sums_(device, kGroupSums, "counters"),
        deferred_counts_(device, SideStreams::kMaxStreams, "counters"),
        read_(device, kReadChunk, "counts") {
    fill(sums_.data(), 0, sums_.bytes());
  }
  CudaExecutor(const CudaExecutor&) = delete;
  CudaExecutor& operator=(const CudaExecutor&) = delete;
  ~CudaExecutor() { cudaStreamSynchronize(stream_.get()); }  // running kernels use the buffers

  template <class Body>
  void for_each(std::uint64_t count, const LaneOutput& output, const Body& body) {
    if (count == 0 || device_.is_planning()) return;
    unsigned blocks = grid(count);
    if constexpr (requires { Body::kInOrder; }) blocks = grid_for(count, kTeamBlock);
    for_each_kernel<<<blocks, kTeamBlock, 0, stream_.get()>>>(count, output, body);
    count_launch();
  }

  template <class Items, class Place = PlaceInOrder>
  void sort_by_key(const Items& items, std::uint64_t count, Vertex* sorted, KeyCounts& keys,
                   const Place& place = {}) {
    const unsigned size = keys.size();
    unsigned long long *const counts = keys.counters, *const next = counts + 2 * std::size_t{size};
    fill(counts, 0, 2 * std::size_t{size} * sizeof *counts);
    for_each(count, {}, CountKeys<Items>{items, size, counts});
    std::vector<std::uint64_t> read_counts(2 * std::size_t{size});
    read(read_counts.data(), counts, read_counts.size(), "counting by key");
    keys.begins.assign(size + std::size_t{1}, 0);
    for (unsigned key = 0; key < size; ++key) {
      keys.begins[key + 1] = keys.begins[key] + read_counts[key];
      keys.weights[key] = read_counts[size + key];
    }
    const std::vector<std::uint64_t>& places = place(std::as_const(keys));
    if (places.empty()) return;
    copy_to_device(device_, next, places.data(), size * sizeof *next);
    for_each(count, {}, ScatterByKey<Items>{items, next, sorted});
  }

  template <class Counters, class Body>
  void for_each_group(std::uint64_t count, Groups groups, const Body& body) {
    reserve_deferred(groups, count);
    launch_groups<Counters>(stream_, count, groups, body, {deferred_.data(), deferred_counts_.data()});
  }
  unsigned group_blocks() const { return multiprocessors() * kResidentGroupBlocks; }
  template <class Counters, class BodyOf>
  std::vector<double> for_each_group_concurrently(std::span<const std::uint64_t> counts, Groups groups,
                                                  const BodyOf& body_of,
                                                  std::span<const unsigned> shares = {}) {
    std::uint64_t before = 0;
    for (const std::uint64_t count : counts) before += count;
    reserve_deferred(groups, before);
    const std::size_t streams = std::min(counts.size(), SideStreams::kMaxStreams);
    const bool timed = !shares.empty() && counts.size() == streams;
    for (std::size_t i = 0; i < streams; ++i) {
      side_streams_[i].fork_from(stream_);
      if (timed) side_streams_.start(i);
    }
    before = 0;
    for (std::size_t i = 0; i < counts.size(); before += counts[i++]) {
      const std::size_t stream_index = i % streams;
      launch_groups<Counters>(side_streams_[stream_index], counts[i], groups, body_of(i),
                              {deferred_.data() + before, deferred_counts_.data() + stream_index},
                              shares.empty() ? ~0u : shares[i]);
    }
    for (std::size_t i = 0; i < streams; ++i) {
      if (timed) side_streams_.stop(i);
      side_streams_[i].join_into(stream_);
    }
    if (!timed) return {};
    wait("groups");
    return side_streams_.seconds(streams);
  }
  void group_sums(std::uint64_t* sums) {
    read(sums, sums_.data(), kGroupSums, "groups");
    fill(sums_.data(), 0, sums_.bytes());
  }

  template <class KeyOf>
  void order_by_key(std::uint64_t count, const KeyOf& key_of, OrderedItems& ordered) {
    check_items(count);
    std::ranges::fill(ordered.begins, 0);
    if (count == 0) return;
    const std::uint32_t keys = ordered.keys();
    for (Buffer<std::uint32_t>* const buffer : {&keys_, &sorted_keys_, &items_, &ordered.items})
      buffer->reserve(device_, count, ordered.purpose);
    begins_.reserve(device_, ordered.begins.size(), ordered.purpose);
    for_each(count, {}, KeyItems<KeyOf>{key_of, keys, keys_.data(), items_.data()});
    cuda::sort_by_key(device_, keys_.data(), sorted_keys_.data(), items_.data(), ordered.items.data(), count,
                      static_cast<unsigned>(std::bit_width(keys)), scratch_, stream_.get());
    for_each(ordered.begins.size(), {}, FindKeys{sorted_keys_.data(), count, begins_.data()});
    wait("a sort");
    copy_to_host(device_, ordered.begins.data(), begins_.data(),
                 ordered.begins.size() * sizeof(std::uint64_t));
  }

  std::uint64_t exclusive_sum(std::uint64_t* counts, std::uint64_t size) {
    cuda::exclusive_sum(device_, counts, counts, size, scratch_, stream_.get());
    std::uint64_t total = 0;
    read(&total, reinterpret_cast<const unsigned long long*>(counts + size), 1, "a sum");
    return total;
  }

  void fill(void* memory, int byte, std::uint64_t bytes) {
    if (bytes > 0 && !device_.is_planning())
      check(cudaMemsetAsync(memory, byte, bytes, stream_.get()), "clearing memory");
  }
  /// Copies after all operations before it, and waits.
  void read(std::uint64_t* to, const unsigned long long* from, std::uint64_t count, const char* label) {
    if (device_.is_planning()) return static_cast<void>(std::fill_n(to, count, 0));
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t chunk = std::min(count - done, kReadChunk);
      check(cudaMemcpyAsync(read_.data(), from + done, chunk * sizeof(std::uint64_t), cudaMemcpyDeviceToHost,
                            stream_.get()),
            "reading counts");
      stream_.wait(label);
      std::copy_n(read_.data(), chunk, to + done);
      done += chunk;
    }
  }
  void wait(const char* label) { stream_.wait(label); }
  void* stream() const { return stream_.get(); }
  /// The stream of all operations, for a caller's own kernels.
  const Stream& cuda_stream() const { return stream_; }
  /// Bytes that order_by_key() and groups have allocated.
  std::uint64_t order_bytes() const {
    return keys_.bytes() + sorted_keys_.bytes() + items_.bytes() + scratch_.bytes() + deferred_.bytes();
  }

  std::uint64_t launches() const { return launches_; }

 protected:
  static constexpr unsigned kMaxBlocks = 1024;  ///< threads loop over further vertices

  static unsigned grid(std::uint64_t count) { return std::min(grid_for(count, kTeamBlock), kMaxBlocks); }
  void count_launch() {
    check_launch("a round's kernel");
    ++launches_;
  }

 private:
  static constexpr std::uint64_t kReadChunk = 1024;

  void reserve_deferred(Groups groups, std::uint64_t count) {
    if (groups != Groups::warps_then_blocks) return;
    if (count > deferred_.size()) wait("groups");  // running kernels use the list
    deferred_.reserve(device_, count, "work deferred to blocks");
  }
  /// Launches at most `max_blocks` blocks per kernel.
  template <class Counters, class Body>
  void launch_groups(const Stream& stream, std::uint64_t count, Groups groups, const Body& body,
                     DeferredIndices deferred, unsigned max_blocks = ~0u) {
    if (count == 0) return;
    if (groups == Groups::warps_then_blocks) {
      check(cudaMemsetAsync(deferred.count, 0, sizeof *deferred.count, stream.get()), "clearing memory");
    } else {
      deferred = {};
    }
    if (groups != Groups::blocks) {
      warps_kernel<Counters>
          <<<std::min(grid_for(count * kWarp, kGroupBlock), max_blocks), kGroupBlock, 0, stream.get()>>>(
              count, body, deferred, sums_.data());
      count_launch();
    }
    if (groups == Groups::warps) return;
    const auto blocks = std::min<std::uint64_t>(count, std::min(group_blocks(), max_blocks));
    blocks_kernel<Counters>
        <<<static_cast<unsigned>(blocks), kWideBlock, 0, stream.get()>>>(count, body, deferred, sums_.data());
    count_launch();
  }

  const Device& device_;
  Stream stream_;
  Buffer<unsigned long long> sums_, deferred_counts_;  ///< [kGroupSums] of groups, [SideStreams::kMaxStreams]
  Buffer<std::uint64_t> deferred_;                     ///< indices that warps left to blocks
  Buffer<std::uint32_t> keys_, sorted_keys_, items_;  ///< of order_by_key()
  Buffer<std::uint64_t> begins_;
  Buffer<unsigned char> scratch_;
  Staging<std::uint64_t> read_;
  std::uint64_t launches_ = 0;
  SideStreams side_streams_;  // the last member: its kernels end before the memory that they use
};

static_assert(Executor<CudaExecutor>);

}  // namespace sluice::cuda
