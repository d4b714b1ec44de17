#include "apps/cli/errors.hpp"

#include <fmt/core.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "engine/exchange/communicator.hpp"
#include "io/hdf5.hpp"

namespace sluice::apps {

namespace {

/// The guard's thread reads it; signal handlers on any thread increment it.
std::atomic<int> stop_signals = 0;
static_assert(std::atomic<int>::is_always_lock_free);

std::string program_name = "sluice";

/// timeout(1) and batch systems send a stop request twice, to the process and to its group. A third request
/// has the system's default effect.
void handle_stop_signal(int signal) {
  constexpr int kMaxHandled = 2;
  if (stop_signals.fetch_add(1) < kMaxHandled) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

Outcome outcome_of(const std::function<void()>& body) noexcept {
  io::h5::silence_errors();  // HDF5 would print its error stack beside our message
  try {
    body();
    return {};
  } catch (const PeerFailed& error) {
    return {error.status(), false, error.what()};
  } catch (const Error& error) {
    return {error.status(), true, error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitStatus::over_budget, true,
            "the system has no more memory (set --host-memory below what is free, or use fewer instances)"};
  } catch (const std::exception& error) {
    return {ExitStatus::failed, true, error.what()};
  } catch (...) {
    return {ExitStatus::failed, true, "an unknown error"};
  }
}

void set_program_name(const std::string& program) {
  program_name = program;
}

void print_error(const std::string& message) noexcept {
  std::fprintf(stderr, "%s: %s\n", program_name.c_str(), message.c_str());
}

void install_stop_handlers() {
  struct sigaction action {};
  action.sa_handler = handle_stop_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // interrupted reads and writes continue
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // SIGHUP: the terminal was closed. Under nohup(1) it is ignored, and stays so.
  struct sigaction given {};
  sigaction(SIGHUP, nullptr, &given);
  if (given.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

bool stop_repeated() {
  return stop_signals > 1;
}

bool stop_requested() {
  return stop_signals != 0;
}

void throw_if_stopped() {
  if (stop_requested()) throw RunError(fmt::format("{}; {}", kStopped, kNoOutput));
}

}  // namespace sluice::apps
