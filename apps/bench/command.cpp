// sluice bench: standard workloads, and the machine's own limits beside them.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <regex>

#include "apps/bench/bench.hpp"
#include "apps/cli/common_options.hpp"
#include "apps/cli/console.hpp"
#include "apps/cli/errors.hpp"
#include "apps/commands/commands.hpp"
#include "apps/job/ranks.hpp"
#include "apps/report/report.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

enum class Suite { limits, sampling, outofcore, disk, scaling, ablation, pagerank, acc, ppr };

constexpr std::array kSuites{Name<Suite>{"limits", Suite::limits},
                             Name<Suite>{"sampling", Suite::sampling},
                             Name<Suite>{"outofcore", Suite::outofcore},
                             Name<Suite>{"disk", Suite::disk},
                             Name<Suite>{"scaling", Suite::scaling},
                             Name<Suite>{"ablation", Suite::ablation},
                             Name<Suite>{"pagerank", Suite::pagerank},
                             Name<Suite>{"acc", Suite::acc},
                             Name<Suite>{"ppr", Suite::ppr}};

std::vector<bench::Figure> measure(Suite suite, Device& device, const bench::Options& options) {
  switch (suite) {
    case Suite::limits:
      return bench::run_limits(device, options);
    case Suite::sampling:
      return bench::run_sampling(device, options);
    case Suite::outofcore:
      return bench::run_outofcore(device, options);
    case Suite::disk:
      return bench::run_disk(device, options);
    case Suite::scaling:
      return bench::run_scaling(device, options);
    case Suite::ablation:
      return bench::run_ablation(device, options);
    case Suite::pagerank:
      return bench::run_pagerank(device, options);
    case Suite::acc:
      return bench::run_acc(device, options);
    case Suite::ppr:
      return bench::run_ppr_suite(device, options);
  }
  return {};
}

struct BenchCommand {
  Suite suite = Suite::limits;
  std::uint32_t repetitions = 5, scale = 20, edge_factor = 16;
  std::string graph, only;
  CommonOptions common;
};

constexpr std::array<std::string_view, 6> kSetBySuites{"--layout", "--distribution", "--partitions",
                                                       "--slots",  "--transport",    "--schedule"};

void print_figures(const std::vector<bench::Figure>& figures) {
  for (const auto& figure : figures) {
    std::string line =
        fmt::format("{:<48} {:>10.4g} {:<12} ({:.4g} to {:.4g}){}{}", figure.name, figure.value, figure.unit,
                    figure.low, figure.high, figure.note.empty() ? "" : "  ", figure.note);
    if (!figure.columns.empty()) line = fmt::format("{:<98}", line);
    for (const auto& [name, value] : figure.columns) line += fmt::format("  {} {:>9.4g}", name, value);
    print(line + "\n");
  }
}

/// What `--only` says; nothing: all figures.
std::optional<std::regex> pattern_of(const BenchCommand& c) {
  if (c.only.empty()) return std::nullopt;
  constexpr Suite kApart[] = {Suite::outofcore, Suite::scaling, Suite::ablation,
                              Suite::pagerank,  Suite::acc,     Suite::ppr};
  if (std::ranges::find(kApart, c.suite) == std::end(kApart)) {
    throw UsageError(
        "--only: figures of this suite follow from each other (outofcore, scaling, ablation, pagerank, acc "
        "and ppr have it)");
  }
  try {
    return std::regex(c.only);
  } catch (const std::regex_error&) {
    throw UsageError(fmt::format("--only: '{}' is no regular expression", c.only));
  }
}

