// Rounds of work on a graph in partitions: what is here is worked on while the next partitions come, where
// most work waits. Knows nothing of the work itself.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/residency/paged_plan.hpp"
#include "engine/residency/resident_graph.hpp"
#include "engine/residency/slots.hpp"
#include "engine/schedule/scheduler.hpp"
#include "engine/schedule/transport.hpp"

namespace sluice {

class PageLoop {
 public:
  /// Works on these partitions, which are here: afterwards less waits there.
  using Work = std::function<void(std::span<const std::uint32_t>)>;

  /// Throws UsageError where the transport that is asked for is not possible, BudgetError.
  PageLoop(ResidentGraph::Impl& graph, const PageRequest& pages, PagedPlan plan, RunStats& stats);

  /// One round. `waiting` counts work by partition and is brought up to date by `work`.
  void round(std::span<const std::uint64_t> waiting, const Work& work);
  /// Rounds until nothing waits.
  void drain(std::span<const std::uint64_t> waiting, const Work& work);
  /// Adds what was brought since the last call to the run's figures.
  void count();

  const PagedPlan& plan() const { return plan_; }
  std::uint32_t partitions() const { return static_cast<std::uint32_t>(plan_.partitions.size()); }
  /// A partition that is here.
  const PageView& page(std::uint32_t partition) const { return slots_.page(partition); }
  /// The look-up of what is here, in device memory; valid for one round's work.
  PageMap publish() { return slots_.publish(); }

 private:
  std::vector<std::uint32_t> map_some(std::span<const std::uint64_t> waiting);
  void work_on(std::span<const std::uint32_t> mapped, std::span<const std::uint64_t> waiting,
               const Work& work);

  ResidentGraph::Impl& graph_;
  RunStats& stats_;
  PagedPlan plan_;
  Slots slots_;
  TransportChoice transport_;
  Scheduler scheduler_;
  std::uint64_t transfers_ = 0, copied_bytes_ = 0, read_bytes_ = 0;  ///< counted so far
};

}  // namespace sluice
