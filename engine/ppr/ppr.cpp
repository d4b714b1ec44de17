#include "engine/ppr/ppr.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/batch/run_batches.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/ppr/adjacency/feeder.hpp"
#include "engine/ppr/adjacency/graph_on_device.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/query_rules.hpp"

namespace sluice::ppr {

namespace {

/// Bytes of the results of one query.
std::uint64_t row_bytes(const Options& options) {
  return options.top * (sizeof(Vertex) + sizeof(double)) + sizeof(Vertex) + sizeof(QueryFigures);
}

/// Queries per batch: results take a part of the free memory, and are enough to keep all threads busy.
std::uint64_t batch_rows(const Device& device, const Options& options, std::uint64_t queries) {
  constexpr std::uint64_t kBatchBytes = 32u << 20;
  const std::uint64_t bytes = std::min(kBatchBytes, device.memory().available() / 8);
  return std::clamp<std::uint64_t>(bytes / row_bytes(options), 1, std::max<std::uint64_t>(queries, 1));
}

void require_valid(const QueryRun& run) {
  const Options& options = run.options;
  validate(options);
  if (options.weighted && !run.graph.weighted)
    throw UsageError("--weighted: the graph has no weights (omit it)");
  if (options.state == State::dense && run.device.is_cuda() && options.top > kSharedSortLimit)
    throw UsageError(fmt::format("--state dense: only lists of up to {} on a GPU (lower --top, or omit it)",
                                 kSharedSortLimit));
  if (extracts_sub_graphs(options) && run.graph.edges() > ~std::uint32_t{0})
    throw UsageError("sub-graphs of balls: the graph has more than 2^32 - 1 edges (omit them)");
  if (run.starts.mode == Starts::Mode::random && run.graph.vertices() == 0)
    throw InputError("the graph has no vertex to start from");
  for (const Vertex seed : run.starts.vertices) {
    if (seed >= run.graph.vertices())
      throw InputError(fmt::format("seed {} is not a vertex of the graph", seed));
  }
}

#if defined(SLUICE_HAVE_CUDA)
/// GPU memory for the whole graph and one query in the smallest workspace.
std::uint64_t whole_bytes(const QueryRun& run) {
  return planned_bytes(run.device, [&](const Device& counting) {
    make_cuda_ppr({counting, run.graph, run.starts, run.options, run.paging},
                  std::make_shared<GraphOnDevice>(counting, run.graph, run.options, false), 1);
  });
}
#endif

/// True if the device does not hold the whole graph: by request, because it is in a file, or because it is
/// too large. Lists are then fetched, or a GPU reads them in place.
bool is_out_of_core(const QueryRun& run) {
  if (run.graph.edges() == 0) return false;
  if (run.paging.shard) return true;
#if defined(SLUICE_HAVE_CUDA)
  if (run.device.is_cuda() && run.paging.partitions == 0 && run.paging.transport == Transport::automatic &&
      !run.graph.edge_source)
    return whole_bytes(run) > run.device.memory().available();
#endif
  return needs_pages(run.device, run.graph, run.paging);
}

#if defined(SLUICE_HAVE_CUDA)
/// True if a GPU reads lists in host memory: because they do not fit the GPU, or by request.
bool is_read_in_place(const QueryRun& run) {
  const PagingOptions& paging = run.paging;
  if (paging.shard || run.graph.edge_source) return false;
  if (paging.transport == Transport::mapped) return run.graph.edges() > 0;
  return paging.transport == Transport::automatic && paging.partitions <= 1 && paging.slots == 0 &&
         is_out_of_core(run);
}
#endif

void require_graph(const Options& options) {
  if (extracts_sub_graphs(options))
    throw UsageError(
        "sub-graphs of balls: only where the host has the graph, or a GPU can read it (omit them)");
}

void count_figures(Stats& stats, std::span<const QueryFigures> figures) {
  for (const QueryFigures& query : figures) {
    stats.edges += query.edges;
    stats.reached += query.reached;
    stats.query_bytes += query.peak_bytes;
    stats.peak_query_bytes = std::max(stats.peak_query_bytes, query.peak_bytes);
    stats.peak_table_entries = std::max(stats.peak_table_entries, query.table_entries);
    stats.largest_error = std::max(stats.largest_error, query.error);
    stats.held += query.held;
  }
  stats.queries += figures.size();
}

/// Answers queries with a backend, in batches of its rows. Used by run_batches.
class QueryBatches {
 public:
  QueryBatches(Backend* backend, Sink& sink, Stats& stats) : backend_(backend), sink_(sink), stats_(stats) {}

  std::uint64_t next_size(std::uint64_t) const { return backend_->rows(); }

  void run(Instance first, std::uint64_t count, BatchWriter&) {
    const double start = seconds_now();
    const Batch batch = backend_->solve(first, count);
    stats_.compute_seconds += seconds_now() - start;
    if (sink_.query_backend() != nullptr) backend_->release_memory();
    const double writing = seconds_now();
    count_figures(stats_, batch.figures);
    writing_ = true;
    sink_.write(batch);
    writing_ = false;
    stats_.write_seconds += seconds_now() - writing;
  }

  void end() {
    backend_->finish();
    stats_.traffic.add(backend_->traffic());
  }

 protected:
  Backend* backend_;
  Sink& sink_;
  Stats& stats_;
  bool writing_ = false;  ///< the sink may have part of the batch
};

/// QueryBatches with a backend of its own. The backend is made again for smaller batches, because the results
/// of a batch take memory that a query may need.
class ShrinkingQueries : public QueryBatches {
 public:
  ShrinkingQueries(const QueryRun& run, std::uint64_t queries, Sink& sink, Stats& stats)
      : QueryBatches(nullptr, sink, stats), run_(run) {
    make(queries);
  }

