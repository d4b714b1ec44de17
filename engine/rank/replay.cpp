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

HostArray<double> all_of(const PageRankResult& result, const Graph& graph, const RankPlace& place) {
  return all_ranks(result.ranks.span(), result.first, graph.vertices(), place.ranks);
}

HostArray<double> reference_ranks(const Device& device, const Graph& graph, PageRankOptions options,
                                  const RankPlace& place) {
  options.tolerance = std::min(options.tolerance, kReferenceTolerance);
  options.norm = RankNorm::linf;
  options.max_iterations = kReferenceIterations;
  return all_of(pagerank(device, graph, options, {}, place), graph, place);
}

ReplayRun run_static(const Device& device, const Graph& graph, const PageRankOptions& options,
                     std::span<const double> exact, const RankPlace& place) {
  const PageRankResult result = pagerank(device, graph, options, {}, place);
  ReplayRun run;
  // Ranks that follow batches have their graph at hand, so bringing it is not held against static either.
  run.seconds = result.compute_seconds;
  run.iterations = result.iterations;
  run.converged = result.converged();
  run.initially_affected = run.ever_affected = graph.vertices();
  run.gathered_edges = result.gathered_edges;
  add_error(run, all_of(result, graph, place).span(), exact);
  return run;
}

ReplayRun run_dynamic(DynamicRanks& ranks, const UpdateResult& update, const DynamicRankOptions& options,
                      std::span<const double> exact, double& device_update_seconds, const RankPlace& place) {
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
  HostArray<double> own(ranks.own(), "ranks to compare");
  ranks.read_ranks(own.span());
  add_error(run, all_ranks(own.span(), ranks.first(), ranks.vertices(), place.ranks).span(), exact);
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
            const ReplayOptions& options, const ReplayObserver& observer, const RankPlace& place) {
  validate(rank);
  validate(options);
  const auto all = static_cast<double>(edges.size());
  auto done = static_cast<std::size_t>(std::floor(options.initial * all));
  const auto size = static_cast<std::size_t>(std::max(1.0, std::round(options.batch_fraction * all)));
  const unsigned threads = device.threads();
  UpdateResult update = update_graph(empty_graph(edges.vertices), batch_of(edges, 0, done), threads);
  std::vector<DynamicRanks> ranks;
  if (!options.methods.empty()) {
    const auto first = all_of(pagerank(device, update.graph, rank, {}, place), update.graph, place);
    for (std::size_t i = 0; i < options.methods.size(); ++i)
      ranks.emplace_back(device, update.graph, first.span(), rank, place);
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
    const auto exact = reference_ranks(device, update.graph, rank, place);
    report.runs.push_back(run_static(device, update.graph, rank, exact.span(), place));
    for (std::size_t m = 0; m < ranks.size(); ++m) {
      const DynamicRankOptions dynamic{options.methods[m], options.frontier_tolerance,
                                       options.prune_tolerance};
      report.runs.push_back(
          run_dynamic(ranks[m], update, dynamic, exact.span(), report.device_update_seconds, place));
    }
    if (observer) observer(report);
  }
}

}  // namespace sluice
