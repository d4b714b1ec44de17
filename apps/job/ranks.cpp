#include "apps/job/ranks.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "apps/cli/console.hpp"
#include "apps/cli/errors.hpp"
#include "apps/cli/values.hpp"
#include "apps/job/output.hpp"
#include "engine/core/error.hpp"
#include "engine/exchange/launch.hpp"
#include "engine/exchange/node/node_watch.hpp"
#include "io/output_file.hpp"

namespace sluice::apps {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = std::chrono::milliseconds(20);
/// mpirun kills a process that has not ended one second after its stop request.
constexpr Clock::duration kStopTimeout = std::chrono::milliseconds(500);
/// Slurm waits 30 seconds, and users wait less.
constexpr Clock::duration kStopTimeoutAlone = std::chrono::seconds(5),
                          kRepeatedStopTimeout = std::chrono::seconds(1);

const char* text_of(NodeWatch::Results results) {
  switch (results) {
    case NodeWatch::Results::possible:
      return "the output may be complete";
    case NodeWatch::Results::written:
      return "the output was written";
    default:
      return kNoOutput;
  }
}

/// Ends a process that cannot go on: another rank of its machine was killed or is stopped, or the process has
/// a stop request and its work does not stop in time.
class RankGuard {
 public:
  /// All ranks create one; it watches on its own thread. `without_launcher`: no launcher kills a rank that
  /// takes longer than a second to stop. `timeout`: for a rank of this machine that shows no sign of life.
  RankGuard(Communicator& ranks, bool without_launcher, Timeout timeout)
      : node_(ranks, timeout),
        prints_stops_(ranks.node_leader() == 0),
        without_launcher_(without_launcher),
        timeout_(timeout),
        thread_([this](const std::stop_token& stopping) { watch(stopping); }) {}

  /// Registers names that only this job uses; what has them is removed if the job is forced to end.
  void register_temporaries(const std::vector<std::string>& temporaries) {
    const std::lock_guard lock(mutex_);
    temporaries_.insert(temporaries_.end(), temporaries.begin(), temporaries.end());
  }
  /// While this lock is held, no thread removes covered names.
  std::unique_lock<std::mutex> lock_forced_end() { return std::unique_lock(mutex_); }
  /// From here on the guard ignores stop requests.
  void ignore_stops() {
    const auto end_lock = lock_forced_end();
    ignores_stops_ = true;
  }
  /// Sets what the message says about results if the job is forced to end.
  void note(NodeWatch::Results results) { node_.record_results(results); }
  /// Prints a message, unless another rank of this machine has printed one.
  void print_error_once(const std::string& message) noexcept {
    if (node_.claim_report()) print_error(message);
  }
  /// Removes the names given to register_temporaries(); while the lock is held, no covered output can begin.
  std::unique_lock<std::mutex> remove_temporaries() noexcept {
    std::unique_lock lock(mutex_);
    remove_temporaries_locked();
    return lock;
  }
  /// Stops the watching thread when the job's end is settled; after it this rank may exit.
  void stop() noexcept {
    thread_.request_stop();
    thread_.join();
    node_.announce_exit();
  }

