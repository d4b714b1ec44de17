// The one place where an exception becomes a line on standard error and an exit status (CONTRACT section 1),
// and where a request to stop becomes an exception, so that temporary files are removed on the way out.
#pragma once

#include <functional>
#include <string>

#include "engine/core/error.hpp"

namespace sluice::apps {

/// How a body of work ended.
struct Outcome {
  ExitStatus status = ExitStatus::done;
  bool own = true;  ///< false: it failed only because another rank did
  std::string message;
};

/// Runs `body` and turns what it throws into a status and a message.
Outcome outcome_of(const std::function<void()>& body) noexcept;

/// The program's name before each line: `sluice`.
void complain_as(const std::string& program);
/// Prints `sluice: what is wrong`.
void complain(const std::string& message) noexcept;

/// From here on SIGINT, SIGTERM and SIGHUP are noted (RankGuard, throw_if_stopped), and a third one ends the
/// process at once.
void watch_for_stop();

/// Whether a stop was requested, and what is said then; and whether it was requested twice.
bool stop_requested();
bool stop_urged();
inline constexpr const char *kStopped = "stopped on request", *kNoOutput = "no output was written";

/// Throws RunError if a stop was requested. Called wherever long work reports progress.
void throw_if_stopped();

}  // namespace sluice::apps
