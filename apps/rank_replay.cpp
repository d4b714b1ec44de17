#include "apps/rank_replay.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "apps/console.hpp"
#include "apps/progress.hpp"
#include "apps/ranks.hpp"
#include "apps/report.hpp"
#include "apps/values.hpp"
#include "engine/core/error.hpp"
#include "io/edge_source.hpp"

namespace sluice::apps {

namespace {

/// Edges of the file, with the ids they have there.
struct TimedEdges {
  io::EdgeBatch edges;
  std::vector<std::uint64_t> loops;  ///< vertices of self-loops, which are dropped as a conversion does
};

TimedEdges read_edges(const std::string& file, unsigned threads) {
  io::ReadOptions options;
  options.timestamps = true;
  options.threads = threads;
  const auto source = io::open_edge_file(file, options);
  TimedEdges all;
  io::EdgeBatch part;
  while (source->next(part)) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part.source[i] == part.target[i]) {
        all.loops.push_back(part.source[i]);
        continue;
      }
      all.edges.source.push_back(part.source[i]);
      all.edges.target.push_back(part.target[i]);
      all.edges.time.push_back(part.time[i]);
    }
  }
  if (const std::string remark = source->remark(); !remark.empty()) say(file + ": " + remark + '\n');
  if (all.edges.size() == 0) throw InputError(fmt::format("{}: no edge to replay", file));
  return all;
}

/// In order of time, edges of one time in that of the file. Unused ids are left out where a conversion would
/// leave them out: where they are more than half.
TemporalEdges in_order(const TimedEdges& read, const std::string& file) {
  const io::EdgeBatch& edges = read.edges;
  std::vector<std::uint64_t> ids = read.loops;
  ids.insert(ids.end(), edges.source.begin(), edges.source.end());
  ids.insert(ids.end(), edges.target.begin(), edges.target.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const std::uint64_t range = ids.back() + 1;
  const bool compact = ids.size() < range - range / 2 && ids.size() * 2 < range;
  TemporalEdges all;
  all.vertices = compact ? ids.size() : range;
  if (all.vertices > kMaxVertices) {
    throw InputError(fmt::format("{}: more vertices than a graph can have", file));
  }
  const auto vertex = [&](std::uint64_t id) {
    if (!compact) return static_cast<Vertex>(id);
    return static_cast<Vertex>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  };
  std::vector<std::size_t> order(edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return edges.time[a] < edges.time[b]; });
  for (const std::size_t i : order) {
    all.source.push_back(vertex(edges.source[i]));
    all.target.push_back(vertex(edges.target[i]));
  }
  return all;
}

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

void refuse_idle(const Command& command, const CommonOptions& common) {
  for (const char* name :
       {"GRAPH", "--insert", "--delete", "--previous", "--output-graph", "--output", "--weighted", "--verify",
        "--plan", "--original-ids", "--distribution", "--rows", "--split"}) {
    if (command.given(name)) {
      throw UsageError(fmt::format("{} has no meaning with --replay (leave it out)", name));
    }
  }
  if (common.paging.transport == Transport::file)
    throw UsageError("--transport file has no meaning with --replay (leave it out)");
}

}  // namespace

void declare_replay(Command& command, RankReplayOptions& options) {
  command.text("--replay", "FILE", options.file, "edges with times, in any order: third column");
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
  refuse_idle(command, common);
  validate(rank);
  // Static ranks stand beside the method that is asked for, and alone where they are.
  std::erase(options.replay.methods, RankMethod::from_scratch);
  validate(options.replay);
  const Stopwatch watch;
  cover_outputs({common.report}, common.scratch);
  ReportFile report_file(world().leads() ? common.report : "", common.force);
  apply_host_ceiling(common);
  announce(command, common);
  const Device device(device_of_rank(common));
  const TimedEdges read = read_edges(options.file, threads_of(common));
  const TemporalEdges edges = in_order(read, options.file);
  require_same_on_all_ranks(same_options(command) +
                            fmt::format("vertices {}\ntemporal edges {}\n", edges.vertices, edges.size()));
  Report report;
  report.load_seconds = watch.seconds();
  Progress progress(common.progress, common.quiet);
  progress.start("replay");
  const auto observe = [&](const ReplayBatch& batch) {
    report.replay.push_back(batch);
    progress.update("replay", report.replay.size(), options.replay.batches, " batches");
  };
  replay(device, edges, rank, options.replay, observe, {.paging = common.paging, .ranks = &world()});
  progress.finish();
  report.command = command.name();
  report.options = command.resolved();
  report.device = &device;
  report.counters = {{"vertices", edges.vertices},
                     {"temporal_edges", std::uint64_t{edges.size()}},
                     {"self_loops_dropped", std::uint64_t{read.loops.size()}}};
  report.total_seconds = watch.seconds();
  report_file.write(report);
  if (common.quiet) return;
  say(fmt::format(
      "replay: {} vertices, {} temporal edges, {} batches of {} (of the last: {} new edges, {} in "
      "all)\n",
      format_count(edges.vertices), format_count(edges.size()), report.replay.size(),
      options.replay.batch_fraction, report.replay.empty() ? 0 : report.replay.back().counts.inserted,
      report.replay.empty() ? 0 : report.replay.back().edges));
  if (!report.replay.empty()) say(table(report.replay));
}

}  // namespace sluice::apps
