// A progress bar on standard error for long work: fraction done, rate, remaining time.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::apps {

enum class ProgressMode { automatic, always, never };

class Progress {
 public:
  /// Shows nothing if `quiet`, or, in automatic mode, if standard error is not a terminal.
  Progress(ProgressMode mode, bool quiet);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Starts the clock of `phase`; without this call, the first update of a phase starts it.
  void start(const std::string& phase);
  /// Shows `done` of `total` `unit`s of `phase`; a new phase starts a new bar. Cheap: draws at most ten times
  /// a second. Throws RunError if a stop was requested.
  void update(const std::string& phase, std::uint64_t done, std::uint64_t total, const char* unit);
  /// As above, for a phase with only a known fraction done.
  void update(const std::string& phase, double fraction);
  /// Clears the bar's line before other output.
  void finish();

 private:
  bool start_or_skip(const std::string& phase, bool last);
  void draw(double fraction, const std::string& rate);

  bool shown_ = false;
  bool drawn_ = false;
  std::string phase_;
  double begin_ = 0, last_ = 0;  ///< seconds_now(): of the phase, and of the last bar
};

}  // namespace sluice::apps
