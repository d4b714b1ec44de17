// The one place where an exception becomes a line on standard error and an exit status (CONTRACT section 1),
// and where a request to stop becomes an exception, so that temporary files are removed on the way out.
#pragma once

#include <functional>

namespace sluice::apps {

/// Runs `body`; returns 0, or prints `sluice: what is wrong` and returns the status that belongs to it.
int run_guarded(const std::function<void()>& body) noexcept;

/// From here on the first SIGINT or SIGTERM is noted, and a second one ends the process at once.
void watch_for_stop();

/// Throws RunError if a stop was requested. Called wherever long work reports progress.
void throw_if_stopped();

}  // namespace sluice::apps
