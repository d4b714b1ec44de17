// sluice-bench ranks: what jobs would take on up to 1,024 GPUs (rank_model.hpp), from their reports.
#include <fmt/core.h>

#include <map>
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

/// A job on one rank, and the same on the most ranks that a report has.
struct Reported {
  const Json *one = nullptr, *several = nullptr;
};

std::string name_of(const Json& report) {
  std::string name = report["command"];
  for (const char* const option : {"kind", "method", "distribution"}) {
    if (report["options"].contains(option))
      name += fmt::format(" {}", report["options"][option].get<std::string>());
  }
  return name;
}

double seconds_of(const Json& report) {
  return report["seconds"].at("compute");
}

/// Of the rank that has most.
double rounds_of(const Json& report) {
  if (report.contains("solver")) return report["solver"].at("iterations");
  if (report.contains("acc")) return report["acc"].at("rounds");
  return report.value(Json::json_pointer("/by_rank/rounds/max"), 0.0);
}

RankCounts counts_of(const Reported& job) {
  const Json& several = *job.several;
  return {.seconds = seconds_of(*job.one),
          .ranks = several["ranks"],
          .several_seconds = seconds_of(several),
          .bytes = several["bytes"].at("exchanged"),
          .rounds = rounds_of(several),
          .gathers = several.contains("solver") || several.contains("acc")};
}

std::map<std::string, Reported> by_job(const std::vector<Json>& reports) {
  std::map<std::string, Reported> jobs;
  for (const Json& report : reports) {
    Reported& job = jobs[name_of(report)];
    const bool alone = report["ranks"] == 1;
    if (alone) job.one = &report;
    if (!alone && (!job.several || (*job.several)["ranks"] < report["ranks"])) job.several = &report;
  }
  for (const auto& [name, job] : jobs) {
    if (!job.one || !job.several)
      throw InputError(fmt::format("{}: needs a report of one rank and one of several", name));
    if (!(seconds_of(*job.one) > 0)) throw InputError(fmt::format("{}: took no time on one rank", name));
    if ((*job.one)["graph"].at("checksum") != (*job.several)["graph"].at("checksum"))
      throw InputError(fmt::format("{}: its reports are of different graphs", name));
  }
  return jobs;
}

std::string milliseconds(double seconds) {
  return fmt::format("{:.3g}", 1e3 * seconds);
}

/// Which part keeps more ranks from being faster.
std::string limit_of(const RankCounts& job, const RankSeconds& parts, double ranks) {
  if (job.rounds == 0 && job.bytes > 0) return "not known: its report counts no rounds";
  if (ranks >= kMostRanks) return "nothing yet";
  if (parts.messages >= parts.link) return fmt::format("messages: {} rounds, one to every rank", job.rounds);
  return job.gathers ? "link: each rank receives all that changes" : "link: work that leaves";
}

std::string row_of(const std::string& name, const RankCounts& job, const RankLinks& links) {
  std::string row = fmt::format("| {} | {} | {} on {} | {:.3g} |", name, milliseconds(job.seconds),
                                milliseconds(job.several_seconds), job.ranks, growth_of(job, links));
  for (double ranks = 2; ranks <= kMostRanks; ranks *= 2)
    row += fmt::format(" {} |", milliseconds(seconds_on(job, links, ranks).sum()));
  const double end = scales_to(job, links, kMostRanks);
  return row + fmt::format(" {} | {} |\n", end, limit_of(job, seconds_on(job, links, 2 * end), end));
}

/// What stands above the rows.
std::string head_of(const RankLinks& links) {
  std::string names, line;
  for (double ranks = 2; ranks <= kMostRanks; ranks *= 2)
    names += fmt::format(" {} |", ranks), line += "---|";
  return fmt::format(
      "Milliseconds. What is not called measured is the model's. Work: how many times as long the measured "
      "ranks work, all\ntogether, as one does. Links: {:g} GB/s between {:g} GPUs, {:g} GB/s beyond; {:g} us "
      "a "
      "round and {:g} us a message.\n\n"
      "| job | measured on 1 | measured | work |{} scales to | then |\n|---|---|---|---|{}---|---|\n",
      1e-9 * links.node_bandwidth, links.node, 1e-9 * links.network_bandwidth, 1e6 * links.latency,
      1e6 * links.message, names, line);
}

void run_ranks(RankLinks links, const std::string& folder) {
  links.node_bandwidth *= 1e9, links.network_bandwidth *= 1e9, links.latency *= 1e-6, links.message *= 1e-6;
  if (!(links.node_bandwidth > 0 && links.network_bandwidth > 0))
    throw UsageError("--node-bandwidth, --network-bandwidth: must be above 0");
  std::string text = head_of(links);
  try {
    const std::vector<Json> reports =
        read_reports(folder, {"command", "options", "graph", "ranks", "seconds", "bytes"});
    for (const auto& [name, job] : by_job(reports)) text += row_of(name, counts_of(job), links);
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
  command->text("REPORTS", "REPORTS", c->reports, "a folder of reports of `sluice`, two a job");
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
