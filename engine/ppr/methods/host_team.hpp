// Threads of the host that diffuse balls of one query in parallel (MeLoPPR's parallelism P), as a team of
// blocks does on a GPU (ball_team.cuh). The query's thread takes finished balls in their order, so scores are
// the same for any P. While the next ball is not finished, this thread diffuses one itself. There are P + 1
// workspaces, one of them the query's: a finished ball waits to be taken while P others are diffused. A ball
// that reaches a missing list keeps its workspace, and goes on with the lists of a later call. The lists that
// P balls lack are fetched together.
//
// On two threads, the Kronecker graph of docs/papers.md, Fig. 5, a query takes 28.3 ms with P = 1, and 20.1
// with P = 2. Turns of P balls, taken only when all of a turn are finished, took 1.3 to 1.5 times as long
// with P = 4 and 16 on 16 threads.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/thread_pool.hpp"
#include "engine/ppr/host_workspace.hpp"
#include "engine/ppr/methods/ball.hpp"
#include "engine/ppr/query_rules.hpp"

namespace sluice::ppr {

template <class M>
class HostTeam {
 public:
  using Memory = HostWorkspaceMemory<M>;

  /// Keeps references to the query's workspace, which has a second one, and to its rules.
  HostTeam(const Device& device, Memory& query, const QueryRules& rules, unsigned balls, unsigned threads)
      : device_(device), query_(query), rules_(rules), balls_(balls), helpers_(threads - 1) {
    members_.emplace_back(query);
  }

  /// From now on this many threads diffuse balls, including the query's.
  void use_threads(unsigned threads) { helpers_ = threads - 1; }
  /// Begins the next query.
  void begin() {
    for (Memory& memory : extra_memories_) memory.begin();
  }
  /// Peak bytes of this query in workspaces other than its own.
  std::uint64_t peak_bytes() const {
    std::uint64_t bytes = 0;
    for (const Memory& memory : extra_memories_) bytes += memory.peak_bytes();
    return bytes;
  }
  /// Calls use(vertex) for each list that balls outside the query's workspace wait for.
  template <class Use>
  void for_each_missing(Use&& use) const {
    for (const Memory& memory : extra_memories_) memory.for_each_missing(use);
  }

  // ---- called by the query's thread

  /// True if only a part of the graph's lists is available.
  bool fetches_lists() const {
    const std::span<const ListRange> ranges = query_.lists->ranges();
    return ranges.size() != 1 || ranges[0].begin != 0 || ranges[0].end != rules_.graph.vertices ||
           ranges[0].vertex_columns != nullptr;
  }
  /// Sets the balls of a stage; none is being diffused. Throws BudgetError.
  void begin_stage(const BallOrder& order) {
    while (extra_memories_.size() < std::min(balls_, order.count))
      members_.emplace_back(extra_memories_.emplace_back(device_, rules_.graph.vertices));
    for (Member& member : members_) member.ball.reset();
    failure_ = nullptr;
    order_ = order;
    started_ = merged_ = resumed_ = paused_ = unfinished_ = 0;
  }
  /// Threads go on with the lists that the query has now, until pause() is called.
  void resume() {
    for (Memory& memory : extra_memories_) memory.lists = query_.lists;
    resumed_ = merged_, paused_ = started_;
    pausing_ = false;
    if (helpers_ == 0) return;
    threads_.emplace(helpers_);
    threads_->begin([this](unsigned) { diffuse_balls(); });
  }
  /// Waits until the ball is finished; all balls before it have been merged. False if the ball lacks lists,
  /// and no other ball can go on. Rethrows the exception that stopped a ball.
  bool wait_for(std::uint32_t ball) {
    Lock lock(mutex_);
    merged_ = ball;
    changed_.notify_all();
    while (ball == started_ || !member_of(ball).finished) {
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      if (diffuse_next(lock)) continue;
      if (running_ == 0) return false;
      changed_.wait(lock);
    }
    return true;
  }
  /// Returns once no thread diffuses a ball: then the lists may be freed.
  void pause() {
    {
      const Lock lock(mutex_);
      pausing_ = true;
      changed_.notify_all();
    }
    threads_.reset();
  }

  // ---- a finished ball, as TeamMemory has a member's

