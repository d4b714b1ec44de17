#include "engine/ppr/ppr.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/ppr/adjacency/cache.hpp"
#include "engine/ppr/adjacency/feeder.hpp"
#include "engine/ppr/adjacency/graph_on_device.hpp"
#include "engine/ppr/adjacency/in_edges.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/dense/state.hpp"
#include "engine/ppr/query_room.hpp"
#include "engine/ppr/query_rules.hpp"

namespace sluice {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

SweepLists lists_of(const Graph& graph, const PprOptions& options, std::uint64_t owners) {
  const std::uint64_t edge = list_edge_bytes(options);
  return {graph.edges() / owners * edge, longest_list(graph.out.offsets.span()) * edge};
}

void require_meaning(const Device& device, const Graph& graph, const Starts& starts,
                     const PprOptions& options) {
  validate(options);
  if (options.weighted && !graph.weighted)
    throw UsageError("--weighted: the graph has no weights (leave it out)");
  if (options.state == PprState::dense && device.is_cuda() && options.top > kSortedHere)
    throw UsageError(
        fmt::format("--state dense: lists of up to {} on a GPU (lower --top, or leave it out)", kSortedHere));
  for (const Vertex seed : starts.vertices) {
    if (seed >= graph.vertices()) throw InputError(fmt::format("seed {} is no vertex of the graph", seed));
  }
}

#if defined(SLUICE_HAVE_CUDA)
/// Of a GPU's memory: the graph, and one query in the smallest room.
std::uint64_t smallest_on_gpu(const Graph& graph, const PprOptions& options, bool in_place) {
  return cuda_graph_bytes(graph, options, in_place) + ppr_row_bytes(options) +
         first_room(graph.vertices(), options).bytes();
}

/// The same where lists are brought: some of them, and one query in the smallest room.
std::uint64_t smallest_fed_on_gpu(const Graph& graph, const PprOptions& options) {
  const std::uint64_t first = first_room(graph.vertices(), options).bytes();
  return list_cache_bytes(graph, options) + ppr_row_bytes(options) + 2 * first;
}

/// Of `queries` in waves, with so much memory left. A room that would be as large as a column of rows is
/// never made (query_route.hpp), and a group is as narrow as what is left of a wave.
void plan_side_by_side(PprPlan& plan, const Graph& graph, const PprOptions& options, std::uint64_t queries,
                       std::uint64_t memory) {
  const std::uint64_t n = graph.vertices(), in_edges = InEdgesOnDevice::bytes(graph, options.weighted);
  if (queries == 0 || !InEdgesOnDevice::fit(graph, options.weighted, memory)) return;
  const std::uint64_t rows = plan.wave_bytes / ppr_row_bytes(options), left = memory - in_edges;
  const std::uint64_t wave = std::min(queries, rows), last = (queries - 1) % rows + 1;
  const bool all = options.state == PprState::dense;
  const DenseFit most = DenseFit::of(n, wave, left), narrowest = DenseFit::of(n, all ? last : 1, left);
  if (narrowest.groups == 0) return;
  plan.rows_bytes = in_edges + most.bytes();
  plan.largest_query_bytes = std::max(most.shape.query_bytes(), narrowest.shape.query_bytes());
}

/// Lists come by way of the host.
void plan_fed_on_gpu(PprPlan& plan, const Device& device, const Graph& graph, const PprOptions& options,
                     const PagingOptions& paging) {
  const Device host({DeviceChoice::host, device.threads(), 0});
  const PagingOptions fed = feeder_paging(graph, paging);
  const auto owners = static_cast<std::uint64_t>(paging.shard ? paging.shard->size() : 1);
  const std::uint64_t edge = list_edge_bytes(options), allowed = device.memory().available();
  const SweepPagePlan pages =
      plan_sweep_pages(host, lists_of(graph, options, owners), {}, graph.edges_elsewhere != nullptr, fed,
                       host.memory().available() / 2);
  plan.fed = true;
  plan.partitions = pages.partitions;
  plan.host_bytes = pages.least_bytes + list_stage_bytes(graph, options);
  if (paging.shard) plan.host_bytes += rank_feeder_bytes(host, graph, options, *paging.shard);
  plan.smallest_bytes = smallest_fed_on_gpu(graph, options);
  plan.graph_bytes = list_cache_bytes(graph, options);
  const std::uint64_t taken = plan.graph_bytes + plan.wave_bytes;
  plan.cache_bytes = std::min(graph.edges() * edge, (allowed - std::min(allowed, taken)) / 2);
}
#endif

/// What is counted of an edge that was read in place: of walks by weight the targets alone, not the weights
/// that they look through.
std::uint64_t mapped_edge_bytes(const PprOptions& options) {
  return options.method == PprMethod::walks ? sizeof(Vertex) : list_edge_bytes(options);
}

void count_figures(PprStats& stats, std::span<const QueryFigures> figures) {
  for (const QueryFigures& query : figures) {
    stats.edges += query.edges;
    stats.reached += query.reached;
    stats.query_bytes += query.peak_bytes;
    stats.peak_query_bytes = std::max(stats.peak_query_bytes, query.peak_bytes);
    stats.largest_error = std::max(stats.largest_error, query.error);
    stats.held += query.held;
  }
  stats.queries += figures.size();
  ++stats.waves;
}

/// Results of a wave take memory that a query may need. Where that finds none, waves of so many times fewer
/// queries are worth a try, unless results are less than such a part of all that is taken.
constexpr std::uint64_t kFewerQueries = 4, kLeastOfUse = 64;

/// Answers the queries from `at` on, and moves it. Where one does not fit the memory, and `fewer()` says that
/// waves can be smaller, returns false: `at` is then where the wave began.
template <class Fewer>
bool run_waves(PprBackend& backend, InstanceRange range, Instance& at, PprSink& sink,
               const PprProgress& progress, PprStats& stats, Fewer&& fewer) {
  const std::uint64_t queries = range.end - range.begin;
  for (; at < range.end; at += std::min(backend.rows(), range.end - at)) {
    if (progress) progress(at - range.begin, queries);
    const auto begin = Clock::now();
    PprBatch batch;
    try {
      batch = backend.solve(at, std::min(backend.rows(), range.end - at));
    } catch (const BudgetError&) {
      if (!fewer()) throw;
      stats.traffic.add_later(backend.traffic());
      return false;
    }
    stats.compute_seconds += since(begin);
    if (sink.asks() != nullptr) backend.rest();
    const auto writing = Clock::now();
    count_figures(stats, batch.figures);
    sink.write(batch);
    stats.write_seconds += since(writing);
  }
  backend.finish();
  if (progress) progress(queries, queries);
  stats.traffic.add_later(backend.traffic());
  return true;
}

}  // namespace

