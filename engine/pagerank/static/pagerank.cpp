#include "engine/pagerank/static/pagerank.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/core/ownership.hpp"
#include "engine/exchange/router.hpp"
#include "engine/exchange/values_of_ranks.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/pagerank/rank_graph.hpp"
#include "engine/pagerank/stall.hpp"
#include "engine/pagerank/static/sweep.hpp"

namespace sluice::pagerank {

namespace {

std::unique_ptr<Sweep> make_sweep(const Device& device, const RankGraph& graph, const Options& options,
                                  const RankPlace& place, Communicator& ranks) {
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda()) return make_cuda_sweep(device, graph, options, place, ranks);
#endif
  if (place.rows == RankRows::sliced)
    throw UsageError("--rows sliced: only on a GPU (omit it, or choose --device cuda)");
  return make_host_sweep(device, graph, options, place, ranks);
}

/// All memory of a run, in the order of its allocation.
struct RunState {
  RunState(const Device& device, const Graph& graph, const Options& options, const RankPlace& place,
           Communicator& ranks, std::uint64_t added = 0)
      : edges(graph, options, device.threads(), ranks, added),
        result(edges.in().vertices, "ranks"),
        sweep(make_sweep(device, edges, options, place, ranks)) {}

  RankGraph edges;
  HostArray<double> result;  ///< allocated before slots take their part of what is left
  std::unique_ptr<Sweep> sweep;
};

RankEnd iterate(Sweep& sweep, const Options& options, StallDetector stall, Result& result,
                const RankObserver& observer) {
  while (result.iterations < options.max_iterations) {
    const double begin = seconds_now();
    const RankChange change = sweep.step();
    result.residual = change.norm(options.norm);
    result.last_l1 = change.l1();
    const double seconds = sweep.seconds().value_or(seconds_now() - begin);
    result.history.push_back({++result.iterations, result.residual, seconds});
    if (observer) observer(result.history.back());
    if (result.residual <= options.tolerance) return RankEnd::converged;
    if (stall.stalled_after(result.residual, result.last_l1)) return RankEnd::stalled;
  }
  return RankEnd::limit;
}

}  // namespace

HostArray<double> all_ranks(std::span<const double> own, std::uint64_t first, std::uint64_t vertices,
                            Communicator* ranks) {
  HostArray<double> all(vertices, "ranks of all vertices");
  std::ranges::copy(own, all.data() + first);
  if (ranks == nullptr) return all;
  constexpr const char* kLabel = "the ranks of all vertices";
  auto begins = values_of_ranks(ranks, std::span<const std::uint64_t>(&first, 1), kLabel);
  begins.push_back(vertices);
  Router(*ranks, Ownership(std::move(begins))).share(all.data(), kLabel);
  return all;
}

Result run_pagerank(const Device& device, const Graph& graph, const Options& options,
                    const RankObserver& observer, const RankPlace& place) {
  validate(options);
  Result result;
  if (graph.vertices() == 0) return result;
  Communicator& ranks = ranks_or_single(place.ranks);
  double begin = seconds_now();
  RunState run(device, graph, options, place, ranks);
  const RankGraph& edges = run.edges;
  result.setup_seconds = seconds_now() - begin;
  begin = seconds_now();
  result.end =
      iterate(*run.sweep, options, StallDetector(options, edges.edges(), edges.vertices()), result, observer);
  result.compute_seconds = seconds_now() - begin;
  result.gathered_edges = edges.edges() * result.iterations;
  result.traffic = run.sweep->traffic();
  result.kernels = run.sweep->kernels();
  result.first = edges.first();
  result.ranks = std::move(run.result);
  run.sweep->read_ranks(result.ranks.span());
  return result;
}

Plan plan_pagerank(const Device& device, const Graph& graph, const Options& options, const RankPlace& place,
                   std::uint64_t added) {
  MemoryPlan memory(device.memory(), MemoryPlan::Host::counted);
  const Device counting(device, memory);
  Communicator& ranks = ranks_or_single(place.ranks);
  const RunState run(counting, graph, options, place, ranks, added);
  const Traffic traffic = run.sweep->traffic();
  Plan plan;
  plan.device_bytes = memory.needed();
  plan.state_bytes = plan.device_bytes - run.sweep->planned_list_bytes();
  plan.host_bytes = memory.host_needed();
  plan.partitions = traffic.partitions;
  if (plan.partitions > 1) plan.transferred_bytes = edge_bytes(run.edges.in().edges, options.weighted);
  // A transpose decides the ranks' ranges, which a plan does not know: it assumes an even share.
  plan.exact_on_ranks = !(graph.directed ? graph.in : graph.out).offsets.empty();
  return plan;
}

}  // namespace sluice::pagerank
