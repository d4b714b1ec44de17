// The only place that turns an exception into a message on standard error and an exit status (CONTRACT
// section 1), and a stop request into an exception, so that temporary files are removed.
#pragma once

#include <functional>
#include <string>

#include "engine/core/error.hpp"

namespace sluice::apps {

/// How a body of work ended.
struct Outcome {
  ExitStatus status = ExitStatus::done;
  bool own_failure = true;  ///< false: failed only because another rank did
  std::string message;

  bool failed() const { return status != ExitStatus::done; }
};

/// Runs `body` and converts its exception to a status and a message.
Outcome outcome_of(const std::function<void()>& body) noexcept;

/// Sets the program's name that precedes each message, as `sluice`.
void set_program_name(const std::string& program);
/// Prints `sluice: what is wrong`.
void print_error(const std::string& message) noexcept;

/// From here on SIGINT, SIGTERM and SIGHUP are recorded (RankGuard, throw_if_stopped); a third one ends the
/// process at once.
void install_stop_handlers();

/// Was a stop requested (stop_repeated: twice)? Below, the words of its message.
bool stop_requested();
bool stop_repeated();
inline constexpr const char *kStopped = "stopped on request", *kNoOutput = "no output was written";

/// Throws RunError if a stop was requested. Long work calls it wherever it reports progress.
void throw_if_stopped();

}  // namespace sluice::apps
