// Fetches the lists that queries wait for.
#pragma once

#include <functional>
#include <memory>

#include "engine/exchange/communicator.hpp"
#include "engine/exec/device.hpp"
#include "engine/memory/paging.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/ppr/adjacency/lists.hpp"
#include "engine/ppr/adjacency/traffic.hpp"
#include "engine/ppr/adjacency/wanted.hpp"
#include "engine/ppr/options.hpp"

namespace sluice::ppr {

class ListFeeder {
 public:
  virtual ~ListFeeder() = default;

  /// Uses these lists before it returns: no query waits for one of them any more.
  using Consumer = std::function<void(const AvailableLists&)>;
  /// Passes wanted lists to `consume`, some at a time; perhaps not all of them in one call.
  virtual void feed(const WantedLists& wanted, const Consumer& consume) = 0;
  /// This rank wants no more lists. Other ranks may still need its lists; returns once none does.
  virtual void finish() {}
  virtual ListTraffic traffic() const = 0;
};

/// The rows of the lists of vertices [first, last).
SweepRows rows_of(const Graph& graph, const Options& options, std::uint64_t first, std::uint64_t last);

/// Fetches lists in partitions, those with the most wanted lists first; partitions without wanted lists are
/// skipped. Slots take at most `bytes` of the free device memory. Keeps references to device and graph.
/// Throws BudgetError if two partitions do not fit, and UsageError for a transport that is not possible.
///
/// With `paging.shard`, fetches lists from the ranks that own them. Each rank owns a range of vertices with
/// about as many edges as every other, and fetches its own lists in partitions, which take half of the free
/// memory. All ranks make a feeder, and feed and finish at their own pace.
std::unique_ptr<ListFeeder> make_feeder(const Device& device, const Graph& graph, const Options& options,
                                        const PagingOptions& paging, std::uint64_t bytes);

}  // namespace sluice::ppr
