#include "apps/bench/page/papers_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "apps/bench/page/runs.hpp"
#include "engine/core/error.hpp"

namespace sluice::bench {

namespace {

constexpr const char* kHead =
    "# The papers' figures, and ours\n\n"
    "Sluice joins the ideas of four papers. This page lists their experiments: the published figures,\n"
    "Sluice's implementation, and the measurements of `sluice-bench papers` or, on ranks, of\n"
    "`sluice-bench scaling`. `sluice-bench page` writes it from the reports in `tests/bench/reports/`\n"
    "and from `tests/bench/papers.json`.\n\n"
    "Figures are medians. Those that were published come from other graphs and other hardware, so that\n"
    "only ratios compare. Stored edges count both directions of an undirected graph. Of a table there is\n"
    "the newest run on a GPU and on the host, of each graph and number of ranks. [Runs](#runs) has their\n"
    "commands. Long tables and notes open by a click.\n";

constexpr const char* kSummaryHead =
    "\n## In short\n\n"
    "Each experiment has a verdict. Its figures agree with the published ones, partly agree, or contradict\n"
    "them. *Differs* says that hardware, graphs or settings differ, or that no published number is\n"
    "available, so that neither holds.\n\n"
    "| paper | experiment | published | Sluice | verdict |\n|---|---|---|---|---|\n";

/// Longer tables are folded, so that the page reads as text.
constexpr std::size_t kOpenRows = 25;

/// Folds the text. Markdown within an HTML block needs empty lines around it.
std::string collapsible(const std::string& summary, const std::string& text) {
  return fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n", summary, text);
}

/// A figure of a table: `TABLE: NAME [UNIT]` of a report, and the columns `TABLE: NAME: COLUMN` after it.
struct Row {
  std::string name, cell;
  bool words = false;  ///< text instead of a figure
  std::vector<std::pair<std::string, std::string>> columns;
};

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : number(value.get<double>());
}

/// Makes `times one rank` and `times static` speed-ups; next to a time they read as times.
std::string display_name(std::string name) {
  for (const std::string_view base : {"one rank", "static"}) {
    const std::string times = fmt::format("times {}", base);
    if (name.ends_with(times))
      name.replace(name.size() - times.size(), times.size(), fmt::format("speed-up over {}", base));
  }
  return name;
}

std::vector<Row> rows_of(const Json& report, const std::string& table) {
  std::vector<Row> rows;
  for (const auto& [key, value] : report.items()) {
    if (!key.starts_with(table + ": ")) continue;
    const std::string name = key.substr(table.size() + 2);
    if (const auto unit = name.rfind(" ["); name.ends_with("]") && unit != name.npos) {
      const std::string unit_text = name.substr(unit + 2, name.size() - unit - 3);
      rows.push_back({name.substr(0, unit),
                      text_of(value) + (unit_text.empty() ? "" : " " + display_name(unit_text)),
                      value.is_string(),
                      {}});
    } else if (!rows.empty() && name.starts_with(rows.back().name + ": ")) {
      rows.back().columns.emplace_back(name.substr(rows.back().name.size() + 2), text_of(value));
    }
  }
  return rows;
}

std::vector<std::string> columns_of(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows)
    for (const auto& [name, cell] : row.columns)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

std::string line_of(const Row& row, const std::vector<std::string>& columns, const Json* published) {
  std::string line = fmt::format("| {} |", row.name);
  if (published != nullptr) line += fmt::format(" {} |", published->value(row.name, ""));
  line += fmt::format(" {} |", row.cell);
  for (const std::string& column : columns) {
    const auto at = std::ranges::find(row.columns, column, &std::pair<std::string, std::string>::first);
    line += fmt::format(" {} |", at == row.columns.end() ? "" : at->second);
  }
  return line + "\n";
}

std::string table_of(const std::vector<Row>& rows, const Json* published) {
  const auto columns = columns_of(rows);
  std::string text = fmt::format("\n| figure |{} Sluice |", published != nullptr ? " published |" : "");
  std::string rule = published != nullptr ? "|---|---|---|" : "|---|---|";
  for (const std::string& column : columns)
    text += fmt::format(" {} |", display_name(column)), rule += "---|";
  text += "\n" + rule + "\n";
  for (const Row& row : rows) text += line_of(row, columns, published);
  return text;
}

/// `needs a GPU: bfs, jit; bfs, ballot.`, one line for each reason.
std::string missing_rows(const std::vector<Row>& rows) {
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const Row& row : rows) {
    const auto at = std::ranges::find(reasons, row.cell, &std::pair<std::string, std::string>::first);
    if (at == reasons.end())
      reasons.emplace_back(row.cell, row.name);
    else
      at->second += "; " + row.name;
  }
  std::string text;
  for (const auto& [reason, names] : reasons) text += fmt::format("\nNo figure, {}: {}.\n", reason, names);
  return text;
}

/// The figures of one run in a table; its row `graph`, if there is one, describes the graph.
std::string run_section(std::size_t run_number, const std::string& table, std::vector<Row> rows,
                        const Json* published) {
  std::string name = table;
  if (const auto graph = std::ranges::find(rows, "graph", &Row::name); graph != rows.end()) {
    name += fmt::format(" ({})", graph->cell);
    rows.erase(graph);
  }
  const auto words = std::ranges::stable_partition(rows, [](const Row& row) { return !row.words; });
  const std::vector<Row> missing(words.begin(), words.end());
  rows.erase(words.begin(), words.end());
  const std::string text = (rows.empty() ? "" : table_of(rows, published)) + missing_rows(missing);
  if (rows.size() <= kOpenRows) return fmt::format("\n[Run {}](#runs): {}\n{}", run_number, name, text);
  return collapsible(fmt::format("<a href=\"#runs\">Run {}</a>: {}, {} rows", run_number, name, rows.size()),
                     text);
}

