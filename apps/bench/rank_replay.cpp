#include "apps/bench/rank_replay.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "apps/bench/replay_graphs.hpp"
#include "apps/cli/console.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/values.hpp"
#include "apps/data/temporal_edges.hpp"
#include "apps/job/job.hpp"
#include "apps/job/ranks.hpp"
#include "apps/report/report.hpp"
#include "engine/core/error.hpp"
#include "engine/core/size.hpp"
#include "engine/pagerank/dynamic/plan.hpp"

namespace sluice::apps {

namespace {

/// A row a method: what a batch cost on average, and the largest errors.
std::string table(const std::vector<ReplayBatch>& batches) {
  std::string text =
      fmt::format("{:<8} {:>10} {:>8} {:>10} {:>13} {:>10} {:>10} {:>10}\n", "method", "ms/batch", "speedup",
                  "iterations", "ever affected", "linf", "mean linf", "mean L1");
  const auto count = static_cast<double>(batches.size());
  double update = 0, device_update = 0, static_seconds = 0;
  for (const ReplayBatch& batch : batches) {
    update += batch.update_seconds;
    device_update += batch.device_update_seconds;
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

void refuse_idle(const Command& command) {
  for (const char* name : {"GRAPH", "--insert", "--delete", "--previous", "--output-graph", "--output",
                           "--weighted", "--original-ids", "--rows", "--split"}) {
    refuse_idle_option(command, name, true, "with --replay");
  }
}

/// The graph of a replay, with all edges, as far as plans look at it.
Graph outline(const TemporalSource& edges) {
  Graph graph;
  for (Csr* rows : {&graph.out, &graph.in}) {
    rows->offsets = HostArray<EdgeIndex>(edges.vertices() + 1, "offsets");
    std::fill(rows->offsets.begin(), rows->offsets.end(), edges.size());
  }
  return graph;
}

/// What ranks take beside the graph: those of every method, static ones, and those that are compared.
PageRankPlan plan_replay(const Device& device, const TemporalSource& edges, const PageRankOptions& rank,
                         const ReplayOptions& options, const RankPlace& place) {
  const Graph graph = outline(edges);
  PageRankPlan plan = plan_pagerank(device, graph, rank, place);
  plan.host_bytes += 3 * graph.vertices() * sizeof(double);
  for (std::size_t i = 0; i < options.methods.size(); ++i) {
    const PageRankPlan one = plan_dynamic_ranks(device, graph, rank, 0, place);
    plan.state_bytes += one.state_bytes, plan.host_bytes += one.host_bytes;
    plan.device_bytes +=
        one.partitions == plan.partitions && plan.partitions > 1 ? one.state_bytes : one.device_bytes;
  }
  return plan;
}

void print_plan(const Device& device, const TemporalSource& edges, const ReplayRoom& room,
                ReplayGraphPlace where, const PageRankPlan& plan) {
  const bool stays = where == ReplayGraphPlace::stays;
  const std::uint64_t held = stays ? room.file_bytes : room.graph_bytes;
  const std::uint64_t host = host_accountant().used() + room.needed(where, plan.host_bytes);
  const auto line = [](const char* what, std::uint64_t bytes) {
    return fmt::format("{:<22} {:>12}\n", what, format_size(bytes));
  };
  std::string text = fmt::format("{:<22} {:>12} vertices, {} edges\n", "replay",
                                 format_count(edges.vertices()), format_count(edges.size()));
  text += line("device memory", plan.device_bytes) + line("  ranks", plan.state_bytes);
  text += line("host memory", host) + line(stays ? "  graph, in a file" : "  graph", held) +
          line("  a batch", room.update_bytes);
  if (plan.partitions > 1) text += fmt::format("{:<22} {:>12} (about)\n", "partitions", plan.partitions);
  print(text);
  if (plan.device_bytes <= device.memory().ceiling() && host <= host_accountant().ceiling()) return;
  throw BudgetError(fmt::format(
      "the job needs {} of device memory and {} of host memory (raise --device-memory or --host-memory)",
      format_size(plan.device_bytes), format_size(host)));
}

}  // namespace

void declare_replay(Command& command, RankReplayOptions& options) {
  command.input_file("--replay", options.file, "edges with times, in any order: third column");
  command.real("--initial", "PART", options.replay.initial, "the part of them that the first graph holds");
  command.real("--batch-fraction", "PART", options.replay.batch_fraction,
               "a batch's edges, as a part of all edges of the file");
  command.whole("--batches", options.replay.batches, 1, "consecutive batches, if there are as many");
}

void refuse_replay_options(const Command& command) {
  for (const char* name : {"--initial", "--batch-fraction", "--batches"}) {
    if (command.given(name)) throw UsageError(fmt::format("{} needs --replay FILE", name));
  }
  if (!command.given("GRAPH")) throw UsageError("GRAPH is required (see sluice pagerank --help)");
}

void run_replay(const Command& command, RankReplayOptions& options, const PageRankOptions& rank,
                CommonOptions& common) {
  refuse_idle(command);
  validate(rank);
  // Static ranks stand beside the method that is asked for, and alone where they are.
  std::erase(options.replay.methods, RankMethod::from_scratch);
  options.replay.verify = common.verify;
  validate(options.replay);
  require_scratch(common);
  const Stopwatch watch;
  cover_outputs({common.report, "-"}, common.scratch);
  ReportFile report_file(world().leads() && !common.plan ? common.report : "", common.force);
  apply_host_ceiling(common);
  announce(command, common);
  const Device device(device_of_rank(common));
  tell_refused_gpu(command, common, device);
  const std::string scratch =
      common.scratch.empty() ? std::filesystem::temp_directory_path().string() : common.scratch;
  const TemporalFile read = read_temporal(options.file, scratch, threads_of(common));
  const TemporalSource& edges = *read.edges;
  require_same_on_all_ranks(same_options(command) +
                            fmt::format("vertices {}\ntemporal edges {}\n", edges.vertices(), edges.size()));
  RankPlace place{.paging = common.paging, .ranks = &world()};
  const ReplayRoom room(edges, options.replay);
  PageRankPlan plan = plan_replay(device, edges, rank, options.replay, place);
  const ReplayGraphPlace where = place_of_replay(room, plan.host_bytes, common);
  if (where == ReplayGraphPlace::stays) {
    place.paging.transport = Transport::file;
    plan = plan_replay(device, edges, rank, options.replay, place);
    place.paging.transport = common.paging.transport;
  }
  if (common.plan) return print_plan(device, edges, room, where, plan);
  const auto graphs = keep_replay_graphs(where, common);
  Report report;
  report.load_seconds = watch.seconds();
  Progress progress(common.progress, common.quiet);
  progress.start("replay");
  const auto observe = [&](const ReplayBatch& batch) {
    report.replay.push_back(batch);
    progress.update("replay", report.replay.size(), options.replay.batches, " batches");
  };
  replay(device, edges, rank, options.replay, observe, place, graphs.get());
  progress.finish();
  report.command = command.name();
  report.options = command.resolved();
  report.device = &device;
  report.counters = {{"vertices", edges.vertices()},
                     {"temporal_edges", edges.size()},
                     {"self_loops_dropped", read.self_loops}};
  report.total_seconds = watch.seconds();
  report_file.finish(report);
  report_file.commit();
  if (common.quiet) return;
  say(fmt::format(
      "replay: {} vertices, {} temporal edges, {} batches of {} (of the last: {} new edges, {} in "
      "all)\n",
      format_count(edges.vertices()), format_count(edges.size()), report.replay.size(),
      options.replay.batch_fraction, report.replay.empty() ? 0 : report.replay.back().counts.inserted,
      report.replay.empty() ? 0 : report.replay.back().edges));
  if (!report.replay.empty()) say(table(report.replay));
}

}  // namespace sluice::apps
