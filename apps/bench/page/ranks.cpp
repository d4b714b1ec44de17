// sluice-bench ranks: predicts the time of jobs on up to 1,024 GPUs (rank_model.hpp) from reports.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "apps/bench/page/page.hpp"
#include "apps/bench/page/rank_model.hpp"
#include "apps/bench/page/reports.hpp"
#include "apps/cli/console.hpp"
#include "engine/core/error.hpp"

namespace sluice::bench {

namespace {

constexpr double kMaxRanks = 1024;

struct RanksCommand {
  std::string reports;
  RankLimits limits{8, 328, 50, 25, 1, 6.6, 10};  ///< in the units of the options
};

/// A job on a number of ranks; `seconds` is the time on these ranks.
struct Measured : RankCounts {
  std::string graph = {};  ///< checksum in a job's report: graphs must not differ
};

/// By number of ranks.
using Job = std::map<double, Measured>;
using Jobs = std::map<std::string, Job>;
/// By stored edges of the graph; 0 for reports of jobs, which do not give them.
using JobsOfGraphs = std::map<double, Jobs>;

std::string name_of(const Json& report) {
  std::string name = report["command"];
  for (const char* const option : {"kind", "method", "distribution"}) {
    if (report["options"].contains(option))
      name += fmt::format(" {}", report["options"][option].get<std::string>());
  }
  return name;
}

/// Rounds of the rank with most.
double rounds_of(const Json& report) {
  if (report.contains("solver")) return report["solver"].at("iterations");
  if (report.contains("acc")) return report["acc"].at("rounds");
  return report.value(Json::json_pointer("/by_rank/rounds/max"), 0.0);
}

/// Adds a report of `sluice`, which is one job.
void add_job(const Json& report, Jobs& jobs) {
  const double ranks = report["ranks"];
  const bool solves = report.contains("solver") || report.contains("acc");
  const double exchanged = report.at("bytes").at("exchanged"),
               prepared_bytes = report.value(Json::json_pointer("/acc/prepared_bytes"), 0.0);
  jobs[name_of(report)][ranks] = {{.seconds = report["seconds"].at("compute"),
                                   .ranks = ranks,
                                   .bytes = exchanged - prepared_bytes,
                                   .rounds = rounds_of(report),
                                   .gathers = solves,
                                   .overlaps = solves},
                                  report.at("graph").at("checksum")};
}

/// Adds a report of `sluice-bench scaling`, with many jobs on all ranks and on one. It skips jobs that have
/// more work on more ranks, bring the graph to each, show the gain of a technique, or use another graph. For
/// beliefs, ranks exchange the messages of edges, which are fewer per rank on more ranks.
void add_scaling(const Json& report, JobsOfGraphs& graphs) {
  constexpr std::string_view kTimes = ": times one rank";
  const double edges = report.at("stored edges []");
  Jobs& jobs = graphs[edges];
  for (const auto& [key, times] : report.items()) {
    if (!key.ends_with(kTimes)) continue;
    const std::string name = key.substr(0, key.size() - kTimes.size());
    const auto name_has = [&name](const char* words) { return name.find(words) != name.npos; };
    if (name_has("weak") || name_has("out of core") || name_has("nothing overlaps") || name_has("path"))
      continue;
    const auto column = [&](const char* column_name) {
      return report.at(fmt::format("{}: {}", name, column_name)).get<double>();
    };
    const bool travels = report.contains(name + ": slowest rank s"), timed = report.contains(name + " [ms]");
    const double seconds = travels ? column("slowest rank s")
                           : timed ? 1e-3 * report.at(name + " [ms]").get<double>()
                                   : 1e-9 * edges / report.at(name + " [G edges/s]").get<double>();
    const std::string edges_key = name + ": M edges", one_rank_edges_key = name + ", one rank: M edges";
    const bool counted = report.contains(edges_key) && report.contains(one_rank_edges_key);
    Job& job = jobs[name];
    job[report["ranks"]] = {{
        .seconds = seconds,
        .ranks = report["ranks"],
        .bytes = 1e6 * column("MB from GPU to GPU"),
        .rounds = column("rounds"),
        .work =
            counted ? report.at(edges_key).get<double>() / report.at(one_rank_edges_key).get<double>() : 1,
        .replicated = report.value(name + ": alike s", 0.0),
        .reads = 1e6 * report.value(name + ": M reads of others", 0.0),
        .gathers = !travels && !name_has("bp"),
        .overlaps = !travels,
    }};
    job.try_emplace(1, Measured{{.seconds = seconds * times.get<double>(), .ranks = 1}});
  }
}

/// The model's input: the time on one rank, and the counts of several.
RankCounts counts_of(const Measured& one, const Measured& several) {
  RankCounts counts = several;
  counts.seconds = one.seconds;
  return counts;
}
/// As counts_of, with the rest of the time on several ranks, which is for the measured GPUs and work.
RankCounts counts_with_unexplained(const Measured& one, const Measured& several, RankLimits limits) {
  RankCounts counts = counts_of(one, several);
  limits.speed = limits.work = 1;
  counts.unexplained = unexplained_seconds(counts, limits, several.seconds);
  return counts;
}

void check_jobs(const Jobs& jobs) {
  for (const auto& [name, job] : jobs) {
    if (!job.contains(1) || job.size() < 2)
      throw InputError(fmt::format("{}: needs a report of one rank and one of several", name));
    if (!(job.at(1).seconds > 0)) throw InputError(fmt::format("{}: took no time on one rank", name));
    for (const auto& [ranks, measured] : job) {
      if (measured.graph != job.at(1).graph)
        throw InputError(fmt::format("{}: its reports are of different graphs", name));
    }
  }
}

/// Skips reports of other suites, which have no figures of ranks.
JobsOfGraphs jobs_of(const std::vector<Json>& reports) {
  JobsOfGraphs graphs;
  for (const Json& report : reports) {
    if (report["command"] == "scaling") add_scaling(report, graphs);
    if (report.contains("graph")) add_job(report, graphs[0]);
  }
  for (const auto& [edges, jobs] : graphs) check_jobs(jobs);
  return graphs;
}

std::string milliseconds(double seconds) {
  return fmt::format("{:.3g}", 1e3 * seconds);
}

/// The part of the time that prevents more ranks from being faster.
std::string bottleneck_of(const RankCounts& job, const RankSeconds& parts, double ranks) {
  if (job.rounds == 0 && job.bytes > 0) return "not known: its report counts no rounds";
  if (ranks >= kMaxRanks) return "nothing yet";
  const double longest =
      std::max({parts.rounds, parts.replicated, parts.link, parts.reads, parts.messages, parts.unexplained});
  if (parts.replicated == longest) return "work that every rank repeats";
  if (parts.reads == longest) return "reads of other GPUs' memory";
  if (parts.unexplained == longest)
    return divides_unexplained(job) ? "work that the report does not count" : "work that every rank repeats";
  if (parts.rounds == longest) return fmt::format("the minimum time of {} rounds", job.rounds);
  if (parts.messages == longest) return fmt::format("messages: {} rounds, one to every rank", job.rounds);
  return job.gathers ? "link: each rank receives all that changes" : "link: work sent to other ranks";
}

std::string error_of(double predicted, const Measured& measured) {
  return fmt::format("{:+.0f}%", 100 * (predicted / measured.seconds - 1));
}

/// The error for the largest run, predicted from one rank and the smallest run of several: `4: +5%`. Empty if
/// there is only one run of several ranks.
std::string check_of(const Job& job, const RankLimits& limits) {
  const Measured &smallest_run = std::next(job.begin())->second, &largest_run = job.rbegin()->second;
  if (smallest_run.ranks == largest_run.ranks) return "";
  const RankCounts counts = counts_with_unexplained(job.at(1), smallest_run, limits);
  return fmt::format("{}: {}", largest_run.ranks,
                     error_of(seconds_on(counts, limits, largest_run.ranks).sum(), largest_run));
}

/// The numbers of ranks in the table.
constexpr double kColumns[] = {4, 8, 16, 64, 256, kMaxRanks};

std::string row_of(const std::string& name, const Job& measured, const RankLimits& limits) {
  const Measured &one = measured.at(1), &smallest_run = std::next(measured.begin())->second;
  const double predicted = seconds_on(counts_of(one, smallest_run), limits, smallest_run.ranks).sum();
  std::string row =
      fmt::format("| {} | {} | {} | {} on {} | {} | {} |", name, milliseconds(one.seconds),
                  milliseconds(predicted), milliseconds(smallest_run.seconds), smallest_run.ranks,
                  error_of(predicted, smallest_run), check_of(measured, limits));
  const RankCounts job = counts_with_unexplained(one, measured.rbegin()->second, limits);
  for (const double ranks : kColumns)
    row += fmt::format(" {} |", milliseconds(seconds_on(job, limits, ranks).sum()));
  const double end = scales_to(job, limits, kMaxRanks);
  return row + fmt::format(" {} | {} |\n", end, bottleneck_of(job, seconds_on(job, limits, 2 * end), end));
}

/// The efficiency on 1, 2, 4 ... ranks as bars of eighths.
std::string bars_of(const RankCounts& job, const RankLimits& limits) {
  constexpr const char* kEighths[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                      "\u2585", "\u2586", "\u2587", "\u2588"};
  std::string bars;
  for (double ranks = 1; ranks <= kMaxRanks; ranks *= 2) {
    const double efficiency =
        seconds_on(job, limits, 1).sum() / (ranks * seconds_on(job, limits, ranks).sum());
    bars += kEighths[static_cast<unsigned>(std::clamp(8 * efficiency, 0.0, 7.0))];
  }
  return bars;
}

/// The bars of all jobs, one job per line.
std::string picture_of(const Jobs& jobs, const RankLimits& limits) {
  std::string text =
      "\nThe share of their speed that 1, 2, 4 ... 1,024 GPUs keep, by the model: a full bar is seven "
      "eighths or more.\n\n```text\n";
  for (const auto& [name, job] : jobs)
    text += fmt::format("{:<48}{}\n", name,
                        bars_of(counts_with_unexplained(job.at(1), job.rbegin()->second, limits), limits));
  return text + "```\n";
}

/// The text above all tables.
std::string head_of(const RankLimits& limits) {
  return fmt::format(
      "Times are milliseconds, predicted unless marked as measured. Model: the smallest run of several "
      "ranks, predicted from one\nrank's time and counts of several. Error: relative to that measured run. "
      "Check: the error for the largest run, predicted from\nthe smallest, too. Links: {:.4g} GB/s between "
      "{:g} GPUs, "
      "{:g} GB/s beyond; {:g} us a round and {:g} us a message; {:.3g} G reads/s\nin other GPUs' memory. "
      "GPUs: {:g} us a round; {:g} times the measured speed. Work: {:g} times that of the reports.\n",
      1e-9 * limits.node_bandwidth, limits.node, 1e-9 * limits.network_bandwidth, 1e6 * limits.latency,
      1e6 * limits.message, 1e-9 * limits.peer_reads, 1e6 * limits.round, limits.speed, limits.work);
}

/// The header of a graph's table.
std::string head_of(double edges) {
  std::string names, line;
  for (const double ranks : kColumns) names += fmt::format(" {} |", ranks), line += "---|";
  return fmt::format(
      "{}\n| job | measured on 1 | model | measured | error | check |{} scales to | then |\n"
      "|---|---|---|---|---|---|{}---|---|\n",
      edges > 0 ? fmt::format("\nOf a graph of {:.3g} G stored edges:\n", 1e-9 * edges) : "", names, line);
}

/// The lowest measured value of a limit in the reports; `otherwise` if none has it.
double measured_limit(const std::vector<Json>& reports, const char* name, double default_limit) {
  double lowest = 0;
  for (const Json& report : reports) {
    const double limit = report.value(name, 0.0);
    if (limit > 0) lowest = lowest > 0 ? std::min(lowest, limit) : limit;
  }
  return lowest > 0 ? lowest : default_limit;
}

void run_ranks(const apps::Command& command, const RanksCommand& c) {
  RankLimits limits = c.limits;
  limits.latency *= 1e-6, limits.message *= 1e-6, limits.round *= 1e-6;
  if (!(std::min({limits.node_bandwidth, limits.network_bandwidth, limits.peer_reads, limits.speed,
                  limits.work}) > 0))
    throw UsageError("--node-bandwidth, --network-bandwidth, --peer-reads, --speed, --work: must be above 0");
  std::string text;
  try {
    const std::vector<Json> reports = read_reports(c.reports, {"command", "options", "ranks", "seconds"});
    const auto set_limit = [&](const char* option, const char* name, double& limit) {
      if (!command.given(option)) limit = measured_limit(reports, name, limit);
      limit *= 1e9;
    };
    set_limit("--node-bandwidth", "limit: rank to rank [GB/s]", limits.node_bandwidth);
    set_limit("--peer-reads", "limit: random 4-byte reads of a peer [G reads/s]", limits.peer_reads);
    limits.network_bandwidth *= 1e9;
    text = head_of(limits);
    for (const auto& [edges, jobs] : jobs_of(reports)) {
      text += head_of(edges);
      for (const auto& [name, job] : jobs) text += row_of(name, job, limits);
      text += picture_of(jobs, limits);
    }
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: {}", c.reports, error.what()));
  }
  apps::print(text);
}

}  // namespace

std::unique_ptr<apps::Command> make_ranks() {
  auto [command, c] = apps::make_command<RanksCommand>(
      "ranks", "predicted time of jobs on up to 1,024 GPUs, from reports of one and of several ranks",
      run_ranks);
  command->group("Reports");
  command->text("REPORTS", "REPORTS", c->reports,
                "a folder with reports of `sluice`, two per job, or of `sluice-bench scaling`");
  command->group("Links");
  command->real("--node", "GPUS", c->limits.node, "number of GPUs that the faster links connect");
  command->real("--node-bandwidth", "GB/s", c->limits.node_bandwidth,
                "what a GPU receives over the faster links (default: as measured in the reports, if there)");
  command->real("--network-bandwidth", "GB/s", c->limits.network_bandwidth,
                "what a GPU receives from other nodes; not measured");
  command->real("--latency", "US", c->limits.latency,
                "microseconds until a round's first message arrives (k-core's rounds on two H200s)");
  command->real("--message", "US", c->limits.message, "microseconds for each further message");
  command->real("--peer-reads", "G/s", c->limits.peer_reads,
                "random reads by a GPU in others' memory (default: as for --node-bandwidth)");
  command->group("GPUs");
  command->real("--round", "US", c->limits.round, "minimum time of a round, in microseconds");
  command->real("--speed", "TIMES", c->limits.speed, "speed of these GPUs relative to the measured one");
  command->real("--work", "TIMES", c->limits.work, "work and bytes of these jobs relative to the measured");
  command->set_example("sluice-bench ranks reports --network-bandwidth 25");
  return std::move(command);
}

}  // namespace sluice::bench