  Memory& memory_of(std::uint32_t ball) { return *member_of(ball).memory; }
  const Mass* returning_of(std::uint32_t ball) { return member_of(ball).returning.data(); }
  const BallFigures& figures_of(std::uint32_t ball) { return member_of(ball).figures; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  using HostBall = Ball<SingleLane, HostWorkspace<M>>;

  /// A workspace, and the ball in it.
  struct Member {
    explicit Member(Memory& own) : memory(&own) {}

    Memory* memory;
    typename HostBall::Shared shared{};
    std::optional<HostBall> ball;   ///< being diffused
    std::uint32_t step = 0;         ///< its next round
    std::vector<Mass> returning{};  ///< [steps] mass that returns to the seeds
    BallFigures figures{};
    bool finished = false;
  };

  static constexpr std::uint32_t kNoBall = ~std::uint32_t{0};

  Member& member_of(std::uint32_t ball) { return members_[ball % members_.size()]; }

  void diffuse_balls() {
    Lock lock(mutex_);
    while (!pausing_ && (resumed_ < paused_ || started_ < order_.count)) {
      if (!diffuse_next(lock)) changed_.wait(lock);
    }
  }

  /// The next ball to diffuse: first those that wait for lists, each once. kNoBall if no ball is left, or no
  /// workspace is free.
  std::uint32_t next_ball() {
    for (resumed_ = std::max(resumed_, merged_); resumed_ < paused_;) {
      const std::uint32_t ball = resumed_++;
      if (!member_of(ball).finished) return ball;
    }
    if (started_ == order_.count || started_ - merged_ == members_.size() || unfinished_ == balls_)
      return kNoBall;
    ++unfinished_;
    member_of(started_).finished = false;
    return started_++;
  }

  /// Diffuses the next ball, with the lock released; false if there is none.
  bool diffuse_next(Lock& lock) {
    const std::uint32_t ball = next_ball();
    if (ball == kNoBall) return false;
    Member& member = member_of(ball);
    ++running_;
    lock.unlock();
    bool finished = false;
    std::exception_ptr failure;
    try {
      finished = diffuse(ball, member);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --running_;
    if (failure && !failure_) failure_ = failure;
    if (finished) member.finished = true, --unfinished_;
    changed_.notify_all();
    return true;
  }

  /// Diffuses a ball as far as lists are available; false if some are missing.
  bool diffuse(std::uint32_t ball, Member& member) {
    if (!member.ball) {
      member.returning.assign(order_.steps, 0);
      member.step = 0;
      member.ball.emplace(SingleLane{}, member.shared, *member.memory, rules_, SeedsView{});
    } else if (!member.ball->resume()) {
      return false;
    }
    member.ball->run_from(query_.second->ranked[order_.first + ball], member.step, order_.steps,
                          member.returning.data());
    if (member.ball->stopped()) return false;
    member.figures = member.ball->figures();
    member.ball.reset();
    return true;
  }

  const Device& device_;
  Memory& query_;
  const QueryRules& rules_;
  unsigned balls_, helpers_;    ///< balls at once; threads other than the query's
  std::deque<Memory> extra_memories_;  ///< P workspaces, once a stage had so many balls
  std::deque<Member> members_;  ///< the first has the query's workspace
  BallOrder order_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t started_ = 0;                  ///< balls before this one have begun
  std::uint32_t merged_ = 0;                   ///< balls before this one have been merged
  std::uint32_t resumed_ = 0;                  ///< begun balls before this one went on with the current lists
  std::uint32_t paused_ = 0;                   ///< started_ at the last pause(): these may wait for lists
  std::uint32_t unfinished_ = 0, running_ = 0;  ///< unfinished balls, and those that a thread diffuses now
  bool pausing_ = false;
  std::exception_ptr failure_;              ///< stopped a ball
  std::optional<BorrowedThreads> threads_;  ///< last member: threads end before the data that they use
};

template <class M>
HostWorkspace<M> HostWorkspace<M>::ball_of(std::uint32_t ball, const SingleLane& lane,
                                           WorkspaceCounts& counts) const {
  return {lane, counts, team().memory_of(ball)};
}

}  // namespace sluice::ppr
