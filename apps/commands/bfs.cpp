// sluice bfs: depth and parent of every vertex.
#include <fmt/core.h>

#include "apps/cli/values.hpp"
#include "apps/commands/acc.hpp"
#include "apps/commands/commands.hpp"
#include "apps/job/ranks.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

struct BfsCommand : AccCommand {
  std::uint64_t source = 0;
};

void run_bfs(const Command& command, const BfsCommand& c) {
  if (!command.given("--source"))
    throw UsageError("--source V is missing (give the first vertex of the search)");
  const bool pulls = c.acc.direction != acc::AccDirection::push;
  Job job(command, c.common,
          {.in_edges = pulls,
           .in_edges_optional = c.acc.direction == acc::AccDirection::automatic,
           .may_overlap_reading = true});
  const Vertex source = vertex_of(job, static_cast<std::int64_t>(c.source), "--source");
  const AccTask task{.needs = {.in_edges = pulls},
                     .vertex = {8, 8},
                     .attributes = {{"source", std::int64_t(c.source)}},
                     .columns = {"depth", "parent"}};
  const auto solve = [&](const acc::AccGraph& graph) {
    acc::BfsResult result = bfs(graph, source, c.acc);
    if (c.common.verify)
      acc::verify_bfs(job.graph(), source, result.depths.span(), result.parents.span(), &world(),
                      threads_of(c.common));
    return result;
  };
  run_acc(job, c, task, solve, [&](const auto& graph, const acc::BfsResult& result, VertexColumns& columns) {
    columns.add("depth", io::ElementType::i32, result.depths.data());
    columns.add_vertices("parent", result.parents.span());
    const VertexCounts reached =
        count_vertices(graph, [&](std::uint64_t v) { return result.depths[v] >= 0; });
    job.set_counters({{"reached", reached.own}});
    return fmt::format("{} vertices reached", format_count(reached.all));
  });
}

}  // namespace

std::unique_ptr<Command> make_bfs() {
  auto [command, c] = make_command<BfsCommand>("bfs", "breadth-first search: depths and parents", run_bfs);
  declare_graph(*command, c->common,
                "a graph file; directed ones are searched faster with in-edges stored (--reverse)");
  command->group("Search");
  command->integer("--source", c->source, 0, "the vertex where the search begins (required)");
  command->choice("--direction", c->acc.direction, kAccDirections,
                  "push from the last depth, pull to unreached vertices, or choose the cheaper each round");
  declare_worklists(*command, *c);
  declare_acc(*command, *c);
  command->set_example("sluice bfs graph.h5 --source 0 --output depths.h5 --verify");
  return std::move(command);
}

}  // namespace sluice::apps