 private:
  void watch(const std::stop_token& stopping) {
    Clock::time_point stop_seen{};
    std::mutex mutex;
    std::condition_variable_any unsignalled;
    std::unique_lock lock(mutex);
    const auto pause = [&] { unsignalled.wait_for(lock, stopping, kPollInterval, [] { return false; }); };
    for (; !stopping.stop_requested(); pause()) {
      node_.send_heartbeat();
      if (const auto peer = node_.lost_peer()) {
        end_process(node_.stop_recorded()
                        ? kStopped
                        : fmt::format("rank {} (process {}) was killed, perhaps because memory ran out",
                                      peer->rank, peer->process),
                    false);
      }
      if (const auto peer = node_.silent_peer()) {
        end_process(fmt::format("rank {} (process {}) has not responded for {} s: it is stopped, or hangs",
                                peer->rank, peer->process, timeout_.count()),
                    false);
      }
      if (!stop_requested()) continue;
      if (stop_seen == Clock::time_point{}) stop_seen = Clock::now();
      const Clock::duration timeout = !without_launcher_ ? kStopTimeout
                                      : stop_repeated()  ? kRepeatedStopTimeout
                                                         : kStopTimeoutAlone;
      if (Clock::now() - stop_seen > timeout) end_process(kStopped, true);
    }
  }
  void remove_temporaries_locked() noexcept {
    std::error_code ignored;
    for (const auto& path : temporaries_) std::filesystem::remove_all(path, ignored);
  }
  /// Ends the process with a message: `cause`, and what is known of the results. Returns only if a stop
  /// request came after ignore_stops().
  void end_process(const std::string& cause, bool on_request) {
    const auto end_lock = lock_forced_end();
    if (on_request && ignores_stops_) return;
    if (on_request) node_.record_stop();
    if (cause != kStopped || prints_stops_)
      print_error_once(fmt::format("{}; {}", cause, text_of(node_.results())));
    remove_temporaries_locked();
    ::_exit(static_cast<int>(ExitStatus::failed));
  }

  NodeWatch node_;
  bool prints_stops_;      ///< stop requests reach all machines; only one prints
  bool without_launcher_;  ///< no launcher started this process
  Timeout timeout_;        ///< of node_
  std::mutex mutex_;
  bool ignores_stops_ = false;
  std::vector<std::string> temporaries_;
  std::jthread thread_;
};

/// How long ranks wait for all last words after a failure; then they abort the job.
constexpr Timeout kOutcomeTimeout{10};
/// An orderly end takes no longer than this.
constexpr std::chrono::seconds kCloseTimeout{5};

std::unique_ptr<Communicator>& world_slot() {
  static std::unique_ptr<Communicator> ranks = make_single_rank();
  return ranks;
}

/// The guard of this process; null before the ranks are connected.
std::unique_ptr<RankGuard>& guard_slot() {
  static std::unique_ptr<RankGuard> guard;
  return guard;
}

void print_for_all_ranks(const std::string& message) {
  guard_slot() ? guard_slot()->print_error_once(message) : print_error(message);
}

/// How a rank ended, in the form sent to the others: two bytes and the message.
std::string packed(const Outcome& outcome) {
  return std::string{static_cast<char>(outcome.status), static_cast<char>(outcome.own_failure)} +
         outcome.message;
}

Outcome unpacked(const std::string& bytes) {
  return {static_cast<ExitStatus>(bytes[0]), bytes[1] != 0, bytes.substr(2)};
}

std::string with_rank(int rank, const std::string& message) {
  return fmt::format("rank {}: {}", rank, message);
}

/// Prints one message for all ranks and returns the exit status. Both are those of the first rank that failed
/// by itself, or, if every failed rank blames another, of the first that failed.
int print_first_failure(const std::vector<std::string>& outcomes) {
  std::vector<Outcome> all;
  for (const auto& bytes : outcomes) all.push_back(unpacked(bytes));
  auto first_failure =
      std::ranges::find_if(all, [](const Outcome& e) { return e.failed() && e.own_failure; });
  if (first_failure == all.end()) first_failure = std::ranges::find_if(all, &Outcome::failed);
  if (first_failure == all.end()) return static_cast<int>(ExitStatus::done);
  const std::string& message = first_failure->message;
  const bool same = std::ranges::all_of(all, [&](const Outcome& e) { return e.message == message; });
  const auto rank = static_cast<int>(first_failure - all.begin());
  if (world().rank() == rank) print_for_all_ranks(same ? message : with_rank(rank, message));
  return static_cast<int>(first_failure->status);
}

/// Aborts all ranks, because not all of them sent their last words in time.
int abort_all(const Outcome& outcome) {
  // The failed rank has the better message, and for a stop request the guard; give them time to print.
  if (!outcome.own_failure || stop_requested()) std::this_thread::sleep_for(kCloseTimeout);
  print_for_all_ranks(with_rank(world().rank(), outcome.message));
  if (guard_slot()) guard_slot()->remove_temporaries();
  world().abort(static_cast<int>(outcome.status));
  return static_cast<int>(outcome.status);
}

/// Leaves MPI. After a failure this can hang on unfinished communication; the exit status is settled by then.
void close_world(int status) {
  if (status != 0) {
    std::thread([status] {
      std::this_thread::sleep_for(kCloseTimeout);
      std::_Exit(status);
    }).detach();
  }
  if (guard_slot()) {
    if (status != 0 && world().is_root()) guard_slot()->remove_temporaries();
    guard_slot()->stop();
  }
  world().close();
}

}  // namespace