void run_bench(const Command& command, const BenchCommand& c) {
  const bool generates = c.graph.empty() && c.suite != Suite::limits && c.suite != Suite::disk;
  for (const char* const option : {"--scale", "--edge-factor"}) {
    if (command.given(option) && !generates)
      throw UsageError(fmt::format("{}: no graph is generated here (leave it out)", option));
  }
  if (command.given("--graph") && c.suite == Suite::limits)
    throw UsageError("--graph: limits are the machine's, not a graph's (leave it out)");
  if (world().size() > 1 && c.suite != Suite::scaling)
    throw UsageError(fmt::format("bench {} is the work of one process: start it without mpirun",
                                 name_of(kSuites, c.suite)));
  const Stopwatch watch;
  const auto pattern = pattern_of(c);
  ReportFile report_file(world().leads() ? c.common.report : "", c.common.force);
  apply_host_ceiling(c.common);
  announce(command, c.common);
  Device device(device_of_rank(c.common));
  tell_refused_gpu(command, c.common, device);
  bench::Options options{c.repetitions, c.scale, c.edge_factor, c.common.seed, c.graph, {}, {}};
  options.progress = [&](const std::string& name) {
    throw_if_stopped();
    if (c.common.verbose) say(fmt::format("measuring {}\n", name));
  };
  bool found = !pattern;
  if (pattern) {
    options.wanted = [&](const std::string& name) {
      const bool matches = std::regex_search(name, *pattern);
      found = found || matches;
      return matches;
    };
  }
  const auto figures = measure(c.suite, device, options);
  if (!found)
    throw UsageError(fmt::format("--only: no figure of {} matches '{}'", name_of(kSuites, c.suite), c.only));
  print(fmt::format("{}, on {}; medians of {} runs (smallest to largest)\n", name_of(kSuites, c.suite),
                    device.name(), c.repetitions));
  print_figures(figures);
  Report report;
  report.command = command.name();
  report.options = command.resolved();
  report.device = &device;
  report.total_seconds = watch.seconds();
  for (const auto& figure : figures) {
    report.counters.emplace_back(figure.name + " [" + figure.unit + "]", figure.value);
    for (const auto& [name, value] : figure.columns)
      report.counters.emplace_back(figure.name + ": " + name, value);
  }
  if (!world().leads()) return;
  report_file.finish(report);
  report_file.commit();
}

}  // namespace

std::unique_ptr<Command> make_bench() {
  auto command =
      std::make_unique<Command>("bench", "measures standard workloads and the machine's own limits");
  const auto c = std::make_shared<BenchCommand>();
  command->group("Suite");
  command->choice_argument(
      "SUITE", c->suite, kSuites,
      "limits: copies and random reads; sampling: walks and samples; outofcore: walks on a "
      "graph of which the device holds a quarter; disk: the same from a file that no cache holds; scaling: "
      "walks and PageRank on all ranks of mpirun beside one; ablation: C-SAW's techniques for partitions, "
      "one after the other; pagerank: iterations, beside cuSPARSE on a GPU, and batches; acc: searches, "
      "paths, cores, components and beliefs; ppr: queries in bulk and alone, and how good their lists are");
  command->whole("--repetitions", c->repetitions, 1, "each figure is the median of so many");
  command->whole("--scale", c->scale, 1, "generated graphs have 2^N vertices");
  command->whole("--edge-factor", c->edge_factor, 1, "and so many edges a vertex");
  command->input_file("--graph", c->graph, "measure on this graph file instead");
  command->text(
      "--only", "REGEX", c->only,
      "figures whose name it matches (outofcore, scaling, ablation, pagerank, acc, ppr; scaling's are "
      "`walks` and those that begin with `pagerank`)");
  declare_seed(*command, c->common);
  command->group("Output");
  command->flag("--force", c->common.force, "replace what exists");
  declare_report(*command, c->common);
  command->group("Machine");
  declare_device(*command, c->common);
  command->group("Messages");
  declare_messages(*command, c->common);
  command->set_idle(kSetBySuites);
  command->set_example("sluice bench sampling --scale 22 --report bench.json");
  command->set_takes_ranks();
  command->run = [c](const Command& self) { run_bench(self, *c); };
  return command;
}

}  // namespace sluice::apps
