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

constexpr auto kLook = std::chrono::milliseconds(20);
/// mpirun kills a process that has not ended one second after its stop request.
constexpr Clock::duration kStopping = std::chrono::milliseconds(500);
/// Slurm waits 30 seconds, and users wait less.
constexpr Clock::duration kStoppingAlone = std::chrono::seconds(5), kUrged = std::chrono::seconds(1);

const char* words_of(NodeWatch::Results results) {
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
  /// All ranks create one; it watches on its own thread. `alone`: no launcher kills a rank that takes longer
  /// than a second to stop. `timeout`: for a rank of this machine that shows no sign of life.
  RankGuard(Communicator& ranks, bool alone, Timeout timeout)
      : node_(ranks, timeout),
        speaks_of_stops_(ranks.node_leader() == 0),
        alone_(alone),
        timeout_(timeout),
        thread_([this](const std::stop_token& stopping) { watch(stopping); }) {}

  /// Registers names that only this job uses; what has them is removed if the job is forced to end.
  void cover(const std::vector<std::string>& temporaries) {
    const std::lock_guard lock(mutex_);
    covered_.insert(covered_.end(), temporaries.begin(), temporaries.end());
  }
  /// While this lock is held, no thread removes covered names.
  std::unique_lock<std::mutex> hold_end() { return std::unique_lock(mutex_); }
  /// From here on the guard ignores stop requests.
  void settle() {
    const auto held = hold_end();
    settled_ = true;
  }
  /// Sets what the message says about results if the job is forced to end.
  void note(NodeWatch::Results results) { node_.record_results(results); }
  /// Prints a message, unless another rank of this machine has printed one.
  void complain_once(const std::string& message) noexcept {
    if (node_.claim_report()) complain(message);
  }
  /// Removes the names given to cover(); while the lock is held, no covered output can begin.
  std::unique_lock<std::mutex> sweep() noexcept {
    std::unique_lock lock(mutex_);
    remove_covered();
    return lock;
  }
  /// Stops the watching thread when the job's end is settled; after it this rank may exit.
  void leave() noexcept {
    thread_.request_stop();
    thread_.join();
    node_.announce_exit();
  }

 private:
  void watch(const std::stop_token& stopping) {
    Clock::time_point stop_seen{};
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    const auto pause = [&] { never.wait_for(lock, stopping, kLook, [] { return false; }); };
    for (; !stopping.stop_requested(); pause()) {
      node_.send_heartbeat();
      if (const auto peer = node_.lost_peer()) {
        end(node_.stop_recorded()
                ? kStopped
                : fmt::format("rank {} (process {}) was lost: killed, perhaps for want of memory", peer->rank,
                              peer->process),
            false);
      }
      if (const auto peer = node_.silent_peer()) {
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
  void remove_covered() noexcept {
    std::error_code ignored;
    for (const auto& path : covered_) std::filesystem::remove_all(path, ignored);
  }
  /// Ends the process with a message: `cause`, and what is known of the results. Returns only if a stop
  /// request came after settle().
  void end(const std::string& cause, bool on_request) {
    const auto nothing_begins_now = hold_end();
    if (on_request && settled_) return;
    if (on_request) node_.record_stop();
    if (cause != kStopped || speaks_of_stops_)
      complain_once(fmt::format("{}; {}", cause, words_of(node_.results())));
    remove_covered();
    ::_exit(static_cast<int>(ExitStatus::failed));
  }

  NodeWatch node_;
  bool speaks_of_stops_;  ///< stop requests reach all machines; only one prints
  bool alone_;            ///< no launcher started this process
  Timeout timeout_;       ///< of node_
  std::mutex mutex_;
  bool settled_ = false;
  std::vector<std::string> covered_;
  std::jthread thread_;
};

/// How long ranks wait for all last words after a failure; then they abort the job.
constexpr Timeout kLastWords{10};
/// An orderly end takes no longer than this.
constexpr std::chrono::seconds kClosing{5};

std::unique_ptr<Communicator>& world_slot() {
  static std::unique_ptr<Communicator> ranks = make_single_rank();
  return ranks;
}

/// The guard of this process; null before the ranks are connected.
std::unique_ptr<RankGuard>& guard_slot() {
  static std::unique_ptr<RankGuard> guard;
  return guard;
}

void speak(const std::string& message) {
  guard_slot() ? guard_slot()->complain_once(message) : complain(message);
}

/// How a rank ended, in the form sent to the others: two bytes and the message.
struct Ending {
  Outcome outcome;

  std::string packed() const {
    return std::string{static_cast<char>(outcome.status), static_cast<char>(outcome.own)} + outcome.message;
  }
  static Ending unpacked(const std::string& bytes) {
    return {{static_cast<ExitStatus>(bytes[0]), bytes[1] != 0, bytes.substr(2)}};
  }
  bool failed() const { return outcome.status != ExitStatus::done; }
};

std::string named(int rank, const std::string& message) {
  return fmt::format("rank {}: {}", rank, message);
}

/// Prints one message for all ranks and returns the exit status. Both are those of the first rank that failed
/// by itself, or, if every failed rank blames another, of the first that failed.
int settle(const std::vector<std::string>& endings) {
  std::vector<Ending> all;
  for (const auto& bytes : endings) all.push_back(Ending::unpacked(bytes));
  auto culprit = std::ranges::find_if(all, [](const Ending& e) { return e.failed() && e.outcome.own; });
  if (culprit == all.end()) culprit = std::ranges::find_if(all, &Ending::failed);
  if (culprit == all.end()) return static_cast<int>(ExitStatus::done);
  const bool same = std::all_of(
      all.begin(), all.end(), [&](const Ending& e) { return e.outcome.message == culprit->outcome.message; });
  const auto rank = static_cast<int>(culprit - all.begin());
  if (world().rank() == rank) {
    speak(same ? culprit->outcome.message : named(rank, culprit->outcome.message));
  }
  return static_cast<int>(culprit->outcome.status);
}

/// Aborts all ranks, because not all of them sent their last words in time.
int end_all(const Outcome& outcome) {
  // The failed rank has the better message, and for a stop request the guard; give them time to print.
  if (!outcome.own || stop_requested()) std::this_thread::sleep_for(kClosing);
  speak(named(world().rank(), outcome.message));
  if (guard_slot()) guard_slot()->sweep();
  world().abort(static_cast<int>(outcome.status));
  return static_cast<int>(outcome.status);
}

/// Leaves MPI. After a failure this can hang on unfinished communication; the exit status is settled by then.
void close_world(int status) {
  if (status != 0) {
    std::thread([status] {
      std::this_thread::sleep_for(kClosing);
      std::_Exit(status);
    }).detach();
  }
  if (guard_slot()) {
    if (status != 0 && world().is_root()) guard_slot()->sweep();
    guard_slot()->leave();
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
  if (outcome.status != ExitStatus::done) {
    if (launch.rank == 0) complain(outcome.message);
    return static_cast<int>(outcome.status);
  }
  if (!world().is_root()) mute();
  outcome = outcome_of([&] {
    guard_slot() = std::make_unique<RankGuard>(world(), launch.launcher.empty(), launch.timeout);
    body();
  });
  // All ranks got the stop request; that another rank announced it first is not the cause.
  if (!outcome.own && stop_requested()) outcome = outcome_of(throw_if_stopped);
  const Ending ending{outcome};
  if (ending.failed()) world().announce_failure();
  const auto endings = world().final_gather(ending.packed(), kLastWords);
  if (endings.empty()) return end_all(outcome);
  const int status = settle(endings);
  close_world(status);
  return status;
}

void cover_outputs(const std::vector<std::string>& paths, const std::string& scratch) {
  const std::string tag = broadcast_text(world(), io::temporary_tag(), 0, "the names of outputs");
  for (const auto& path : paths) {
    if (guard_slot() && !path.empty()) guard_slot()->cover(temporaries_of(path, scratch, tag));
  }
  world().barrier("the names of outputs");
}

std::unique_lock<std::mutex> hold_end() {
  return guard_slot() ? guard_slot()->hold_end() : std::unique_lock<std::mutex>();
}

void settle_end() {
  if (guard_slot()) guard_slot()->settle();
}

void expect_results() {
  if (world().size() == 1) return;
  settle_end();
  guard_slot()->note(NodeWatch::Results::possible);
  world().barrier("the names of results");
}

void confirm_results() {
  if (guard_slot()) guard_slot()->note(NodeWatch::Results::written);
}

void require_same_on_all_ranks(const std::string& text) {
  const auto texts = world().all_gather(text, "the options of all ranks");
  const auto other = std::find_if(texts.begin(), texts.end(), [&](const auto& t) { return t != texts[0]; });
  if (other == texts.end()) return;
  const auto first = split(texts[0], "\n"), theirs = split(*other, "\n");
  std::size_t line = 0;
  while (line + 1 < std::min(first.size(), theirs.size()) && first[line] == theirs[line]) ++line;
  throw UsageError(fmt::format("the ranks were not started alike: rank 0 has {}, rank {} has {}", first[line],
                               other - texts.begin(), theirs[line]));
}

}  // namespace sluice::apps
