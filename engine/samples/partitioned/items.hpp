// Work on many lists of a graph in partitions: a group works on each item when the partition that holds the
// item's list is resident.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/memory/schedule/balance.hpp"
#include "engine/samples/partitioned/setup.hpp"
#include "engine/select/taken.hpp"

namespace sluice::samples {

/// The items that wait for one resident partition.
struct PageItems {
  PageView page;
  const std::uint32_t* order;  ///< [count] ascending items; null: all items, on a whole graph
  std::uint64_t count;
  bool in_place;  ///< true if the partition is read in place

  SLUICE_HD std::uint64_t item(std::uint64_t k) const { return order ? order[k] : k; }
  /// Counts `bytes` that a group reads from lists of a partition that is read in place.
  template <class Group>
  SLUICE_HD void count_read(const Group& group, std::uint64_t bytes, PickCounters& counters) const {
    if (in_place && group.rank() == 0) counters.bytes_read += bytes;
  }

  /// The graph with the edges of this partition; no other edges may be read.
  SLUICE_HD GraphView with_edges(GraphView graph) const {
    if (!order) return graph;
    graph.csr.targets = page.targets;
    graph.csr.weights = page.weights;
    return graph;
  }
};

/// The partition or rank that owns the list for which an item waits; kNoKey if the item does not wait.
/// items.awaited_vertex(item) returns the list's vertex, or kNoVertex.
template <class Items>
struct OwnerOfItem {
  Items items;
  OwnershipView owners;

  SLUICE_HD std::uint32_t operator()(std::uint64_t item) const {
    const Vertex v = items.awaited_vertex(item);
    return v == kNoVertex ? kNoKey : owners.owner(v);
  }
};

/// Work on the items that wait for one partition.
template <class Work>
struct WorkOnPage {
  Work work;
  PageItems page_items;

  template <class Group>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t k, PickCounters& counters) const {
    return work(group, page_items, k, counters);
  }
};

/// Device memory of one queued item.
inline std::uint64_t paged_item_bytes(const Device& device) {
  constexpr std::uint64_t kNumber = sizeof(std::uint32_t);
  return device.is_cuda() ? 8 * kNumber : kNumber;  // keys, items, both sorted; sort scratch; hubs for blocks
}

/// An executor of groups whose counters are added to a run's statistics.
template <Executor E>
class GroupWork {
 public:
  GroupWork(const Device& device, RunStats& stats) : executor_(device), stats_(stats) {}

  E& executor() { return executor_; }
  /// Calls body(group, index, counters) for every index below `count`.
  template <class Body>
  void for_each_group(std::uint64_t count, const Body& body, Groups groups = Groups::warps) {
    executor_.template for_each_group<PickCounters>(count, groups, body);
    finish();
  }
  /// Waits for the launched work and adds its counters to the statistics.
  void finish() {
    std::uint64_t sums[kGroupSums];
    executor_.group_sums(sums);
    stats_.selection_iterations += sums[0], stats_.collision_searches += sums[1];
    stats_.mapped_bytes += sums[2];
    stats_.kernel_launches += executor_.launches() - launches_;
    launches_ = executor_.launches();
  }

 private:
  E executor_;
  RunStats& stats_;
  std::uint64_t launches_ = 0;  ///< launches that the statistics contain
};

template <Executor E>
class PagedItems : public GroupWork<E> {
 public:
  PagedItems(const ResidentGraph::Impl& graph, PartitionCache& cache, RunStats& stats)
      : GroupWork<E>(graph.device, stats),
        cache_(cache),
        stats_(stats),
        one_by_one_(graph.peers != nullptr),
        order_(cache.partitions(), "the queue of lists") {}

  /// For each item below `items` for which work.awaited_vertex(item) is not kNoVertex: calls
  /// work(group, page_items, k, counters), item = page_items.item(k), when the vertex's list is resident.
  /// Resident partitions are worked on concurrently, but partitions in other GPUs' memory one by one: a GPU
  /// resolves few addresses there at a time (StretchOfEntry). Returns false if no item waits.
  template <class Work>
  bool visit(std::uint64_t items, const Work& work) {
    E& executor = this->executor();
    executor.order_by_key(items, OwnerOfItem<Work>{work, cache_.owners()}, order_);
    std::vector<std::uint64_t> waiting = order_.counts();
    cache_.drain(waiting, [&](std::span<const std::uint32_t> present) {
      const std::size_t step = one_by_one_ ? 1 : present.size();
      for (; !present.empty(); present = present.subspan(step)) work_on(present.first(step), waiting, work);
      executor.wait("samples");  // the slots may be overwritten
    });
    this->finish();
    return order_.size() > 0;
  }
  std::uint64_t bytes() { return order_.items.bytes() + this->executor().order_bytes(); }

 private:
  template <class Work>
  void work_on(std::span<const std::uint32_t> partitions, std::vector<std::uint64_t>& waiting,
               const Work& work) {
    E& executor = this->executor();
    const Balance balance = cache_.paging().balance;
    std::vector<std::uint64_t> counts;
    for (const std::uint32_t p : partitions) counts.push_back(std::exchange(waiting[p], 0));
    std::vector<unsigned> shares;
    if (balance != Balance::automatic) shares = shares_of(counts, executor.group_blocks(), balance);
    const auto on_page = [&](std::size_t i) {
      const std::uint32_t p = partitions[i];
      return WorkOnPage<Work>{
          work, {cache_.page(p), order_.items.data() + order_.begins[p], counts[i], cache_.in_place(p)}};
    };
    stats_.kernels.add(executor.template for_each_group_concurrently<PickCounters>(
        counts, Groups::warps_then_blocks, on_page, shares));
  }

  PartitionCache& cache_;
  RunStats& stats_;
  bool one_by_one_;     ///< works on one partition after another
  OrderedItems order_;  ///< items by partition
};

/// As PagedItems, on a whole graph, where every list is resident.
template <Executor E>
class ResidentItems : public GroupWork<E> {
 public:
  ResidentItems(const ResidentGraph::Impl& graph, RunStats& stats)
      : GroupWork<E>(graph.device, stats),
        groups_(graph.view.hub_count > 0 ? Groups::warps_then_blocks : Groups::warps) {}

  template <class Work>
  bool visit(std::uint64_t items, const Work& work) {
    this->for_each_group(items, WorkOnPage<Work>{work, {{}, nullptr, items, false}}, groups_);
    return items > 0;
  }
  std::uint64_t bytes() { return 0; }

 private:
  Groups groups_;
};

}  // namespace sluice::samples
