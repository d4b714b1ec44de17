#include "engine/pagerank/static/pagerank.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::unique_ptr<Sweep> make_sweep(const Device& device, const RankGraph& graph, const Options& options,
                                  const RankPlace& place, Communicator& ranks) {
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda())
    return make_cuda_sweep(device, graph, options, place.paging, ranks, place.rows, place.pieces);
#endif
  if (place.rows == RankRows::sliced)
    throw UsageError("--rows sliced: that is for a GPU (leave it out, or choose --device cuda)");
  return make_host_sweep(device, graph, options, place.paging, ranks, place.rows);
}

RankEnd iterate(Sweep& sweep, const Options& options, Stall stall, Result& result,
                const RankObserver& observer) {
  while (result.iterations < options.max_iterations) {
    const auto begin = Clock::now();
    const RankChange change = sweep.step();
    result.residual = change.norm(options.norm);
    result.last_l1 = change.l1();
    result.history.push_back({++result.iterations, result.residual, seconds_since(begin)});
    if (observer) observer(result.history.back());
    if (result.residual <= options.tolerance) return RankEnd::converged;
    if (stall.seen(result.residual, result.last_l1)) return RankEnd::stalled;
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
  const auto alone = make_alone();
  Communicator& ranks = place.ranks != nullptr ? *place.ranks : *alone;
  auto begin = Clock::now();
  const RankGraph edges(graph, options, device.threads(), ranks);
  // Before slots take their part of what is left.
  result.ranks = HostArray<double>(edges.in().vertices, "ranks");
  const auto sweep = make_sweep(device, edges, options, place, ranks);
  result.setup_seconds = seconds_since(begin);
  begin = Clock::now();
  result.end = iterate(*sweep, options, Stall(options, edges.edges(), edges.vertices()), result, observer);
  result.compute_seconds = seconds_since(begin);
  result.gathered_edges = edges.edges() * result.iterations;
  result.traffic = sweep->traffic();
  result.first = edges.first();
  sweep->read_ranks(result.ranks.span());
  return result;
}

Plan plan_pagerank(const Device& device, const Graph& graph, const Options& options, const RankPlace& place) {
  const std::span<const EdgeIndex> offsets = (graph.directed ? graph.in : graph.out).offsets.span();
  const auto ranks = static_cast<std::uint64_t>(place.ranks != nullptr ? place.ranks->size() : 1);
  const std::uint64_t n = graph.vertices();
  Plan plan;
  // Where in-edges are made, the ranks' ranges are made with them: an even share stands for them.
  plan.exact_on_ranks = !offsets.empty();
  OwnRows own;
  if (plan.exact_on_ranks) own = OwnRows::of(offsets, place.ranks);
  const std::uint64_t rows = plan.exact_on_ranks ? own.rows() : (n + ranks - 1) / ranks,
                      m = plan.exact_on_ranks ? own.edges() : (graph.edges() + ranks - 1) / ranks;
  const std::uint64_t share = options.precision == RankPrecision::f32 ? sizeof(float) : sizeof(FixedRank);
  const std::uint64_t loop = options.dangling == Dangling::self_loop ? sizeof(std::uint8_t) : 0;
  plan.state_bytes = n * share + rows * (share + sizeof(FixedRank));
  if (device.is_cuda()) {
    // Ranks twice, divisors, offsets, and the rows by class.
    plan.state_bytes +=
        rows * (sizeof(FixedRank) + sizeof(double) + sizeof(EdgeIndex) + sizeof(Vertex) + loop);
  }
  const std::uint64_t edge = sizeof(Vertex) + (options.weighted ? sizeof(float) : 0);
  plan.host_bytes = rows * (sizeof(double) + loop + sizeof(double));
  // These, too, are there before slots take their part. A GPU that holds them reads lists from their file
  // once.
  const bool in_file = graph.edges_elsewhere != nullptr && !device.is_cuda();
  const SweepPagePlan pages = plan_sweep_pages(device, {m * edge, longest_in_list(graph) * edge, own.offsets},
                                               {plan.state_bytes, plan.host_bytes}, in_file, place.paging);
  plan.device_bytes = plan.state_bytes + pages.least_bytes;
  plan.partitions = pages.partitions;
  plan.brought_bytes = pages.brought_bytes;
  if (!device.is_cuda()) plan.host_bytes += plan.device_bytes;  // they lie there
  if (graph.directed && graph.in.offsets.empty()) {
    const std::uint64_t record = graph.out.weights.empty() ? 8 : 12, row = record - sizeof(Vertex);
    const std::uint64_t made = (n + 1) * sizeof(EdgeIndex) + m * row;
    plan.host_bytes = std::max(plan.host_bytes + made, m * record + std::max(m * record, made));
  }
  return plan;
}

}  // namespace sluice::pagerank
