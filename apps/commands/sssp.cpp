// sluice sssp: weighted distances from one vertex to every other.
#include <fmt/core.h>

#include <limits>

#include "apps/cli/values.hpp"
#include "apps/commands/acc.hpp"
#include "apps/commands/commands.hpp"
#include "apps/job/ranks.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

struct SsspCommand : AccCommand {
  std::uint64_t source = 0;
  double delta = 0;
};

void run_sssp(const Command& command, const SsspCommand& c) {
  if (!command.given("--source")) throw UsageError("--source V is missing (give the first vertex of paths)");
  if (command.given("--delta") && !(c.delta > 0)) throw UsageError("--delta: must be above 0 (or omit it)");
  const bool pulls = c.acc.direction != acc::AccDirection::push;
  Job job(command, c.common,
          {.in_edges = pulls,
           .in_edges_optional = c.acc.direction == acc::AccDirection::automatic,
           .weights = true});
  const Vertex source = vertex_of(job, static_cast<std::int64_t>(c.source), "--source");
  const AccTask task{.needs = {.in_edges = pulls, .weights = true},
                     .vertex = {8, 8},
                     .attributes = {{"source", std::int64_t(c.source)}},
                     .columns = {"distance"}};
  const auto solve = [&](const acc::AccGraph& graph) {
    acc::SsspResult result = sssp(graph, source, c.delta, c.acc);
    if (c.common.verify)
      acc::verify_sssp(job.graph(), source, result.distances.span(), &world(), threads_of(c.common));
    return result;
  };
  run_acc(job, c, task, solve, [&](const auto& graph, const acc::SsspResult& result, VertexColumns& columns) {
    columns.add("distance", io::ElementType::f64, result.distances.data());
    constexpr double kUnreached = std::numeric_limits<double>::infinity();
    const VertexCounts reached =
        count_vertices(graph, [&](std::uint64_t v) { return result.distances[v] < kUnreached; });
    job.set_counters({{"reached", reached.own}, {"delta_used", result.delta}});
    return fmt::format("{} vertices reached", format_count(reached.all));
  });
}

}  // namespace

std::unique_ptr<Command> make_sssp() {
  auto [command, c] =
      make_command<SsspCommand>("sssp", "shortest paths from one vertex: distances", run_sssp);
  declare_graph(*command, c->common, "a graph file; without weights every edge has length 1");
  command->group("Paths");
  command->integer("--source", c->source, 0, "the vertex where paths begin (required)");
  command->real("--delta", "D", c->delta,
                "delta-stepping's width of a level; changes no distance (default: from the weights)");
  declare_level_direction(*command, *c);
  declare_worklists(*command, *c);
  declare_acc(*command, *c);
  command->set_example("sluice sssp roads.h5 --source 0 --output distances.h5 --verify");
  return std::move(command);
}

}  // namespace sluice::apps
