#include "apps/bench/replay/replay.hpp"

#include <algorithm>
#include <cmath>

#include "apps/bench/replay/recycled_memory.hpp"
#include "apps/data/batch.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/pagerank/dynamic/plan.hpp"
#include "engine/pagerank/verify.hpp"

namespace sluice::bench {

namespace {

constexpr double kReferenceTolerance = 1e-14;
constexpr std::uint32_t kReferenceIterations = 10000;

/// A graph of vertices without edges, with in-edges stored.
Graph empty_graph(std::uint64_t vertices) {
  Graph graph;
  for (Csr* rows : {&graph.out, &graph.in}) {
    rows->offsets = HostArray<EdgeIndex>(vertices + 1, "offsets");
    std::fill(rows->offsets.begin(), rows->offsets.end(), EdgeIndex{0});
  }
  return graph;
}

/// Insertions of edges [begin, end). Throws BudgetError.
apps::ChargedBatch batch_of(const TemporalSource& edges, std::uint64_t begin, std::uint64_t end) {
  apps::ChargedBatch batch;
  batch.charge.add((end - begin) * 2 * sizeof(Vertex));
  batch.insertions.source.resize(end - begin), batch.insertions.target.resize(end - begin);
  edges.read(begin, batch.insertions.source, batch.insertions.target);
  return batch;
}

void add_error(ReplayRun& run, std::span<const double> ranks, std::span<const double> exact) {
  for (std::size_t v = 0; v < exact.size(); ++v) {
    const double difference = std::abs(ranks[v] - exact[v]);
    run.linf = std::max(run.linf, difference);
    run.l1 += difference;
  }
}

std::vector<pagerank::DynamicRankOptions> methods_of(const ReplayOptions& options) {
  std::vector<pagerank::DynamicRankOptions> methods(options.methods.size(), options.rules);
  for (std::size_t m = 0; m < methods.size(); ++m) methods[m].method = options.methods[m];
  return methods;
}

}  // namespace

void validate(const ReplayOptions& options) {
  if (!(options.initial >= 0 && options.initial <= 1)) {
    throw UsageError("--initial: must be between 0 and 1");
  }
  if (!(options.batch_fraction > 0 && options.batch_fraction <= 1)) {
    throw UsageError("--batch-fraction: must be above 0 and at most 1");
  }
  for (const pagerank::DynamicRankOptions& method : methods_of(options)) validate(method);
}

ReplayMethods::ReplayMethods(const Device& device, const pagerank::Options& rank,
                             std::vector<pagerank::DynamicRankOptions> methods, bool verify,
                             const pagerank::RankPlace& place, bool exact)
    : device_(device),
      rank_(rank),
      methods_(std::move(methods)),
      verify_(verify),
      exact_(exact),
      place_(place) {}

void ReplayMethods::begin(const Graph& graph) {
  if (methods_.empty()) return;
  const auto first = all_of(pagerank::run_pagerank(device_, graph, rank_, {}, place_), graph);
  if (verify_)
    changes_.assign(methods_.size(),
                    check_ranks(graph, rank_, first.span(), place_.ranks, device_.threads()).change);
  for (std::size_t i = 0; i < methods_.size(); ++i)
    ranks_.emplace_back(device_, graph, first.span(), rank_, place_);
}

void ReplayMethods::follow(const UpdateResult& update, ReplayBatch& report) {
  auto exact = exact_ ? reference_ranks(update.graph) : HostArray<double>();
  report.runs.push_back(run_static(update.graph, exact));
  for (std::size_t m = 0; m < ranks_.size(); ++m) report.runs.push_back(run_dynamic(m, update, exact.span()));
}

HostArray<double> ReplayMethods::all_of(const pagerank::Result& result, const Graph& graph) const {
  return pagerank::all_ranks(result.ranks.span(), result.first, graph.vertices(), place_.ranks);
}

HostArray<double> ReplayMethods::reference_ranks(const Graph& graph) const {
  pagerank::Options options = rank_;
  options.tolerance = std::min(options.tolerance, kReferenceTolerance);
  options.norm = pagerank::RankNorm::linf;
  options.max_iterations = kReferenceIterations;
  return all_of(pagerank::run_pagerank(device_, graph, options, {}, place_), graph);
}

ReplayRun ReplayMethods::run_static(const Graph& graph, HostArray<double>& exact) const {
  const pagerank::Result result = pagerank::run_pagerank(device_, graph, rank_, {}, place_);
  ReplayRun run;
  // Dynamic methods have their graph in place, so loading it is not counted for static ranks either.
  run.seconds = result.compute_seconds;
  run.iterations = result.iterations;
  run.converged = result.converged();
  run.initially_affected = run.ever_affected = graph.vertices();
  run.gathered_edges = result.gathered_edges;
  auto ranks = all_of(result, graph);
  add_error(run, ranks.span(), exact.span());
  if (verify_)
    pagerank::verify_pagerank(graph, rank_, ranks.span(), result.last_l1, place_.ranks, device_.threads());
  if (!exact_) exact = std::move(ranks);
  return run;
}

ReplayRun ReplayMethods::run_dynamic(std::size_t m, const UpdateResult& update,
                                     std::span<const double> exact) {
  const pagerank::DynamicRankOptions& dynamic = methods_[m];
  pagerank::DynamicRanks& ranks = ranks_[m];
  const pagerank::DynamicRankResult result = ranks.follow(update.graph, update.changes, dynamic);
  ReplayRun run;
  run.method = dynamic.method;
  run.seconds = result.setup_seconds + result.compute_seconds;
  run.iterations = result.iterations;
  run.converged = result.end == pagerank::RankEnd::converged;
  run.initially_affected = result.initially_affected;
  run.ever_affected = result.ever_affected;
  run.gathered_edges = result.gathered_edges;
  run.partitions_read = result.partitions_read;
  run.update_seconds = result.update_seconds;
  run.rewrite_seconds = result.rewrite_seconds;
  HostArray<double> own(ranks.own_rows(), "ranks to compare");
  ranks.read_ranks(own.span());
  const auto found = pagerank::all_ranks(own.span(), ranks.first(), ranks.vertices(), place_.ranks);
  add_error(run, found.span(), exact);
  if (verify_) {
    changes_[m] = pagerank::verify_followed(update.graph, rank_, dynamic, found.span(), result, changes_[m],
                                            place_.ranks, device_.threads());
  }
  return run;
}

void TemporalEdges::read(std::uint64_t first, std::span<Vertex> sources, std::span<Vertex> targets) const {
  std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(first), sources.size(), sources.begin());
  std::copy_n(target.begin() + static_cast<std::ptrdiff_t>(first), targets.size(), targets.begin());
}

