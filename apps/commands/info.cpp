// sluice info: what is in a graph file.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/cli/common_options.hpp"
#include "apps/cli/console.hpp"
#include "apps/cli/values.hpp"
#include "apps/commands/commands.hpp"
#include "apps/job/job.hpp"
#include "apps/report/graph_figures.hpp"
#include "apps/report/report.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/exec/device.hpp"
#include "engine/sampling/run.hpp"
#include "io/graph_file/graph_reader.hpp"
#include "io/results/json_text.hpp"
#include "partition/plan.hpp"

namespace sluice::apps {

namespace {

using Json = nlohmann::ordered_json;

struct InfoCommand {
  std::string file;
  bool json = false;
  bool edges = false;
  CommonOptions common;
};

/// How the commonest job would cut the graph: a uniform walk from every vertex, on this machine's device.
struct Cut {
  PartitionPlan partitions;
  std::uint64_t slots;  ///< partitions on the device at once; 0: the graph is worked on whole
};

Cut cut_for(const Device& device, const Graph& graph, bool fits_host) {
  PagingOptions paging;
  // As a job: what the host's memory cannot hold stays in its file.
  paging.cut = !fits_host;
  RunPlan plan = plan_walks(device, graph, Starts{}, WalkOptions{}, paging);
  if (plan.partitions) return {std::move(*plan.partitions), plan.slots};
  const PartitionBytes bytes{.edge = sizeof(Vertex) + (graph.weighted ? sizeof(float) : 0)};
  return {PartitionPlan::of_count(graph.out.offsets.span(), bytes, 1), 0};
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
      "  dead ends    {} (no out-edges)\n",
      format_count(d.least), d.median, d.mean, format_count(d.most), format_count(d.dead_ends));
}

std::string edge_text(const EdgeFigures& e) {
  return fmt::format("  isolated     {}\n  self-loops   {}\n", format_count(e.isolated),
                     format_count(e.self_loops));
}

std::string cut_text(const Cut& cut, std::uint64_t budget) {
  constexpr std::uint64_t kShown = 16;
  const PartitionPlan& plan = cut.partitions;
  if (cut.slots == 0)
    return fmt::format("  partitions   none: {} of device memory hold it\n", format_size(budget));
  std::string text =
      fmt::format("  partitions   {} for {} of device memory, {} there at once (uniform walk)\n", plan.size(),
                  format_size(budget), cut.slots);
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
  const io::GraphFile file(c.file);
  const io::GraphInfo& info = file.info();
  const unsigned threads = usable_cores();
  Graph graph;
  graph.out.offsets = io::read_offsets(file, false, threads);
  graph.directed = info.directed, graph.weighted = info.weighted;
  const std::span<const EdgeIndex> offsets = graph.out.offsets.span();
  const DegreeFigures degrees = degree_figures(offsets);
  std::optional<EdgeFigures> edges;
  if (c.edges) edges = edge_figures(file, offsets, threads);
  std::optional<Cut> cut;
  const std::uint64_t budget = c.common.device.device_memory;
  if (budget != 0) {
    const Device device({.device_memory = budget});
    say_refused_gpu(command, c.common, device);
    cut = cut_for(device, graph, host_bytes(info) <= host_budget().ceiling());
  }
  std::string text;
  if (c.json) {
    Json json = to_json(c.file, info);
    json["out_degree"] = to_json(degrees);
    json["dead_ends"] = degrees.dead_ends;
    if (edges) json["isolated"] = edges->isolated, json["self_loops"] = edges->self_loops;
    if (cut) json["partitions"] = to_json(cut->partitions), json["slots"] = cut->slots;
    text = io::json_text(json, 2) + '\n';
  } else {
    text = header_text(c.file, info) + degree_text(degrees);
    if (edges) text += edge_text(*edges);
    if (cut) text += cut_text(*cut, budget);
  }
  print(text);
}

}  // namespace

std::unique_ptr<Command> make_info() {
  auto command =
      std::make_unique<Command>("info", "what is in a graph file: counts, degrees, a partition plan");
  const auto c = std::make_shared<InfoCommand>();
  command->group("File");
  command->input_file("FILE", c->file, "a graph file");
  command->flag("--json", c->json, "as JSON");
  command->flag("--edges", c->edges, "also read the edges: isolated vertices and self-loops");
  command->group("Machine");
  command->size("--device-memory", c->common.device.device_memory,
                "also show the partitions in which a uniform walk works within it, like 4GiB");
  command->size("--host-memory", c->common.host_memory,
                "ceiling, like 4GiB (default: nine tenths of what is free)");
  command->group("Messages");
  command->flag("--verbose", c->common.verbose, "also the resolved configuration");
  command->set_example("sluice info graph.h5 --device-memory 8GiB");
  command->run = [c](const Command& self) { run_info(self, *c); };
  return command;
}

}  // namespace sluice::apps
