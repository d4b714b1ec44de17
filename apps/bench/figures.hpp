// The figures of a suite, computed from repetitions.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/bench.hpp"
#include "engine/batch/starts.hpp"
#include "partition/graph.hpp"

namespace sluice::bench {

using Columns = std::vector<std::pair<std::string, double>>;

inline std::string text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// For an even number of values, the mean of the middle two.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// A figure: median, minimum and maximum of the repetitions.
inline Figure figure_of(std::string name, const std::vector<double>& values, std::string unit,
                        std::string note = {}, Columns columns = {}) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {std::move(name), median(values), std::move(unit), *low, *high, std::move(note), std::move(columns)};
}

/// Returns run() of each repetition, after a warm-up run that also builds tables.
template <class Run>
std::vector<double> repeated(unsigned repetitions, Run&& run) {
  std::vector<double> values;
  for (run(); values.size() < repetitions;) values.push_back(run());
  return values;
}

/// `count` starts, drawn uniformly.
inline Starts random_starts(Instance count) {
  Starts starts;
  starts.mode = Starts::Mode::random, starts.count = count;
  return starts;
}

/// Adds the figure's share of a limit as a column. The suite has a figure `limit: LIMIT` for it.
inline void set_share(Figure& figure, double share, const std::string& limit) {
  figure.columns.emplace_back("% of " + limit, 100 * share);
}

/// What all suites share.
class SuiteFigures {
 protected:
  SuiteFigures(Device& device, const Options& options) : device_(device), options_(options) {}

  /// Should this figure be measured? If so, reports the progress.
  bool begin(const std::string& name) const {
    const bool wanted = options_.wants(name);
    if (wanted && options_.progress) options_.progress(name);
    return wanted;
  }
  void add_value(std::string name, double value, std::string unit = {}) {
    figures_.push_back({std::move(name), value, std::move(unit), value, value, {}});
  }
  void add_graph_size(const Graph& graph) {
    add_value("vertices", static_cast<double>(graph.vertices()));
    add_value("stored edges", static_cast<double>(graph.edges()));
  }
  Figure& add_figure(std::string name, const std::vector<double>& values, std::string unit,
                     std::string note = {}, Columns columns = {}) {
    return figures_.emplace_back(
        figure_of(std::move(name), values, std::move(unit), std::move(note), std::move(columns)));
  }

  Device& device_;
  const Options& options_;
  std::vector<Figure> figures_;
};

}  // namespace sluice::bench
