// Backends answer queries in batches. host_backend.cpp runs them on the host's cores; streamed_backend.cpp
// runs many at once there, and fetches lists when they are needed; cuda_backend.cu runs a query per block of
// a GPU. If lists do not fit, walks run in a queue on either device (queue/). The loop over a batch depends
// on what limits concurrent queries: threads, memory for reached vertices, blocks and their workspaces, or
// walk ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "engine/batch/starts.hpp"
#include "engine/core/clock.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/ppr/methods/solver.hpp"
#include "engine/ppr/ppr.hpp"

namespace sluice::ppr {

class GraphOnDevice;
class ListFeeder;

/// The arguments of a run.
struct QueryRun {
  const Device& device;
  const Graph& graph;
  const Starts& starts;
  const Options& options;
  const PagingOptions& paging;
};

class Backend {
 public:
  /// Keeps references to all of the run but its paging. `queries`: how many will be asked.
  Backend(const QueryRun& run, std::uint64_t queries);
  virtual ~Backend() = default;
  /// The most queries of a batch.
  std::uint64_t rows() const { return rows_; }
  /// Answers queries [first, first + count). The returned batch is valid until the next call.
  virtual Batch solve(Instance first, std::uint64_t count) = 0;
  /// Frees the working memory of queries until the next call; returned batches stay valid.
  virtual void release_memory() = 0;
  /// Ends the requests of this rank. Other ranks may still need its lists; returns once none does.
  virtual void finish() {}
  /// On a device that only counts memory: sets what so many queries would take beyond the minimum (plan_ppr).
  /// Replaces the workspaces that this backend holds.
  virtual void plan(std::uint64_t queries, Plan& plan) = 0;
  /// Traffic of lists so far.
  virtual ListTraffic traffic() const { return {}; }
  /// True if lists are read in place in host memory, not in slots of the device.
  virtual bool reads_in_place() const { return false; }
  /// The graph on a GPU, for other backends to share; null if there is none.
  virtual std::shared_ptr<GraphOnDevice> graph_on_device() const { return nullptr; }
  /// Fetches lists from other ranks, for backends to share; null if ranks do not share out the graph.
  /// Backends use it by turns, and finish it once for all of them.
  virtual std::shared_ptr<ListFeeder> rank_feeder() const { return nullptr; }

 protected:
  const Device& device_;
  const Graph& graph_;
  const Starts& starts_;
  const Options& options_;
  std::uint64_t rows_;

  /// Host backends: begins the query of a row, and stores its seed in `results`.
  template <class Results>
  void begin(QuerySolver& solver, Results& results, Instance first, std::uint64_t row) const {
    results.seeds.data()[row] = solver.begin(starts_, graph_.vertices(), options_.seed, first + row);
  }
};

/// Makes the backend for the device; keeps references to device, graph, starts and options. `queries`: how
/// many will be asked. `sibling`, if not null, has the same device, graph, paging and weighting, and outlives
/// the result. Both then share the graph on a GPU, and one feeder for requests between ranks, whichever
/// backend each rank is in. Throws UsageError for what the device cannot do, and as run_ppr does.
std::unique_ptr<Backend> make_ppr_backend(const Device& device, const Graph& graph, const Starts& starts,
                                          const Options& options, const PagingOptions& paging,
                                          std::uint64_t queries, const Backend* sibling = nullptr);

std::unique_ptr<Backend> make_host_ppr(const QueryRun& run, std::uint64_t queries);
/// `on_device` is null if lists are fetched; this works for all methods but walks.
std::unique_ptr<Backend> make_cuda_ppr(const QueryRun& run, std::shared_ptr<GraphOnDevice> on_device,
                                       std::uint64_t queries, const Backend* sibling = nullptr);

/// Fetches lists, for all methods but walks.
std::unique_ptr<Backend> make_streamed_ppr(const QueryRun& run, std::uint64_t queries,
                                           const Backend* sibling);

/// For walks, on the host or a GPU, if the device does not hold the whole graph.
std::unique_ptr<Backend> make_queued_ppr(const QueryRun& run, std::uint64_t queries, const Backend* sibling);

using Progress = std::function<void(Instance done, Instance total)>;

/// Answers `range` batch by batch; a backend may be used many times.
Stats run_ppr(Backend& backend, InstanceRange range, Sink& sink, const Progress& progress = {});

/// Bytes of a host query that reaches everything: its vertices, in one or two tables, and lists of them; and
/// as much for each parallel ball.
std::uint64_t worst_host_query(const Graph& graph, const Options& options, unsigned balls = 1);

/// Results of a batch, in memory that the host reads.
template <template <class> class Memory>
struct Rows {
  Rows(const Device& device, std::uint64_t rows, std::uint32_t list_size)
      : top(list_size),
        seeds(device, rows, "results of queries"),
        vertices(device, rows * list_size, "results of queries"),
        scores(device, rows * list_size, "results of queries"),
        figures(device, rows, "results of queries") {}

  Batch batch(Instance first, std::uint64_t count) const {
    return {first,
            count,
            top,
            {seeds.data(), count},
            {vertices.data(), count * top},
            {scores.data(), count * top},
            {figures.data(), count}};
  }

  /// Stores what a QuerySolver, or a DenseGroup in `column`, found for a query that began at `start_time`.
  template <class Solver, class... Column>
  QueryFigures& store(std::uint64_t row, Solver& solver, double start_time, Column... column) {
    QueryFigures& row_figures = figures.data()[row];
    row_figures = solver.figures(column...);
    solver.write_top(column..., std::span(vertices.data() + row * top, top),
                     std::span(scores.data() + row * top, top));
    row_figures.seconds = seconds_now() - start_time;
    return row_figures;
  }

  std::uint32_t top;
  Memory<Vertex> seeds, vertices;
  Memory<double> scores;
  Memory<QueryFigures> figures;
};

}  // namespace sluice::ppr
