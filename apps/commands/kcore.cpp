// sluice kcore: core numbers of all vertices, or who is in the k-core.
#include <fmt/core.h>

#include <algorithm>

#include "apps/cli/values.hpp"
#include "apps/commands/acc.hpp"
#include "apps/commands/commands.hpp"
#include "apps/job/ranks.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/solve.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

struct KcoreCommand : AccCommand {
  std::uint32_t k = 0;  ///< 0: all core numbers
};

void run_kcore(const Command& command, const KcoreCommand& c) {
  Job job(command, c.common, c.graph, {.in_edges = true});
  const bool pulls = c.acc.direction != acc::AccDirection::push;
  // A run looks at the lists once it has read them.
  const bool made = c.common.plan && !job.graph().directed &&
                    !acc::has_simple_lists(job.graph(), &world(), job.device().threads());
  const acc::AccPlan plan = job.fitting([&](const PagingOptions& paging) {
    return acc::plan_cores(job.device(), job.graph(), place_of(c, paging), made, c.acc);
  });
  if (c.common.plan) return job.print_plan(plan);

  std::vector<io::Attribute> attributes{{"command", std::string("kcore")}};
  if (c.k > 0) attributes.emplace_back("k", std::int64_t{c.k});
  const std::string name = c.k > 0 ? "member" : "core";
  auto& results = job.open_results(attributes, nullptr, text_columns_of(c.common, {name}));
  // In-lists of an undirected graph are its out-lists, and take no memory.
  const acc::AccGraph graph(job.device(), job.graph(), {.in_edges = pulls, .simple = true}, place_of(c));
  const acc::CoreResult result = core_numbers(graph, c.k, c.acc);
  if (c.common.verify)
    acc::verify_cores(job.graph(), c.k, result.cores.span(), &world(), threads_of(c.common));
  VertexColumns columns = columns_of(job, c, graph);
  const std::uint32_t most =
      result.cores.empty() ? 0 : *std::max_element(result.cores.begin(), result.cores.end());
  std::string found = fmt::format("core numbers up to {}", most);
  ResolvedOptions counted;
  HostArray<std::uint8_t> members;
  if (c.k > 0) {
    members = HostArray<std::uint8_t>(result.cores.size(), "members");
    std::transform(result.cores.begin(), result.cores.end(), members.begin(),
                   [&](std::uint32_t core) { return core >= c.k ? 1 : 0; });
    columns.add(name, io::ElementType::u8, members.data());
    const VertexCounts counts = count_vertices(graph, [&](std::uint64_t v) { return members[v] != 0; });
    counted.emplace_back("members", counts.own);
    found = fmt::format("{} vertices in the {}-core", format_count(counts.all), c.k);
  } else {
    columns.add(name, io::ElementType::i32, result.cores.data());
    counted.emplace_back("largest_core", std::uint64_t{most});
  }
  job.count(counted);
  columns.write(results);
  job.finish(AccFigures{.stats = result.stats, .found = std::move(found)});
}

}  // namespace

std::unique_ptr<Command> make_kcore() {
  auto [command, c] =
      make_command<KcoreCommand>("kcore", "core numbers, or the members of one core", run_kcore);
  declare_acc_graph(*command, *c,
                    "a graph file; direction, self-loops and how often an edge is there are ignored");
  command->group("Cores");
  command->whole("--k", c->k, 1,
                 "members of the k-core only, which is less work (default: all core numbers)");
  declare_level_direction(*command, *c);
  declare_worklists(*command, *c);
  declare_acc(*command, *c);
  command->set_example("sluice kcore graph.h5 --output cores.h5");
  return std::move(command);
}

}  // namespace sluice::apps
