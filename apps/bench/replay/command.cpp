#include "apps/bench/replay/command.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/bench/replay/graphs.hpp"
#include "apps/bench/replay/temporal_edges.hpp"
#include "apps/cli/common_options.hpp"
#include "apps/cli/console.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/values.hpp"
#include "apps/data/rank_batch.hpp"
#include "apps/job/job.hpp"
#include "apps/job/ranks.hpp"
#include "apps/report/report.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/pagerank/dynamic/plan.hpp"

namespace sluice::bench {

using namespace apps;  // a command like those of `sluice`

namespace {

/// One row per method: mean cost of a batch, and errors.
std::string table(const std::vector<ReplayBatch>& batches) {
  std::string text =
      fmt::format("{:<8} {:>10} {:>8} {:>10} {:>13} {:>10} {:>10} {:>10}\n", "method", "ms/batch", "speedup",
                  "iterations", "ever affected", "linf", "mean linf", "mean L1");
  const auto count = static_cast<double>(batches.size());
  double update = 0, device_update = 0, static_seconds = 0;
  for (const ReplayBatch& batch : batches) {
    update += batch.update_seconds;
    device_update += batch.runs.back().update_seconds;
    static_seconds += batch.runs.front().seconds;
  }
  for (std::size_t m = 0; m < batches.front().runs.size(); ++m) {
    double seconds = 0, iterations = 0, affected = 0, largest = 0, linf = 0, l1 = 0;
    for (const ReplayBatch& batch : batches) {
      const ReplayRun& run = batch.runs[m];
      seconds += run.seconds;
      iterations += run.iterations;
      affected += static_cast<double>(run.ever_affected);
      largest = std::max(largest, run.linf);
      linf += run.linf;
      l1 += run.l1;
    }
    text += fmt::format("{:<8} {:>10.3f} {:>8.2f} {:>10.1f} {:>13.1f} {:>10.2e} {:>10.2e} {:>10.2e}\n",
                        name_of(kRankMethods, batches.front().runs[m].method), 1e3 * seconds / count,
                        static_seconds / seconds, iterations / count, affected / count, largest, linf / count,
                        l1 / count);
  }
  text += fmt::format("{:<8} {:>10.3f}   (of the graph, both directions; not in the rows above)\n", "update",
                      1e3 * update / count);
  if (device_update > 0)
    text += fmt::format("{:<8} {:>10.3f}   (the same, of the GPU's copy)\n", "", 1e3 * device_update / count);
  return text;
}

std::string to_json(const std::vector<ReplayBatch>& batches) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ReplayBatch& batch : batches) {
    nlohmann::ordered_json row = {{"inserted", batch.counts.inserted},
                                  {"present", batch.counts.present},
                                  {"edges", batch.edges},
                                  {"update_seconds", batch.update_seconds},
                                  {"device_update_seconds", batch.runs.back().update_seconds}};
    for (const ReplayRun& run : batch.runs) {
      row["methods"][name_of(kRankMethods, run.method)] = {{"seconds", run.seconds},
                                                           {"iterations", run.iterations},
                                                           {"converged", run.converged},
                                                           {"initially_affected", run.initially_affected},
                                                           {"ever_affected", run.ever_affected},
                                                           {"gathered_edges", run.gathered_edges},
                                                           {"error_linf", run.linf},
                                                           {"error_l1", run.l1}};
    }
    rows.push_back(std::move(row));
  }
  return nlohmann::ordered_json{{"batches", std::move(rows)}}.dump();
}

struct ReplayCommand {
  std::string file;
  pagerank::RankMethod method = pagerank::RankMethod::from_scratch;
  pagerank::Options rank;
  ReplayOptions replay;
  CommonOptions common;
};

/// A graph with all edges of the replay, as far as plans read it: lists have about equal length.
Graph outline(const TemporalSource& edges) {
  Graph graph;
  for (Csr* rows : {&graph.out, &graph.in}) {
    rows->offsets = HostArray<EdgeIndex>(edges.vertices() + 1, "offsets");
    for (std::uint64_t v = 0; v <= edges.vertices(); ++v)
      rows->offsets[v] = edges.size() / std::max<std::uint64_t>(edges.vertices(), 1) * v;
    rows->offsets[edges.vertices()] = edges.size();
  }
  return graph;
}

