#include "engine/ppr/ppr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"

namespace sluice {

namespace {

using Clock = std::chrono::steady_clock;

/// Results that are written at once: enough for threads not to wait for each other.
constexpr std::uint64_t kWaveBytes = 32u << 20;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::uint64_t row_bytes(const PprOptions& options) {
  return options.top * (sizeof(Vertex) + sizeof(double)) + sizeof(Vertex) + sizeof(QueryFigures);
}

/// Queries that a wave holds: a part of what is left.
std::uint64_t wave_rows(const Device& device, const PprOptions& options, std::uint64_t queries) {
  const std::uint64_t bytes = std::min(kWaveBytes, device.memory().available() / 8);
  return std::clamp<std::uint64_t>(bytes / row_bytes(options), 1, std::max<std::uint64_t>(queries, 1));
}

/// Of a query that reaches everything: its vertices, once or in two places, and lists of them.
std::uint64_t worst_query(const Graph& graph, const PprOptions& options) {
  const std::uint64_t n = graph.vertices(), reached = ReachedVertices::peak_bytes(n, n);
  return options.one_by_one ? 2 * reached + n * 20 : reached + n * 4;
}

/// Queries that are worked on at once: as many as fit if each reaches all of the graph, and at least one.
unsigned threads_for(const Device& device, const Graph& graph, const PprOptions& options,
                     std::uint64_t left) {
  const std::uint64_t fit = left / std::max<std::uint64_t>(worst_query(graph, options), 1);
  return static_cast<unsigned>(std::clamp<std::uint64_t>(fit, 1, device.threads()));
}

void require_meaning(const Graph& graph, const Starts& starts, const PprOptions& options) {
  validate(options);
  if (options.weighted && !graph.weighted)
    throw UsageError("--weighted: the graph has no weights (leave it out)");
  for (const Vertex seed : starts.vertices) {
    if (seed >= graph.vertices()) throw InputError(fmt::format("seed {} is no vertex of the graph", seed));
  }
}

class Run {
 public:
  Run(const Device& device, const Graph& graph, const Starts& starts, const PprOptions& options,
      PprSink& sink)
      : graph_(graph),
        starts_(starts),
        options_(options),
        sink_(sink),
        range_(starts.range(graph.vertices(), options.first_instance, options.last_instance)),
        rows_(wave_rows(device, options, range_.end - range_.begin)),
        seeds_(device, rows_, "results of queries"),
        vertices_(device, rows_ * options.top, "results of queries"),
        scores_(device, rows_ * options.top, "results of queries"),
        figures_(device, rows_, "results of queries") {
    const unsigned threads = threads_for(device, graph, options, device.memory().available());
    workers_.reserve(threads);
    for (unsigned i = 0; i < threads; ++i)
      workers_.push_back(std::make_unique<Worker>(device, graph, options));
  }

  PprStats run() {
    for (Instance at = range_.begin; at < range_.end; at += rows_) {
      if (options_.progress) options_.progress(at - range_.begin, range_.end - range_.begin);
      wave(at, std::min(rows_, range_.end - at));
    }
    if (options_.progress) options_.progress(range_.end - range_.begin, range_.end - range_.begin);
    return stats_;
  }

 private:
  struct Worker {
    Worker(const Device& device, const Graph& graph, const PprOptions& options)
        : solver(device, graph.out.view(), options) {}
    QuerySolver solver;
    Seeds seeds;
  };

  void wave(Instance first, std::uint64_t count) {
    const auto begin = Clock::now();
    parallel_blocks(static_cast<unsigned>(workers_.size()), count, 1,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      for (std::uint64_t row = from; row < to; ++row) solve(*workers_[thread], first, row);
                    });
    stats_.compute_seconds += since(begin);
    const auto writing = Clock::now();
    count_figures({figures_.data(), count});
    sink_.write({first,
                 count,
                 options_.top,
                 {seeds_.data(), count},
                 {vertices_.data(), count * options_.top},
                 {scores_.data(), count * options_.top},
                 {figures_.data(), count}});
    stats_.write_seconds += since(writing);
  }

  void solve(Worker& worker, Instance first, std::uint64_t row) {
    const auto begin = Clock::now();
    worker.seeds.assign(starts_, graph_.vertices(), options_.seed, first + row);
    seeds_.data()[row] = worker.seeds.all()[0].vertex;
    figures_.data()[row] = worker.solver.solve(worker.seeds, first + row);
    worker.solver.write_top({vertices_.data() + row * options_.top, options_.top},
                            {scores_.data() + row * options_.top, options_.top});
    figures_.data()[row].seconds = since(begin);
  }

  void count_figures(std::span<const QueryFigures> figures) {
    for (const QueryFigures& query : figures) {
      stats_.edges += query.edges;
      stats_.reached += query.reached;
      stats_.query_bytes += query.peak_bytes;
      stats_.peak_query_bytes = std::max(stats_.peak_query_bytes, query.peak_bytes);
      stats_.largest_error = std::max(stats_.largest_error, query.error);
      stats_.held += query.held;
    }
    stats_.queries += figures.size();
    ++stats_.waves;
  }

  const Graph& graph_;
  const Starts& starts_;
  const PprOptions& options_;
  PprSink& sink_;
  InstanceRange range_;
  std::uint64_t rows_;
  Buffer<Vertex> seeds_, vertices_;
  Buffer<double> scores_;
  Buffer<QueryFigures> figures_;
  std::vector<std::unique_ptr<Worker>> workers_;
  PprStats stats_;
};

}  // namespace

PprStats run_ppr(const Device& device, const Graph& graph, const Starts& starts, const PprOptions& options,
                 PprSink& sink) {
  require_meaning(graph, starts, options);
  return Run(device, graph, starts, options, sink).run();
}

PprPlan plan_ppr(const Device& device, const Graph& graph, const Starts& starts, const PprOptions& options) {
  require_meaning(graph, starts, options);
  const InstanceRange range = starts.range(graph.vertices(), options.first_instance, options.last_instance);
  PprPlan plan;
  const std::uint64_t least = ReachedVertices::peak_bytes(1, graph.vertices());
  plan.smallest_bytes = row_bytes(options) + least;
  plan.wave_bytes = wave_rows(device, options, range.end - range.begin) * row_bytes(options);
  plan.largest_query_bytes = worst_query(graph, options);
  const std::uint64_t allowed = device.memory().available();
  plan.threads = threads_for(device, graph, options, allowed - std::min(allowed, plan.wave_bytes));
  plan.result_bytes = (range.end - range.begin) * (options.top * (sizeof(std::int32_t) + sizeof(double)) + 4);
  return plan;
}

}  // namespace sluice