bool is_out_of_core(const Device& device, const Graph& graph, [[maybe_unused]] const PprOptions& options,
                    const PagingOptions& paging) {
  if (graph.edges() == 0) return false;
  if (paging.shard) return true;
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda() && paging.partitions == 0 && paging.transport == Transport::automatic &&
      !graph.edges_elsewhere)
    return smallest_on_gpu(graph, options, false) > device.memory().available();
#endif
  return needs_pages(device, graph, paging);
}

bool is_read_in_place(const Device& device, const Graph& graph, const PprOptions& options,
                      const PagingOptions& paging) {
  if (!device.is_cuda() || paging.shard || graph.edges_elsewhere) return false;
  if (paging.transport == Transport::mapped) return graph.edges() > 0;
  return paging.transport == Transport::automatic && paging.partitions <= 1 && paging.slots == 0 &&
         is_out_of_core(device, graph, options, paging);
}

std::unique_ptr<PprBackend> make_ppr_backend(const Device& device, const Graph& graph, const Starts& starts,
                                             const PprOptions& options, const PagingOptions& paging,
                                             std::uint64_t queries, const PprBackend* beside) {
  require_meaning(device, graph, starts, options);
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda()) {
    auto on_device = beside != nullptr ? beside->graph_on_device() : nullptr;
    const bool shared = on_device != nullptr;
    const bool in_place = shared ? on_device->in_place() : is_read_in_place(device, graph, options, paging);
    const bool fed = !shared && !in_place && is_out_of_core(device, graph, options, paging);
    if ((in_place || fed) && options.state == PprState::dense)
      throw UsageError(
          "--state dense: the GPU does not have the graph (leave it out, or raise --device-memory)");
    if (fed) return make_cuda_fed_ppr(device, graph, starts, options, paging, queries, beside);
    if (!shared) on_device = std::make_shared<GraphOnDevice>(device, graph, options, in_place);
    return make_cuda_ppr(device, graph, std::move(on_device), starts, options, queries);
  }
#endif
  const bool out_of_core = is_out_of_core(device, graph, options, paging);
  if (out_of_core && options.state == PprState::dense)
    throw UsageError("--state dense: lists of the graph come as they are missed (leave it out)");
  if (out_of_core) return make_fed_ppr(device, graph, starts, options, paging, queries, beside);
  return make_host_ppr(device, graph, starts, options, queries);
}