/// Memory of PageRank vectors beside the graph: of every method, static ones, and those for comparison.
pagerank::Plan plan_replay(const Device& device, const TemporalSource& edges, const pagerank::Options& rank,
                           const ReplayOptions& options, const pagerank::RankPlace& place) {
  const Graph graph = outline(edges);
  pagerank::Plan plan = pagerank::plan_pagerank(device, graph, rank, place);
  plan.host_bytes += 3 * graph.vertices() * sizeof(double);
  for (std::size_t i = 0; i < options.methods.size(); ++i) {
    const pagerank::Plan one = pagerank::plan_dynamic_ranks(device, graph, rank, {}, place, options.rules);
    plan.state_bytes += one.state_bytes, plan.host_bytes += one.host_bytes;
    plan.device_bytes +=
        one.partitions == plan.partitions && plan.partitions > 1 ? one.state_bytes : one.device_bytes;
  }
  return plan;
}

void print_plan(const Device& device, const TemporalSource& edges, const ReplayMemory& memory,
                ReplayGraphStorage storage, const pagerank::Plan& plan) {
  const bool in_file = storage == ReplayGraphStorage::in_file;
  const std::uint64_t stored_bytes = in_file ? memory.file_bytes : memory.graph_bytes;
  const std::uint64_t host = host_budget().used() + memory.needed(storage, plan.host_bytes);
  const auto line = [](const char* what, std::uint64_t bytes) {
    return fmt::format("{:<22} {:>12}\n", what, format_size(bytes));
  };
  std::string text = fmt::format("{:<22} {:>12} vertices, {} edges\n", "replay",
                                 format_count(edges.vertices()), format_count(edges.size()));
  text += line("device memory", plan.device_bytes) + line("  ranks", plan.state_bytes);
  text += line("host memory", host) + line(in_file ? "  graph, in a file" : "  graph", stored_bytes) +
          line("  a batch", memory.update_bytes);
  if (plan.partitions > 1) text += fmt::format("{:<22} {:>12} (about)\n", "partitions", plan.partitions);
  print(text);
  if (plan.device_bytes <= device.memory().ceiling() && host <= host_budget().ceiling()) return;
  throw BudgetError(fmt::format(
      "the job needs {} of device memory and {} of host memory (raise --device-memory or --host-memory)",
      format_size(plan.device_bytes), format_size(host)));
}

pagerank::RankPlace place_of(const ReplayCommand& c) {
  return {.paging = c.common.paging, .ranks = &world()};
}

/// The place of the graph, and the plan for it.
std::pair<ReplayGraphStorage, pagerank::Plan> fit(const Device& device, const TemporalSource& edges,
                                                  const ReplayMemory& memory, const ReplayCommand& c) {
  pagerank::RankPlace place = place_of(c);
  pagerank::Plan plan = plan_replay(device, edges, c.rank, c.replay, place);
  const ReplayGraphStorage storage = choose_replay_storage(memory, plan.host_bytes, c.common);
  if (storage == ReplayGraphStorage::in_file) {
    place.paging.transport = Transport::file;
    plan = plan_replay(device, edges, c.rank, c.replay, place);
  }
  return {storage, plan};
}

/// Sets what other options imply. Throws UsageError.
void resolve_options(const Command& command, ReplayCommand& c) {
  if (command.given("--method")) {
    refuse_idle_frontier(command, c.method);
    c.replay.methods = {c.method};
  }
  // Static ranks are always computed, so `static` is not among the methods.
  std::erase(c.replay.methods, pagerank::RankMethod::from_scratch);
  c.replay.verify = c.common.verify;
  validate(c.rank);
  validate(c.replay);
}

void report_replay(const Command& command, const TemporalFile& read, const Device& device, Report& report,
                   const std::vector<ReplayBatch>& batches) {
  report.command = command.name();
  report.options = command.resolved();
  report.device = &device;
  report.counters = {{"vertices", read.edges->vertices()},
                     {"temporal_edges", read.edges->size()},
                     {"self_loops_dropped", read.self_loops}};
  report.more = to_json(batches);
}

