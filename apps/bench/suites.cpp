// sluice-bench SUITE: runs a suite, and writes its figures as a table and a report.
#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>

#include "apps/bench/bench.hpp"
#include "apps/cli/common_options.hpp"
#include "apps/cli/console.hpp"
#include "apps/cli/errors.hpp"
#include "apps/job/ranks.hpp"
#include "apps/report/report.hpp"
#include "engine/core/error.hpp"

#if !defined(SLUICE_COMMIT)
#define SLUICE_COMMIT ""
#endif

namespace sluice::bench {

namespace {

using apps::Command;

/// What a suite measures.
enum class Input { machine, file, graph };

struct Suite {
  const char *name, *summary;
  std::vector<Figure> (*run)(Device&, const Options&);
  Input input = Input::graph;
  bool independent = true;  ///< figures are independent: --only may choose some
  bool ranks = false;
  bool chooses_scale = false;  ///< chooses graphs by experiment and device, unless --scale is given
};

constexpr Suite kSuites[] = {
    {"limits", "copies and random reads: upper bounds for any program on this machine", run_limits,
     Input::machine, false},
    {"sampling", "walks and samples of every kind", run_sampling, Input::graph, false},
    {"outofcore", "walks on a graph of which the device holds a quarter", run_outofcore},
    {"auto", "20 out-of-core jobs with automatic choices, against each fixed transport and layout",
     run_automatic},
    {"disk", "out-of-core walks from an uncached file, against the disk's own read rate", run_disk,
     Input::file, false},
    {"files", "jobs from file to file, against the disk's time for the same bytes", run_files},
    {"scaling", "walks, PageRank and programs on all ranks of mpirun, against one", run_scaling, Input::graph,
     true, true},
    {"ablation", "C-SAW's techniques for partitions, added one by one", run_ablation},
    {"pagerank", "iterations, against cuSPARSE on a GPU, and batches", run_pagerank},
    {"acc", "searches, paths, cores, components and beliefs", run_acc},
    {"ppr", "personalized PageRank: throughput, latency and precision of queries", run_ppr_suite},
    {"papers",
     "the experiments of C-SAW, SIMD-X, DF-P and MeLoPPR, for docs/papers.md; on ranks "
     "SIMD-X's filters only",
     run_papers, Input::graph, true, true, true},
};

struct SuiteCommand {
  std::uint32_t repetitions = 5, scale = 20, edge_factor = 16;
  std::string graph, graphs, only, commit = SLUICE_COMMIT;
  apps::CommonOptions common;
};

constexpr std::array<std::string_view, 5> kIdleForSuites{"--layout", "--distribution", "--partitions",
                                                         "--slots", "--transport"};

void print_figures(const std::vector<Figure>& figures) {
  for (const auto& figure : figures) {
    if (!figure.words.empty()) {
      apps::print(fmt::format("{:<48} {}\n", figure.name, figure.words));
      continue;
    }
    std::string line =
        fmt::format("{:<48} {:>10.4g} {:<12} ({:.4g} to {:.4g}){}{}", figure.name, figure.value, figure.unit,
                    figure.low, figure.high, figure.note.empty() ? "" : "  ", figure.note);
    if (!figure.columns.empty()) line = fmt::format("{:<98}", line);
    for (const auto& [name, value] : figure.columns) line += fmt::format("  {} {:>9.4g}", name, value);
    apps::print(line + "\n");
  }
}

/// The pattern of `--only`; none: all figures.
std::optional<std::regex> pattern_of(const SuiteCommand& c) {
  if (c.only.empty()) return std::nullopt;
  try {
    return std::regex(c.only);
  } catch (const std::regex_error&) {
    throw UsageError(fmt::format("--only: '{}' is not a regular expression", c.only));
  }
}

/// The graph files of a folder, sorted by name. Throws UsageError if there is none.
std::vector<std::string> graph_files(const std::string& folder) {
  std::vector<std::string> files;
  if (folder.empty()) return files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (entry.path().extension() == ".h5") files.push_back(entry.path());
  if (files.empty()) throw UsageError(fmt::format("--graphs: no graph file (*.h5) in {}", folder));
  std::ranges::sort(files);
  return files;
}

std::vector<Figure> measure(const Suite& suite, const SuiteCommand& c, Device& device) {
  const auto pattern = pattern_of(c);
  Options options{
      c.repetitions, c.scale, c.edge_factor, c.common.seed, c.graph, graph_files(c.graphs), {}, {}};
  if (!c.common.scratch.empty()) options.folder = c.common.scratch;
  options.progress = [&](const std::string& name) {
    apps::throw_if_stopped();
    if (c.common.verbose) apps::print_message(fmt::format("measuring {}\n", name));
  };
  bool found = !pattern;
  if (pattern) {
    options.wanted = [&](const std::string& name) {
      const bool matches = std::regex_search(name, *pattern);
      found = found || matches;
      return matches;
    };
  }
  auto figures = suite.run(device, options);
  if (!found) throw UsageError(fmt::format("--only: no figure of {} matches '{}'", suite.name, c.only));
  return figures;
}

/// The processor's name, as `AMD EPYC 7B13`; empty if the system does not give it.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return {};
}

apps::OptionValue value_of(const Figure& figure) {
  if (!figure.words.empty()) return figure.words;
  return figure.value;
}

/// `load` is the machine's load before the suite began.
apps::Report report_of(const Command& command, const SuiteCommand& c, const Device& device, double load,
                       const std::vector<Figure>& figures) {
  apps::Report report;
  report.command = command.name();
  report.options = command.resolved();
  report.device = &device;
  report.counters = {{"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
                     {"commit", c.commit},
                     {"processor", processor()},
                     {"load", load}};
  for (const auto& figure : figures) {
    report.counters.emplace_back(figure.name + " [" + figure.unit + "]", value_of(figure));
    for (const auto& [name, value] : figure.columns)
      report.counters.emplace_back(figure.name + ": " + name, value);
  }
  return report;
}

void run_suite(const Command& command, const Suite& suite, const SuiteCommand& c) {
  for (const char* const option : {"--scale", "--edge-factor"}) {
    if (command.given(option) && !c.graph.empty())
      throw UsageError(fmt::format("{}: no graph is generated here (omit it)", option));
  }
  const apps::Stopwatch watch;
  apps::register_outputs({c.common.report}, c.common.scratch);
  apps::ReportFile report_file(apps::world().is_root() ? c.common.report : "", c.common.force);
  apps::apply_host_ceiling(c.common);
  apps::print_options(command, c.common);
  Device device(apps::device_of_rank(c.common));
  apps::warn_unusable_gpu(command, c.common, device);
  double load = 0;  // runnable processes, mean over the last minute
  if (::getloadavg(&load, 1) != 1) load = 0;
  const auto figures = measure(suite, c, device);
  apps::print(fmt::format("{}, on {}; medians of {} runs (smallest to largest)\n", suite.name, device.name(),
                          c.repetitions));
  print_figures(figures);
  if (!apps::world().is_root()) return;
  apps::Report report = report_of(command, c, device, load, figures);
  report.total_seconds = watch.seconds();
  report_file.finish(report);
  report_file.commit();
}

void declare_workload(Command& command, const Suite& suite, SuiteCommand& c) {
  command.group("Workload");
  command.integer("--repetitions", c.repetitions, 1, "measurements per figure, of which the median counts");
  if (suite.input == Input::graph) {
    command.integer("--scale", c.scale, 1, "generated graphs have 2^N vertices");
    if (suite.chooses_scale) command.options().back().default_text = "by experiment and device";
    command.integer("--edge-factor", c.edge_factor, 1, "edges per vertex of generated graphs");
    command.input_file("--graph", c.graph, "measure on this graph file instead");
    if (suite.chooses_scale)
      command.text("--graphs", "FOLDER", c.graphs,
                   "also measure on the graph files of a folder (tables of `graphs`)");
  }
  if (suite.input == Input::file)
    command.input_file("GRAPH", c.graph, "a graph file on the disk to be measured");
  if (suite.independent) command.text("--only", "REGEX", c.only, "only figures whose name matches");
  if (suite.input != Input::machine) apps::declare_seed(command, c.common);
}

std::unique_ptr<Command> make_suite(const Suite& suite) {
  auto command = std::make_unique<Command>(suite.name, suite.summary);
  const auto c = std::make_shared<SuiteCommand>();
  if (suite.chooses_scale) c->scale = 0, c->repetitions = 3;
  declare_workload(*command, suite, *c);
  command->group("Output");
  command->flag("--force", c->common.force, "replace what exists");
  apps::declare_report(*command, c->common);
  command->text("--commit", "ID", c->commit, "the commit that the report names");
  apps::declare_device(*command, c->common);
  apps::declare_messages(*command, c->common);
  command->set_idle(kIdleForSuites);
  const std::string graph = suite.input == Input::file                            ? " graph.h5"
                            : suite.input == Input::graph && !suite.chooses_scale ? " --scale 22"
                                                                                  : "";
  command->set_example(fmt::format("sluice-bench {0}{1} --report {0}.json", suite.name, graph));
  if (suite.ranks) command->set_allows_ranks();
  command->run = [c, &suite](const Command& self) { run_suite(self, suite, *c); };
  return command;
}

}  // namespace

apps::Commands make_suites() {
  apps::Commands commands;
  for (const Suite& suite : kSuites) commands.push_back(make_suite(suite));
  return commands;
}

}  // namespace sluice::bench
