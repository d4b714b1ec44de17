// Queries on the host's cores. Each begins in a table of its thread (solver.hpp). A query that reaches much
// of the graph moves to dense rows of its thread (dense/group.hpp), if memory suffices.
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/batch/starts.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "engine/ppr/adjacency/in_edges.hpp"
#include "engine/ppr/backend.hpp"
#include "engine/ppr/dense/group.hpp"
#include "engine/ppr/host_workspace.hpp"
#include "engine/ppr/methods/top_list.hpp"
#include "engine/ppr/query_route.hpp"
#include "engine/ppr/query_rules.hpp"

namespace sluice::ppr {

namespace {

/// Dense groups on the host within `memory`: one for each worker beside its table, or none. With State::dense
/// no query stays in a table, and as many groups as fit are used.
DenseFit fit_host_rows(const Graph& graph, const Options& options, std::uint64_t workers,
                       std::uint64_t queries, std::uint64_t memory) {
  const std::uint64_t n = graph.vertices();
  const bool all = options.state == State::dense;
  if (options.method != Method::exact || options.state == State::sparse || has_coarse_mass(options) || n == 0)
    return {};
  const std::uint64_t tables = all ? 0 : workers * worst_host_query(graph, options),
                      totals = options.weighted ? n * sizeof(double) : 0,
                      reserved_bytes = tables + InEdges::peak_bytes(graph) + totals;
  // Memory beside the tables is not for rows alone: sinks and writers need some.
  const std::uint64_t left = memory - std::min(memory, reserved_bytes), for_rows = all ? left : left / 2;
  const DenseFit fit = DenseFit::on_host(n, queries, workers, TopList::bytes(n, options.top), for_rows);
  return all || fit.groups == workers ? fit : DenseFit{};
}

/// Peak bytes of the vertices that a query has reached.
std::uint64_t reached_bytes(std::uint64_t reached, std::uint64_t vertices, const Options& options) {
  return with_stored_mass(
      options, [&](auto mass) { return ReachedVertices<decltype(mass)>::peak_bytes(reached, vertices); });
}

/// Peak bytes of a sub-graph that has the whole graph.
std::uint64_t sub_graph_bytes(const Graph& graph, const Options& options) {
  if (!extracts_sub_graphs(options)) return 0;
  const SubGraphSize size{graph.vertices(), graph.vertices(), graph.edges(), options.weighted};
  return with_stored_mass(options, [&](auto mass) { return HostSubGraph<decltype(mass)>::peak_bytes(size); });
}

/// Peak bytes of one ball of a team that reaches all vertices.
std::uint64_t ball_bytes(const Graph& graph, const Options& options) {
  const std::uint64_t n = graph.vertices();
  return reached_bytes(n, n, options) + n * sizeof(std::uint32_t) + sub_graph_bytes(graph, options);
}

/// Parallel balls of a query: as many as fit if each reaches the whole graph; 1 means one at a time.
unsigned balls_at_once(const Device& device, const Graph& graph, const Options& options) {
  if (!is_one_by_one(options) || options.balls == 1) return 1;
  const std::uint64_t available = device.memory().available(),
                      alone = std::min(available, worst_host_query(graph, options)),
                      ball = std::max<std::uint64_t>(ball_bytes(graph, options), 1);
  return static_cast<unsigned>(std::clamp<std::uint64_t>((available - alone) / ball, 1, options.balls));
}

/// Threads of a query. A query may have more balls than threads.
unsigned threads_of_query(const Device& device, unsigned balls) {
  return std::min(balls, std::max(device.threads(), 1u));
}

/// Queries at once: as many as fit if each reaches the whole graph, and at least one.
std::uint64_t queries_at_once(const Device& device, const Graph& graph, const Options& options,
                              unsigned balls) {
  const std::uint64_t worst = std::max<std::uint64_t>(worst_host_query(graph, options, balls), 1),
                      max_queries = std::max(device.threads() / threads_of_query(device, balls), 1u);
  return std::clamp<std::uint64_t>(device.memory().available() / worst, 1, max_queries);
}

class HostPpr final : public Backend {
 public:
  HostPpr(const QueryRun& run, std::uint64_t queries)
      : Backend(run, queries),
        expected_(std::min(rows_, queries)),
        balls_(balls_at_once(device_, graph_, options_)),
        results_(device_, rows_, options_.top) {
    workers_.resize(queries_at_once(device_, graph_, options_, balls_));
    release_memory();
  }

  Batch solve(Instance first, std::uint64_t count) override {
    if (!fit_) fit_ = fit_rows();
    if (options_.state == State::dense && fit_->groups == 0) throw_rows_do_not_fit();
    for (auto& worker : workers_) worker->clear_group();
    const bool only_rows = options_.state == State::dense;
    const std::uint64_t at_once = only_rows ? fit_->groups : workers_.size();
    parallel_blocks(static_cast<unsigned>(at_once), count, 1,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      for (std::uint64_t row = from; row < to; ++row)
                        run_query(*workers_[thread], first, row);
                    });
    // Answers the groups that are not full.
    parallel_blocks(static_cast<unsigned>(at_once), at_once, 1,
                    [&](std::uint64_t worker, std::uint64_t, unsigned) { run_group(*workers_[worker]); });
    return results_.batch(first, count);
  }

