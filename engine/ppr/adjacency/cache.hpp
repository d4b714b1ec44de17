// Lists on a GPU whose graph is elsewhere: in its file, in partitions, or shared out over ranks. A query that
// comes to a list that is not here notes it, and is given up at the end of its round; what all of them noted
// is brought together, and they are asked again. A list stays until there is no memory left for others. So a
// query is answered from its beginning as often as it has rounds with a list that no query had before, L
// times at most for GD(L), and where many reach the same lists far less often. A query does not wait for a
// list: its block's workspace serves other queries meanwhile.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/exec/device.hpp"
#include "engine/memory/paging.hpp"
#include "engine/ppr/adjacency/traffic.hpp"
#include "engine/ppr/options.hpp"
#include "engine/ppr/query_rules.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

class ListFeeder;

class ListCache {
 public:
  virtual ~ListCache() = default;

  /// Takes memory for lists, if it has none: `bytes` at most.
  virtual void prepare(std::uint64_t bytes) = 0;
  /// Says where lists are, and where those that are missing are to be noted.
  virtual void describe(QueryRules& rules) const = 0;
  /// Brings what queries have noted; none may be at work. False: it does not fit beside what is here, so
  /// nothing was brought, and what was noted is forgotten.
  virtual bool bring() = 0;
  /// No list is here any more.
  virtual void clear() = 0;
  /// Gives back the memory of lists, and with it all of them.
  virtual void give_back() = 0;
  /// The same, and memory of the host.
  virtual void rest() = 0;
  /// Other ranks may still want lists of this one; returns once none does.
  virtual void finish() = 0;
  /// Memory for lists on the device.
  virtual std::uint64_t bytes() const = 0;
  /// What says where lists are, beside them.
  virtual std::uint64_t index_bytes() const = 0;
  virtual ListTraffic traffic() const = 0;
  /// For others to share; null where lists come of no rank.
  virtual std::shared_ptr<ListFeeder> rank_feeder() const = 0;
};

/// Keeps references to device, graph and options. Lists come by way of the host's memory: of its budget are
/// partitions and what travels between ranks (`paging.shard`, who all make one at the same time, or all have
/// a `shared` one, of a cache that outlives this one). Throws BudgetError, and UsageError for a transport
/// that is not possible.
std::unique_ptr<ListCache> make_list_cache(const Device& device, const Graph& graph, const Options& options,
                                           const PagingOptions& paging,
                                           std::shared_ptr<ListFeeder> shared = nullptr);

/// Of one query alone: throws BudgetError.
[[noreturn]] void throw_too_many_lists(const ListCache& lists, const Graph& graph);

/// How lists come to the host: in its memory they are read in place, not copied into slots first.
PagingOptions feeder_paging(const Graph& graph, const PagingOptions& paging);

}  // namespace sluice::ppr
