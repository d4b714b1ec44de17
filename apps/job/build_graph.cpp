#include "apps/job/build_graph.hpp"

#include <fmt/core.h>

#include "apps/cli/console.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/values.hpp"
#include "apps/job/ranks.hpp"
#include "apps/report/report.hpp"

namespace sluice::apps {

namespace {

std::string summary(const std::string& output, const io::ConvertStats& stats, double seconds,
                    const io::EdgeStreamInfo& source) {
  std::string text =
      fmt::format("{}: {} vertices, {} edges from {} in {:.3g} s ({} edges/s)\n", output,
                  format_count(stats.vertices), format_count(stats.edges), format_count(stats.input_edges),
                  seconds, format_rate(static_cast<double>(stats.input_edges) / seconds));
  if (stats.self_loops + stats.duplicates != 0) {
    text += fmt::format("dropped: {} self-loops, {} duplicates\n", format_count(stats.self_loops),
                        format_count(stats.duplicates));
  }
  if (stats.compacted) {
    text += fmt::format("compacted: {} unused ids dropped; the original ids are in /vertices/original_id\n",
                        format_count(stats.unused_ids));
  }
  if (stats.first_id > 0 && !source.vertices) {
    text += fmt::format(
        "ids begin at {}: unused ids became vertices without edges, {} in all, including vertex 0 "
        "(--compact drops them)\n",
        stats.first_id, format_count(stats.isolated_ids));
  }
  return text;
}

ResolvedOptions counters(const io::ConvertStats& stats) {
  return {{"input_edges", stats.input_edges},
          {"self_loops_dropped", stats.self_loops},
          {"duplicates_dropped", stats.duplicates},
          {"unused_ids_dropped", stats.unused_ids},
          {"unused_ids_kept", stats.isolated_ids},
          {"compacted", stats.compacted},
          {"sort_runs", stats.sort_runs}};
}

}  // namespace

void build_graph(const Command& command, const CommonOptions& common, io::EdgeStream& source,
                 const std::string& output, io::ConvertOptions options, const Device* device) {
  const Stopwatch watch;
  require_scratch(common);
  register_outputs({output, common.report}, common.scratch);
  ReportFile report_file(common.report, common.force);
  options.seed = common.seed;
  options.threads = threads_of(common);
  options.force = common.force;
  options.scratch = common.scratch;
  Progress progress(common.progress, common.quiet);
  options.progress = [&](const char* phase, double fraction) { progress.update(phase, fraction); };
  double seconds = 0;
  options.completed = [&](const io::ConvertStats& stats) {
    ignore_stop_requests();
    seconds = watch.seconds();
    Report report;
    report.command = command.name();
    report.options = command.resolved();
    report.device = device;
    report.graph_file = output;
    report.graph = io::GraphInfo{.vertices = stats.vertices,
                                 .edges = stats.edges,
                                 .directed = !(options.undirected || source.info().undirected),
                                 .weighted = options.weights != io::WeightRule::none,
                                 .checksum = stats.checksum,
                                 .origin = {}};
    report.load_seconds = stats.load_seconds;
    report.sort_seconds = stats.sort_seconds;
    report.close_seconds = stats.write_seconds;
    report.total_seconds = seconds;
    report.bytes_read = source.bytes_read();
    report.bytes_written = stats.file_bytes;
    report.counters = counters(stats);
    report_file.finish(report);
  };
  const io::ConvertStats stats = io::convert(source, output, options);
  report_file.commit();
  progress.finish();
  if (!common.quiet) {
    if (const auto remark = source.remark(); !remark.empty()) print_message(remark + '\n');
    const io::EdgeStreamInfo& info = source.info();
    if (info.undirected_title > 0 && !options.undirected)
      print_message(
          fmt::format("{}:{}: the title declares the graph undirected (--undirected stores both directions "
                      "of every edge)\n",
                      info.origin, info.undirected_title));
    print_message(summary(output, stats, seconds, info));
  }
}

}  // namespace sluice::apps