  void plan(std::uint64_t, Plan& plan) override {
    const DenseFit fit = fit_rows();
    plan.threads = static_cast<unsigned>(workers_.size());
    plan.largest_query_bytes = worst_host_query(graph_, options_, balls_);
    if (fit.groups == 0) return;
    plan.rows_bytes = fit.bytes() + InEdges::peak_bytes(graph_);
    plan.largest_query_bytes += fit.shape.query_bytes();
  }

  void release_memory() override {
    for (auto& worker : workers_) {
      worker.reset();
      worker = std::make_unique<Worker>(device_, graph_, options_, balls_);
    }
    shared_.reset();
    fit_.reset();
  }

 private:
  struct GroupedQuery {
    std::uint64_t row;
    double start_time;
  };
  struct Worker {
    Worker(const Device& device, const Graph& graph, const Options& options, unsigned at_once)
        : solver(QuerySolver::make(device, graph.out.view(), options, at_once,
                                   threads_of_query(device, at_once))) {}
    void clear_group() {
      if (group) group->clear();
      in_group.clear();
    }

    std::unique_ptr<QuerySolver> solver;
    std::unique_ptr<DenseGroup> group;  ///< null until a query moves to it
    std::vector<GroupedQuery> in_group;  ///< by column
  };
  /// What the groups of all workers read.
  struct Shared {
    Shared(const Device& device, const Graph& host_graph, const Options& options) : in(device, host_graph) {
      graph.out = host_graph.out.view(), graph.in = in.rows().view();
      if (!options.weighted) return;
      totals = weight_totals(graph.out, device.threads());
      graph.totals = totals.data();
    }
    InEdges in;
    HostArray<double> totals;
    DenseGraph graph;
  };

  DenseFit fit_rows() const {
    return fit_host_rows(graph_, options_, workers_.size(), expected_, device_.memory().available());
  }

  [[noreturn]] static void throw_rows_do_not_fit() {
    throw BudgetError(
        "--state dense: too little memory for a row per vertex (raise --host-memory, or omit it)");
  }

  void run_query(Worker& worker, Instance first, std::uint64_t row) {
    const double start_time = seconds_now();
    begin(*worker.solver, results_, first, row);
    if (fit_->groups > 0 && !rows_disabled_ &&
        !worker.solver->advance_to(edges_in_table(), worker.solver->all_lists()) && move_to_column(worker)) {
      worker.in_group.push_back({row, start_time});
      if (worker.group->is_full()) run_group(worker);
      return;
    }
    worker.solver->advance(worker.solver->all_lists());
    results_.store(row, *worker.solver, start_time);
  }

  /// Edges of a step after which a query leaves its table.
  std::uint64_t edges_in_table() const {
    if (options_.state == State::dense) return 0;
    return min_edges_for_rows(graph_.vertices(), graph_.edges(), fit_->shape.width);
  }

  /// False if no memory is left for rows: the query goes on in its table.
  bool move_to_column(Worker& worker) {
    try {
      if (!worker.group)
        worker.group = std::make_unique<DenseGroup>(device_, shared(), options_, fit_->shape.width);
      worker.group->add(*worker.solver);
      return true;
    } catch (const BudgetError&) {
      if (options_.state == State::dense) throw_rows_do_not_fit();
      rows_disabled_ = true;
      return false;
    }
  }

  const DenseGraph& shared() {
    const std::lock_guard lock(shared_mutex_);
    if (!shared_) shared_.emplace(device_, graph_, options_);
    return shared_->graph;
  }

  /// Answers all queries of the worker's group.
  void run_group(Worker& worker) {
    if (worker.in_group.empty()) return;
    worker.group->run();
    for (std::uint32_t column = 0; column < worker.group->columns(); ++column) {
      const auto [row, start_time] = worker.in_group[column];
      results_.store(row, *worker.group, start_time, column);
    }
    worker.clear_group();
  }

  std::uint64_t expected_;  ///< expected queries of a batch
  unsigned balls_;          ///< parallel balls of a query
  Rows<Buffer> results_;
  std::optional<DenseFit> fit_;  ///< dense groups that fit the memory
  std::atomic<bool> rows_disabled_ = false;
  std::mutex shared_mutex_;
  std::optional<Shared> shared_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

std::uint64_t worst_host_query(const Graph& graph, const Options& options, unsigned balls) {
  const std::uint64_t n = graph.vertices(), reached = reached_bytes(n, n, options),
                      list = TopList::bytes(n, options.top);
  if (options.state == State::dense) return DenseShape{n, 1}.group_bytes() + list;
  if (!is_one_by_one(options)) return list + reached + n * 4;
  const std::uint64_t limit = table_limit_of(options), kept = limit == 0 ? n : std::min(limit, n);
  const std::uint64_t alone =
      list + reached + reached_bytes(kept, n, options) + n * 20 + sub_graph_bytes(graph, options);
  return balls == 1 ? alone : alone + balls * ball_bytes(graph, options);
}

std::unique_ptr<Backend> make_host_ppr(const QueryRun& run, std::uint64_t queries) {
  return std::make_unique<HostPpr>(run, queries);
}

}  // namespace sluice::ppr
