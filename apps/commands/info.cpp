// sluice info: prints what a graph file contains.

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/cli/common_options.hpp"
#include "apps/cli/console.hpp"
#include "apps/cli/values.hpp"
#include "apps/commands/commands.hpp"
#include "apps/job/job.hpp"
#include "apps/report/report.hpp"
#include "engine/core/host_array.hpp"
#include "engine/core/size.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/device.hpp"
#include "engine/exec/threads.hpp"
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

/// The partitions of the most common job: an unweighted uniform walk from every vertex, on this machine's
/// device.
struct Cut {
  PartitionPlan partitions;
  std::uint64_t slots;  ///< partitions on the device at once; 0: the graph is not cut
};

Cut plan_cut(const Device& device, const Graph& graph, bool fits_host) {
  PagingOptions paging;
  // As in a job, a graph that exceeds host memory stays in its file.
  paging.force_partitions = !fits_host;
  sampling::RunPlan plan = sampling::plan_walks(device, graph, Starts{}, walks::Options{}, paging);
  if (plan.partitions) return {std::move(*plan.partitions), plan.slots};
  const PartitionBytes bytes{.edge = sizeof(Vertex)};
  return {PartitionPlan::of_count(graph.out.offsets.span(), bytes, 1), 0};
}

/// Figures computed from the offsets alone.
struct DegreeFigures {
  std::uint64_t min = 0, max = 0;
  double median = 0, mean = 0;
  std::uint64_t dead_ends = 0;  ///< vertices without out-edges
};

/// Figures that need the targets.
struct EdgeFigures {
  std::uint64_t isolated = 0;  ///< vertices without any edge
  std::uint64_t self_loops = 0;
};

DegreeFigures degree_figures(std::span<const EdgeIndex> offsets) {
  DegreeFigures figures;
  const std::uint64_t n = offsets.size() - 1;
  if (n == 0) return figures;
  HostArray<EdgeIndex> degrees(n, "degrees");
  for (std::uint64_t v = 0; v < n; ++v) degrees[v] = offsets[v + 1] - offsets[v];
  figures.dead_ends = static_cast<std::uint64_t>(std::count(degrees.begin(), degrees.end(), EdgeIndex{0}));
  figures.mean = static_cast<double>(offsets[n]) / static_cast<double>(n);
  EdgeIndex* const middle = degrees.begin() + n / 2;
  std::nth_element(degrees.begin(), middle, degrees.end());
  const EdgeIndex below = n % 2 == 1 ? *middle : *std::max_element(degrees.begin(), middle);
  figures.median = (static_cast<double>(*middle) + static_cast<double>(below)) / 2;
  figures.min = *std::min_element(degrees.begin(), degrees.end());
  figures.max = *std::max_element(degrees.begin(), degrees.end());
  return figures;
}

/// Reads the targets in pieces, so that only arrays over vertices take memory. Throws InputError for a target
/// that is not a vertex.
EdgeFigures edge_figures(const io::GraphFile& file, std::span<const EdgeIndex> offsets, unsigned threads) {
  constexpr std::uint64_t kGrain = 1u << 20;  // edges per thread at a time
  const std::uint64_t n = offsets.size() - 1;
  HostArray<std::uint8_t> touched(n, "vertices with an edge");
  for (std::uint64_t v = 0; v < n; ++v) touched[v] = offsets[v] != offsets[v + 1];
  const io::Column targets = file.open(io::GraphPart::out_indices);
  io::FirstFault fault;
  std::atomic<std::uint64_t> self_loops{0};
  parallel_blocks(threads, offsets[n], kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    if (fault.found_before(begin)) return;
    std::vector<Vertex> block(end - begin);
    io::read_targets(targets, n, begin, block, fault);
    if (fault.found_before(end)) return;  // targets after a fault in this block may not be vertices
    const auto after = std::upper_bound(offsets.begin(), offsets.end(), begin);
    auto vertex = static_cast<std::uint64_t>(after - offsets.begin()) - 1;
    std::uint64_t loops = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      while (offsets[vertex + 1] <= i) ++vertex;
      const Vertex target = block[i - begin];
      loops += target == vertex;
      // Most edges lead to few vertices; storing only unset marks keeps their cache lines shared.
      const std::atomic_ref<std::uint8_t> seen(touched[target]);
      if (seen.load(std::memory_order_relaxed) == 0) seen.store(1, std::memory_order_relaxed);
    }
    self_loops += loops;
  });
  fault.rethrow();
  const auto isolated = std::count(touched.begin(), touched.end(), std::uint8_t{0});
  return {static_cast<std::uint64_t>(isolated), self_loops};
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
          {"host_bytes", io::graph_bytes(info)}};
}

