#include "apps/job/ranks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "apps/cli/console.hpp"
#include "apps/cli/errors.hpp"
#include "apps/cli/values.hpp"
#include "apps/job/output.hpp"
#include "apps/job/rank_guard.hpp"
#include "engine/exchange/launch.hpp"
#include "io/output_file.hpp"

namespace sluice::apps {

namespace {

/// A rank that failed waits so long for the others to come to the same end; then it ends them.
constexpr Timeout kLastWords{10};
/// An orderly end takes no longer.
constexpr std::chrono::seconds kClosing{5};

std::unique_ptr<Communicator>& world_slot() {
  static std::unique_ptr<Communicator> ranks = make_alone();
  return ranks;
}

/// Who looks after the others, and after requests to stop.
std::unique_ptr<RankGuard>& guard_slot() {
  static std::unique_ptr<RankGuard> guard;
  return guard;
}

void speak(const std::string& message) {
  guard_slot() ? guard_slot()->complain_once(message) : complain(message);
}

/// How a rank ended, as it travels to the others: two bytes and the message.
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

/// The one line for all ranks, and whose exit status is taken: the first rank's that failed by itself, or, if
/// each blames another, the first's that failed.
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

/// Not every rank could be sent word that this one failed, or that another did: all are ended from here.
int end_all(const Outcome& outcome) {
  // The rank that failed has the better line, and the guard that of a request to stop.
  if (!outcome.own || stop_requested()) std::this_thread::sleep_for(kClosing);
  speak(named(world().rank(), outcome.message));
  if (guard_slot()) guard_slot()->sweep();
  world().abort(static_cast<int>(outcome.status));
  return static_cast<int>(outcome.status);
}

/// Leaves MPI. After a failure that can hang on what was never finished; the status is settled by then.
void close_world(int status) {
  if (status != 0) {
    std::thread([status] {
      std::this_thread::sleep_for(kClosing);
      std::_Exit(status);
    }).detach();
  }
  if (guard_slot()) {
    if (status != 0 && world().leads()) guard_slot()->sweep();
    guard_slot()->leave();
  }
  world().close();
}

}  // namespace

Communicator& world() {
  return *world_slot();
}

int run_on_ranks(const std::function<void()>& body) noexcept {
  const Launch launch = detect_launch([](const char* name) { return std::getenv(name); });
  Outcome outcome = outcome_of([&] { world_slot() = connect(launch); });
  if (outcome.status != ExitStatus::done) {
    if (launch.rank == 0) complain(outcome.message);
    return static_cast<int>(outcome.status);
  }
  if (!world().leads()) mute();
  outcome = outcome_of([&] {
    guard_slot() = std::make_unique<RankGuard>(world(), launch.launcher.empty(), launch.timeout);
    body();
  });
  // Asked to stop, as all are: that another was the first to say so is no cause.
  if (!outcome.own && stop_requested()) outcome = outcome_of(throw_if_stopped);
  const Ending ending{outcome};
  if (ending.failed()) world().announce_failure();
  const auto endings = world().last_words(ending.packed(), kLastWords);
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
  guard_slot()->note(NodeWatch::Results::perhaps);
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
