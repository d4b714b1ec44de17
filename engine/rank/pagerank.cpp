#include "engine/rank/pagerank.hpp"

#include <algorithm>
#include <chrono>

#include "engine/core/error.hpp"
#include "engine/rank/rank_graph.hpp"
#include "engine/rank/stall.hpp"
#include "engine/rank/sweep.hpp"

namespace sluice {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

RankEnd iterate(Sweep& sweep, const PageRankOptions& options, Stall stall, PageRankResult& result,
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

PageRankResult pagerank(const Device& device, const Graph& graph, const PageRankOptions& options,
                        const RankObserver& observer) {
  validate(options);
  PageRankResult result;
  if (device.is_cuda()) throw UsageError("--device: PageRank runs on the host so far (say --device host)");
  if (graph.edges_elsewhere) throw UsageError("PageRank needs the graph in host memory so far");
  if (graph.vertices() == 0) return result;
  auto begin = Clock::now();
  const RankGraph edges(graph, options, device.threads());
  const auto sweep = make_host_sweep(device, edges, options);
  result.setup_seconds = seconds_since(begin);
  begin = Clock::now();
  result.end = iterate(*sweep, options, Stall(options, edges.edges(), edges.vertices()), result, observer);
  result.compute_seconds = seconds_since(begin);
  result.gathered_edges = edges.edges() * result.iterations;
  result.ranks = HostArray<double>(graph.vertices(), "ranks");
  sweep->read_ranks(result.ranks.span());
  return result;
}

PageRankPlan plan_pagerank(const Graph& graph, const PageRankOptions& options) {
  const std::uint64_t n = graph.vertices(), m = graph.edges();
  const std::uint64_t share = options.precision == RankPrecision::f32 ? sizeof(float) : sizeof(FixedRank);
  PageRankPlan plan;
  plan.device_bytes = n * (sizeof(FixedRank) + 2 * share);
  const std::uint64_t state =
      n * (sizeof(double) + (options.dangling == Dangling::self_loop ? sizeof(std::uint8_t) : 0));
  plan.host_bytes = state + n * sizeof(double);
  if (graph.directed && graph.in.offsets.empty()) {
    const std::uint64_t record = graph.out.weights.empty() ? 8 : 12, row = record - sizeof(Vertex);
    const std::uint64_t rows = (n + 1) * sizeof(EdgeIndex) + m * row;
    plan.host_bytes = std::max(plan.host_bytes + rows, m * record + std::max(m * record, rows));
  }
  return plan;
}

}  // namespace sluice
