#include "engine/pagerank/dynamic/dynamic.hpp"

#include <cmath>
#include <string>

#include "engine/core/error.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/pagerank/dynamic/host_link.hpp"
#include "engine/pagerank/dynamic/part_store.hpp"
#include "engine/pagerank/dynamic/plan.hpp"
#include "engine/pagerank/dynamic/solver.hpp"

namespace sluice::pagerank {

void validate(const DynamicRankOptions& options) {
  if (options.method == RankMethod::from_scratch)
    throw UsageError("--method: static does not update ranks after a batch");
  const auto check = [](const char* name, double value) {
    if (!(value >= 0) || !std::isfinite(value)) {
      throw UsageError(std::string(name) + ": must be finite and not negative");
    }
  };
  check("--frontier-tolerance", options.frontier_tolerance);
  check("--prune-tolerance", options.prune_tolerance);
}

namespace {

template <class Share>
using HostStore = PartStore<Share, HostLink<Share>>;

}  // namespace

std::unique_ptr<DynamicRanks::State> make_dynamic_ranks(const Device& device, const Graph& graph,
                                                        std::span<const double> ranks, const Options& options,
                                                        const RankPlace& place) {
  const PagingOptions& paging = place.paging;
  validate(options);
  if (paging.transport == Transport::file && !graph.edge_source && !device.is_planning()) {
    throw UsageError("--transport file: the graph is in host memory (omit it)");
  }
  require_stored_in_edges(graph);
  if (options.precision == RankPrecision::f32) {
    throw UsageError("--precision f32: only with --method static (omit it)");
  }
  if (options.weighted && !graph.weighted && graph.edges() > 0) {
    throw UsageError("--weighted: the graph has no weights (omit it)");
  }
  if (ranks.size() != graph.vertices()) {
    throw InputError("earlier ranks: " + std::to_string(ranks.size()) + " values for " +
                     std::to_string(graph.vertices()) + " vertices");
  }
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda()) {
    const bool part =
        any_left(place.ranks, keeps_whole_graph(device, graph, options, paging) ? 0 : 1, "the graph");
    return (!part ? make_whole_cuda_ranks : make_part_cuda_ranks)(device, graph, ranks, options, place);
  }
#endif
  return make_dynamic_solver<HostStore>(device, graph, ranks, options, place);
}

DynamicRanks::DynamicRanks(const Device& device, const Graph& graph, std::span<const double> ranks,
                           const Options& options, const RankPlace& place)
    : state_(make_dynamic_ranks(device, graph, ranks, options, place)) {}
DynamicRanks::~DynamicRanks() = default;
DynamicRanks::DynamicRanks(DynamicRanks&&) noexcept = default;

DynamicRankResult DynamicRanks::follow(const Graph& graph, const EdgeChanges& changes,
                                       const DynamicRankOptions& options, const RankObserver& observer) {
  return state_->follow(graph, changes, options, observer);
}

void DynamicRanks::read_ranks(std::span<double> ranks) const {
  if (ranks.size() < own_rows()) throw UsageError("the array for ranks must hold those of all own vertices");
  state_->read_ranks(ranks);
}

std::uint64_t DynamicRanks::vertices() const {
  return state_->vertices();
}

std::uint64_t DynamicRanks::first() const {
  return state_->first();
}

std::uint64_t DynamicRanks::own_rows() const {
  return state_->own_rows();
}

}  // namespace sluice::pagerank
