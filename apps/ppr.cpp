// sluice ppr: personalized PageRank, the top of many queries at once.
#include "engine/ppr/ppr.hpp"

#include <fmt/format.h>

#include "apps/commands.hpp"
#include "apps/job.hpp"
#include "apps/ppr_results.hpp"
#include "apps/ranks.hpp"
#include "apps/starts.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

constexpr std::array kPprMethods{
    Name<PprMethod>{"exact", PprMethod::exact},
    Name<PprMethod>{"meloppr", PprMethod::staged},
};

constexpr std::array kPprDanglings{
    Name<PprDangling>{"seed", PprDangling::seed},
    Name<PprDangling>{"uniform", PprDangling::uniform},
};

struct PprCommand {
  std::string graph;
  PprOptions ppr;
  StartsOptions starts;
  CommonOptions common;
};

/// Options that would do nothing are refused, and so is what queries cannot do yet.
void settle(const Command& command, PprCommand& c) {
  const auto refuse = [&](const char* option, bool idle, const std::string& where) {
    if (idle && command.given(option))
      throw UsageError(fmt::format("{} has no meaning {} (leave it out)", option, where));
  };
  const std::string method = fmt::format("with --method {}", name_of(kPprMethods, c.ppr.method));
  const bool staged = c.ppr.method == PprMethod::staged;
  for (const char* option : {"--stages", "--expand", "--residual-threshold"}) refuse(option, !staged, method);
  refuse("--tolerance", staged || c.ppr.length != 0, "where --length or --stages says when to end");
  if (command.given("--expand") && command.given("--residual-threshold"))
    throw UsageError("--expand and --residual-threshold exclude each other (give one of them)");
  for (const char* option : {"--layout", "--schedule", "--slots"}) refuse(option, true, "for ppr");
  if (c.common.paging.partitions > 1 || c.common.paging.transport != Transport::automatic)
    throw UsageError(
        "--partitions, --transport: not for ppr yet, which keeps the graph whole (leave them out)");
  if (c.common.distribution == Distribution::shard)
    throw UsageError("--distribution shard: not for ppr yet; use replicate");
  if (c.common.device.choice == DeviceChoice::cuda)
    throw UsageError("--device cuda: ppr works on the host so far (say --device host)");
  c.common.device.choice = DeviceChoice::host;
  validate(c.ppr);
}

std::vector<io::Attribute> attributes_of(const PprCommand& c) {
  std::vector<io::Attribute> attributes{{"command", std::string("ppr")},
                                        {"method", std::string(name_of(kPprMethods, c.ppr.method))},
                                        {"alpha", c.ppr.alpha},
                                        {"top", std::int64_t{c.ppr.top}},
                                        {"dangling", std::string(name_of(kPprDanglings, c.ppr.dangling))},
                                        {"weighted", std::int64_t{c.ppr.weighted}}};
  if (const std::uint32_t length = length_of(c.ppr); length != 0) {
    attributes.emplace_back("length", std::int64_t{length});
  } else {
    attributes.emplace_back("tolerance", c.ppr.tolerance);
  }
  if (c.ppr.method == PprMethod::staged) {
    attributes.emplace_back("stages", fmt::format("{}", fmt::join(c.ppr.stages, ",")));
    if (c.ppr.residual_threshold > 0)
      attributes.emplace_back("residual_threshold", c.ppr.residual_threshold);
    else
      attributes.emplace_back("expand", c.ppr.expand);
  }
  return attributes;
}

/// The same figures of all ranks, so that each reports whether the whole job met the tolerance.
bool converged(const PprOptions& options, double largest_error) {
  world().all_reduce(std::span(&largest_error, 1), Reduce::max, "the largest error");
  return length_of(options) != 0 || largest_error <= options.tolerance;
}

