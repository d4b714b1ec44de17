// The JSON report (CONTRACT section 3): all that differs between runs and is therefore not in the results.
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
#include "io/graph_file/graph_file.hpp"

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

/// Figures of an iterative solver.
struct SolverFigures {
  std::string end;  ///< `converged`, or the reason for stopping
  bool converged = true;
  std::uint64_t iterations = 0;
  double residual = 0;            ///< of the last iteration
  std::vector<double> residuals;  ///< [iterations]
  std::vector<double> seconds;    ///< [iterations]
  std::uint64_t edges = 0;        ///< read, in all iterations
  RunStats run;                   ///< figures that samples have too: seconds, partitions, bytes
};

/// Figures of an Active-Compute-Combine program.
struct AccFigures {
  acc::AccStats stats{};
  std::string found{};  ///< the result as text, for the summary
  std::string end{};    ///< of an iteration to a limit: `converged` or the reason for stopping; else empty
  bool converged = true;
  double residual = 0;
  std::vector<double> residuals{};  ///< [rounds]
};

struct Report {
  std::string command;
  ResolvedOptions options;
  std::string graph_file;
  std::optional<io::GraphInfo> graph;
  const Device* device = nullptr;  ///< null if the command has none
  std::optional<RunStats> run;     ///< walks and samples
  std::optional<SolverFigures> solver;
  std::optional<AccFigures> acc;
  double open_seconds = 0;   ///< until the device is open
  double load_seconds = 0;   ///< reading the graph file, or edges
  double sort_seconds = 0;   ///< sorting edges
  double close_seconds = 0;  ///< writing per-vertex results, completing the output
  double total_seconds = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  ResolvedOptions counters;  ///< further counters of the command
  std::string more;          ///< other members of the report: a JSON object, or empty
};

/// Rates use the time of computing, without loading and writing.
double per_second(std::uint64_t count, double seconds);

/// Formats a checksum as in files and reports.
std::string format_checksum(std::uint64_t checksum);

/// The report's file. It is claimed before the work begins, so that an unwritable name fails at once.
class ReportFile {
 public:
  /// Writes no report if `path` is empty. Throws UsageError if the file exists and `force` is false.
  ReportFile(const std::string& path, bool force);
  ~ReportFile();
  /// Writes the report to disk; only the rename remains.
  void finish(const Report& report);
  /// As finish(), for a job of several ranks. All of them call it; only the rank that has a file writes.
  void finish_joined(const Report& report);
  void commit();

 private:
  void write_json(const std::string& text);

  std::unique_ptr<io::OutputFile> file_;
};

}  // namespace sluice::apps