void print_batches(const TemporalSource& edges, const std::vector<ReplayBatch>& batches,
                   double batch_fraction) {
  print_message(fmt::format(
      "replay: {} vertices, {} temporal edges, {} batches of {} (of the last: {} new edges, {} in "
      "all)\n",
      format_count(edges.vertices()), format_count(edges.size()), batches.size(), batch_fraction,
      batches.empty() ? 0 : batches.back().counts.inserted, batches.empty() ? 0 : batches.back().edges));
  if (!batches.empty()) print_message(table(batches));
}

/// Replays with all methods, or the one given. Prints a table on standard error; the report has every batch.
void run_replay(const Command& command, ReplayCommand& c) {
  resolve_options(command, c);
  const CommonOptions& common = c.common;
  require_scratch(common);
  const Stopwatch watch;
  register_outputs({common.report, "-"}, common.scratch);
  ReportFile report_file(world().is_root() && !common.plan ? common.report : "", common.force);
  apply_host_ceiling(common);
  print_options(command, common);
  const Device device(device_of_rank(common));
  warn_unusable_gpu(command, common, device);
  const std::string scratch =
      common.scratch.empty() ? std::filesystem::temp_directory_path().string() : common.scratch;
  const TemporalFile read = read_temporal(c.file, scratch, threads_of(common));
  const TemporalSource& edges = *read.edges;
  require_same_on_all_ranks(shared_options_text(command) +
                            fmt::format("vertices {}\ntemporal edges {}\n", edges.vertices(), edges.size()));
  const ReplayMemory memory(edges, c.replay);
  const auto [storage, plan] = fit(device, edges, memory, c);
  if (common.plan) return print_plan(device, edges, memory, storage, plan);
  const auto graphs = make_replay_graphs(storage, common);
  Report report;
  report.load_seconds = watch.seconds();
  Progress progress(common.progress, common.quiet);
  progress.start("replay");
  std::vector<ReplayBatch> batches;
  const auto observe = [&](const ReplayBatch& batch) {
    batches.push_back(batch);
    progress.update("replay", batches.size(), c.replay.batches, " batches");
  };
  replay(device, edges, c.rank, c.replay, observe, place_of(c), graphs.get());
  progress.finish();
  report_replay(command, read, device, report, batches);
  report.total_seconds = watch.seconds();
  report_file.finish(report);
  report_file.commit();
  if (!common.quiet) print_batches(edges, batches, c.replay.batch_fraction);
}

}  // namespace

std::unique_ptr<Command> make_replay() {
  auto [command, c] = make_command<ReplayCommand>(
      "replay", "PageRank of a temporal graph: every method compared with static, after every batch",
      run_replay);
  command->group("Graph");
  command->input_file("EDGES", c->file, "edges with times, in any order: third column");
  command->real("--initial", "PART", c->replay.initial, "fraction of the edges in the first graph");
  command->real("--batch-fraction", "PART", c->replay.batch_fraction,
                "edges of a batch, as a fraction of all edges of the file");
  command->integer("--batches", c->replay.batches, 1, "number of consecutive batches, at most");
  command->group("Ranks");
  command->choice("--method", c->method, kRankMethods, "one method, compared with static");
  command->options().back().default_text = "all";
  declare_rank_options(*command, c->rank);
  declare_frontier(*command, c->replay.rules);
  command->group("Results");
  declare_report(*command, c->common);
  command->flag("--force", c->common.force, "replace what exists");
  command->flag("--verify", c->common.verify, "check every method's ranks after every batch");
  command->flag("--plan", c->common.plan, "print the memory that the job needs, without running it");
  declare_device(*command, c->common);
  declare_messages(*command, c->common);
  command->set_idle(kIdleForSolvers);
  command->set_allows_ranks();
  command->set_example("sluice-bench replay edges.txt --batch-fraction 1e-4 --batches 100");
  return std::move(command);
}

}  // namespace sluice::bench
