#include "apps/report/ranks.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice::apps {

namespace {

using Json = nlohmann::ordered_json;
using Pointer = Json::json_pointer;

constexpr std::string_view kRate = "_per_second";

/// What a batch did to the graph and to ranks is known on every rank alike.
bool is_of_batch(const std::string& path) {
  constexpr std::array<std::string_view, 8> kNames{"/inserted",      "/present",       "/deleted",
                                                   "/missing",       "/new_vertices",  "/initially_affected",
                                                   "/ever_affected", "/update_seconds"};
  return std::find(kNames.begin(), kNames.end(), path) != kNames.end();
}

bool is_largest(const std::string& path) {
  return path.starts_with("/seconds/") || path.starts_with("/peak_") || path.starts_with("/baseline_") ||
         path.starts_with("/largest_") || path.starts_with("/latency_") || path.starts_with("/precision_") ||
         path == "/partitions" || path == "/partitions_read" || is_of_batch(path);
}

/// Adds the figures below `json` to `paths`; options, the graph and what a solver did, which is the same on
/// all ranks, are no figures of a rank.
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

template <class T>
void join_figure(Json& joined, const std::string& path, std::vector<T> values) {
  const Pointer at(path);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  joined["by_rank"][at] = {{"min", *least}, {"max", *most}};
  T sum{};
  for (const T value : values) sum += value;
  joined[at] = is_largest(path) ? *most : sum;
}

/// A rate of the whole job: what all ranks made in the time of the slowest.
void join_rate(Json& joined, const std::string& path) {
  const double seconds = joined["seconds"].value("compute", 0.0);
  const Pointer count(path.substr(0, path.size() - kRate.size()));
  joined[Pointer(path)] = seconds > 0 ? joined[count].get<double>() / seconds : 0.0;
}

}  // namespace

Json join_reports(const std::vector<Json>& reports) {
  Json joined = reports.back();
  joined["ranks"] = reports.size();
  joined["by_rank"] = Json::object();
  std::vector<std::string> paths;
  collect_figures(reports.back(), "", paths);
  for (const std::string& path : paths) {
    const Pointer at(path);
    if (reports.back()[at].is_number_float()) {
      std::vector<double> values;
      for (const Json& report : reports) values.push_back(report[at].get<double>());
      join_figure(joined, path, std::move(values));
    } else {
      std::vector<std::uint64_t> values;
      for (const Json& report : reports) values.push_back(report[at].get<std::uint64_t>());
      join_figure(joined, path, std::move(values));
    }
  }
  for (const std::string& path : paths) {
    if (path.ends_with(kRate)) join_rate(joined, path);
  }
  return joined;
}

}  // namespace sluice::apps