Graph ReplayGraphs::first(const TemporalSource& edges, std::uint64_t count, unsigned threads) {
  return update_graph(empty_graph(edges.vertices()), batch_of(edges, 0, count), threads).graph;
}

ReplaySizes::ReplaySizes(const TemporalSource& edges, const ReplayOptions& options) {
  const auto all = static_cast<double>(edges.size());
  first = static_cast<std::uint64_t>(std::floor(options.initial * all));
  batch = static_cast<std::uint64_t>(std::max(1.0, std::round(options.batch_fraction * all)));
}

void replay(const Device& device, const TemporalSource& edges, const pagerank::Options& rank,
            const ReplayOptions& options, const ReplayObserver& observer, const pagerank::RankPlace& place,
            ReplayGraphs* graphs) {
  validate(rank);
  validate(options);
  ReplayGraphs in_memory;
  ReplayGraphs& storage = graphs != nullptr ? *graphs : in_memory;
  const ReplaySizes sizes(edges, options);
  const unsigned threads = device.threads();
  std::uint64_t done = sizes.first;
  UpdateResult update;
  update.graph = storage.first(edges, done, threads);
  // Memory that a GPU reads repeatedly, in-edges or changes, stays page-locked from batch to batch.
  RecycledMemory recycled(device);
  HostMemory* const reused_memory = device.is_cuda() ? &recycled : nullptr;
  const bool paged = reused_memory && !keeps_whole_graph(device, update.graph, rank, place.paging);
  ReplayMethods methods(device, rank, methods_of(options), options.verify, place);
  methods.begin(update.graph);
  for (std::uint32_t i = 0; i < options.batches && done < edges.size(); ++i) {
    const apps::ChargedBatch batch = batch_of(edges, done, std::min(done + sizes.batch, edges.size()));
    done += batch.insertions.size();
    const double begin = seconds_now();
    update = update_graph(std::move(update.graph), batch, threads, paged ? reused_memory : nullptr,
                          paged ? nullptr : reused_memory);
    ReplayBatch report;
    report.update_seconds = seconds_now() - begin;
    update.graph = storage.store(std::move(update.graph));
    report.counts = update.counts;
    report.edges = update.graph.edges();
    methods.follow(update, report);
    if (observer) observer(report);
  }
}

}  // namespace sluice::bench