  bool reads_in_place() const { return own_backend_->reads_in_place(); }

  /// Smaller batches do not help if results are a small part of all memory in use.
  bool shrink(std::uint64_t, const BatchWriter&) {
    constexpr std::uint64_t kFewerQueries = 4, kMinMemoryFraction = 64;
    const std::uint64_t queries = backend_->rows() / kFewerQueries;
    if (writing_ || queries == 0 || run_.device.is_cuda() || run_.paging.shard ||
        backend_->rows() * row_bytes(run_.options) <= run_.device.memory().used() / kMinMemoryFraction)
      return false;
    earlier_traffic_.add(backend_->traffic());
    make(queries);
    return true;
  }

  void end() {
    stats_.traffic.add(earlier_traffic_);
    QueryBatches::end();
  }

 private:
  void make(std::uint64_t queries) {
    own_backend_.reset();  // frees its memory first
    own_backend_ = make_ppr_backend(run_.device, run_.graph, run_.starts, run_.options, run_.paging, queries,
                                    sink_.query_backend());
    backend_ = own_backend_.get();
  }

  QueryRun run_;
  std::unique_ptr<Backend> own_backend_;
  ListTraffic earlier_traffic_;  ///< of earlier backends
};

}  // namespace

Backend::Backend(const QueryRun& run, std::uint64_t queries)
    : device_(run.device),
      graph_(run.graph),
      starts_(run.starts),
      options_(run.options),
      rows_(batch_rows(device_, options_, queries)) {}

std::unique_ptr<Backend> make_ppr_backend(const Device& device, const Graph& graph, const Starts& starts,
                                          const Options& options, const PagingOptions& paging,
                                          std::uint64_t queries, const Backend* sibling) {
  const QueryRun run{device, graph, starts, options, paging};
  require_valid(run);
#if defined(SLUICE_HAVE_CUDA)
  if (device.is_cuda()) {
    auto on_device = sibling != nullptr ? sibling->graph_on_device() : nullptr;
    const bool shared = on_device != nullptr;
    const bool in_place = shared ? on_device->in_place() : is_read_in_place(run);
    const bool streamed = !shared && !in_place && is_out_of_core(run);
    const bool whole = shared ? on_device->is_whole() : !in_place && !streamed;
    if (!whole && options.state == State::dense)
      throw UsageError("--state dense: the GPU does not hold the graph (omit it, or raise --device-memory)");
    // With `sibling`, lists already come from other ranks, through its feeder.
    if (streamed && paging.shard && sibling == nullptr) {
      if (auto lists = PeerLists::open(device, graph, options, paging))
        on_device = std::make_shared<GraphOnDevice>(device, graph, std::move(lists));
    }
    const bool fetches_lists = streamed && !on_device;
    if (options.method == Method::walks && (in_place || fetches_lists))
      return make_queued_ppr(run, queries, sibling);
    if (fetches_lists) {
      require_graph(options);
    } else if (!on_device) {
      on_device = std::make_shared<GraphOnDevice>(device, graph, options, in_place);
    }
    return make_cuda_ppr(run, std::move(on_device), queries, sibling);
  }
#endif
  if (!is_out_of_core(run)) return make_host_ppr(run, queries);
  if (options.state == State::dense)
    throw UsageError("--state dense: lists of the graph are loaded on demand (omit it)");
  if (options.method == Method::walks) return make_queued_ppr(run, queries, sibling);
  require_graph(options);
  return make_streamed_ppr(run, queries, sibling);
}

Stats run_ppr(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
              Sink& sink, const PagingOptions& paging) {
  const InstanceRange range = starts.range(graph.vertices(), options.first_instance, options.last_instance);
  Stats stats;
  ShrinkingQueries queries({device, graph, starts, options, paging}, range.end - range.begin, sink, stats);
  run_batches(queries, range, options.progress, stats);
  queries.end();
  stats.mapped_bytes =
      queries.reads_in_place() ? edge_bytes(stats.edges, options.weighted) : stats.traffic.mapped_bytes;
  return stats;
}

Stats run_ppr(Backend& backend, InstanceRange range, Sink& sink, const Progress& progress) {
  Stats stats;
  QueryBatches queries(&backend, sink, stats);
  run_batches(queries, range, progress, stats);
  queries.end();
  return stats;
}

Plan plan_ppr(const Device& device, const Graph& graph, const Starts& starts, const Options& options,
              const PagingOptions& paging) {
  const InstanceRange range = starts.range(graph.vertices(), options.first_instance, options.last_instance);
  const std::uint64_t queries = range.end - range.begin;
  Plan plan;
  // Constructs the backend for this many queries.
  const auto construct = [&](std::uint64_t for_queries, auto&& use) {
    MemoryPlan memory(device.memory(), MemoryPlan::Host::counted);
    const Device counting(device, memory);
    std::unique_ptr<Backend> backend;
    // The next construct() is collective again: all ranks reach it, or none does.
    agree_on_memory(paging.shard, [&] {
      backend = make_ppr_backend(counting, graph, starts, options, paging, for_queries);
    });
    use(memory, *backend);
  };
  construct(1, [&](const MemoryPlan& memory, const Backend&) {
    plan.smallest_bytes = memory.needed();
    plan.host_bytes = memory.host_needed() - (device.is_cuda() ? 0 : plan.smallest_bytes);  // counted in both
  });
  construct(queries, [&](const MemoryPlan&, Backend& run) {
    plan.batch_bytes = run.rows() * row_bytes(options);
    run.plan(queries, plan);
  });
  plan.result_bytes = queries * (options.top * (sizeof(std::int32_t) + sizeof(double)) + 4);
  return plan;
}

}  // namespace sluice::ppr
