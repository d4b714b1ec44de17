#include "apps/report/report.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <vector>

#include "apps/job/memory.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/error.hpp"
#include "engine/exchange/nccl.hpp"
#include "io/output_file.hpp"
#include "io/results/json_text.hpp"

namespace sluice::apps {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ResolvedOptions& options) {
  Json json = Json::object();
  for (const auto& [name, value] : options) {
    std::visit([&json, &key = name](const auto& v) { json[key] = v; }, value);
  }
  return json;
}

Json to_json(const std::string& file, const io::GraphInfo& graph) {
  return {{"file", file},
          {"vertices", graph.vertices},
          {"edges", graph.edges},
          {"directed", graph.directed},
          {"weighted", graph.weighted},
          {"checksum", format_checksum(graph.checksum)}};
}

/// GPU memory in use before Sluice allocated anything, and NCCL's own memory; no budget bounds either.
std::uint64_t baseline_bytes(const Report& report) {
  if (report.device == nullptr) return 0;
#if defined(SLUICE_HAVE_CUDA)
  return report.device->baseline_bytes() + nccl_device_bytes();
#else
  return report.device->baseline_bytes();
#endif
}

void add_run(Json& json, const RunStats& run) {
  json["instances"] = run.instances;
  json["sampled_edges"] = run.sampled_edges;
  json["steps"] = run.steps;
  json["sampled_edges_per_second"] = per_second(run.sampled_edges, run.compute_seconds);
  json["steps_per_second"] = per_second(run.steps, run.compute_seconds);
  json["select"] = name_of(kSelects, run.select);
  json["layout"] = name_of(kLayouts, run.layout);
  json["partitions"] = run.partitions;
  json["partition_transfers"] = run.partition_transfers;
  json["rounds"] = run.rounds;
  json["mapped_rounds"] = run.mapped_rounds;
  json["entries_sent"] = run.entries_sent;
  json["entries_received"] = run.entries_received;
  json["batches"] = run.batches;
  json["selections"] = run.selections;
  json["selection_iterations"] = run.selection_iterations;
  json["collision_searches"] = run.collision_searches;
  json["kernel_launches"] = run.kernel_launches;
}

/// These figures are equal on all ranks except for times, so ranks are not added up (join_reports() copies
/// "solver" and "acc").
void add_solver(Json& json, const SolverFigures& solver) {
  json["solver"] = {{"end", solver.end},
                    {"converged", solver.converged},
                    {"iterations", solver.iterations},
                    {"residual", solver.residual},
                    {"edges", solver.edges},
                    {"edges_per_second", per_second(solver.edges, solver.run.compute_seconds)},
                    {"per_iteration", {{"residual", solver.residuals}, {"seconds", solver.seconds}}}};
  json["partitions"] = solver.run.partitions;
  json["partition_transfers"] = solver.run.partition_transfers;
}

void add_acc(Json& json, const AccFigures& acc) {
  const acc::AccStats& stats = acc.stats;
  Json& to = json["acc"];
  to = {{"rounds", stats.rounds},
        {"pulls", stats.pulls},
        {"levels", stats.levels},
        {"refills", stats.refills},
        {"edges", stats.edges},
        {"edges_per_second", per_second(stats.edges, stats.compute_seconds)},
        {"kernel_launches", stats.kernel_launches},
        {"registers", std::max(stats.push_registers, stats.pull_registers)},
        {"push_registers", stats.push_registers},
        {"pull_registers", stats.pull_registers},
        {"prepared_bytes", stats.prepared_bytes}};
  if (!acc.end.empty()) {
    to["end"] = acc.end;
    to["converged"] = acc.converged;
    to["residual"] = acc.residual;
    to["residuals"] = acc.residuals;
  }
  to["trace"] = Json::array();
  // On the host, threads record active vertices during a round; a pull needs no filter.
  const auto filter = [&](const acc::AccRoundTrace& round) {
    if (round.refilled) return "ballot";
    return round.pull || stats.kernel_launches == 0 ? "none" : "online";
  };
  for (const acc::AccRoundTrace& round : stats.trace) {
    to["trace"].push_back({{"level", round.level},
                           {"direction", round.pull ? "pull" : "push"},
                           {"filter", filter(round)},
                           {"active", round.active},
                           {"edges", round.edges},
                           {"seconds", round.seconds}});
  }
  json["partitions"] = stats.partitions;
  json["partition_transfers"] = stats.partition_transfers;
}

