// Brings the lists that queries wait for.
#pragma once

#include <functional>
#include <memory>

#include "engine/ppr/lists.hpp"
#include "engine/ppr/options.hpp"
#include "engine/ppr/wanted_lists.hpp"
#include "engine/rank/sweep.hpp"
#include "engine/residency/paging.hpp"

namespace sluice {

class ListFeeder {
 public:
  virtual ~ListFeeder() = default;

  /// Has used these lists when it returns: nobody waits for one of them any more.
  using Work = std::function<void(const ListsAtHand&)>;
  /// Hands every list that is wanted to `work`, some at a time.
  virtual void feed(const WantedLists& wanted, const Work& work) = 0;
  /// What that has cost so far.
  virtual SweepTraffic traffic() const = 0;
};

/// In partitions, the busiest first; those where nothing is wanted stay away. Takes no more than `room` of
/// the memory that the device has left for slots, and keeps references to device and graph. Throws
/// BudgetError where that is too little for two partitions, UsageError for a transport that is not possible.
std::unique_ptr<ListFeeder> make_page_feeder(const Device& device, const Graph& graph,
                                             const PprOptions& options, const PagingOptions& paging,
                                             std::uint64_t room);

}  // namespace sluice