PprStats run_ppr(const Device& device, const Graph& graph, const Starts& starts, const PprOptions& options,
                 PprSink& sink, const PagingOptions& paging) {
  const InstanceRange range = starts.range(graph.vertices(), options.first_instance, options.last_instance);
  PprStats stats;
  Instance at = range.begin;
  for (std::uint64_t together = range.end - range.begin;;) {
    auto backend = make_ppr_backend(device, graph, starts, options, paging, together, sink.asks());
    const bool fitted = run_waves(*backend, range, at, sink, options.progress, stats, [&] {
      together = backend->rows() / kFewerQueries;
      return together > 0 && !device.is_cuda() && !paging.shard &&
             backend->rows() * ppr_row_bytes(options) > device.memory().used() / kLeastOfUse;
    });
    if (!fitted) continue;
    if (backend->reads_in_place()) stats.mapped_bytes = stats.edges * mapped_edge_bytes(options);
    return stats;
  }
}

PprStats run_ppr(PprBackend& backend, InstanceRange range, PprSink& sink, const PprProgress& progress) {
  PprStats stats;
  Instance at = range.begin;
  run_waves(backend, range, at, sink, progress, stats, [] { return false; });
  return stats;
}

PprPlan plan_ppr(const Device& device, const Graph& graph, const Starts& starts, const PprOptions& options,
                 const PagingOptions& paging) {
  require_meaning(device, graph, starts, options);
  const InstanceRange range = starts.range(graph.vertices(), options.first_instance, options.last_instance);
  const std::uint64_t n = graph.vertices(), allowed = device.memory().available();
  PprPlan plan;
  plan.result_bytes = (range.end - range.begin) * (options.top * (sizeof(std::int32_t) + sizeof(double)) + 4);
  plan.wave_bytes = ppr_wave_rows(device, options, range.end - range.begin) * ppr_row_bytes(options);
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda()) {
    const RoomShape first = first_room(n, options);
    plan.in_place = is_read_in_place(device, graph, options, paging);
    plan.graph_bytes = cuda_graph_bytes(graph, options, plan.in_place);
    plan.largest_query_bytes = RoomShape::of(n, n, first.asked, first.steps).bytes();
    plan.smallest_bytes = smallest_on_gpu(graph, options, plan.in_place);
    if (!plan.in_place && is_out_of_core(device, graph, options, paging))
      plan_fed_on_gpu(plan, device, graph, options, paging);
    const std::uint64_t taken = plan.graph_bytes + plan.cache_bytes + plan.wave_bytes;
    if (!plan.in_place && !plan.fed && may_go_side_by_side(options))
      plan_side_by_side(plan, graph, options, range.end - range.begin, allowed - std::min(allowed, taken));
    const std::uint64_t fit = (allowed - std::min(allowed, taken)) / first.bytes();
    plan.threads = static_cast<unsigned>(std::clamp<std::uint64_t>(fit, 1, cuda_queries_at_once(options)));
    return plan;
  }
#endif
  plan.smallest_bytes = ppr_row_bytes(options) + ReachedVertices::peak_bytes(1, n);
  plan.largest_query_bytes = worst_host_query(graph, options);
  if (is_out_of_core(device, graph, options, paging)) {
    const bool in_file = graph.edges_elsewhere != nullptr;
    const auto owners = static_cast<std::uint64_t>(paging.shard ? paging.shard->size() : 1);
    if (paging.shard) plan.host_bytes = rank_feeder_bytes(device, graph, options, *paging.shard);
    const SweepPagePlan pages =
        plan_sweep_pages(device, lists_of(graph, options, owners), {}, in_file, paging, allowed / 2);
    plan.partitions = pages.partitions;
    plan.smallest_bytes += pages.least_bytes;
    plan.threads = static_cast<unsigned>(std::min(range.end - range.begin, kMostFedQueries));
    return plan;
  }
  const std::uint64_t left = allowed - std::min(allowed, plan.wave_bytes),
                      wave = std::min(range.end - range.begin, plan.wave_bytes / ppr_row_bytes(options));
  plan.threads = host_queries_at_once(device, graph, options, left);
  const DenseFit fit = fit_host_rows(graph, options, plan.threads, wave, left);
  if (fit.groups == 0) return plan;
  plan.rows_bytes = fit.bytes() + InEdges::peak_bytes(graph);
  plan.largest_query_bytes += fit.shape.query_bytes();
  return plan;
}

}  // namespace sluice
