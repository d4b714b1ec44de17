#include "apps/bench/page/page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "apps/bench/page/families.hpp"
#include "apps/bench/page/goals_page.hpp"
#include "apps/bench/page/papers_page.hpp"
#include "apps/bench/page/reports.hpp"
#include "apps/bench/page/runs.hpp"
#include "apps/cli/console.hpp"
#include "engine/core/error.hpp"
#include "io/output_file.hpp"

namespace sluice::bench {

namespace {

constexpr const char* kHead =
    "# Performance\n\n"
    "`sluice-bench page` writes this page from `tests/bench/`. Figures are medians; a percentage is of a "
    "limit that the\n"
    "same run measured (a graph in a cache may exceed it). Graphs are Kronecker graphs of edge factor 16, "
    "undirected,\n"
    "without isolated vertices; one of scale N was generated with 2^N. [Papers](papers.md) has four papers' "
    "experiments.\n";

/// `164.8 G edges/s, 88% of host to device`; empty if the report has no such figure.
std::string cell_of(const Json& report, const std::string& name) {
  std::string unit;
  const Json* const value = find_figure(report, name, unit);
  if (value == nullptr) return {};
  std::string cell = number(value->get<double>()) + (unit.empty() ? "" : " " + unit);
  const std::string share = name + ": % of ";
  for (const auto& [key, part] : report.items()) {
    if (key.starts_with(share) && part.get<double>() >= 0.5)
      cell += fmt::format(", {:.0f}% of {}", part.get<double>(), key.substr(share.size()));
  }
  if (const auto times = report.find(name + ": times one rank"); times != report.end())
    cell += fmt::format(", speed-up {}", number(times->get<double>()));
  return cell;
}

bool has_any(const Json& report, const Family& family) {
  std::string unit;
  return std::ranges::any_of(family.figures, [&](const std::string_view figure) {
    return find_figure(report, std::string(figure), unit) != nullptr;
  });
}

std::string table_of(const Family& family, const std::vector<Json>& reports) {
  std::string text, head = "\n| figure |", rule = "|---|";
  std::vector<const Json*> runs;
  for (const Json& report : reports) {
    if (suite_of(report) != family.suite || !has_any(report, family)) continue;
    runs.push_back(&report);
    text += run_line(runs.size(), report);
    head += fmt::format(" run {} |", runs.size()), rule += "---|";
  }
  if (runs.empty()) return "No report yet.\n";
  text += head + "\n" + rule + "\n";
  for (const std::string_view figure : family.figures) {
    std::string row = fmt::format("| {} |", figure);
    bool any = false;
    for (const Json* const run : runs) {
      const std::string cell = cell_of(*run, std::string(figure));
      row += fmt::format(" {} |", cell), any = any || !cell.empty();
    }
    if (any) text += row + "\n";
  }
  return text;
}

/// The peers of a suite, from `--peers`.
std::string peers_of(const Family& family, const Json& peers) {
  Json rows = Json::array();
  for (const Json& peer : peers)
    if (peer.at("family") == family.suite) rows.push_back(peer);
  return peers_table(rows);
}

struct PageCommand {
  std::string reports, peers, papers, goals, output;
  bool force = false;
};

std::string performance_page(const std::vector<Json>& reports, const Json& peers) {
  std::string page = kHead;
  for (const Family& family : kFamilies)
    page += fmt::format("\n## {}\n\n", family.title) + table_of(family, reports) + peers_of(family, peers);
  return page;
}

std::string page_of(const PageCommand& c) {
  const auto reports = read_reports(c.reports, {"command", "options", "device", "date", "commit"});
  if (!c.papers.empty()) return papers_page(reports, read_json(c.papers));
  if (!c.goals.empty()) return goals_page(reports, read_json(c.goals));
  return performance_page(reports, read_json(c.peers));
}

void run_page(const apps::Command&, const PageCommand& c) {
  if (c.output.empty()) throw UsageError("--output FILE is missing");
  if (c.peers.empty() + c.papers.empty() + c.goals.empty() != 2)
    throw UsageError("--peers FILE, --papers FILE and --goals FILE name three pages: give one");
  const std::string page = page_of(c);
  if (c.output == "-") return apps::print(page);
  io::OutputFile file(c.output, c.force);
  std::ofstream stream(file.temporary());
  stream << page;
  stream.close();
  if (!stream) throw RunError(fmt::format("{}: cannot be written", c.output));
  file.commit();
}

}  // namespace

std::unique_ptr<apps::Command> make_page() {
  auto [command, c] =
      apps::make_command<PageCommand>("page", "the page of figures, written from reports", run_page);
  command->group("Page");
  command->text("REPORTS", "REPORTS", c->reports, "a folder of the suites' reports");
  command->input_file("--peers", c->peers, "figures of other systems, measured on the same work");
  command->input_file("--papers", c->papers,
                      "published figures of papers: write the page of their experiments");
  command->input_file("--goals", c->goals,
                      "target figures: write the page that compares them with the reports");
  command->output_or_stdout("--output", c->output, "the page to write; '-' is standard output");
  command->flag("--force", c->force, "replace what exists");
  command->set_example(
      "sluice-bench page tests/bench/reports --peers tests/bench/peers.json --output docs/performance.md");
  return std::move(command);
}

}  // namespace sluice::bench