/// The figures that every job has: for a solver, those that samples have too.
RunStats run_of(const Report& report) {
  RunStats run = report.solver ? report.solver->run : report.run.value_or(RunStats{});
  if (report.acc) {
    run.add_traffic(report.acc->stats);
    run.load_seconds = report.acc->stats.setup_seconds;
    run.compute_seconds = report.acc->stats.compute_seconds;
    run.transfer_seconds = report.acc->stats.transfer_seconds;
  }
  return run;
}

/// Starts with the process, except for the initialization of its libraries.
const Stopwatch process_watch;

/// Names every second of the process; phases that overlap each have their own time.
Json seconds_of(const Report& report) {
  const RunStats run = run_of(report);
  Json parts{{"open", report.open_seconds},
             {"load", report.load_seconds + run.load_seconds},
             {"sort", report.sort_seconds},
             {"table", run.table_seconds},
             {"compute", run.compute_seconds},
             {"transfer", run.transfer_seconds},
             {"exchange", world().seconds() + run.exchange_seconds},
             {"write", run.write_seconds + report.close_seconds}};
  double named = 0;
  for (const Json& part : parts) named += part.get<double>();
  parts["other"] = std::max(report.total_seconds - named, 0.0);
  parts["total"] = report.total_seconds;
  parts["start"] = std::max(process_watch.seconds() - report.total_seconds, 0.0);
  return parts;
}

Json bytes_of(const Report& report) {
  const RunStats run = run_of(report);
  return {{"host_to_device", run.host_to_device_bytes},
          {"device_to_host", run.device_to_host_bytes},
          {"mapped", run.mapped_bytes},
          {"exchanged", world().bytes_sent() + run.exchanged_bytes},
          {"read", report.bytes_read + run.read_bytes},
          {"written", report.bytes_written}};
}

Json to_json(const Report& report) {
  Json json;
  json["command"] = report.command;
  json["version"] = SLUICE_VERSION;
  json["options"] = to_json(report.options);
  if (report.graph) json["graph"] = to_json(report.graph_file, *report.graph);
  json["ranks"] = world().size();
  json["device"] = report.device != nullptr ? report.device->name() : "host";
  json["seconds"] = seconds_of(report);
  if (report.run) add_run(json, *report.run);
  if (report.solver) add_solver(json, *report.solver);
  if (report.acc) add_acc(json, *report.acc);
  if (!report.more.empty()) json.update(Json::parse(report.more));
  json.update(to_json(report.counters));
  json["bytes"] = bytes_of(report);
  json["peak_device_bytes"] = report.device != nullptr ? report.device->memory().peak() : 0;
  json["baseline_device_bytes"] = baseline_bytes(report);
  json["peak_host_bytes"] = host_budget().peak();
  json["peak_resident_bytes"] = peak_resident_bytes();
  return json;
}

using Pointer = Json::json_pointer;

constexpr std::string_view kRate = "_per_second";

/// Figures of a batch and of the ranks after it, which every rank knows in full.
bool is_of_batch(const std::string& path) {
  constexpr std::array<std::string_view, 9> kNames{"/inserted",      "/present",
                                                   "/deleted",       "/missing",
                                                   "/new_vertices",  "/initially_affected",
                                                   "/ever_affected", "/widened_iterations",
                                                   "/update_seconds"};
  return std::find(kNames.begin(), kNames.end(), path) != kNames.end();
}

