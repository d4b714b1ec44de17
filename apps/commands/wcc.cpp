// sluice wcc: weakly connected components.
#include <fmt/core.h>

#include <algorithm>

#include "apps/cli/values.hpp"
#include "apps/commands/acc.hpp"
#include "apps/commands/commands.hpp"
#include "apps/job/ranks.hpp"
#include "engine/acc/verify.hpp"

namespace sluice::apps {

namespace {

/// The name of each vertex's component: its smallest id as the user reads ids. Original ids may be in another
/// order than the graph's own.
HostArray<std::int64_t> component_names(const Job& job, std::span<const Vertex> components) {
  HostArray<std::int64_t> smallest(components.size(), "component names");
  if (host_budget().counts_only()) return smallest;
  const auto id = [&](std::uint64_t v) { return job.ids().to_external(static_cast<Vertex>(v)); };
  for (std::uint64_t v = 0; v < components.size(); ++v) smallest[v] = id(v);
  if (!job.ids().translates()) {
    std::copy(components.begin(), components.end(), smallest.begin());
    return smallest;
  }
  // components[v] is the component's first vertex, so its name is final after one pass over all vertices.
  for (std::uint64_t v = 0; v < components.size(); ++v) {
    std::int64_t& name = smallest[components[v]];
    name = std::min(name, id(v));
  }
  for (std::uint64_t v = components.size(); v-- > 0;) smallest[v] = smallest[components[v]];
  return smallest;
}

void run_wcc(const Command& command, const AccCommand& c) {
  Job job(command, c.common, {.may_overlap_reading = true});
  const AccTask task{.needs = {}, .vertex = {4, 8}, .attributes = {}, .columns = {"component"}};
  const auto solve = [&](const acc::AccGraph& graph) {
    acc::ComponentResult result = components(graph, c.acc);
    if (c.common.verify)
      acc::verify_components(job.graph(), result.components.span(), &world(), threads_of(c.common));
    if (graph.device().is_planning())
      component_names(job, result.components.span());  // charges the names as well
    return result;
  };
  HostArray<std::int64_t> names;
  const auto add = [&](const auto& graph, const acc::ComponentResult& result, VertexColumns& columns) {
    names = component_names(job, result.components.span());
    columns.add("component", io::ElementType::i64, names.data());
    // A component is counted at its smallest vertex.
    const VertexCounts found =
        count_vertices(graph, [&](std::uint64_t v) { return result.components[v] == v; });
    job.set_counters({{"components", found.own}});
    return fmt::format("{} components", format_count(found.all));
  };
  run_acc(job, c, task, solve, add);
}

}  // namespace

std::unique_ptr<Command> make_wcc() {
  auto [command, c] = make_command<AccCommand>("wcc", "weakly connected components", run_wcc);
  declare_graph(*command, c->common, "a graph file; the direction of edges is ignored");
  declare_acc(*command, *c);
  command->set_example("sluice wcc graph.h5 --output components.h5 --verify");
  return std::move(command);
}

}  // namespace sluice::apps
