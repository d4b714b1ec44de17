#include "apps/bench/page/runs.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <utility>

namespace sluice::bench {

namespace {

/// Suites were an argument of `sluice bench` before sluice-bench was a program.
bool is_old(const Json& report) {
  return report["command"] == "bench";
}

}  // namespace

std::string suite_of(const Json& report) {
  return is_old(report) ? report["options"]["suite"] : report["command"];
}

std::string number(double value) {
  return fmt::format("{:.4g}", value);
}

const Json* find_figure(const Json& report, const std::string& name, std::string& unit) {
  unit.clear();
  if (const auto column = report.find(name); column != report.end()) return &*column;
  for (const auto& [key, value] : report.items()) {
    if (!key.starts_with(name + " [") || !value.is_number()) continue;
    unit = key.substr(name.size() + 2, key.size() - name.size() - 3);
    return &value;
  }
  return nullptr;
}

std::string run_line(std::size_t run_number, const Json& report) {
  const Json& options = report["options"];
  std::string line = fmt::format("{}. {}", run_number, report["device"].get<std::string>());
  const std::string processor = report.value("processor", "");
  if (report["device"].get<std::string>().starts_with("host")) {
    if (!processor.empty()) line += fmt::format(" ({})", processor);
    line += fmt::format(", the machine's load {:.0f} before it", report.value("load", 0.0));
  }
  line += fmt::format(", {}, commit {}: `", report["date"].get<std::string>(),
                      report["commit"].get<std::string>());
  if (const std::uint64_t ranks = report.value("ranks", std::uint64_t{1}); ranks > 1)
    line += fmt::format("mpirun -n {} ", ranks);
  line += fmt::format("{} {}", is_old(report) ? "sluice bench" : "sluice-bench", suite_of(report));
  for (const char* const option : {"device", "threads", "scale", "repetitions"}) {
    const std::string value =
        options.contains(option)
            ? options[option].is_string() ? options[option].get<std::string>() : options[option].dump()
            : "0";
    if (value != "0") line += fmt::format(" --{} {}", option, value);
  }
  if (const std::string graphs = options.value("graphs", ""); !graphs.empty())
    line += fmt::format(" --graphs {}", graphs);
  if (const std::string only = options.value("only", ""); !only.empty())
    line += fmt::format(" --only '{}'", only);
  line += "`";
  const char* before = ". Limits: ";
  for (const auto& [key, value] : report.items()) {
    if (!key.starts_with("limit: ")) continue;
    const auto unit = key.find(" [");
    line += fmt::format("{}{} {} {}", std::exchange(before, ", "), key.substr(7, unit - 7),
                        number(value.get<double>()), key.substr(unit + 2, key.size() - unit - 3));
  }
  return line + "\n";
}

std::string peers_table(const Json& rows) {
  std::string text;
  for (const Json& row : rows) {
    const auto word = [&](const char* name) { return row.at(name).get<std::string>(); };
    text += fmt::format("| {} | {} | {}: {} | {} | {} |\n", word("figure"), word("sluice"), word("peer"),
                        word("value"), word("device"), word("source"));
  }
  if (text.empty()) return text;
  return "\n| against a peer | Sluice | peer | device | run |\n|---|---|---|---|---|\n" + text;
}

}  // namespace sluice::bench
