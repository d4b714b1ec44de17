// Brings the lists that queries wait for.
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

  /// Has used these lists when it returns: no query waits for one of them any more.
  using Work = std::function<void(const ListsAtHand&)>;
  /// Hands lists that are wanted to `work`, some at a time; some of them, if not all.
  virtual void feed(const WantedLists& wanted, const Work& work) = 0;
  /// Nothing more is wanted here. Other ranks may still want lists of this one; returns once none does.
  virtual void finish() {}
  virtual ListTraffic traffic() const = 0;
};

/// The lists of vertices [first, last).
SweepRows rows_of(const Graph& graph, const Options& options, std::uint64_t first, std::uint64_t last);

/// In partitions, the busiest first; those where nothing is wanted stay away. Takes no more than `bytes`
/// of the memory that the device has left for slots, and keeps references to device and graph. Throws
/// BudgetError where that is too little for two partitions, UsageError for a transport that is not possible.
///
/// With `paging.shard` from the ranks that own them: each owns a range of vertices, about as many edges as
/// every other, and brings its own lists in partitions, for which it takes half of what is left. All ranks
/// make one, and feed and finish at their own pace.
std::unique_ptr<ListFeeder> make_feeder(const Device& device, const Graph& graph, const Options& options,
                                        const PagingOptions& paging, std::uint64_t bytes);

}  // namespace sluice::ppr
