// sluice sample: traversal-based and one-pass sampling.
#include <algorithm>

#include "apps/commands/commands.hpp"
#include "apps/data/starts.hpp"
#include "apps/job/job.hpp"
#include "apps/job/sinks.hpp"
#include "apps/verify/verify.hpp"

namespace sluice::apps {

namespace {

struct SampleCommand {
  samples::Options sample;
  std::vector<std::int64_t> layer_sizes;
  StartsOptions starts;
  CommonOptions common;
};

bool is_one_pass(const SampleCommand& c) {
  return c.sample.kind == samples::Kind::node || c.sample.kind == samples::Kind::edge;
}

const std::vector<KindOption> kKindOptions{
    {"--fanout", {"neighbor"}},
    {"--replace", {"neighbor"}},
    {"--bias", {"neighbor", "forest-fire", "layer"}},
    {"--probability", {"forest-fire"}},
    {"--depth", {"forest-fire", "snowball"}},
    {"--layer-size", {"layer"}},
    {"--count", {"node", "edge"}},
    {"--revisit", {"neighbor", "forest-fire", "snowball", "layer"}},
    {"--select", {"neighbor", "forest-fire", "layer"}},
    {"--collision", {"neighbor", "forest-fire", "layer"}},
    {"--starts", {"neighbor", "forest-fire", "snowball", "layer"}},
    {"--walks-per-vertex", {"neighbor", "forest-fire", "snowball", "layer"}}};

void refuse_inapplicable(const Command& command, const SampleCommand& c) {
  refuse_inapplicable_options(command, name_of(kSampleKinds, c.sample.kind), kKindOptions);
  const auto& fanout = c.sample.fanout;
  const bool selects_all =
      !fanout.empty() && std::all_of(fanout.begin(), fanout.end(), [](auto f) { return f == -1; });
  for (const char* option : {"--replace", "--select", "--collision"})
    refuse_idle_option(command, option, selects_all, "where --fanout -1 selects every neighbour");
  refuse_idle_option(command, "--collision", c.sample.replace, "with --replace, where draws may repeat");
  refuse_idle_option(command, "--collision", c.sample.select == Select::updated,
                     "with --select updated, which never repeats a draw");
}

/// The options of CONTRACT section 4 that apply to this kind.
std::vector<io::Attribute> attributes_of(const Command& command, const SampleCommand& c) {
  return attributes_of(command,
                       {"--kind", "--fanout", "--replace", "--layer-size", "--probability", "--depth",
                        "--bias", "--select", "--revisit", "--count"},
                       name_of(kSampleKinds, c.sample.kind), kKindOptions);
}

void run_sample(const Command& command, SampleCommand& c) {
  refuse_inapplicable(command, c);
  c.sample.layer_sizes.assign(c.layer_sizes.begin(), c.layer_sizes.end());
  validate(c.sample);
  Job job(command, c.common, {.weights = c.sample.bias == Bias::weight, .may_overlap_reading = true});
  const ChargedStarts starts = make_starts(command, c.starts, StartsLine::seeds, !is_one_pass(c), job.ids());
  job.prepare(starts, " samples", c.sample);
  const auto check = [&](SampleSink* next) {
    return c.common.verify ? verify_samples(job.graph(), starts, c.sample, next, threads_of(c.common))
                           : nullptr;
  };
  const auto plan_with = [&](const PagingOptions& paging) {
    return plan_with_check(
        [&] { return check(nullptr); },
        [&] { return sampling::plan_samples(job.device(), job.graph(), starts, c.sample, paging); });
  };
  const sampling::RunPlan first = job.plan_and_load(plan_with);
  if (c.common.plan) return job.print_plan(first);

  RunStats stats;
  job.run_with_retries(first, plan_with, [&](const sampling::RunPlan& plan) {
    auto& results =
        job.open_results(attributes_of(command, c), &starts, SampleWriter::text_columns(c.sample));
    SampleWriter writer(results, job.ids(), c.sample, c.common.format);
    const auto verifier = check(&writer);
    // Must follow the check: partitions share the memory that it leaves.
    ResidentGraph resident(job.device(), job.graph(), job.paging_of(plan));
    stats = sampling::run_samples(resident, starts, c.sample, verifier ? verifier.get() : &writer);
  });
  job.finish(stats, "samples", "edges");
}

}  // namespace

std::unique_ptr<Command> make_sample() {
  auto [command, c] = make_command<SampleCommand>(
      "sample", "subgraphs by traversal, or vertices and edges in one pass", run_sample);
  auto& o = c->sample;
  declare_graph(*command, c->common);
  command->group("Samples");
  command->choice("--kind", o.kind, kSampleKinds, "what is sampled");
  declare_seed(*command, c->common);
  command->list("--fanout", "F,F,...", o.fanout, -1,
                "neighbor: neighbours per vertex, for each depth; -1: all (required by --kind neighbor)");
  command->flag("--replace", o.replace, "neighbor: independent draws, which may repeat");
  command->list("--layer-size", "K,K,...", c->layer_sizes, 1,
                "layer: edges of each depth (required by --kind layer)");
  command->integer("--depth", o.depth, 1, "forest-fire, snowball: hops from the seeds");
  command->real("--probability", "P", o.probability,
                "forest-fire: neighbours drawn are geometric with mean P/(1-P)");
  command->integer("--count", o.count, 1, "node, edge: how many vertices or edges (required by these kinds)");
  command->choice("--bias", o.bias, kBiases, "neighbor, forest-fire, layer: what a draw is proportional to");
  command->flag("--revisit", o.revisit, "tree semantics: every copy of a vertex is expanded separately");
  command->choice("--select", o.select, kSelects,
                  "how a draw is made, never its distribution; with --replace: its, alias, rejection; "
                  "without and for forest-fire: repeated, updated, bipartite; layer: these or its");
  command->choice("--collision", o.collision, kCollisions,
                  "neighbor, forest-fire, layer: how a repeated draw is detected; never changes a result");
  command->group("Starts (default: one sample per vertex; node, edge: one sample)");
  declare_starts(*command, c->starts);
  declare_job(*command, c->common);
  command->set_example("sluice sample graph.h5 --kind neighbor --fanout 15,10 --output samples.h5");
  return std::move(command);
}

}  // namespace sluice::apps
