#include "apps/errors.hpp"

#include <H5Epublic.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

volatile std::sig_atomic_t stop_signal = 0;

void note_stop(int signal) {
  stop_signal = signal;
}

int fail(ExitStatus status, const char* message) noexcept {
  std::fprintf(stderr, "sluice: %s\n", message);
  return static_cast<int>(status);
}

}  // namespace

int run_guarded(const std::function<void()>& body) noexcept {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // HDF5 would print its own stack beside our line
  try {
    body();
    return static_cast<int>(ExitStatus::done);
  } catch (const Error& error) {
    return fail(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(
        ExitStatus::over_budget,
        "the system has no more memory (set --host-memory below what is free, or ask for fewer instances)");
  } catch (const std::exception& error) {
    return fail(ExitStatus::failed, error.what());
  } catch (...) {
    return fail(ExitStatus::failed, "an unknown error");
  }
}

void watch_for_stop() {
  struct sigaction action {};
  action.sa_handler = note_stop;
  sigemptyset(&action.sa_mask);
  // A read or write that is under way goes on; the second signal has the system's default effect.
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void throw_if_stopped() {
  if (stop_signal != 0) throw RunError("stopped on request; no output was written");
}

}  // namespace sluice::apps
