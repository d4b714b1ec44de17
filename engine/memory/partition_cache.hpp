// The partitions of a graph on their way to the device and back: what is here is worked on while the next
// ones come. Partitions come where most work waits, for walks and samples, whose work moves on to other
// partitions; or each partition comes once a round, for sweeps. Knows nothing of the work itself.
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

/// How a run reads what is here.
struct PageUse {
  double picks = 0;         ///< edges that one visit to a list draws, about; 0: all, partitions are copied
  std::uint64_t steps = 0;  ///< through so many other lists work goes on, wherever they are
  bool once = false;        ///< does drain() visit each list that waits once, and work goes on from none?
};

class PartitionCache {
 public:
  /// Works on these partitions, which are here, and is done when it returns.
  using Work = std::function<void(std::span<const std::uint32_t>)>;

  /// Keeps references to the device and to `offsets`, which `plan` cuts. Throws UsageError where the
  /// transport that is asked for is not possible, BudgetError.
  /// `here`: where every partition is already, if they need not be brought.
  PartitionCache(const Device& device, std::span<const EdgeIndex> offsets, const PageRequest& pages,
                 PagedPlan plan, const PagingOptions& paging, const PageUse& use,
                 std::span<const PageView> here = {});
  /// The same of a graph's out-lists.
  PartitionCache(const ResidentGraph::Impl& graph, const PageRequest& pages, PagedPlan plan,
                 const PageUse& use);

  /// Works on the busiest partitions until no more than `keep` waits for this rank's; if anything does, the
  /// next ones are on their way. `waiting` counts work by partition and is brought up to date by `work`.
  void drain(std::span<const std::uint64_t> waiting, const Work& work, std::uint64_t keep = 0);
  /// Hands every partition with work to `work` once, those first that are here already; the next ones come
  /// meanwhile, the busiest first. What has no work is not brought. Not while drain() has left any under way.
  void sweep(std::span<const std::uint64_t> waiting, const Work& work);
  /// Brings what is missing of `wanted`, which fit the slots together, in the place of what is not wanted.
  void hold(std::span<const std::uint32_t> wanted);
  /// Holds all of `wanted` and works once.
  void bring_together(std::span<const std::uint32_t> wanted, std::span<const std::uint64_t> waiting,
                      const std::function<void()>& work);

  const PagingOptions& paging() const { return paging_; }
  const PagedPlan& plan() const { return plan_; }
  std::uint32_t partitions() const { return static_cast<std::uint32_t>(plan_.partitions.size()); }
  /// The partitions that this rank works on.
  const OwnedPartitions& own() const { return own_; }
  /// A partition that is here.
  const PageView& page(std::uint32_t partition) const { return slots_.page(partition); }
  /// Is it in a slot? How many slots have none?
  bool resident(std::uint32_t partition) const { return scheduler_.resident(partition); }
  unsigned empty_slots() const { return scheduler_.empty(); }
  /// Is it read in place?
  bool in_place(std::uint32_t partition) const { return slots_.in_place(partition); }
  /// Partitions as ranges of vertices, on the device. Throws BudgetError.
  OwnershipView owners() { return slots_.owners(); }
  /// The look-up of what is here, in device memory; valid for one round's work.
  PageMap publish() { return slots_.publish().map; }
  /// The same with `each(page)` for every slot beside it: [slots].
  template <class Each>
  auto publish(const Each& each) {
    using Item = std::invoke_result_t<const Each&, const PageView&>;
    static_assert(std::is_trivially_copyable_v<Item>);
    const auto [map, also] = publish_with(sizeof(Item), [&](const PageView& page, std::byte* to) {
      const Item item = each(page);
      std::memcpy(to, &item, sizeof item);
    });
    return std::pair(map, reinterpret_cast<const Item*>(also));
  }

  /// All that was brought.
  Traffic traffic() const;
  /// Adds what was brought, and the rounds of work, since the last call to a run's figures.
  void count(RunStats& stats);

 private:
  /// As publish, with what `write` leaves for every slot in `bytes` bytes.
  Slots::Published publish_with(std::size_t bytes, FunctionRef<void(const PageView&, std::byte*)> write);
  void round(std::vector<std::uint64_t> away, std::span<const std::uint64_t> waiting, const Work& work);
  std::vector<std::uint32_t> map_some(std::span<const std::uint64_t> waiting);
  void work_on(std::span<const std::uint32_t> present, std::span<const std::uint32_t> mapped,
               const Work& work);
  unsigned spare() const;
  bool may_come(std::uint32_t partition, std::span<const std::uint64_t> waiting) const;
  void free_slots(std::span<const std::uint64_t> waiting);
  void move(const PartitionMoves& moves);

  PagedPlan plan_;
  PagingOptions paging_;
  OwnedPartitions own_;
  std::uint64_t steps_;
  bool once_;
  Slots slots_;
  TransportChoice transport_;
  Scheduler scheduler_;
  Traffic counted_;  ///< by count()
  std::uint64_t rounds_ = 0, mapped_rounds_ = 0;
};

}  // namespace sluice
