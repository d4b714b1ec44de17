#include "engine/memory/schedule/host_queues.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/exec/thread_pool.hpp"
#include "engine/memory/resident_impl.hpp"

namespace sluice {
namespace {

/// Teams of threads that work on queues; each team processes its own queues, one after the other.
class QueueTeams {
 public:
  QueueTeams(std::span<const std::uint64_t> sizes, std::uint64_t grain, bool batching,
             const HostQueues::InstanceEnd& instance_end, const HostQueues::Body& body)
      : sizes_(sizes),
        grain_(grain),
        batching_(batching),
        instance_end_(instance_end),
        body_(body),
        claimed_(sizes.size()) {}

  void add(std::size_t first, std::size_t last, unsigned threads) {
    // Instances of one entry each give a team nothing to share.
    const bool single_entries = !batching_ && !instance_end_;
    const unsigned members = single_entries ? 1 : threads;
    for (unsigned member = 0; member < members; ++member) roles_.push_back({teams_.size(), member});
    teams_.push_back({first, last, members, std::make_unique<std::barrier<>>(members)});
  }

  /// Returns the seconds that each team took.
  std::vector<double> run() {
    start_ = seconds_now();
    // All threads start before any of them works: members of a team wait for each other.
    ThreadPool(static_cast<unsigned>(roles_.size())).run_on_all([this](unsigned thread) {
      const Role& role = roles_[thread];
      run_member(teams_[role.team], role.member, thread);
    });
    if (failure_) std::rethrow_exception(failure_);
    std::vector<double> seconds;
    for (const Team& team : teams_) seconds.push_back(team.seconds);
    return seconds;
  }

 private:
  struct Team {
    std::size_t first, last;  ///< queues
    unsigned threads;
    std::unique_ptr<std::barrier<>> barrier;
    double seconds = 0;
  };
  struct Role {
    std::size_t team;
    unsigned member;
  };

  void run_member(Team& team, unsigned member, unsigned thread) {
    for (std::size_t queue = team.first; queue < team.last; ++queue)
      batching_ ? run_all_entries(queue, thread) : run_by_instance(queue, team, member, thread);
    const std::lock_guard lock(mutex_);
    team.seconds = std::max(team.seconds, seconds_now() - start_);
  }

  void run_all_entries(std::size_t queue, unsigned thread) {
    for (std::uint64_t from; (from = claimed_[queue].fetch_add(grain_)) < sizes_[queue];)
      guarded(queue, from, std::min(sizes_[queue], from + grain_), thread);
  }

  /// The team's members take an instance's blocks in turn; the next instance begins when all are done.
  void run_by_instance(std::size_t queue, const Team& team, unsigned member, unsigned thread) {
    for (std::uint64_t begin = 0; begin < sizes_[queue];) {
      const std::uint64_t end = instance_end_ ? instance_end_(queue, begin) : begin + 1;
      for (std::uint64_t from = begin + member * grain_; from < end; from += team.threads * grain_)
        guarded(queue, from, std::min(end, from + grain_), thread);
      if (team.threads > 1) team.barrier->arrive_and_wait();
      begin = end;
    }
  }

  /// After the first exception no entry is worked on, but every thread still meets the others at their
  /// barriers.
  void guarded(std::size_t queue, std::uint64_t from, std::uint64_t to, unsigned thread) {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      body_(queue, from, to, thread);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
    }
  }

  std::span<const std::uint64_t> sizes_;
  std::uint64_t grain_;
  bool batching_;
  const HostQueues::InstanceEnd& instance_end_;
  const HostQueues::Body& body_;
  std::vector<std::atomic<std::uint64_t>> claimed_;  ///< [queues] entries that threads have taken
  std::vector<Team> teams_;
  std::vector<Role> roles_;  ///< by thread
  double start_ = 0;
  std::mutex mutex_;
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;
};

}  // namespace

void HostQueues::work(std::span<const std::uint64_t> sizes, std::uint64_t grain,
                      const InstanceEnd& instance_end, const Body& body) {
  if (sizes.empty()) return;
  const auto teams = [&] { return QueueTeams(sizes, grain, batching_, instance_end, body); };
  if (balance_ == Balance::automatic) {
    std::uint64_t blocks = 0;
    for (const std::uint64_t size : sizes) blocks += (size + grain - 1) / grain;
    QueueTeams all = teams();
    all.add(0, sizes.size(), static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, threads_)));
    all.run();
    return;
  }
  for (std::size_t first = 0; first < sizes.size(); first += threads_) {
    const std::size_t count = std::min<std::size_t>(threads_, sizes.size() - first);
    const std::vector<unsigned> shares = shares_of(sizes.subspan(first, count), threads_, balance_);
    QueueTeams some = teams();
    for (std::size_t i = 0; i < count; ++i) some.add(first + i, first + i + 1, shares[i]);
    times_.add(some.run());
  }
}

}  // namespace sluice
