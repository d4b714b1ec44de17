#include "engine/rank/replay.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/core/error.hpp"

namespace sluice {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kReferenceTolerance = 1e-14;
constexpr std::uint32_t kReferenceIterations = 10000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Vertices without edges, in-edges kept.
Graph empty_graph(std::uint64_t vertices) {
  Graph graph;
  for (Csr* rows : {&graph.out, &graph.in}) {
    rows->offsets = HostArray<EdgeIndex>(vertices + 1, "offsets");
    std::fill(rows->offsets.begin(), rows->offsets.end(), EdgeIndex{0});
  }
  return graph;
}

UpdateBatch batch_of(const TemporalEdges& edges, std::size_t begin, std::size_t end) {
  const auto piece = [&](const std::vector<Vertex>& all) {
    return std::vector<Vertex>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                               all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  UpdateBatch batch;
  batch.insertions.source = piece(edges.source);
  batch.insertions.target = piece(edges.target);
  return batch;
}

void add_error(ReplayRun& run, std::span<const double> ranks, std::span<const double> exact) {
  for (std::size_t v = 0; v < exact.size(); ++v) {
    const double miss = std::abs(ranks[v] - exact[v]);
    run.linf = std::max(run.linf, miss);
    run.l1 += miss;
  }
}

PageRankResult reference_ranks(const Device& device, const Graph& graph, PageRankOptions options) {
  options.tolerance = std::min(options.tolerance, kReferenceTolerance);
  options.norm = RankNorm::linf;
  options.max_iterations = kReferenceIterations;
  return pagerank(device, graph, options);
}

ReplayRun run_static(const Device& device, const Graph& graph, const PageRankOptions& options,
                     std::span<const double> exact) {
  const PageRankResult result = pagerank(device, graph, options);
  ReplayRun run;
  run.seconds = result.setup_seconds + result.compute_seconds;
  run.iterations = result.iterations;
  run.converged = result.converged();
  run.initially_affected = run.ever_affected = graph.vertices();
  run.gathered_edges = result.gathered_edges;
  add_error(run, result.ranks.span(), exact);
  return run;
}

ReplayRun run_dynamic(DynamicRanks& ranks, const UpdateResult& update, const DynamicRankOptions& options,
                      std::span<const double> exact, double& device_update_seconds) {
  const DynamicRankResult result = ranks.follow(update.graph, update.changes, options);
  device_update_seconds = result.update_seconds;
  ReplayRun run;
  run.method = options.method;
  run.seconds = result.setup_seconds + result.compute_seconds;
  run.iterations = result.iterations;
  run.converged = result.end == RankEnd::converged;
  run.initially_affected = result.initially_affected;
  run.ever_affected = result.ever_affected;
  run.gathered_edges = result.gathered_edges;
  std::vector<double> found(ranks.vertices());
  ranks.read_ranks(found);
  add_error(run, found, exact);
  return run;
}

}  // namespace

void validate(const ReplayOptions& options) {
  if (!(options.initial >= 0 && options.initial <= 1)) {
    throw UsageError("--initial: must be between 0 and 1");
  }
  if (!(options.batch_fraction > 0 && options.batch_fraction <= 1)) {
    throw UsageError("--batch-fraction: must be above 0 and at most 1");
  }
  for (const RankMethod method : options.methods) {
    validate(DynamicRankOptions{method, options.frontier_tolerance, options.prune_tolerance});
  }
}

void replay(const Device& device, const TemporalEdges& edges, const PageRankOptions& rank,
            const ReplayOptions& options, const ReplayObserver& observer) {
  validate(rank);
  validate(options);
  const auto all = static_cast<double>(edges.size());
  auto done = static_cast<std::size_t>(std::floor(options.initial * all));
  const auto size = static_cast<std::size_t>(std::max(1.0, std::round(options.batch_fraction * all)));
  const unsigned threads = device.threads();
  UpdateResult update = update_graph(empty_graph(edges.vertices), batch_of(edges, 0, done), threads);
  std::vector<DynamicRanks> ranks;
  if (!options.methods.empty()) {
    const PageRankResult first = pagerank(device, update.graph, rank);
    for (std::size_t i = 0; i < options.methods.size(); ++i)
      ranks.emplace_back(device, update.graph, first.ranks.span(), rank);
  }
  for (std::uint32_t i = 0; i < options.batches && done < edges.size(); ++i) {
    const UpdateBatch batch = batch_of(edges, done, std::min(done + size, edges.size()));
    done += batch.insertions.size();
    const auto begin = Clock::now();
    update = update_graph(std::move(update.graph), batch, threads);
    ReplayBatch report;
    report.update_seconds = seconds_since(begin);
    report.counts = update.counts;
    report.edges = update.graph.edges();
    const PageRankResult exact = reference_ranks(device, update.graph, rank);
    report.runs.push_back(run_static(device, update.graph, rank, exact.ranks.span()));
    for (std::size_t m = 0; m < ranks.size(); ++m) {
      const DynamicRankOptions dynamic{options.methods[m], options.frontier_tolerance,
                                       options.prune_tolerance};
      report.runs.push_back(
          run_dynamic(ranks[m], update, dynamic, exact.ranks.span(), report.device_update_seconds));
    }
    if (observer) observer(report);
  }
}

}  // namespace sluice
