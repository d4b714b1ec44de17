// sluice walk: random walks.
#include <fmt/core.h>

#include "apps/commands/commands.hpp"
#include "apps/data/starts.hpp"
#include "apps/job/job.hpp"
#include "apps/job/sinks.hpp"
#include "apps/verify/verify.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

struct WalkCommand {
  walks::Options walk;
  StartsOptions starts;
  CommonOptions common;
};

bool is_pool(const WalkCommand& c) {
  return c.walk.kind == walks::Kind::multidimensional;
}

const std::vector<KindOption> kKindOptions{
    {"--bias", {"biased"}},
    {"--probability", {"jump", "restart"}},
    {"--p", {"node2vec"}},
    {"--q", {"node2vec"}},
    {"--frontier-size", {"multidimensional"}},
    {"--walks-per-vertex", {"uniform", "biased", "metropolis-hastings", "jump", "restart", "node2vec"}}};

void refuse_inapplicable(const Command& command, const WalkCommand& c) {
  refuse_inapplicable_options(command, name_of(kWalkKinds, c.walk.kind), kKindOptions);
  const bool scans = c.walk.kind == walks::Kind::node2vec && c.walk.select == Select::its;
  const bool compares = c.walk.select != Select::automatic && c.walk.kind != walks::Kind::node2vec &&
                        c.walk.kind != walks::Kind::biased;
  if (c.common.layout == Layout::wide && (scans || compares)) {
    throw UsageError(
        fmt::format("--layout wide: --kind {} with --select {} reads lists as they are; use csr or auto",
                    name_of(kWalkKinds, c.walk.kind), name_of(kSelects, c.walk.select)));
  }
}

/// With --starts, each line is a pool. All lines must have the same length, because /pool is a table.
void set_pool_size(const Command& command, const Starts& starts, walks::Options& walk,
                   const std::string& file) {
  if (starts.mode != Starts::Mode::listed) return;
  const bool given = command.given("--frontier-size");
  if (!given) walk.frontier_size = static_cast<std::uint32_t>(starts.offsets[1]);
  for (std::size_t i = 0; i + 1 < starts.offsets.size(); ++i) {
    const std::uint64_t size = starts.offsets[i + 1] - starts.offsets[i];
    if (size == walk.frontier_size) continue;
    throw InputError(
        fmt::format("{}: instance {} has a pool of {}, but {} {} (give every line equally many seeds)", file,
                    i, size, given ? "--frontier-size is" : "the first has", walk.frontier_size));
  }
}

/// The options of CONTRACT section 4 that apply to this kind.
std::vector<io::Attribute> attributes_of(const Command& command, const WalkCommand& c) {
  return attributes_of(
      command, {"--kind", "--length", "--select", "--bias", "--probability", "--p", "--q", "--frontier-size"},
      name_of(kWalkKinds, c.walk.kind), kKindOptions);
}

void run_walk(const Command& command, WalkCommand& c) {
  refuse_inapplicable(command, c);
  validate(c.walk);
  const bool by_weight = c.walk.kind == walks::Kind::node2vec ||
                         (c.walk.kind == walks::Kind::biased && c.walk.bias == Bias::weight);
  Job job(command, c.common, {.weights = by_weight, .may_overlap_reading = true});
  const ChargedStarts starts = make_starts(
      command, c.starts, is_pool(c) ? StartsLine::seeds : StartsLine::one_vertex, !is_pool(c), job.ids());
  if (is_pool(c)) set_pool_size(command, starts, c.walk, c.starts.file);
  WalkWriter::require_rows_fit(c.common.format, job.ids(), c.walk);
  job.prepare(starts, " walks", c.walk);
  const auto check = [&](WalkSink* next) {
    return c.common.verify ? verify_walks(job.graph(), starts, c.walk, next, threads_of(c.common)) : nullptr;
  };
  const sampling::RunPlan plan = job.plan_and_load([&](const PagingOptions& paging) {
    return plan_with_check(
        [&] { return check(nullptr); },
        [&] { return sampling::plan_walks(job.device(), job.graph(), starts, c.walk, paging); });
  });
  if (c.common.plan) return job.print_plan(plan);

  auto& results = job.open_results(attributes_of(command, c), &starts, {});
  WalkWriter writer(results, job.ids(), c.walk);
  const auto verifier = check(&writer);
  // Must follow the check: partitions share the memory that it leaves.
  ResidentGraph resident(job.device(), job.graph(), job.paging_of(plan));
  const RunStats stats = sampling::run_walks(resident, starts, c.walk, verifier ? verifier.get() : &writer);
  job.finish(stats, "walks", "steps");
}

}  // namespace

std::unique_ptr<Command> make_walk() {
  auto [command, c] = make_command<WalkCommand>("walk", "random walks over a graph file", run_walk);
  declare_graph(*command, c->common);
  command->group("Walks");
  command->choice("--kind", c->walk.kind, kWalkKinds, "how the next vertex is chosen");
  command->integer("--length", c->walk.length, 1, "steps of a walk");
  declare_seed(*command, c->common);
  command->choice("--bias", c->walk.bias, kWalkBiases,
                  "biased: what a neighbour's probability is proportional to");
  command->real("--probability", "P", c->walk.probability, "jump, restart: its probability at each step");
  command->real("--p", "P", c->walk.p, "node2vec: a return to the previous vertex weighs 1/p");
  command->real("--q", "Q", c->walk.q, "node2vec: a move away from the previous vertex weighs 1/q");
  command->integer("--frontier-size", c->walk.frontier_size, 1, "multidimensional: seeds in the pool");
  command->choice("--select", c->walk.select, kSelects,
                  "how a draw is made, never its distribution; node2vec: its, rejection; multidimensional: "
                  "its; others: its, alias, rejection");
  command->group("Starts (default: one walk per vertex; multidimensional: one pool drawn at random)");
  declare_starts(*command, c->starts);
  declare_job(*command, c->common);
  command->set_example("sluice walk graph.h5 --kind node2vec --p 0.5 --q 2 --length 40 --output walks.h5");
  return std::move(command);
}

}  // namespace sluice::apps
