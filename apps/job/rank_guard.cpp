#include "apps/job/rank_guard.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>

#include "apps/cli/errors.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(20);
/// mpirun kills what has not ended one second after its request to stop.
constexpr Clock::duration kStopping = std::chrono::milliseconds(500);
/// Slurm waits 30 seconds, and people less.
constexpr Clock::duration kStoppingAlone = std::chrono::seconds(5), kUrged = std::chrono::seconds(1);

const char* words_of(NodeWatch::Results results) {
  switch (results) {
    case NodeWatch::Results::perhaps:
      return "the output may be complete";
    case NodeWatch::Results::written:
      return "the output was written";
    default:
      return kNoOutput;
  }
}

}  // namespace

RankGuard::RankGuard(Communicator& ranks, bool alone, Timeout timeout)
    : node_(ranks, timeout),
      speaks_of_stops_(ranks.node_leader() == 0),
      alone_(alone),
      timeout_(timeout),
      thread_([this](const std::stop_token& stopping) { watch(stopping); }) {}

void RankGuard::cover(const std::vector<std::string>& temporaries) {
  const std::lock_guard lock(mutex_);
  covered_.insert(covered_.end(), temporaries.begin(), temporaries.end());
}

void RankGuard::settle() {
  const auto held = hold_end();
  settled_ = true;
}

void RankGuard::complain_once(const std::string& message) noexcept {
  if (node_.speaks_first()) complain(message);
}

std::unique_lock<std::mutex> RankGuard::sweep() noexcept {
  std::unique_lock lock(mutex_);
  remove_covered();
  return lock;
}

void RankGuard::remove_covered() noexcept {
  std::error_code ignored;
  for (const auto& path : covered_) std::filesystem::remove_all(path, ignored);
}

void RankGuard::leave() noexcept {
  thread_.request_stop();
  thread_.join();
  node_.leave();
}

void RankGuard::watch(const std::stop_token& stopping) {
  Clock::time_point stop_seen{};
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  const auto pause = [&] { never.wait_for(lock, stopping, kLook, [] { return false; }); };
  for (; !stopping.stop_requested(); pause()) {
    node_.beat();
    if (const auto peer = node_.lost()) {
      end(node_.stop_noted()
              ? kStopped
              : fmt::format("rank {} (process {}) was lost: killed, perhaps for want of memory", peer->rank,
                            peer->process),
          false);
    }
    if (const auto peer = node_.silent()) {
      end(fmt::format(
              "rank {} (process {}) has shown no sign of life for {} s: stopped, or hung in the system",
              peer->rank, peer->process, timeout_.count()),
          false);
    }
    if (!stop_requested()) continue;
    if (stop_seen == Clock::time_point{}) stop_seen = Clock::now();
    const Clock::duration timeout = !alone_ ? kStopping : stop_urged() ? kUrged : kStoppingAlone;
    if (Clock::now() - stop_seen > timeout) end(kStopped, true);
  }
}

void RankGuard::end(const std::string& cause, bool on_request) {
  const auto nothing_begins_now = hold_end();
  if (on_request && settled_) return;
  if (on_request) node_.note_stop();
  if (cause != kStopped || speaks_of_stops_)
    complain_once(fmt::format("{}; {}", cause, words_of(node_.results())));
  remove_covered();
  ::_exit(static_cast<int>(ExitStatus::failed));
}

}  // namespace sluice::apps
