#include "apps/cli/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "apps/cli/console.hpp"
#include "apps/cli/errors.hpp"
#include "apps/cli/values.hpp"
#include "engine/core/clock.hpp"

namespace sluice::apps {

namespace {

constexpr double kRedraw = 0.1;  // seconds
constexpr int kBarWidth = 24;

std::string format_duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

Progress::Progress(ProgressMode mode, bool quiet)
    : shown_(mode == ProgressMode::always ||
             (mode == ProgressMode::automatic && !quiet && isatty(STDERR_FILENO) != 0)) {}

void Progress::update(const std::string& phase, std::uint64_t done, std::uint64_t total, const char* unit) {
  throw_if_stopped();
  if (!start_or_skip(phase, done == total)) return;
  const double seconds = seconds_now() - begin_;
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  draw(total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total),
       fmt::format("  {}{}/s", format_rate(rate), unit));
}

void Progress::update(const std::string& phase, double fraction) {
  throw_if_stopped();
  if (start_or_skip(phase, fraction >= 1)) draw(fraction, {});
}

void Progress::start(const std::string& phase) {
  phase_ = phase;
  begin_ = seconds_now();
}

bool Progress::start_or_skip(const std::string& phase, bool last) {
  if (!shown_) return false;
  const double now = seconds_now();
  if (phase != phase_) {
    start(phase);
  } else if (!last && now - last_ < kRedraw) {
    return false;
  }
  last_ = now;
  return true;
}

void Progress::draw(double fraction, const std::string& rate) {
  fraction = std::clamp(fraction, 0.0, 1.0);
  const double seconds = seconds_now() - begin_;
  const int filled = static_cast<int>(fraction * kBarWidth);
  std::string line = fmt::format("\r{:<12} [{:=<{}}{:<{}}] {:3.0f}%", phase_, "", filled, "",
                                 kBarWidth - filled, 100 * fraction);
  line += rate;
  if (fraction > 0 && fraction < 1) {
    line += fmt::format("  {} left", format_duration(seconds / fraction - seconds));
  }
  line += "\033[K";  // erases the rest of a longer line
  print_message(line);
  drawn_ = true;
}

void Progress::finish() {
  if (drawn_) print_message("\r\033[K");
  drawn_ = false;
}

}  // namespace sluice::apps