void finish(Job& job, const PprCommand& c, const PprStats& stats) {
  const std::uint64_t queries = std::max<std::uint64_t>(stats.queries, 1);
  ResolvedOptions counters;
  counters.emplace_back("queries", stats.queries);
  counters.emplace_back("queries_per_second", per_second(stats.queries, stats.compute_seconds));
  counters.emplace_back("reached_vertices", stats.reached);
  counters.emplace_back("peak_query_bytes", stats.peak_query_bytes);
  counters.emplace_back("largest_mean_query_bytes", stats.query_bytes / queries);
  counters.emplace_back("largest_error", stats.largest_error);
  counters.emplace_back("converged", converged(c.ppr, stats.largest_error));
  job.count(counters);
  RunStats run;
  run.instances = stats.queries;
  run.sampled_edges = stats.edges;
  run.waves = stats.waves;
  run.compute_seconds = stats.compute_seconds;
  run.write_seconds = stats.write_seconds;
  job.finish(run, "queries", "edges");
}

void run(const Command& command, PprCommand& c) {
  settle(command, c);
  Job job(command, c.common, c.graph);
  job.require_in_memory("ppr");
  const Starts starts = make_starts(command, c.starts, StartsLine::weighted_seeds, true, job.ids());
  job.prepare(starts, " queries", c.ppr);
  if (c.common.plan) return job.print_plan(plan_ppr(job.device(), job.graph(), starts, c.ppr));

  auto& results = job.open_results(attributes_of(c), starts, PprWriter::text_columns());
  PprWriter writer(results, job.ids(), starts, c.ppr.top);
  const auto verifier = c.common.verify ? verify_ppr(job.graph(), starts, c.ppr, writer) : nullptr;
  const PprStats stats = run_ppr(job.device(), job.graph(), starts, c.ppr, verifier ? *verifier : writer);
  finish(job, c, stats);
}

}  // namespace

std::unique_ptr<Command> make_ppr() {
  auto command = std::make_unique<Command>("ppr", "personalized PageRank: the best of many queries at once");
  const auto c = std::make_shared<PprCommand>();
  command->group("Graph");
  command->argument("GRAPH", c->graph, "a graph file (see generate, convert)");
  command->group("Scores");
  command->choice("--method", c->ppr.method, kPprMethods,
                  "diffusion from the seeds, or in stages, each from some of the vertices reached");
  command->real("--alpha", "A", c->ppr.alpha, "the chance to go on");
  command->whole("--length", c->ppr.length, 0, "steps of the diffusion; 0: to its limit");
  command->real("--tolerance", "T", c->ppr.tolerance,
                "without --length: what the scores of a query may miss, in sum");
  command->whole("--top", c->ppr.top, 1, "results of a query; short lists end in -1 and 0");
  command->choice("--dangling", c->ppr.dangling, kPprDanglings,
                  "mass of vertices without out-edges returns to the seeds, or goes to all vertices");
  command->flag("--weighted", c->ppr.weighted, "split mass by edge weight instead of evenly");
  declare_seed(*command, c->common);
  command->list("--stages", "L,...", c->ppr.stages, 1, "meloppr: steps of each stage");
  command->real("--expand", "F", c->ppr.expand,
                "meloppr: share of the vertices reached that the next stage takes, largest residual first");
  command->real("--residual-threshold", "R", c->ppr.residual_threshold,
                "meloppr: the next stage takes those of at least this residual instead");
  command->group("Queries (default: one a vertex)");
  command->text("--starts", "FILE", c->starts.file,
                "one query a line: its seeds, each `vertex` or `vertex:weight`");
  command->whole("--instances", c->starts.instances, 1, "this many queries, whose seeds are drawn uniformly");
  declare_job(*command, c->common);
  command->set_example(
      "sluice ppr graph.h5 --method meloppr --stages 3,3 --expand 0.1 --top 200 --output scores.h5");
  command->run = [c](const Command& self) { run(self, *c); };
  return command;
}

}  // namespace sluice::apps
