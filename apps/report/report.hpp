// The JSON report (CONTRACT section 3): everything that differs from run to run, and so is not in the
// results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/command_line.hpp"
#include "engine/acc/options.hpp"
#include "engine/core/clock.hpp"
#include "engine/exec/device.hpp"
#include "engine/sampling/run.hpp"

namespace sluice::io {
class OutputFile;
}

namespace sluice::apps {

class Stopwatch {
 public:
  double seconds() const { return seconds_now() - begin_; }

 private:
  double begin_ = seconds_now();
};

/// What the report says of the graph.
struct GraphFacts {
  std::string file;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool directed = true;
  bool weighted = false;
  std::uint64_t checksum = 0;
};

/// What a solver that iterates reports.
struct SolverFigures {
  std::string end;  ///< `converged`, or why it stopped
  bool converged = true;
  std::uint64_t iterations = 0;
  double residual = 0;            ///< of the last iteration
  std::vector<double> residuals;  ///< [iterations]
  std::vector<double> seconds;    ///< [iterations]
  std::uint64_t edges = 0;        ///< looked at in all iterations
  RunStats run;                   ///< what samples have too: seconds, partitions, bytes
};

/// What an Active-Compute-Combine program reports.
struct AccFigures {
  acc::AccStats stats{};
  std::string found{};  ///< in words, for the summary
  std::string end{};    ///< of one that iterates towards a limit: `converged`, or why it stopped; else empty
  bool converged = true;
  double residual = 0;
  std::vector<double> residuals{};  ///< [rounds]
};

struct Report {
  std::string command;
  ResolvedOptions options;
  std::optional<GraphFacts> graph;
  const Device* device = nullptr;  ///< null: a command that has none
  std::optional<RunStats> run;     ///< walks and samples
  std::optional<SolverFigures> solver;
  std::optional<AccFigures> acc;
  double open_seconds = 0;   ///< before that: opening the device
  double load_seconds = 0;   ///< reading the graph file, or edges
  double sort_seconds = 0;   ///< of edges
  double close_seconds = 0;  ///< writing what all vertices have, completing the output
  double total_seconds = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  ResolvedOptions counters;  ///< what the command counts beside that
  std::string more;          ///< other members of the report: a JSON object, or empty
};

/// Rates use the time spent making the samples, without load and write.
double per_second(std::uint64_t count, double seconds);

/// A checksum as files and reports write it.
std::string format_checksum(std::uint64_t checksum);

/// The report's file. It is claimed before the work begins, so that a name that cannot be written fails at
/// once.
class ReportFile {
 public:
  /// An empty path: no report. Throws UsageError if the file exists and not `force`.
  ReportFile(const std::string& path, bool force);
  ~ReportFile();
  /// Writes it, to the disk: after it nothing but the name is missing.
  void finish(const Report& report);
  /// The same for a job of several ranks: all of them call it, and only the one that has a file writes.
  void finish_joined(const Report& report);
  void commit();

 private:
  void write_json(const std::string& text);

  std::unique_ptr<io::OutputFile> file_;
};

}  // namespace sluice::apps
