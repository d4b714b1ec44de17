// Work on many lists of a graph in partitions: items in any number, each worked on when the partition that
// holds its list is here. The host's side; partitioned/items_cuda.cuh has the GPU's, of the same interface.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/group.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/order_by_key.hpp"
#include "engine/select/taken.hpp"

namespace sluice {

/// The items that wait for one partition, which is here.
struct PageItems {
  PageView page;
  const std::uint32_t* order;  ///< [count] ascending
  std::uint64_t count;
  bool in_place;  ///< is the partition read in place?

  /// Notes what a group has looked at of the lists here.
  template <class Group>
  SLUICE_HD void note(const Group& group, std::uint64_t bytes, PickCounters& counters) const {
    if (in_place && group.rank() == 0) counters.read += bytes;
  }

  /// The graph as it is seen from here: only this partition's edges may be read.
  SLUICE_HD GraphView of(GraphView graph) const {
    graph.csr.targets = page.targets;
    graph.csr.weights = page.weights;
    return graph;
  }
};

/// The partition, or the rank, that has the list that an item waits for; kNoKey: it does not wait.
template <class Waits>
struct OwnerOfItem {
  Waits waits;
  OwnershipView owners;

  SLUICE_HD std::uint32_t operator()(std::uint64_t item) const {
    const Vertex v = waits(item);
    return v == kNoVertex ? kNoKey : owners.owner(v);
  }
};

/// Device memory that the queue of an item takes.
inline std::uint64_t paged_item_bytes(const Device& device) {
  constexpr std::uint64_t kNumber = sizeof(std::uint32_t);
  return device.is_cuda() ? 8 * kNumber : kNumber;  // keys, entries and both sorted; the sort's; hubs left
}

namespace host {

class PagedItems {
 public:
  PagedItems(const ResidentGraph::Impl& graph, PartitionCache& cache, RunStats& stats)
      : device_(graph.device),
        cache_(cache),
        stats_(stats),
        waiting_(cache.partitions(), 0),
        places_(waiting_) {}

  /// Calls body(group, index, counters) for every index below `count`. `wide` is for GPUs.
  template <class Body>
  void each(std::uint64_t count, const Body& body, bool /*wide*/ = false) {
    constexpr std::uint64_t kGrain = 16;
    struct Totals {
      std::uint64_t iterations = 0, searches = 0, read = 0;
    };
    std::vector<Totals> totals(device_.threads());
    parallel_blocks(device_.threads(), count, kGrain,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      for (std::uint64_t i = from; i < to; ++i) {
                        PickCounters counters;
                        body(SingleLane{}, i, counters);
                        totals[thread].iterations += counters.iterations;
                        totals[thread].searches += counters.searches;
                        totals[thread].read += counters.read;
                      }
                    });
    for (const Totals& each : totals) {
      stats_.selection_iterations += each.iterations, stats_.collision_searches += each.searches;
      stats_.mapped_bytes += each.read;
    }
  }

  /// Of the items below `items`, those for which waits(item) is a vertex and not kNoVertex: calls
  /// work(group, here, k, counters) for here.order[k] when the vertex's list is here. False: no item waits.
  template <class Waits, class Work>
  bool visit(std::uint64_t items, const Waits& waits, const Work& work) {
    const std::uint64_t waiting =
        order(items, OwnerOfItem<Waits>{waits, cache_.owners()}, order_, waiting_, places_);
    cache_.drain(waiting_, [&](std::span<const std::uint32_t> present) {
      for (const std::uint32_t partition : present) {
        const PageItems some{cache_.page(partition), order_.data() + places_[partition], waiting_[partition],
                             cache_.in_place(partition)};
        each(some.count, [&](const auto& group, std::uint64_t k, PickCounters& counters) {
          work(group, some, k, counters);
        });
        waiting_[partition] = 0;
      }
    });
    return waiting > 0;
  }

  /// As order_by_key.
  template <class KeyOf>
  std::uint64_t order(std::uint64_t items, const KeyOf& key_of, Buffer<std::uint32_t>& order,
                      std::vector<std::uint64_t>& counts, std::vector<std::uint64_t>& places) const {
    return order_by_key(device_, items, key_of, order, counts, places);
  }

  /// Turns counts[0 .. size) into exclusive sums, counts[size] being the total, which is returned.
  std::uint64_t sum_up(std::uint64_t* counts, std::uint64_t size) const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < size; ++i) sum += std::exchange(counts[i], sum);
    return counts[size] = sum;
  }
  /// All that was asked for is done.
  void finish() const {}
  /// In whose order work is done; null: at once.
  void* stream() const { return nullptr; }
  std::uint64_t bytes() const { return order_.bytes(); }

 private:
  const Device& device_;
  PartitionCache& cache_;
  RunStats& stats_;
  Buffer<std::uint32_t> order_;         ///< items by partition
  std::vector<std::uint64_t> waiting_;  ///< [partitions]
  std::vector<std::uint64_t> places_;   ///< [partitions] where they begin in the order
};

}  // namespace host
}  // namespace sluice