/// The newest run of each table, by `subject_of`; of several on one day, the last.
using Newest = std::map<std::string, const Json*>;

/// The subject that a newer run replaces: table, graph, scale, number of ranks, and GPU or host.
std::string subject_of(const Json& report, const std::string& table) {
  return fmt::format("{}|{}|{}|{}|{}", table, report.value(table + ": graph []", ""),
                     report["options"].value("scale", 0), report.value("ranks", 1),
                     report["device"].get<std::string>().starts_with("host"));
}

/// Omits runs that only have reasons for missing figures if another run has figures.
void find_newest(const std::vector<Json>& reports, const std::string& table, Newest& newest) {
  const auto rank_of = [&](const Json& report) {
    const auto rows = rows_of(report, table);
    return rows.empty() ? 0 : std::ranges::all_of(rows, &Row::words) ? 1 : 2;
  };
  int best = 1;
  for (const Json& report : reports) best = std::max(best, rank_of(report));
  for (const Json& report : reports) {
    if (rank_of(report) < best) continue;
    const Json*& run = newest[subject_of(report, table)];
    if (run == nullptr || (*run)["date"] <= report["date"]) run = &report;
  }
}

Newest newest_of(const std::vector<Json>& reports, const Json& papers) {
  Newest newest;
  for (const Json& paper : papers)
    for (const Json& experiment : paper.at("experiments"))
      for (const Json& table : experiment.at("tables")) find_newest(reports, table, newest);
  return newest;
}

std::string text_field(const Json& experiment, const char* name) {
  return experiment.at(name).get<std::string>();
}

std::string heading_of(const Json& experiment) {
  return fmt::format("{}: {}", text_field(experiment, "figure"), text_field(experiment, "title"));
}

/// The link anchor of a heading: lower case, hyphens for spaces, no other signs.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const unsigned char character : heading) {
    if (std::isalnum(character) || character == '-' || character == '_') anchor += std::tolower(character);
    if (character == ' ') anchor += '-';
  }
  return anchor;
}

std::string summary_table(const Json& papers) {
  std::string text = kSummaryHead;
  for (const Json& paper : papers) {
    for (const Json& experiment : paper.at("experiments")) {
      const Json& figures = experiment.at("in_short");
      const std::string heading = heading_of(experiment);
      text += fmt::format("| {} | [{}](#{}) | {} | {} | {} |\n", text_field(paper, "paper"), heading,
                          anchor_of(heading), figures.at(0).get<std::string>(),
                          figures.at(1).get<std::string>(), text_field(experiment, "verdict"));
    }
  }
  return text;
}

std::string peers_section(const Json& rows) {
  const std::string text = peers_table(rows);
  return rows.size() <= kOpenRows ? text
                                  : collapsible(fmt::format("Against peers, {} rows", rows.size()), text);
}

/// Further statements, by subject, in addition to the one about differences.
std::string notes_section(const Json& notes) {
  std::string text;
  for (const auto& [subject, statements] : notes.items()) {
    text += fmt::format("\n{}:\n\n", subject);
    for (const std::string statement : statements) text += fmt::format("- {}\n", statement);
  }
  return collapsible("Notes", text);
}

std::string experiment_section(const Json& experiment, const std::vector<const Json*>& runs,
                               const Newest& newest) {
  std::string text = fmt::format("\n### {}\n\n- Published: {}\n- Sluice: {}\n- Difference: {}\n",
                                 heading_of(experiment), text_field(experiment, "published"),
                                 text_field(experiment, "sluice"), text_field(experiment, "difference"));
  if (experiment.contains("peers")) text += fmt::format("- Peers: {}\n", text_field(experiment, "peers"));
  if (experiment.contains("beside")) text += peers_section(experiment["beside"]);
  const Json* const published = experiment.contains("rows") ? &experiment["rows"] : nullptr;
  for (const std::string table : experiment.at("tables")) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto shown = newest.find(subject_of(*runs[i], table));
      if (shown != newest.end() && shown->second == runs[i])
        text += run_section(i + 1, table, rows_of(*runs[i], table), published);
    }
  }
  return experiment.contains("notes") ? text + notes_section(experiment["notes"]) : text;
}

std::string sections(const Json& papers, const std::vector<const Json*>& runs, const Newest& newest) {
  std::string text;
  for (const Json& paper : papers) {
    text += fmt::format("\n## {}\n\n{}\n", text_field(paper, "paper"), text_field(paper, "cited"));
    if (paper.contains("differs")) {
      text += "\nWhere Sluice's figures contradict the paper's, or its program differs:\n\n";
      for (const std::string line : paper["differs"]) text += fmt::format("- {}\n", line);
    }
    for (const Json& experiment : paper.at("experiments"))
      text += experiment_section(experiment, runs, newest);
  }
  return text;
}

}  // namespace

std::string papers_page(const std::vector<Json>& reports, const Json& page) {
  std::string text = kHead;
  try {
    const Json& papers = page.at("papers");
    const Newest newest = newest_of(reports, papers);
    std::vector<const Json*> runs;
    for (const Json& report : reports)
      if (std::ranges::find(newest, &report, &Newest::value_type::second) != newest.end())
        runs.push_back(&report);
    text += summary_table(papers) + sections(papers, runs, newest) + "\n## Runs\n\n";
    for (const std::string line : page.at("runs")) text += line + "\n";
    text += runs.empty() ? "\nNo report yet.\n" : "\n";
    for (std::size_t i = 0; i < runs.size(); ++i) text += run_line(i + 1, *runs[i]);
    return text;
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("--papers: {}", error.what()));
  }
}

}  // namespace sluice::bench
