// Brings partitions of a graph to the device, and works on present partitions while the next ones are copied.
// drain() brings partitions where most work waits: for walks and samples, whose work moves on to other
// partitions. sweep() brings each partition once a round. The cache is independent of the kind of work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/core/function_ref.hpp"
#include "engine/memory/owned_partitions.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/memory/schedule/scheduler.hpp"
#include "engine/memory/schedule/transport.hpp"
#include "engine/memory/slots.hpp"
#include "engine/memory/traffic.hpp"

namespace sluice {

/// How a run reads present partitions.
struct AccessPattern {
  double picks = 0;         ///< edges that one visit to a list draws, about; 0: all, partitions are copied
  std::uint64_t steps = 0;  ///< further lists that each work item visits, in any partition
  bool visits_once = false;  ///< drain() visits each waiting list once, and no work moves on
};

class PartitionCache {
 public:
  /// Works on these present partitions; the work is complete when it returns.
  using Work = std::function<void(std::span<const std::uint32_t>)>;

  /// Keeps references to the device and to `offsets`, which `plan` cuts. Throws BudgetError.
  /// `present_views`: views of all partitions, if none need be brought.
  PartitionCache(const Device& device, std::span<const EdgeIndex> offsets, const PageRequest& pages,
                 PagedPlan plan, const PagingOptions& paging, const AccessPattern& use,
                 std::span<const PageView> present_views = {});
  /// A cache of a graph's out-lists.
  PartitionCache(const ResidentGraph::Impl& graph, const PageRequest& pages, PagedPlan plan,
                 const AccessPattern& use);

  /// Works on the busiest partitions until at most `max_left` items wait for this rank's. If any items are
  /// left, their partitions are being brought. `waiting` counts work by partition; `work` keeps it up to
  /// date.
  void drain(std::span<const std::uint64_t> waiting, const Work& work, std::uint64_t max_left = 0);
  /// Passes every partition with work to `work` once, present ones first; meanwhile the next ones are
  /// brought, the busiest first. Partitions without work are not brought. No load of drain() may be under
  /// way.
  void sweep(std::span<const std::uint64_t> waiting, const Work& work);
  /// Brings those of `wanted` that are not present, in place of others. Together they must fit the slots.
  void make_resident(std::span<const std::uint32_t> wanted);
  /// Holds all of `wanted`, then works once.
  void work_on_all(std::span<const std::uint32_t> wanted, std::span<const std::uint64_t> waiting,
                   const std::function<void()>& work);

  const PagingOptions& paging() const { return paging_; }
  const PagedPlan& plan() const { return plan_; }
  std::uint32_t partitions() const { return static_cast<std::uint32_t>(plan_.partitions.size()); }
  /// The partitions that this rank works on.
  const OwnedPartitions& owned_partitions() const { return owned_; }
  /// The columns of a present partition.
  const PageView& page(std::uint32_t partition) const { return slots_.page(partition); }
  /// True if the partition is in a slot; the number of slots without one.
  bool resident(std::uint32_t partition) const { return scheduler_.resident(partition); }
  unsigned empty_slots() const { return scheduler_.empty(); }
  /// True if the partition is read in place.
  bool in_place(std::uint32_t partition) const { return slots_.in_place(partition); }
  /// Partitions as ranges of vertices, in device memory. Throws BudgetError.
  OwnershipView owners() { return slots_.owners(); }
  /// The look-up of present partitions, in device memory; valid for one round of work.
  PageMap publish() { return slots_.publish().map; }
  /// As publish(), with the results of each(page) for all slots: [slots].
  template <class Each>
  auto publish(const Each& each) {
    using Item = std::invoke_result_t<const Each&, const PageView&>;
    static_assert(std::is_trivially_copyable_v<Item>);
    const auto [map, extra] = publish_with(sizeof(Item), [&](const PageView& page, std::byte* out) {
      const Item item = each(page);
      std::memcpy(out, &item, sizeof item);
    });
    return std::pair(map, reinterpret_cast<const Item*>(extra));
  }

  /// Everything brought so far.
  Traffic traffic() const;
  /// Adds what was brought since the last call, and the rounds of work, to a run's figures.
  void count(RunStats& stats);

 private:
  /// As publish(), with `bytes` bytes that `write` fills for each slot.
  Slots::Published publish_with(std::size_t bytes, FunctionRef<void(const PageView&, std::byte*)> write);
  void run_round(std::vector<std::uint64_t> loadable, std::span<const std::uint64_t> waiting,
                 const Work& work);
  std::vector<std::uint32_t> choose_mapped(std::span<const std::uint64_t> waiting);
  void work_on(std::span<const std::uint32_t> present, std::span<const std::uint32_t> mapped,
               const Work& work);
  unsigned spare_slots() const;
  bool may_load(std::uint32_t partition, std::span<const std::uint64_t> waiting) const;
  void free_slots(std::span<const std::uint64_t> waiting);
  void move(const PartitionMoves& moves);

  PagedPlan plan_;
  PagingOptions paging_;
  OwnedPartitions owned_;
  std::uint64_t steps_;
  bool visits_once_;
  Slots slots_;
  TransportChoice transport_;
  Scheduler scheduler_;
  Traffic counted_;  ///< already added by count()
  std::uint64_t rounds_ = 0, mapped_rounds_ = 0;
};

}  // namespace sluice
