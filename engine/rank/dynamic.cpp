#include "engine/rank/dynamic.hpp"

#include <cmath>
#include <string>

#include "engine/core/error.hpp"
#include "engine/rank/dynamic_state.hpp"
#include "engine/rank/frontier.hpp"
#include "engine/rank/residual.hpp"

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

namespace {

template <class Share>
class DynamicState final : public DynamicRanks::State {
 public:
  DynamicState(const Device& device, const Graph& graph, std::span<const double> ranks,
               const PageRankOptions& options)
      : state_(device, graph, ranks, options) {}

  DynamicRankResult follow(const Graph& graph, std::span<const EdgeChange> changes,
                           const DynamicRankOptions& options, const RankObserver& observer) override {
    const auto begin = RankClock::now();
    DynamicRankResult result;
    const CsrView in = in_edges_of(graph, state_.options.weighted);
    const std::uint64_t before = state_.vertices();
    state_.adopt(graph, changes);
    state_.mark(graph, changes, before, options.method);
    result.initially_affected = state_.affected.size();
    result.setup_seconds = seconds_since(begin);
    const auto middle = RankClock::now();
    if (options.method == RankMethod::residual_frontier) {
      residual_.solve(state_, graph, in, options, result, observer);
    } else {
      residual_.forget();
      frontier_.solve(state_, graph, in, options, result, observer);
    }
    result.compute_seconds = seconds_since(middle);
    result.ever_affected = state_.affected.ever();
    state_.affected.clear();
    return result;
  }

  void read_ranks(std::span<double> ranks) const override {
    const double scale = rank_scale(state_.options, state_.total);
    state_.for_all([&](Vertex v) { ranks[v] = scaled_rank(state_.ranks[v], scale); });
  }

  std::uint64_t vertices() const override { return state_.vertices(); }

 private:
  RankState<Share> state_;
  FrontierSolver<Share> frontier_;
  ResidualSolver<Share> residual_;
};

std::unique_ptr<DynamicRanks::State> make_state(const Device& device, const Graph& graph,
                                                std::span<const double> ranks,
                                                const PageRankOptions& options) {
  validate(options);
  if (graph.edges_elsewhere) {
    throw BudgetError("dynamic PageRank needs the graph in host memory (raise --host-memory)");
  }
  if (options.precision == RankPrecision::f32) {
    throw UsageError("--precision f32: only with --method static (leave it out)");
  }
  if (options.weighted && graph.out.weights.empty() && graph.edges() > 0) {
    throw UsageError("--weighted: the graph has no weights (leave it out)");
  }
  if (ranks.size() != graph.vertices()) {
    throw InputError("earlier ranks: " + std::to_string(ranks.size()) + " of them for " +
                     std::to_string(graph.vertices()) + " vertices");
  }
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda()) return make_cuda_dynamic_ranks(device, graph, ranks, options);
#endif
  if (options.weighted) return std::make_unique<DynamicState<WeightedShare>>(device, graph, ranks, options);
  return std::make_unique<DynamicState<EvenShare>>(device, graph, ranks, options);
}

}  // namespace

DynamicRanks::DynamicRanks(const Device& device, const Graph& graph, std::span<const double> ranks,
                           const PageRankOptions& options)
    : state_(make_state(device, graph, ranks, options)) {}
DynamicRanks::~DynamicRanks() = default;
DynamicRanks::DynamicRanks(DynamicRanks&&) noexcept = default;

DynamicRankResult DynamicRanks::follow(const Graph& graph, std::span<const EdgeChange> changes,
                                       const DynamicRankOptions& options, const RankObserver& observer) {
  validate(options);
  return state_->follow(graph, changes, options, observer);
}

void DynamicRanks::read_ranks(std::span<double> ranks) const {
  state_->read_ranks(ranks);
}

std::uint64_t DynamicRanks::vertices() const {
  return state_->vertices();
}

}  // namespace sluice
