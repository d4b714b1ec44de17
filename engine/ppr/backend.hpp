// Where queries are answered, a batch at a time: on the host's cores (host_backend.cpp), or
// many at once where lists come as they are asked for (streamed_backend.cpp); or on a GPU, a query a block
// (cuda_backend.cu). Walks where lists do not fit are made on either in a queue (queue/). What limits the
// queries under way differs, and with it the loop over a batch: threads, memory for what they reach, blocks
// and their workspaces, or ends of walks.
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

/// What queries are asked of, and how.
struct QueryRun {
  const Device& device;
  const Graph& graph;
  const Starts& starts;
  const Options& options;
  const PagingOptions& paging;
};

class Backend {
 public:
  /// Keeps references to all of the run but its paging. `queries` is how many will be asked.
  Backend(const QueryRun& run, std::uint64_t queries);
  virtual ~Backend() = default;
  /// The most queries of a batch.
  std::uint64_t rows() const { return rows_; }
  /// Answers queries [first, first + count); what it hands out stays until the next call.
  virtual Batch solve(Instance first, std::uint64_t count) = 0;
  /// Gives back the memory in which queries work, until the next call; batches stay.
  virtual void rest() = 0;
  /// Nothing more is asked here. Other ranks may still want lists of this one; returns once none does.
  virtual void finish() {}
  /// Of a device that only counts: what so many queries would take, beside the least (plan_ppr). What this
  /// holds is then that of another query.
  virtual void plan(std::uint64_t queries, Plan& plan) = 0;
  /// What has been brought so far.
  virtual ListTraffic traffic() const { return {}; }
  /// Are lists read where the host has them, and not where the device would?
  virtual bool reads_in_place() const { return false; }
  /// Of a GPU, for others to share.
  virtual std::shared_ptr<GraphOnDevice> graph_on_device() const { return nullptr; }
  /// The same of ranks that share out the graph. The rank that has it feeds by turns with this one; it is
  /// finished once for all of them.
  virtual std::shared_ptr<ListFeeder> rank_feeder() const { return nullptr; }

 protected:
  const Device& device_;
  const Graph& graph_;
  const Starts& starts_;
  const Options& options_;
  std::uint64_t rows_;

  /// Of the host: begins the query of a row, and notes its seed in `results`.
  template <class Results>
  void begin(QuerySolver& solver, Results& results, Instance first, std::uint64_t row) const {
    results.seeds.data()[row] = solver.begin(starts_, graph_.vertices(), options_.seed, first + row);
  }
};

/// On the device; keeps references to device, graph, starts and options. `queries` is how many will be asked.
/// `beside`, if any, is of the same device, graph and paging, as much by weight, and outlives this one: a GPU
/// does not hold the graph twice, and ranks that share it out ask each other in one place, whichever backend
/// each is at work in. Throws UsageError for what the device cannot do, and as run_ppr does.
std::unique_ptr<Backend> make_ppr_backend(const Device& device, const Graph& graph, const Starts& starts,
                                          const Options& options, const PagingOptions& paging,
                                          std::uint64_t queries, const Backend* beside = nullptr);

std::unique_ptr<Backend> make_host_ppr(const QueryRun& run, std::uint64_t queries);
std::unique_ptr<Backend> make_cuda_ppr(const QueryRun& run, std::shared_ptr<GraphOnDevice> on_device,
                                       std::uint64_t queries);

/// Lists are brought in both, for all methods but walks.
std::unique_ptr<Backend> make_streamed_ppr(const QueryRun& run, std::uint64_t queries, const Backend* beside);
std::unique_ptr<Backend> make_cuda_streamed_ppr(const QueryRun& run, std::uint64_t queries,
                                                const Backend* beside);

/// Of walks, on the host or a GPU, where the device does not have the graph whole.
std::unique_ptr<Backend> make_queued_ppr(const QueryRun& run, std::uint64_t queries, const Backend* beside);

using Progress = std::function<void(Instance done, Instance total)>;

/// Batch after batch of `range`; a backend may be asked many times.
Stats run_ppr(Backend& backend, InstanceRange range, Sink& sink, const Progress& progress = {});

/// Of a query that reaches everything on the host: its vertices, once or in two places, and lists of them;
/// and as much for each ball where several go on side by side.
std::uint64_t worst_host_query(const Graph& graph, const Options& options, unsigned balls = 1);

/// Results of a batch where the host reads them.
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

  /// What was found of a query that began then: by a QuerySolver, or in a `column` of a DenseGroup.
  template <class Found, class... Column>
  QueryFigures& answer(std::uint64_t row, Found& found, double begun, Column... column) {
    QueryFigures& own = figures.data()[row];
    own = found.figures(column...);
    found.write_top(column..., std::span(vertices.data() + row * top, top),
                    std::span(scores.data() + row * top, top));
    own.seconds = seconds_now() - begun;
    return own;
  }

  std::uint32_t top;
  Memory<Vertex> seeds, vertices;
  Memory<double> scores;
  Memory<QueryFigures> figures;
};

}  // namespace sluice::ppr
