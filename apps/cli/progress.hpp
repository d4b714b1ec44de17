// A bar on standard error for long work: what is done, how fast, how long it will still take.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sluice::apps {

enum class ProgressMode { automatic, always, never };

class Progress {
 public:
  /// Shows nothing when `quiet`, or in automatic mode when standard error is no terminal.
  Progress(ProgressMode mode, bool quiet);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// From now on time counts for `phase`; without it, from the first update of a phase.
  void start(const std::string& phase);
  /// `done` of `total` `unit`s of `phase`; a new phase starts a new bar. Cheap: redraws ten times a second at
  /// most. Throws RunError if a stop was requested.
  void update(const std::string& phase, std::uint64_t done, std::uint64_t total, const char* unit);
  /// The same for a phase of which only the fraction done is known.
  void update(const std::string& phase, double fraction);
  /// Clears the line, so that what is printed next stands alone.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  bool start_or_skip(const std::string& phase, bool last);
  void draw(double fraction, const std::string& rate);

  bool shown_ = false;
  bool drawn_ = false;
  std::string phase_;
  Clock::time_point begin_, last_;
};

}  // namespace sluice::apps