bool is_largest(const std::string& path) {
  return path.starts_with("/seconds/") || path.starts_with("/peak_") || path.starts_with("/baseline_") ||
         path.starts_with("/largest_") || path.starts_with("/latency_") || path.starts_with("/precision_") ||
         path == "/partitions" || path == "/partitions_read" || is_of_batch(path);
}

/// Appends the paths of the figures below `json`. Options, the graph, and solver figures, which are equal on
/// all ranks, are not figures of a rank.
void collect_figures(const Json& json, const std::string& path, std::vector<std::string>& paths) {
  for (const auto& [key, value] : json.items()) {
    const std::string figure = path + "/" + key;
    if (figure == "/options" || figure == "/graph" || figure == "/ranks" || figure == "/solver" ||
        figure == "/acc" || figure == "/delta_used")
      continue;
    if (value.is_object()) collect_figures(value, figure, paths);
    if (value.is_number()) paths.push_back(figure);
  }
}

void join_figure(Json& joined, const std::string& path, const std::vector<Json>& reports) {
  const Pointer at(path);
  std::vector<Json> values;
  for (const Json& report : reports) values.push_back(report[at]);
  const auto [min_value, max_value] = std::minmax_element(values.begin(), values.end());
  joined["by_rank"][at] = {{"min", *min_value}, {"max", *max_value}};
  const auto add_up = [&]<class T>(T sum) {
    for (const Json& value : values) sum += value.get<T>();
    joined[at] = sum;
  };
  if (is_largest(path)) {
    joined[at] = *max_value;
  } else if (values.back().is_number_float()) {
    add_up(0.0);
  } else {
    add_up(std::uint64_t{0});
  }
}

/// The rate of the whole job: the count of all ranks over the time of the slowest.
void join_rate(Json& joined, const std::string& path) {
  const double seconds = joined["seconds"].value("compute", 0.0);
  const Pointer count(path.substr(0, path.size() - kRate.size()));
  joined[Pointer(path)] = seconds > 0 ? joined[count].get<double>() / seconds : 0.0;
}

/// Adds counters up, takes the maximum of times and peaks, and derives rates from both. `by_rank` has the
/// minimum and maximum of each figure over the ranks. All else is the last rank's, whose share of the
/// instances is never smaller than another.
Json join_reports(const std::vector<Json>& reports) {
  Json joined = reports.back();
  joined["ranks"] = reports.size();
  joined["by_rank"] = Json::object();
  std::vector<std::string> paths;
  collect_figures(reports.back(), "", paths);
  for (const std::string& path : paths) join_figure(joined, path, reports);
  for (const std::string& path : paths) {
    if (path.ends_with(kRate)) join_rate(joined, path);
  }
  return joined;
}

}  // namespace

double per_second(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

std::string format_checksum(std::uint64_t checksum) {
  return fmt::format("{:016x}", checksum);
}

ReportFile::ReportFile(const std::string& path, bool force) {
  if (!path.empty()) file_ = std::make_unique<io::OutputFile>(path, force);
}

ReportFile::~ReportFile() = default;

void ReportFile::finish(const Report& report) {
  if (!file_) return;
  write_json(io::json_text(to_json(report), 2));
}

void ReportFile::finish_joined(const Report& report) {
  const auto texts = world().all_gather(io::json_text(to_json(report)), "the reports of all ranks");
  if (!file_) return;
  std::vector<Json> reports;
  for (const auto& text : texts) reports.push_back(Json::parse(text));
  write_json(io::json_text(reports.size() == 1 ? reports[0] : join_reports(reports), 2));
}

void ReportFile::write_json(const std::string& text) {
  std::ofstream stream(file_->temporary());
  stream << text << '\n';
  stream.close();
  if (!stream)
    throw RunError(fmt::format("{}: the report cannot be written (is the disk full?)", file_->path()));
  file_->finish();
}

void ReportFile::commit() {
  if (file_) file_->commit();
}

}  // namespace sluice::apps
