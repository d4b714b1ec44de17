// sluice kcore: core numbers of all vertices, or the members of the k-core.
#include <fmt/core.h>

#include <algorithm>

#include "apps/cli/values.hpp"
#include "apps/commands/acc.hpp"
#include "apps/commands/commands.hpp"
#include "apps/job/ranks.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/memory_budget.hpp"

namespace sluice::apps {

namespace {

struct KcoreCommand : AccCommand {
  std::uint32_t k = 0;  ///< 0: all core numbers
};

/// Must the lists of an undirected graph be read before planning? If they have self-loops or parallel edges,
/// a simple form of them is made beside them. All ranks call it, with the same result.
bool checks_lists(const Job& job, const KcoreCommand& c) {
  constexpr std::uint64_t kStateBytes = 128;  // of a vertex, with its offsets; more than a run takes
  const Graph& graph = job.graph();
  if (job.has_sizes_only() || graph.directed) return false;
  const std::uint64_t ample = 2 * graph.edges() * sizeof(Vertex) + graph.vertices() * kStateBytes;
  const std::uint64_t checks = c.common.plan || host_budget().available() < ample ? 1 : 0;
  return reduce_over_ranks(checks, Reduce::max, "memory for the job") != 0;
}

void run_kcore(const Command& command, const KcoreCommand& c) {
  Job job(command, c.common, {.in_edges = true});
  const bool pulls = c.acc.direction != acc::AccDirection::push;
  // A run with ample memory checks the lists after reading them.
  const bool made =
      checks_lists(job, c) && !acc::has_simple_lists(job.graph(), &world(), job.device().threads());
  const std::string name = c.k > 0 ? "member" : "core";
  std::vector<io::Attribute> attributes;
  if (c.k > 0) attributes.emplace_back("k", std::int64_t{c.k});
  // In-edges of an undirected graph are its out-edges and take no memory.
  const AccTask task{
      .needs = {.in_edges = pulls, .simple = true, .makes_simple = job.graph().directed || made},
      .vertex = {4, 4},
      .attributes = attributes,
      .columns = {name}};
  HostArray<std::uint8_t> members;
  const auto solve = [&](const acc::AccGraph& graph) {
    acc::CoreResult result = core_numbers(graph, c.k, c.acc);
    if (c.common.verify)
      acc::verify_cores(job.graph(), c.k, result.cores.span(), &world(), threads_of(c.common));
    return result;
  };
  run_acc(job, c, task, solve, [&](const auto& graph, const acc::CoreResult& result, VertexColumns& columns) {
    if (c.k == 0) {
      const std::uint32_t largest_core =
          result.cores.empty() ? 0 : *std::max_element(result.cores.begin(), result.cores.end());
      columns.add(name, io::ElementType::i32, result.cores.data());
      job.set_counters({{"largest_core", std::uint64_t{largest_core}}});
      return fmt::format("core numbers up to {}", largest_core);
    }
    members = HostArray<std::uint8_t>(result.cores.size(), "members");
    std::transform(result.cores.begin(), result.cores.end(), members.begin(),
                   [&](std::uint32_t core) { return core >= c.k ? 1 : 0; });
    columns.add(name, io::ElementType::u8, members.data());
    const VertexCounts counts = count_vertices(graph, [&](std::uint64_t v) { return members[v] != 0; });
    job.set_counters({{"members", counts.own}});
    return fmt::format("{} vertices in the {}-core", format_count(counts.all), c.k);
  });
}

}  // namespace

std::unique_ptr<Command> make_kcore() {
  auto [command, c] =
      make_command<KcoreCommand>("kcore", "core numbers, or the members of one core", run_kcore);
  declare_graph(*command, c->common,
                "a graph file; direction, self-loops and duplicates of edges are ignored");
  command->group("Cores");
  command->integer("--k", c->k, 1,
                   "members of the k-core only, which is less work (default: all core numbers)");
  declare_level_direction(*command, *c);
  declare_worklists(*command, *c);
  declare_acc(*command, *c);
  command->set_example("sluice kcore graph.h5 --output cores.h5");
  return std::move(command);
}

}  // namespace sluice::apps