Communicator& world() {
  return *world_slot();
}

PlannedWorld::PlannedWorld(int rank, int ranks) : other_(make_planned(rank, ranks)) {
  world_slot().swap(other_);
}

PlannedWorld::~PlannedWorld() {
  world_slot().swap(other_);
}

int run_on_ranks(const std::function<void()>& body) noexcept {
  const Launch launch = detect_launch([](const char* name) { return std::getenv(name); });
  Outcome outcome = outcome_of([&] { world_slot() = connect(launch); });
  if (outcome.failed()) {
    if (launch.rank == 0) print_error(outcome.message);
    return static_cast<int>(outcome.status);
  }
  if (!world().is_root()) mute();
  outcome = outcome_of([&] {
    guard_slot() = std::make_unique<RankGuard>(world(), launch.launcher.empty(), launch.timeout);
    body();
  });
  // All ranks got the stop request; that another rank announced it first is not the cause.
  if (!outcome.own_failure && stop_requested()) outcome = outcome_of(throw_if_stopped);
  if (outcome.failed()) world().announce_failure();
  const auto outcomes = world().final_gather(packed(outcome), kOutcomeTimeout);
  if (outcomes.empty()) return abort_all(outcome);
  const int status = print_first_failure(outcomes);
  close_world(status);
  return status;
}

void register_outputs(const std::vector<std::string>& paths, const std::string& scratch) {
  const std::string tag = broadcast_text(world(), io::temporary_tag(), 0, "the names of outputs");
  for (const auto& path : paths) {
    if (guard_slot() && !path.empty()) guard_slot()->register_temporaries(temporaries_of(path, scratch, tag));
  }
  world().barrier("the names of outputs");
}

std::unique_lock<std::mutex> lock_forced_end() {
  return guard_slot() ? guard_slot()->lock_forced_end() : std::unique_lock<std::mutex>();
}

void ignore_stop_requests() {
  if (guard_slot()) guard_slot()->ignore_stops();
}

void prepare_commit() {
  if (world().size() == 1) return;
  ignore_stop_requests();
  guard_slot()->note(NodeWatch::Results::possible);
  world().barrier("the names of results");
}

void confirm_commit() {
  if (guard_slot()) guard_slot()->note(NodeWatch::Results::written);
}

void require_same_on_all_ranks(const std::string& text) {
  const auto texts = world().all_gather(text, "the options of all ranks");
  const auto other = std::find_if(texts.begin(), texts.end(), [&](const auto& t) { return t != texts[0]; });
  if (other == texts.end()) return;
  const auto first_lines = split(texts[0], "\n"), other_lines = split(*other, "\n");
  std::size_t line = 0;
  while (line + 1 < std::min(first_lines.size(), other_lines.size()) &&
         first_lines[line] == other_lines[line])
    ++line;
  throw UsageError(fmt::format("the ranks have different options: rank 0 has {}, rank {} has {}",
                               first_lines[line], other - texts.begin(), other_lines[line]));
}

}  // namespace sluice::apps
