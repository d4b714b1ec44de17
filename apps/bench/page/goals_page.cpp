#include "apps/bench/page/goals_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "apps/bench/figures.hpp"
#include "apps/bench/page/runs.hpp"
#include "engine/core/error.hpp"

namespace sluice::bench {

namespace {

constexpr const char* kHead =
    "# Goals\n\n"
    "`sluice-bench page --goals` writes this page from `tests/bench/goals.json` and the reports in "
    "`tests/bench/reports/`. Each\n"
    "figure has a target, followed by the value in the newest report that has the figure, and that "
    "report's commit. For figures\n"
    "measured on several machines the median comes first, and is compared with the target. Graphs are "
    "those of "
    "[performance.md](performance.md).\n";

/// A figure in the report that has it.
struct Found {
  double value = 0;
  std::string unit, date, commit;
};

/// The figure in the newest report of this suite, device, rank count and scale; no date if no report has it.
Found find_newest(const std::vector<Json>& reports, const Json& table, const Json& goal,
                  std::uint64_t scale) {
  const std::string suite = goal.value("suite", table.at("suite").get<std::string>());
  const std::string device = table.at("device"), minus = goal.value("minus", "");
  Found newest;
  for (const Json& report : reports) {
    if (suite_of(report) != suite || report.value("ranks", 1u) != table.value("ranks", 1u) ||
        report["options"].value("scale", std::uint64_t{0}) != scale ||
        !report["device"].get<std::string>().starts_with(device) || report["date"] < newest.date)
      continue;
    std::string unit;
    const Json* const found = find_figure(report, goal.at("figure"), unit);
    if (found == nullptr) continue;
    newest = {found->get<double>(), unit, report["date"], report["commit"]};
    if (!minus.empty()) newest.value -= report.at(minus).get<double>();
  }
  return newest;
}

/// The values of several runs, including the report's; `goal` has them by scale. Empty for a single run.
std::vector<double> runs_of(const Json& goal, std::uint64_t scale) {
  auto runs = goal.value("runs", Json::object()).value(std::to_string(scale), std::vector<double>());
  std::ranges::sort(runs);
  return runs;
}

std::string cell_of(const Found& found, const std::vector<double>& runs, double target, bool is_minimum) {
  const double value = runs.empty() ? found.value : median(runs);
  const bool met = is_minimum ? value >= target : value <= target;
  std::string cell = fmt::format(" {}{}", number(value), met ? "" : ", not met");
  if (runs.empty()) return cell + fmt::format(" ({}) |", found.commit);
  return cell + fmt::format(" (of {} runs, {} to {}; {} in the report of {}) |", runs.size(),
                            number(runs.front()), number(runs.back()), number(found.value), found.commit);
}

std::string row_of(const std::vector<Json>& reports, const Json& table, const Json& goal) {
  const bool is_minimum = goal.contains("least");
  const double target = goal.at(is_minimum ? "least" : "most");
  std::string unit = goal.value("unit", ""), cells;
  for (const std::uint64_t scale : table.at("scales")) {
    const Found found = find_newest(reports, table, goal, scale);
    if (found.date.empty()) {
      cells += " no report |";
      continue;
    }
    cells += cell_of(found, runs_of(goal, scale), target, is_minimum);
    if (!found.unit.empty()) unit = found.unit;
  }
  return fmt::format("| {} | {} {}{} |{} {} | {} |\n",
                     goal.value("name", goal.at("figure").get<std::string>()),
                     is_minimum ? "at least" : "at most", number(target), unit.empty() ? "" : " " + unit,
                     cells, goal.value("binds", ""), goal.value("tried", ""));
}

std::string table_of(const std::vector<Json>& reports, const Json& table) {
  std::string head = "| figure | asked |", rule = "|---|---|";
  for (const std::uint64_t scale : table.at("scales"))
    head += fmt::format(" scale {} |", scale), rule += "---|";
  std::string text = fmt::format("\n## {}\n\n{} what binds | tried |\n{}---|---|\n",
                                 table.at("title").get<std::string>(), head, rule);
  for (const Json& goal : table.at("goals")) text += row_of(reports, table, goal);
  return text;
}

}  // namespace

std::string goals_page(const std::vector<Json>& reports, const Json& goals) {
  std::string page = kHead;
  try {
    for (const Json& table : goals) page += table_of(reports, table);
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("--goals: {}", error.what()));
  }
  return page;
}

}  // namespace sluice::bench
