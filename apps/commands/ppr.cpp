// sluice ppr: personalized PageRank, the top vertices of many queries at once.
#include "engine/ppr/ppr.hpp"

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <limits>
#include <optional>

#include "apps/cli/console.hpp"
#include "apps/cli/values.hpp"
#include "apps/commands/commands.hpp"
#include "apps/data/starts.hpp"
#include "apps/job/job.hpp"
#include "apps/job/ranks.hpp"
#include "apps/job/sinks.hpp"
#include "apps/verify/verify.hpp"
#include "engine/core/error.hpp"
#include "engine/ppr/evaluate.hpp"

namespace sluice::apps {

namespace {

constexpr auto kPprMethods = names_in_order<ppr::Method>("exact", "meloppr", "push", "montecarlo");

constexpr auto kPprDanglings = names_in_order<ppr::Dangling>("seed", "uniform");

constexpr auto kPprUnexpanded = names_in_order<ppr::Unexpanded>("residual", "share");

constexpr auto kPprTableLimits = names_in_order<ppr::TableLimit>("soft", "hard");

constexpr auto kPprStates = names_in_order<ppr::State>("auto", "sparse", "dense");

constexpr auto kPprUnits = names_in_order<ppr::BallDegree>("number", "average", "largest");

constexpr std::array<std::string_view, 1> kIdle{"--layout"};

struct PprCommand {
  ppr::Options ppr;
  StartsOptions starts;
  bool evaluate = false, latency = false;
  CommonOptions common;
};

/// Throws UsageError for options without effect and for combinations that queries do not support.
void resolve_options(const Command& command, PprCommand& c) {
  const auto refuse = std::bind_front(refuse_idle_option, std::cref(command));
  const std::string method = fmt::format("with --method {}", name_of(kPprMethods, c.ppr.method));
  const bool staged = c.ppr.method == ppr::Method::staged, push = c.ppr.method == ppr::Method::push,
             walks = c.ppr.method == ppr::Method::walks;
  for (const char* option : {"--stages", "--expand", "--unexpanded", "--one-by-one"})
    refuse(option, !staged, method);
  for (const char* option : {"--table", "--table-limit", "--balls"})
    refuse(option, !c.ppr.one_by_one, "without --one-by-one");
  for (const char* option : {"--walks", "--confidence"}) refuse(option, !walks, method);
  refuse("--residual-threshold", !staged && !push, method);
  refuse("--tolerance", staged || walks, method);
  refuse("--tolerance", c.ppr.length != 0, "where --length gives the number of steps");
  refuse("--tolerance", command.given("--residual-threshold"), "with --residual-threshold");
  if (command.given("--residual-threshold") && !(c.ppr.residual_threshold > 0))
    throw UsageError("--residual-threshold: must be above 0");
  if (command.given("--expand") && command.given("--residual-threshold"))
    throw UsageError("--expand and --residual-threshold exclude each other (give one of them)");
  refuse("--state", staged || push || walks, method);
  validate(c.ppr);
}

/// Does the run continue until the error is within the tolerance?
bool ends_at_tolerance(const ppr::Options& options) {
  return length_of(options) == 0 && options.method != ppr::Method::walks && options.residual_threshold == 0;
}

std::vector<io::Attribute> attributes_of(const Command& command, const PprCommand& c) {
  std::vector<io::Attribute> attributes =
      attributes_of(command, {"--method", "--alpha", "--top", "--dangling", "--weighted"});
  const bool staged = c.ppr.method == ppr::Method::staged, walks = c.ppr.method == ppr::Method::walks,
             threshold = c.ppr.residual_threshold > 0;
  const bool units = c.ppr.score_units != 0 || c.ppr.unit_degree != ppr::BallDegree::none;
  const std::uint32_t length = length_of(c.ppr);
  if (length != 0) attributes.emplace_back("length", std::int64_t{length});
  std::vector<std::string> options;
  if (staged) options.emplace_back("--stages");
  if (threshold) options.emplace_back("--residual-threshold");
  if (staged && !threshold) options.emplace_back("--expand");
  if (staged) options.emplace_back("--unexpanded");
  if (staged && c.ppr.one_by_one) options.emplace_back("--table");
  if (units) options.emplace_back("--score-units");
  if (table_limit_of(c.ppr) != 0) options.emplace_back("--table-limit");
  if (walks) options.emplace_back("--walks");
  if (ends_at_tolerance(c.ppr)) options.emplace_back("--tolerance");
  std::ranges::copy(attributes_of(command, options), std::back_inserter(attributes));
  return attributes;
}

/// Parses a number, or the name of a degree of a query's ball. Of several such options the last one counts.
void set_score_units(ppr::Options& options, const std::string& given) {
  options.score_units = 0, options.unit_degree = ppr::BallDegree::none;
  for (const ppr::BallDegree degree : {ppr::BallDegree::average, ppr::BallDegree::largest}) {
    if (given == name_of(kPprUnits, degree)) options.unit_degree = degree;
  }
  if (options.unit_degree != ppr::BallDegree::none) return;
  if (!to_integer(given))
    throw UsageError(fmt::format("--score-units: '{}' is not a number (nor average or largest)", given));
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  options.score_units = static_cast<std::uint32_t>(parse_unsigned(given, "--score-units", 0, kMost));
}

OptionValue score_units_of(const ppr::Options& options) {
  if (options.unit_degree == ppr::BallDegree::none) return std::uint64_t{options.score_units};
  return std::string(name_of(kPprUnits, options.unit_degree));
}

bool converged(const ppr::Options& options, double largest_error) {
  return !ends_at_tolerance(options) || largest_error <= options.tolerance;
}

/// Adds means over the queries of all ranks.
void add_precision(ResolvedOptions& counters, const ppr::Evaluator& evaluator) {
  const ppr::Precision &truncated = evaluator.truncated(), &limit = evaluator.limit();
  double sums[] = {static_cast<double>(evaluator.queries()), truncated.strict, truncated.of_scored,
                   limit.strict, limit.of_scored};
  world().all_reduce(sums, Reduce::sum, "the precision");
  const double queries = std::max(sums[0], 1.0);
  const char* const names[] = {"precision_truncated", "precision_truncated_of_scored", "precision_limit",
                               "precision_limit_of_scored"};
  for (std::size_t i = evaluator.has_truncated() ? 0 : 2; i < std::size(names); ++i)
    counters.emplace_back(names[i], sums[i + 1] / queries);
}

void add_latencies(ResolvedOptions& counters, ppr::Latencies& latencies) {
  counters.emplace_back("latency_p50_seconds", latencies.quantile(0.5));
  counters.emplace_back("latency_p99_seconds", latencies.quantile(0.99));
}

/// Prints the requested measurements; the report has them too.
void print_figures(const PprCommand& c, const ResolvedOptions& counters) {
  if (c.common.quiet || !world().is_root()) return;
  std::string text;
  for (const auto& [name, value] : counters) {
    const bool latency = name.starts_with("latency_") || name == "queries_per_second";
    const bool precision = name.starts_with("precision_") || name.ends_with("query_bytes");
    if ((latency && c.latency) || (precision && c.evaluate))
      text += fmt::format("  {:<30} {}\n", name, to_string(value));
  }
  print_message(text);
}

ResolvedOptions counters_of(const PprCommand& c, const ppr::Stats& stats, double largest_error) {
  const std::uint64_t queries = std::max<std::uint64_t>(stats.queries, 1);
  return {{"queries", stats.queries},
          {"queries_per_second", per_second(stats.queries, stats.compute_seconds)},
          {"reached_vertices", stats.reached},
          {"peak_query_bytes", stats.peak_query_bytes},
          {"largest_mean_query_bytes", stats.query_bytes / queries},
          {"peak_table_entries", stats.peak_table_entries},
          {"list_rounds", stats.traffic.list_rounds},
          {"list_restarts", stats.traffic.restarts},
          {"largest_error", stats.largest_error},
          {"converged", converged(c.ppr, largest_error)}};
}

RunStats run_of(const ppr::Stats& stats) {
  RunStats run;
  run.add_traffic(stats.traffic);
  run.instances = stats.queries;
  run.sampled_edges = stats.edges;
  run.batches = stats.batches;
  run.compute_seconds = stats.compute_seconds;
  run.write_seconds = stats.write_seconds;
  run.entries_sent = stats.traffic.requests_sent;
  run.entries_received = stats.traffic.requests_received;
  run.mapped_bytes = stats.mapped_bytes;
  return run;
}

void run(const Command& command, PprCommand& c) {
  resolve_options(command, c);
  Job job(command, c.common, {.weights = c.ppr.weighted});
  const ChargedStarts starts = make_starts(command, c.starts, StartsLine::weighted_seeds, true, job.ids());
  job.prepare(starts, " queries", c.ppr);
  const auto plan_with = [&](const PagingOptions& paging) {
    return plan_ppr(job.device(), job.graph(), starts, c.ppr, paging);
  };
  const ppr::Plan first = job.plan_and_load(plan_with);
  if (c.common.plan) return job.print_plan(first);

  std::optional<ppr::Latencies> latencies;
  std::optional<ppr::Evaluator> evaluator;
  ppr::Stats stats;
  job.run_with_retries(first, plan_with, [&](const ppr::Plan&) {
    auto& results = job.open_results(attributes_of(command, c), &starts, PprWriter::text_columns());
    PprWriter writer(results, job.ids(), starts, c.ppr.top);
    const auto verifier = c.common.verify ? verify_ppr(job.graph(), starts, c.ppr, writer) : nullptr;
    ppr::Sink* sink = verifier ? verifier.get() : &writer;
    if (c.latency) sink = &latencies.emplace(*sink);
    if (c.evaluate) sink = &evaluator.emplace(job.device(), job.graph(), starts, c.ppr, *sink, job.paging());
    stats = run_ppr(job.device(), job.graph(), starts, c.ppr, *sink, job.paging());
  });
  // Each rank reports whether the whole job met the tolerance.
  const double largest_error = reduce_over_ranks(stats.largest_error, Reduce::max, "the largest error");
  ResolvedOptions counters = counters_of(c, stats, largest_error);
  if (latencies) add_latencies(counters, *latencies);
  if (evaluator) add_precision(counters, *evaluator);
  job.set_counters(counters);
  job.finish(run_of(stats), "queries", "edges");
  print_figures(c, counters);
  if (!converged(c.ppr, largest_error)) {
    print_message(fmt::format(
        "ppr: NOT converged, the error of a query's scores may be {:.3g}, more than --tolerance {:.3g}\n",
        largest_error, c.ppr.tolerance));
  }
}

}  // namespace

std::unique_ptr<Command> make_ppr() {
  auto [command, c] =
      make_command<PprCommand>("ppr", "personalized PageRank: the best vertices of many queries", run);
  declare_graph(*command, c->common);
  command->group("Scores");
  command->choice(
      "--method", c->ppr.method, kPprMethods,
      "diffusion from the seeds; in stages, each from some of the vertices reached; forward push; "
      "walks");
  command->real("--alpha", "A", c->ppr.alpha, "probability of following an edge");
  command->integer("--length", c->ppr.length, 0, "steps of the diffusion; 0: to its limit");
  command->real("--tolerance", "T", c->ppr.tolerance,
                "exact, push without --length: largest error of a query's scores, summed");
  command->integer("--top", c->ppr.top, 1, "results of a query; short lists end in -1 and 0");
  command->choice("--dangling", c->ppr.dangling, kPprDanglings,
                  "mass of vertices without out-edges returns to the seeds, or goes to all vertices");
  command->flag("--weighted", c->ppr.weighted, "split mass by edge weight instead of evenly");
  declare_seed(*command, c->common);
  command->list("--stages", "L,...", c->ppr.stages, 1, "meloppr: steps of each stage");
  command->real("--expand", "F", c->ppr.expand,
                "meloppr: fraction of reached vertices, by largest residual, that the next stage expands");
  command->real("--residual-threshold", "R", c->ppr.residual_threshold,
                "meloppr: the next stage expands vertices of at least this residual instead; push: stop at "
                "vertices with less residual per out-edge");
  command->choice("--unexpanded", c->ppr.unexpanded, kPprUnexpanded,
                  "meloppr: other vertices score their residual, or only the 1 - alpha of it that certainly "
                  "remains there, which gives better lists");
  command->flag("--one-by-one", c->ppr.one_by_one,
                "meloppr: process next-stage vertices one by one, with the memory of one ball, but more work "
                "than for all together");
  command->integer("--table", c->ppr.table, 0,
                   "with --one-by-one: keep the scores of N times --top vertices; 0: of all");
  command->choice(
      "--table-limit", c->ppr.table_limit, kPprTableLimits,
      "soft: a table above its limit is halved, except for next-stage vertices; hard: it never has "
      "more entries");
  command->integer(
      "--balls", c->ppr.balls, 1,
      "with --one-by-one: balls of a query that are processed in parallel, by as many threads of the host "
      "or up to 16 blocks of a GPU; each needs its own memory");
  command->text_value(
      "--score-units", "N",
      [&options = c->ppr](const std::string& given) { set_score_units(options, given); },
      [&options = c->ppr] { return score_units_of(options); },
      "exact, meloppr: scores are 32-bit integers, and the mass of a query has N units; 0: 64 bits, 2^63 "
      "units. average, largest: for each vertex reached in --length steps, or in those of all stages, as "
      "many units as these vertices' average or largest out-degree; 2^32 - 1 at most");
  command->integer("--walks", c->ppr.walks, 1, "montecarlo: walks of each query");
  command->real("--confidence", "C", c->ppr.confidence,
                "montecarlo: the reported error holds for all scores of a query with this probability");
  command->choice("--state", c->ppr.state, kPprStates,
                  "exact: a table of reached vertices for each query, or rows with the scores of several "
                  "queries for each vertex; auto: the one expected to be faster");
  command->group("Queries (default: one a vertex)");
  command->input_file("--starts", c->starts.file,
                      "one query a line: its seeds, each `vertex` or `vertex:weight`");
  command->integer("--instances", c->starts.instances, 1,
                   "this many queries, whose seeds are drawn uniformly");
  command->group("Measurements (in the report, and printed at the end)");
  command->flag("--evaluate", c->evaluate,
                "strict precision at k against GD(L) and against untruncated scores; memory of a query");
  command->flag("--latency", c->latency,
                "p50 and p99 of a query's time, while as many others run as fit at once");
  declare_job(*command, c->common);
  command->set_idle(kIdle);
  command->set_example(
      "sluice ppr graph.h5 --method meloppr --stages 3,3 --expand 0.1 --top 200 --output scores.h5");
  return std::move(command);
}

}  // namespace sluice::apps