Json to_json(const DegreeFigures& d) {
  return {{"min", d.min}, {"median", d.median}, {"mean", d.mean}, {"max", d.max}};
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
  text += fmt::format("  in memory    {}\n", format_size(io::graph_bytes(info)));
  text += fmt::format("  checksum     {}\n", format_checksum(info.checksum));
  if (!info.origin.empty()) text += fmt::format("  origin       {}\n", info.origin);
  return text;
}

std::string degree_text(const DegreeFigures& d) {
  return fmt::format(
      "  out-degree   min {}, median {:g}, mean {:.4g}, max {}\n"
      "  dead ends    {} (no out-edges)\n",
      format_count(d.min), d.median, d.mean, format_count(d.max), format_count(d.dead_ends));
}

std::string edge_text(const EdgeFigures& e) {
  return fmt::format("  isolated     {}\n  self-loops   {}\n", format_count(e.isolated),
                     format_count(e.self_loops));
}

std::string cut_text(const Cut& cut, std::uint64_t budget) {
  constexpr std::uint64_t kShown = 16;
  const PartitionPlan& plan = cut.partitions;
  if (cut.slots == 0)
    return fmt::format("  partitions   none: the graph fits in {} of device memory\n", format_size(budget));
  std::string text =
      fmt::format("  partitions   {} for {} of device memory, {} resident at once (uniform walk)\n",
                  plan.size(), format_size(budget), cut.slots);
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
  print_options(command, c.common);
  const io::GraphFile file(c.file);
  const io::GraphInfo& info = file.info();
  const unsigned threads = usable_cores();
  Graph graph;
  graph.out.offsets = io::read_offsets(file, false, threads);
  graph.directed = info.directed;
  const std::span<const EdgeIndex> offsets = graph.out.offsets.span();
  const DegreeFigures degrees = degree_figures(offsets);
  std::optional<EdgeFigures> edges;
  if (c.edges) edges = edge_figures(file, offsets, threads);
  std::optional<Cut> cut;
  const std::uint64_t budget = c.common.device.device_memory;
  if (budget != 0) {
    const Device device({.device_memory = budget});
    warn_unusable_gpu(command, c.common, device);
    const io::GraphColumns walk_columns{.weights = false, .times = false};
    cut = plan_cut(device, graph, io::graph_bytes(info, walk_columns) <= host_budget().ceiling());
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
  auto [command, c] = make_command<InfoCommand>(
      "info", "what is in a graph file: counts, degrees, a partition plan", run_info);
  command->group("File");
  command->input_file("FILE", c->file, "a graph file");
  command->flag("--json", c->json, "as JSON");
  command->flag("--edges", c->edges, "also read the edges: isolated vertices and self-loops");
  command->group("Machine");
  command->size("--device-memory", c->common.device.device_memory,
                "also show a uniform walk's partitions within this limit, like 4GiB");
  declare_host_memory(*command, c->common);
  command->group("Messages");
  command->flag("--verbose", c->common.verbose, "also the resolved configuration");
  command->set_example("sluice info graph.h5 --device-memory 8GiB");
  return std::move(command);
}

}  // namespace sluice::apps
