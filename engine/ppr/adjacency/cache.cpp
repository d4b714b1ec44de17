#include "engine/ppr/adjacency/cache.hpp"

#include <fmt/core.h>

#include "engine/core/error.hpp"
#include "engine/core/size.hpp"

namespace sluice::ppr {

PagingOptions feeder_paging(const Graph& graph, const PagingOptions& paging) {
  PagingOptions fed = paging;
  if (!graph.edges_elsewhere && paging.transport != Transport::file) fed.transport = Transport::mapped;
  return fed;
}

void throw_too_many_lists(const ListCache& lists, const Graph& graph) {
  throw BudgetError(
      fmt::format("device memory: a query comes to more lists than the {} that are left for them (raise "
                  "--device-memory{})",
                  format_size(lists.bytes()), graph.edges_elsewhere ? "" : ", or use --transport mapped"));
}

}  // namespace sluice::ppr
