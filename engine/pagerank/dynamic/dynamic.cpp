#include "engine/pagerank/dynamic/dynamic.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/core/error.hpp"
#include "engine/pagerank/dynamic/frontier.hpp"
#include "engine/pagerank/dynamic/plan.hpp"
#include "engine/pagerank/dynamic/state.hpp"
#include "engine/pagerank/residual.hpp"

namespace sluice {

void validate(const DynamicRankOptions& options) {
  if (options.method == RankMethod::from_scratch) throw UsageError("--method: static follows no batch");
  const auto check = [](const char* name, double value) {
    if (!(value >= 0) || !std::isfinite(value)) {
      throw UsageError(std::string(name) + ": must be finite and not negative");
    }
  };
  check("--frontier-tolerance", options.frontier_tolerance);
  check("--prune-tolerance", options.prune_tolerance);
}

void validate(const DynamicRankOptions& options, const Device& device) {
  validate(options);
  if (options.split != RankSplit::in_out && !device.is_cuda())
    throw UsageError("--split: that is for a GPU (leave it out, or choose --device cuda)");
}

namespace {

template <class Share>
class DynamicState final : public DynamicRanks::State {
 public:
  DynamicState(const Device& device, const Graph& graph, std::span<const double> ranks,
               const PageRankOptions& options, const RankPlace& place)
      : device_(device),
        paging_(place.paging),
        alone_(make_alone()),
        state_(device, graph, ranks, options, place.ranks != nullptr ? *place.ranks : *alone_) {}

  DynamicRankResult follow(const Graph& graph, const EdgeChanges& changes, const DynamicRankOptions& options,
                           const RankObserver& observer) override {
    validate(options, device_);
    const auto begin = RankClock::now();
    DynamicRankResult result;
    in_edges_of(graph, state_.options.weighted);  // are there
    const std::uint64_t before = state_.vertices(), read = state_.lists_read;
    state_.adopt(graph, changes);
    state_.mark(graph, changes, before, options.method);
    result.initially_affected = state_.affected_size();
    const bool residual = options.method == RankMethod::residual_frontier;
    residual ? residual_.prepare(state_) : residual_.forget();
    // Every batch rewrites the lists, so nothing of them is kept on the device from one to the next.
    InLists in(device_, graph, state_.options.weighted, state_.first(), state_.first() + state_.own(),
               paging_);
    result.setup_seconds = seconds_since(begin);
    const auto middle = RankClock::now();
    residual ? residual_.solve(state_, graph, in, options, result, observer)
             : frontier_.solve(state_, graph, in, options, result, observer);
    result.compute_seconds = seconds_since(middle);
    result.ever_affected = state_.peers.sum(state_.affected.ever());
    result.traffic = in.traffic();
    result.traffic.read_bytes += state_.lists_read - read;
    result.partitions_read = in.partitions_read();
    state_.affected.clear();
    return result;
  }

  void read_ranks(std::span<double> ranks) const override {
    const double scale = rank_scale(state_.options.dangling, state_.total);
    std::transform(state_.ranks.data(), state_.ranks.data() + state_.own(), ranks.begin(),
                   [scale](FixedRank rank) { return scaled_rank(rank, scale); });
  }

  std::uint64_t vertices() const override { return state_.vertices(); }
  std::uint64_t first() const override { return state_.first(); }
  std::uint64_t own() const override { return state_.own(); }

 private:
  const Device& device_;
  PagingOptions paging_;
  std::unique_ptr<Communicator> alone_;
  RankState<Share> state_;
  FrontierSolver<Share> frontier_;
  ResidualSolver<Share> residual_;
};

std::unique_ptr<DynamicRanks::State> make_state(const Device& device, const Graph& graph,
                                                std::span<const double> ranks, const PageRankOptions& options,
                                                const RankPlace& place) {
  const PagingOptions& paging = place.paging;
  validate(options);
  if (paging.transport == Transport::file && !graph.edges_elsewhere) {
    throw UsageError("--transport file: the graph is in host memory (leave it out)");
  }
  require_stored_in_edges(graph);
  if (options.precision == RankPrecision::f32) {
    throw UsageError("--precision f32: only with --method static (leave it out)");
  }
  if (options.weighted && !graph.weighted && graph.edges() > 0) {
    throw UsageError("--weighted: the graph has no weights (leave it out)");
  }
  if (ranks.size() != graph.vertices()) {
    throw InputError("earlier ranks: " + std::to_string(ranks.size()) + " of them for " +
                     std::to_string(graph.vertices()) + " vertices");
  }
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda()) {
    const bool alone = place.ranks == nullptr || place.ranks->size() == 1;
    if (alone && stays_whole(device, graph, options, paging))
      return make_cuda_dynamic_ranks(device, graph, ranks, options);
    return make_cuda_owned_ranks(device, graph, ranks, options, place);
  }
#endif
  const auto make = [&]<class Share>(Share) -> std::unique_ptr<DynamicRanks::State> {
    return std::make_unique<DynamicState<Share>>(device, graph, ranks, options, place);
  };
  return options.weighted ? make(WeightedShare{}) : make(EvenShare{});
}

}  // namespace

DynamicRanks::DynamicRanks(const Device& device, const Graph& graph, std::span<const double> ranks,
                           const PageRankOptions& options, const RankPlace& place)
    : state_(make_state(device, graph, ranks, options, place)) {}
DynamicRanks::~DynamicRanks() = default;
DynamicRanks::DynamicRanks(DynamicRanks&&) noexcept = default;

DynamicRankResult DynamicRanks::follow(const Graph& graph, const EdgeChanges& changes,
                                       const DynamicRankOptions& options, const RankObserver& observer) {
  validate(options);
  return state_->follow(graph, changes, options, observer);
}

void DynamicRanks::read_ranks(std::span<double> ranks) const {
  if (ranks.size() < own()) throw UsageError("ranks of own vertices need room for all of them");
  state_->read_ranks(ranks);
}

std::uint64_t DynamicRanks::vertices() const {
  return state_->vertices();
}

std::uint64_t DynamicRanks::first() const {
  return state_->first();
}

std::uint64_t DynamicRanks::own() const {
  return state_->own();
}

}  // namespace sluice
