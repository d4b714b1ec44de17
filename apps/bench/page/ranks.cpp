// sluice-bench ranks: what jobs would take on up to 1,024 GPUs (rank_model.hpp), from their reports.
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

constexpr double kMostRanks = 1024;

struct RanksCommand {
  std::string reports;
  RankLinks links{8, 328, 50, 15, 1};  ///< in the options' units
};

/// A job on so many ranks.
struct Measured {
  double ranks = 1, seconds = 0;
  double bytes = 0, rounds = 0;  ///< of more than one
  bool gathers = false, overlaps = false;
  std::string graph = {};  ///< of a job's report: differs between graphs
};

/// By number of ranks.
using Job = std::map<double, Measured>;
using Jobs = std::map<std::string, Job>;
/// By stored edges of the graph; 0: of jobs' reports, which do not say.
using JobsOfGraphs = std::map<double, Jobs>;

std::string name_of(const Json& report) {
  std::string name = report["command"];
  for (const char* const option : {"kind", "method", "distribution"}) {
    if (report["options"].contains(option))
      name += fmt::format(" {}", report["options"][option].get<std::string>());
  }
  return name;
}

/// Of the rank that has most.
double rounds_of(const Json& report) {
  if (report.contains("solver")) return report["solver"].at("iterations");
  if (report.contains("acc")) return report["acc"].at("rounds");
  return report.value(Json::json_pointer("/by_rank/rounds/max"), 0.0);
}

/// A report of `sluice`: a job.
void add_job(const Json& report, Jobs& jobs) {
  const double ranks = report["ranks"];
  const bool solves = report.contains("solver") || report.contains("acc");
  const double exchanged = report.at("bytes").at("exchanged"),
               before_rounds = report.value(Json::json_pointer("/acc/prepared_bytes"), 0.0);
  jobs[name_of(report)][ranks] = {
      ranks,  report["seconds"].at("compute"),  exchanged - before_rounds, rounds_of(report), solves,
      solves, report.at("graph").at("checksum")};
}

/// A report of `sluice-bench scaling`: many, on all ranks and on one. None are those that have more work on
/// more ranks, that bring the graph to each, that show what a technique is worth, or on another graph.
/// Beliefs send each other's edges' messages, which are fewer a rank where ranks are more.
void add_scaling(const Json& report, JobsOfGraphs& graphs) {
  constexpr std::string_view kTimes = ": times one rank";
  const double edges = report.at("stored edges []");
  Jobs& jobs = graphs[edges];
  for (const auto& [key, times] : report.items()) {
    if (!key.ends_with(kTimes)) continue;
    const std::string name = key.substr(0, key.size() - kTimes.size());
    const auto says = [&name](const char* words) { return name.find(words) != name.npos; };
    if (says("weak") || says("out of core") || says("nothing overlaps") || says("path")) continue;
    const auto column = [&](const char* of) {
      return report.at(fmt::format("{}: {}", name, of)).get<double>();
    };
    const bool travels = report.contains(name + ": slowest rank s"), timed = report.contains(name + " [ms]");
    const double seconds = travels ? column("slowest rank s")
                           : timed ? 1e-3 * report.at(name + " [ms]").get<double>()
                                   : 1e-9 * edges / report.at(name + " [G edges/s]").get<double>();
    Job& job = jobs[name];
    job[report["ranks"]] = {.ranks = report["ranks"],
                            .seconds = seconds,
                            .bytes = 1e6 * column("MB from GPU to GPU"),
                            .rounds = column("rounds"),
                            .gathers = !travels && !says("bp"),
                            .overlaps = !travels};
    job.try_emplace(1, Measured{.seconds = seconds * times.get<double>()});
  }
}

