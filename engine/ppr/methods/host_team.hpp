// Threads of the host that diffuse balls of one query side by side (MeLoPPR's parallelism P), as a team of
// blocks does on a GPU (ball_team.cuh). The thread that has the query takes balls in their order, so that
// scores are the same for any P; while the next one is not made it makes one itself. The query's workspace is
// one of P + 1, so that a ball waits to be taken while P are made.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
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

  /// Keeps references to the query's workspace, which has a second, and to its rules.
  HostTeam(const Device& device, Memory& query, const QueryRules& rules, unsigned balls, unsigned threads);

  /// For the next query.
  void begin();
  /// Returns when no ball is made: of a query given up, whose lists may end then.
  void stop();
  /// Of workspaces beside the query's, at most, of this query.
  std::uint64_t peak_bytes() const;

  // ---- as TeamMemory; members are balls

  /// By the query's thread, whose own is the first of the balls. Returns how many they are: all of them.
  std::uint32_t give(const BallOrder& order);
  void sync() const {}
  /// Those before it have been taken. Throws what stopped it.
  Memory& wait_for(std::uint32_t ball);
  const Mass* returning_of(std::uint32_t ball) { return member_of(ball).returning.data(); }
  const BallFigures& figures_of(std::uint32_t ball) { return member_of(ball).figures; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// A workspace, and what came of the ball in it.
  struct Member {
    Memory* memory;
    std::vector<Mass> returning{};  ///< of each step
    BallFigures figures{};
    bool made = false;
    std::exception_ptr failure{};
  };

  Member& member_of(std::uint32_t ball) { return members_[ball % members_.size()]; }
  void work();
  bool make_next(Lock& lock);
  void make(std::uint32_t ball, Member& member);

  const Memory& query_;
  const QueryRules& rules_;
  std::deque<Memory> others_;
  std::vector<Member> members_;  ///< the query's first
  BallOrder order_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t next_ = 0;   ///< no thread makes this ball yet
  std::uint32_t taken_ = 0;  ///< balls before this one are
  BorrowedThreads threads_;  ///< the last: they end before what they use
};

template <class M>
HostWorkspace<M> HostWorkspace<M>::ball_of(std::uint32_t ball, const SingleLane& lane,
                                           WorkspaceCounts& counts) const {
  return {lane, counts, team().wait_for(ball)};
}

}  // namespace sluice::ppr
