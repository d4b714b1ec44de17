// The GPU's side of partitioned/items.hpp: items ordered by partition on the GPU, then one warp an item, or a
// block where the warp leaves it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/exec/algorithms/scan.hpp"
#include "engine/exec/algorithms/sort.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/instance_cuda.cuh"
#include "engine/samples/partitioned/items.hpp"
#include "engine/samples/partitioned/sample_kernels.cuh"

namespace sluice::cuda {

// ---- kernels

/// An item's key; those without one come behind all `keys`.
template <class KeyOf>
__global__ void __launch_bounds__(kSampleBlock)
    item_key_kernel(std::uint64_t items, KeyOf key_of, std::uint32_t keys, std::uint32_t* item_keys,
                    std::uint32_t* entries) {
  const std::uint64_t item = thread_index();
  if (item >= items) return;
  const std::uint32_t key = key_of(item);
  item_keys[item] = key == kNoKey ? keys : key;
  entries[item] = static_cast<std::uint32_t>(item);
}

/// Work on the items that wait for one partition.
template <class Work>
struct WorkOnPage {
  Work work;
  PageItems present;

  template <class Group>
  __device__ bool operator()(const Group& group, std::uint64_t k, PickCounters& counters) const {
    return work(group, present, k, counters);
  }
};

// ---- launchers

class PagedItems {
 public:
  PagedItems(const ResidentGraph::Impl& graph, PartitionCache& cache, RunStats& stats)
      : device_(graph.device),
        cache_(cache),
        stats_(stats),
        counters_(graph.device, 1, "counters"),
        waiting_(cache.partitions(), 0),
        places_(waiting_) {}

  /// As host::PagedItems; a `wide` body gets a block for each index.
  template <class Body>
  void each(std::uint64_t count, const Body& body, bool wide = false) {
    clear_counters();
    stats_.kernel_launches += wide ? launch_wide_instances(count, body, {}, counters_.data(), stream_)
                                   : launch_instances(count, body, nullptr, counters_.data(), stream_);
    take_counters();
  }

  template <class Waits, class Work>
  bool visit(std::uint64_t items, const Waits& waits, const Work& work) {
    const std::uint64_t waiting =
        order(items, OwnerOfItem<Waits>{waits, cache_.owners()}, order_, waiting_, places_);
    clear_counters();
    cache_.drain(waiting_, [&](std::span<const std::uint32_t> present) {
      for (const std::uint32_t partition : present) {
        const std::uint64_t count = waiting_[partition];
        const PageItems some{cache_.page(partition), order_.data() + places_[partition], count,
                             cache_.in_place(partition)};
        stats_.kernel_launches += launch_instances(count, WorkOnPage<Work>{work, some}, left_list(count),
                                                   counters_.data(), stream_);
        waiting_[partition] = 0;
      }
      stream_.wait("samples");  // the slots may be filled anew
    });
    take_counters();
    return waiting > 0;
  }

  template <class KeyOf>
  std::uint64_t order(std::uint64_t items, const KeyOf& key_of, Buffer<std::uint32_t>& order,
                      std::vector<std::uint64_t>& counts, std::vector<std::uint64_t>& places) {
    check_items(items);
    std::ranges::fill(counts, 0);
    if (items == 0) return 0;
    const auto keys = static_cast<std::uint32_t>(counts.size());
    for (Buffer<std::uint32_t>* const buffer : {&keys_, &sorted_keys_, &entries_, &order})
      buffer->reserve(device_, items, kPurpose);
    device_places_.reserve(device_, keys + std::size_t{1}, kPurpose);
    item_key_kernel<<<grid_for(items, kSampleBlock), kSampleBlock, 0, stream_.get()>>>(
        items, key_of, keys, keys_.data(), entries_.data());
    check_launch("item_key_kernel");
    sort_by_key(device_, keys_.data(), sorted_keys_.data(), entries_.data(), order.data(), items,
                static_cast<unsigned>(std::bit_width(keys)), scratch_, stream_.get());
    places_kernel<<<grid_for(keys + std::size_t{1}, kSampleBlock), kSampleBlock, 0, stream_.get()>>>(
        sorted_keys_.data(), items, keys + 1, device_places_.data());
    check_launch("places_kernel");
    stats_.kernel_launches += 2;
    finish();
    std::vector<std::uint64_t> bounds(keys + std::size_t{1});
    copy_to_host(device_, bounds.data(), device_places_.data(), bounds.size() * sizeof(std::uint64_t));
    for (std::uint32_t key = 0; key < keys; ++key)
      places[key] = bounds[key], counts[key] = bounds[key + 1] - bounds[key];
    return bounds.back();
  }

  std::uint64_t sum_up(std::uint64_t* counts, std::uint64_t size) {
    exclusive_sum(device_, counts, counts, size, scratch_, stream_.get());
    finish();
    std::uint64_t total = 0;
    copy_to_host(device_, &total, counts + size, sizeof total);
    return total;
  }
  void finish() const { stream_.wait("samples"); }
  void* stream() const { return stream_.get(); }

  std::uint64_t bytes() const {
    return 3 * keys_.bytes() + order_.bytes() + scratch_.bytes() + left_capacity_ * sizeof(std::uint64_t);
  }

 private:
  static constexpr const char* kPurpose = "the queue of lists";

  const LeftList* left_list(std::uint64_t count) {
    if (count > left_capacity_) {
      finish();
      left_.reset();
      left_capacity_ = 0;
      left_.emplace(device_, count);
      left_capacity_ = count;
    }
    return &*left_;
  }

  void clear_counters() const {
    check(cudaMemsetAsync(counters_.data(), 0, sizeof(InstanceCounters), stream_.get()), "cudaMemsetAsync");
  }
  void take_counters() {
    finish();
    InstanceCounters done{};
    copy_to_host(device_, &done, counters_.data(), sizeof done);
    stats_.selection_iterations += done.iterations, stats_.collision_searches += done.searches;
    stats_.mapped_bytes += done.read;
  }

  const Device& device_;
  PartitionCache& cache_;
  RunStats& stats_;
  Stream stream_;
  Buffer<InstanceCounters> counters_;
  Buffer<std::uint32_t> keys_, sorted_keys_, entries_, order_;
  Buffer<std::uint64_t> device_places_;
  Buffer<unsigned char> scratch_;
  std::optional<LeftList> left_;
  std::uint64_t left_capacity_ = 0;
  std::vector<std::uint64_t> waiting_;  ///< [partitions]
  std::vector<std::uint64_t> places_;   ///< [partitions] where they begin in the order
};

}  // namespace sluice::cuda