/// What the model is given of a job on one rank and on several.
RankCounts counts_of(const Measured& one, const Measured& several) {
  return {.seconds = one.seconds,
          .ranks = several.ranks,
          .several_seconds = several.seconds,
          .bytes = several.bytes,
          .rounds = several.rounds,
          .gathers = several.gathers,
          .overlaps = several.overlaps};
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

/// Reports of other suites say nothing of ranks.
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

/// Which part keeps more ranks from being faster.
std::string limit_of(const RankCounts& job, const RankSeconds& parts, double ranks) {
  if (job.rounds == 0 && job.bytes > 0) return "not known: its report counts no rounds";
  if (ranks >= kMostRanks) return "nothing yet";
  if (parts.alike >= std::max(parts.link, parts.messages)) return "what each rank does alike";
  if (parts.messages >= parts.link) return fmt::format("messages: {} rounds, one to every rank", job.rounds);
  return job.gathers ? "link: each rank receives all that changes" : "link: work that leaves";
}

/// What the model, given the fewest ranks that were measured, says of the most: `4: +5%`; nothing where these
/// are the same.
std::string check_of(const Job& job, const RankLinks& links) {
  const Measured &fewest = std::next(job.begin())->second, &most = job.rbegin()->second;
  if (fewest.ranks == most.ranks) return "";
  const double said = seconds_on(counts_of(job.at(1), fewest), links, most.ranks).sum();
  return fmt::format("{}: {:+.0f}%", most.ranks, 100 * (said / most.seconds - 1));
}

/// Numbers of ranks that the table has.
constexpr double kColumns[] = {4, 8, 16, 64, 256, kMostRanks};

std::string row_of(const std::string& name, const Job& measured, const RankLinks& links) {
  const RankCounts job = counts_of(measured.at(1), measured.rbegin()->second);
  const RankWork work = work_of(job, links);
  std::string row = fmt::format("| {} | {} | {} on {} | {} | {} | {} |", name, milliseconds(job.seconds),
                                milliseconds(job.several_seconds), job.ranks, milliseconds(work.shared),
                                milliseconds(work.alike), check_of(measured, links));
  for (const double ranks : kColumns)
    row += fmt::format(" {} |", milliseconds(seconds_on(job, links, ranks).sum()));
  const double end = scales_to(job, links, kMostRanks);
  return row + fmt::format(" {} | {} |\n", end, limit_of(job, seconds_on(job, links, 2 * end), end));
}

/// What share of their speed ranks keep, on 1, 2, 4 and so on of them, in eighths.
std::string bars_of(const RankCounts& job, const RankLinks& links) {
  constexpr const char* kEighths[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                      "\u2585", "\u2586", "\u2587", "\u2588"};
  std::string bars;
  for (double ranks = 1; ranks <= kMostRanks; ranks *= 2) {
    const double kept = job.seconds / (ranks * seconds_on(job, links, ranks).sum());
    bars += kEighths[static_cast<unsigned>(std::clamp(8 * kept, 0.0, 7.0))];
  }
  return bars;
}

/// The same of all jobs, one below the other.
std::string picture_of(const Jobs& jobs, const RankLinks& links) {
  std::string text =
      "\nThe share of their speed that 1, 2, 4 ... 1,024 GPUs keep, by the model: a full bar is seven "
      "eighths or more.\n\n```text\n";
  for (const auto& [name, job] : jobs)
    text += fmt::format("{:<48}{}\n", name, bars_of(counts_of(job.at(1), job.rbegin()->second), links));
  return text + "```\n";
}

/// What stands above all tables.
std::string head_of(const RankLinks& links) {
  return fmt::format(
      "Milliseconds. What is not called measured is the model's. Shared: work of which each of n ranks has "
      "one nth; alike:\nwork that each has. Check: what the model says of the most ranks, given the fewest, "
      "beside what they took.\nLinks: {:g} GB/s between {:g} GPUs, {:g} GB/s beyond; {:g} us a round and "
      "{:g} us a message.\n",
      1e-9 * links.node_bandwidth, links.node, 1e-9 * links.network_bandwidth, 1e6 * links.latency,
      1e6 * links.message);
}

/// What stands above the rows of a graph.
std::string head_of(double edges) {
  std::string names, line;
  for (const double ranks : kColumns) names += fmt::format(" {} |", ranks), line += "---|";
  return fmt::format(
      "{}\n| job | measured on 1 | measured | shared | alike | check |{} scales to | then |\n"
      "|---|---|---|---|---|---|{}---|---|\n",
      edges > 0 ? fmt::format("\nOf a graph of {:.3g} G stored edges:\n", 1e-9 * edges) : "", names, line);
}

void run_ranks(RankLinks links, const std::string& folder) {
  links.node_bandwidth *= 1e9, links.network_bandwidth *= 1e9, links.latency *= 1e-6, links.message *= 1e-6;
  if (!(links.node_bandwidth > 0 && links.network_bandwidth > 0))
    throw UsageError("--node-bandwidth, --network-bandwidth: must be above 0");
  std::string text = head_of(links);
  try {
    const std::vector<Json> reports = read_reports(folder, {"command", "options", "ranks", "seconds"});
    for (const auto& [edges, jobs] : jobs_of(reports)) {
      text += head_of(edges);
      for (const auto& [name, job] : jobs) text += row_of(name, job, links);
      text += picture_of(jobs, links);
    }
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: {}", folder, error.what()));
  }
  apps::print(text);
}

}  // namespace

std::unique_ptr<apps::Command> make_ranks() {
  auto command = std::make_unique<apps::Command>(
      "ranks", "what jobs would take on up to 1,024 GPUs: a model, from reports of one and of several ranks");
  const auto c = std::make_shared<RanksCommand>();
  command->group("Reports");
  command->text("REPORTS", "REPORTS", c->reports,
                "a folder of reports of `sluice`, two a job, or of `sluice-bench scaling`");
  command->group("Links");
  command->real("--node", "GPUS", c->links.node, "so many GPUs share the faster links");
  command->real("--node-bandwidth", "GB/s", c->links.node_bandwidth,
                "what a GPU receives there (the default: NCCL on four H200s)");
  command->real("--network-bandwidth", "GB/s", c->links.network_bandwidth,
                "what a GPU receives from other nodes; not measured");
  command->real("--latency", "US", c->links.latency, "microseconds until a round's first message is there");
  command->real("--message", "US", c->links.message, "microseconds for each message more");
  command->set_example("sluice-bench ranks reports --network-bandwidth 25");
  command->run = [c](const apps::Command&) { run_ranks(c->links, c->reports); };
  return command;
}

}  // namespace sluice::bench
