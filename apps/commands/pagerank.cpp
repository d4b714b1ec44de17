// sluice pagerank: PageRank of all vertices.
#include "engine/pagerank/static/pagerank.hpp"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "apps/commands/commands.hpp"
#include "apps/data/rank_batch.hpp"
#include "apps/job/job.hpp"
#include "apps/job/ranks.hpp"
#include "apps/job/sinks.hpp"
#include "engine/pagerank/rank_graph.hpp"
#include "engine/pagerank/verify.hpp"

namespace sluice::apps {

namespace {

struct PageRankCommand {
  pagerank::RankMethod method = pagerank::RankMethod::from_scratch;
  pagerank::Options rank;
  pagerank::RankRows rows = pagerank::RankRows::automatic;
  RankBatchOptions batch;
  CommonOptions common;
};

std::vector<io::Attribute> attributes_of(const Command& command, const PageRankCommand& c) {
  std::vector<std::string> options{"--method",         "--damping",  "--tolerance", "--norm",
                                   "--max-iterations", "--dangling", "--weighted",  "--precision"};
  const bool pruned = c.method == pagerank::RankMethod::pruned_frontier;
  if (has_frontier(c.method)) options.emplace_back("--frontier-tolerance");
  if (pruned) options.emplace_back("--prune-tolerance");
  if (pruned && !c.batch.rank.affect_all) options.emplace_back("--affect-all");
  return attributes_of(command, options);
}

/// The reason why the iterations ended, as text.
std::string end_text(const PageRankCommand& c, const pagerank::Result& result) {
  switch (result.end) {
    case pagerank::RankEnd::converged:
      return "converged";
    case pagerank::RankEnd::limit:
      return "--max-iterations was reached";
    case pagerank::RankEnd::stalled:
      break;
  }
  const bool coarse = c.rank.precision == pagerank::RankPrecision::f32;
  return fmt::format("--precision {} cannot reach --tolerance {}{}",
                     name_of(kRankPrecisions, c.rank.precision), c.rank.tolerance, coarse ? ", f64 may" : "");
}

SolverFigures figures_of(const PageRankCommand& c, const pagerank::Result& result) {
  SolverFigures figures;
  figures.run.add_traffic(result.traffic);
  figures.end = end_text(c, result);
  figures.converged = result.converged();
  figures.iterations = result.iterations;
  figures.residual = result.residual;
  for (const pagerank::RankIteration& iteration : result.history) {
    figures.residuals.push_back(iteration.residual);
    figures.seconds.push_back(iteration.seconds);
  }
  figures.run.load_seconds = result.setup_seconds;
  figures.run.compute_seconds = result.compute_seconds;
  figures.edges = result.gathered_edges;
  return figures;
}

/// `batch` is null for ranks of the unchanged graph.
pagerank::Plan plan_of(Job& job, const PageRankCommand& c, const ChargedBatch* batch,
                       const pagerank::RankPlace& place) {
  pagerank::require_stored_in_edges(job.graph());
  pagerank::Plan plan = batch ? plan_rank_batch(job, *batch, c.rank, c.batch.rank, place)
                              : pagerank::plan_pagerank(job.device(), job.graph(), c.rank, place);
  if (!c.common.verify) return plan;
  const MemoryPlan check(host_budget(), MemoryPlan::Host::counted);
  const Graph& graph = job.graph();
  check_ranks(graph, c.rank, pagerank::all_ranks({}, 0, graph.vertices(), nullptr).span());
  plan.host_bytes += check.host_needed();
  return plan;
}

void run_pagerank(const Command& command, PageRankCommand& c) {
  validate(c.rank);
  resolve_rank_batch(command, c.method, c.batch);
  const bool from_scratch = c.method == pagerank::RankMethod::from_scratch;
  Job job(command, c.common,
          {.in_edges = true,
           .weights = c.rank.weighted,
           .updated = c.batch.updates(),
           .needs_in_edges_in_file = true,
           .may_overlap_reading = from_scratch && !c.batch.updates()});
  // Reads the batch for each place that is tried: reading needs more memory than holding it. Keeps the last.
  std::optional<ChargedBatch> changes;
  pagerank::Plan plan = job.plan_and_load([&](const PagingOptions& paging) {
    changes.reset();
    if (!from_scratch || c.batch.updates())
      changes.emplace(read_batch(c.batch.files, job.graph(), job.ids(), threads_of(c.common)));
    return plan_of(job, c, changes ? &*changes : nullptr, {paging, &world(), c.rows});
  });
  if (c.common.plan) {
    std::uint64_t vertices = job.graph().vertices();
    if (changes) {
      plan.host_bytes += changes->charge.bytes();
      vertices = vertices_with(changes->insertions, vertices);
    }
    return job.print_plan(plan, vertices);
  }

  std::optional<RankBatch> batch;
  if (changes) batch.emplace(job, std::move(*changes), c.batch, c.rank, c.common);
  job.open_results(attributes_of(command, c), nullptr, text_columns_of(c.common, {"rank"}));
  job.progress().start(command.name());
  const auto observe = [&](const pagerank::RankIteration& iteration) {
    world().throw_if_failed("the work");
    job.progress().update(command.name(), iteration.number, c.rank.max_iterations, " iterations");
  };
  const pagerank::Result result = from_scratch
                                      ? pagerank::run_pagerank(job.device(), job.graph(), c.rank, observe,
                                                               {c.common.paging, &world(), c.rows})
                                      : batch->follow(observe);
  if (c.common.verify) {
    const auto all = pagerank::all_ranks(result.ranks.span(), result.first, job.graph().vertices(), &world());
    from_scratch ? pagerank::verify_pagerank(job.graph(), c.rank, all.span(), result.last_l1, &world(),
                                             threads_of(c.common))
                 : batch->verify(all.span());
  }
  VertexColumns columns(job.ids(), result.first, result.first + result.ranks.size());
  columns.add_own("rank", io::ElementType::f64, result.ranks.data());
  if (c.common.original_ids) columns.add_ids("vertices");
  job.write(columns);
  job.note({"converged", std::int64_t{result.converged()}});
  job.finish(figures_of(c, result));
}

}  // namespace

std::unique_ptr<Command> make_pagerank() {
  auto [command, c] = make_command<PageRankCommand>("pagerank", "ranks of all vertices", run_pagerank);
  declare_graph(*command, c->common, "a graph file; stored in-edges (--reverse) save a transposition");
  command->group("Ranks");
  command->choice("--method", c->method, kRankMethods,
                  "from equal ranks, or from --previous: naive-dynamic, dynamic traversal, dynamic frontier, "
                  "with pruning, on residuals");
  declare_rank_options(*command, c->rank);
  command->flag("--weighted", c->rank.weighted, "split ranks by edge weight instead of evenly");
  command->choice(
      "--rows", c->rows, kRankRows,
      "layout of in-edges in memory: as stored, or a faster one: on a GPU slices of rows sorted by "
      "degree, on the host sources numbered by degree; sliced needs a GPU; changes no result");
  declare_seed(*command, c->common);
  command->group("Batch (ranks are computed after it was applied)");
  declare_rank_batch(*command, c->batch);
  declare_job(*command, c->common);
  command->set_idle(kIdleForSolvers);
  command->set_example("sluice pagerank graph.h5 --tolerance 1e-12 --output ranks.h5 --report ranks.json");
  return std::move(command);
}

}  // namespace sluice::apps
