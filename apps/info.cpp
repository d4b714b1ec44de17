// sluice info: what is in a graph file.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/commands.hpp"
#include "apps/common_options.hpp"
#include "apps/console.hpp"
#include "apps/job.hpp"
#include "apps/report.hpp"
#include "apps/values.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "io/graph_file.hpp"
#include "partition/plan.hpp"

namespace sluice::apps {

namespace {

using Json = nlohmann::ordered_json;

struct InfoCommand {
  std::string file;
  bool json = false;
  CommonOptions common;
};

struct DegreeFigures {
  std::uint64_t least = 0, most = 0;
  double median = 0, mean = 0;
  std::uint64_t isolated = 0;   ///< vertices that no edge touches
  std::uint64_t dead_ends = 0;  ///< vertices without out-edges
  std::uint64_t self_loops = 0;
};

DegreeFigures degree_figures(const Csr& csr) {
  DegreeFigures figures;
  const std::uint64_t n = csr.vertices();
  if (n == 0) return figures;
  HostArray<EdgeIndex> degrees(n, "degrees");
  HostArray<std::uint8_t> touched(n, "vertices with an edge");
  std::fill(touched.begin(), touched.end(), std::uint8_t{0});
  for (std::uint64_t v = 0; v < n; ++v) {
    degrees[v] = csr.offsets[v + 1] - csr.offsets[v];
    if (degrees[v] != 0) touched[v] = 1;
    figures.dead_ends += degrees[v] == 0;
    for (EdgeIndex e = csr.offsets[v]; e < csr.offsets[v + 1]; ++e) {
      touched[csr.targets[e]] = 1;
      figures.self_loops += csr.targets[e] == v;
    }
  }
  figures.isolated = static_cast<std::uint64_t>(std::count(touched.begin(), touched.end(), 0));
  figures.mean = static_cast<double>(csr.edges()) / static_cast<double>(n);
  EdgeIndex* middle = degrees.begin() + n / 2;
  std::nth_element(degrees.begin(), middle, degrees.end());
  const EdgeIndex below = n % 2 == 1 ? *middle : *std::max_element(degrees.begin(), middle);
  figures.median = (static_cast<double>(*middle) + static_cast<double>(below)) / 2;
  figures.least = *std::min_element(degrees.begin(), degrees.end());
  figures.most = *std::max_element(degrees.begin(), degrees.end());
  return figures;
}

/// Half the budget is one slot: while one partition is worked on, the next one is brought. What fits whole is
/// not cut.
PartitionPlan plan_for(const Graph& graph, std::uint64_t budget) {
  const PartitionBytes bytes{.edge = sizeof(Vertex) + (graph.weighted ? sizeof(float) : 0)};
  const auto offsets = graph.out.offsets.span();
  PartitionPlan whole(offsets, bytes, budget);
  return whole.size() <= 1 ? whole : PartitionPlan(offsets, bytes, std::max<std::uint64_t>(budget / 2, 1));
}

Json to_json(const std::string& file, const io::GraphInfo& info) {
  return {{"file", file},
          {"vertices", info.vertices},
          {"edges", info.edges},
          {"directed", info.directed},
          {"weighted", info.weighted},
          {"timed", info.timed},
          {"compacted", info.compacted},
          {"in_edges", info.has_in},
          {"origin", info.origin},
          {"checksum", format_checksum(info.checksum)},
          {"host_bytes", host_bytes(info)}};
}

Json to_json(const DegreeFigures& d) {
  return {{"min", d.least}, {"median", d.median}, {"mean", d.mean}, {"max", d.most}};
}

Json to_json(const PartitionPlan& plan) {
  Json list = Json::array();
  for (std::uint64_t p = 0; p < plan.size(); ++p) {
    list.push_back({{"begin", plan.begin(p)},
                    {"end", plan.end(p)},
                    {"bytes", plan.bytes(p)},
                    {"oversized", plan.oversized(p)}});
  }
  return list;
}

std::string header_text(const std::string& file, const io::GraphInfo& info) {
  std::string text = fmt::format("{}: {}, {}{}{}\n", file, info.directed ? "directed" : "undirected",
                                 info.weighted ? "weighted" : "unweighted", info.timed ? ", with times" : "",
                                 info.has_in ? ", with in-edges" : "");
  text += fmt::format("  vertices     {}{}\n", format_count(info.vertices),
                      info.compacted ? " (compacted; original ids are kept)" : "");
  text += fmt::format("  edges        {}{}\n", format_count(info.edges),
                      info.directed ? "" : " (both directions counted)");
  text += fmt::format("  in memory    {}\n", format_size(host_bytes(info)));
  text += fmt::format("  checksum     {}\n", format_checksum(info.checksum));
  if (!info.origin.empty()) text += fmt::format("  origin       {}\n", info.origin);
  return text;
}

std::string degree_text(const DegreeFigures& d) {
  return fmt::format(
      "  out-degree   min {}, median {:g}, mean {:.4g}, max {}\n"
      "  isolated     {}\n  dead ends    {} (no out-edges)\n  self-loops   {}\n",
      format_count(d.least), d.median, d.mean, format_count(d.most), format_count(d.isolated),
      format_count(d.dead_ends), format_count(d.self_loops));
}

std::string plan_text(const PartitionPlan& plan, std::uint64_t budget) {
  constexpr std::uint64_t kShown = 16;
  std::string text =
      fmt::format("  partitions   {} for {} of device memory\n", plan.size(), format_size(budget));
  for (std::uint64_t p = 0; p < std::min(plan.size(), kShown); ++p) {
    text +=
        fmt::format("    {:>4}  vertices {} to {}, {}{}\n", p, plan.begin(p), plan.end(p) - 1,
                    format_size(plan.bytes(p)), plan.oversized(p) ? " (one list, larger than a slot)" : "");
  }
  if (plan.size() > kShown) text += fmt::format("    and {} more (--json lists all)\n", plan.size() - kShown);
  return text;
}

void run_info(const Command& command, const InfoCommand& c) {
  apply_host_ceiling(c.common);
  announce(command, c.common);
  const io::GraphInfo info = io::read_graph_info(c.file);
  const Graph graph = io::read_graph(c.file);
  const DegreeFigures figures = degree_figures(graph.out);
  std::optional<PartitionPlan> plan;
  const std::uint64_t budget = c.common.device.device_memory;
  if (budget != 0) plan = plan_for(graph, budget);
  std::string text;
  if (c.json) {
    Json json = to_json(c.file, info);
    json["out_degree"] = to_json(figures);
    json["isolated"] = figures.isolated;
    json["dead_ends"] = figures.dead_ends;
    json["self_loops"] = figures.self_loops;
    if (plan) json["partitions"] = to_json(*plan);
    text = json.dump(2) + '\n';
  } else {
    text = header_text(c.file, info) + degree_text(figures);
    if (plan) text += plan_text(*plan, budget);
  }
  print(text);
}

}  // namespace

std::unique_ptr<Command> make_info() {
  auto command =
      std::make_unique<Command>("info", "what is in a graph file: counts, degrees, a partition plan");
  const auto c = std::make_shared<InfoCommand>();
  command->group("File");
  command->argument("FILE", c->file, "a graph file");
  command->flag("--json", c->json, "as JSON");
  command->group("Machine");
  command->size("--device-memory", c->common.device.device_memory,
                "also show the partitions for this budget, like 4GiB");
  command->size("--host-memory", c->common.host_memory,
                "ceiling, like 4GiB (default: nine tenths of what is free)");
  command->group("Messages");
  command->flag("--verbose", c->common.verbose, "also the resolved configuration");
  command->set_example("sluice info graph.h5 --device-memory 8GiB");
  command->run = [c](const Command& self) { run_info(self, *c); };
  return command;
}

}  // namespace sluice::apps
