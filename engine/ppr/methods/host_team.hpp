// Threads of the host that diffuse balls of one query side by side (MeLoPPR's parallelism P), as a team of
// blocks does on a GPU (ball_team.cuh). The thread that has the query takes balls in their order, so that
// scores are the same for any P; while the next one is not made it makes one itself. The query's workspace is
// one of P + 1, so that a ball waits to be taken while P are made. A ball that comes to a list that is not at
// hand keeps its workspace, and goes on with the lists of a later call: those that P balls miss come
// together.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
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

  /// So many threads make balls from now on, the query's among them.
  void use_threads(unsigned threads) { helpers_ = threads - 1; }
  /// For the next query.
  void begin();
  /// Of workspaces beside the query's, at most, of this query.
  std::uint64_t peak_bytes() const;
  /// Calls use(vertex) for all whose lists balls beside the query's workspace wait for.
  template <class Use>
  void for_each_missing(Use&& use) const {
    for (const Memory& memory : others_) memory.for_each_missing(use);
  }

  // ---- by the query's thread

  /// Are lists at hand that are not all of the graph's?
  bool brings_lists() const;
  /// A stage goes on from so many balls; none is under way. Throws BudgetError.
  void give(const BallOrder& order);
  /// Threads go on with the lists that the query has now, until rest().
  void go_on();
  /// Waits until the ball is made; those before it have been taken. False where it lacks lists, and all that
  /// could be made beside it was. Throws what stopped a ball.
  bool makes(std::uint32_t ball);
  /// Returns when no thread makes a ball: lists may end then.
  void rest();

  // ---- of a ball that is made, as TeamMemory of a member's

  Memory& memory_of(std::uint32_t ball) { return *member_of(ball).memory; }
  const Mass* returning_of(std::uint32_t ball) { return member_of(ball).returning.data(); }
  const BallFigures& figures_of(std::uint32_t ball) { return member_of(ball).figures; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  using OwnBall = Ball<SingleLane, HostWorkspace<M>>;

  /// A workspace, and the ball in it.
  struct Member {
    explicit Member(Memory& own) : memory(&own) {}

    Memory* memory;
    typename OwnBall::Shared shared{};
    std::optional<OwnBall> ball;    ///< under way
    std::uint32_t step = 0;         ///< of its rounds
    std::vector<Mass> returning{};  ///< of each step
    BallFigures figures{};
    bool made = false;
  };

  static constexpr std::uint32_t kNoBall = ~std::uint32_t{0};

  Member& member_of(std::uint32_t ball) { return members_[ball % members_.size()]; }
  void work();
  std::uint32_t next_ball();
  bool make_next(Lock& lock);
  bool make(std::uint32_t ball, Member& member);

  const Device& device_;
  Memory& query_;
  const QueryRules& rules_;
  unsigned balls_, helpers_;    ///< balls under way at once; threads beside the query's
  std::deque<Memory> others_;   ///< P, once a stage had so many balls
  std::deque<Member> members_;  ///< the query's workspace is the first one's
  BallOrder order_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t begun_ = 0;    ///< balls before this one are under way, or made
  std::uint32_t taken_ = 0;    ///< balls before this one are
  std::uint32_t resumed_ = 0;  ///< of those under way, balls before this one went on with these lists
  std::uint32_t paused_ = 0;   ///< or had not begun at the last rest(), from this one on
  std::uint32_t under_way_ = 0, at_work_ = 0;  ///< balls not made yet, and those that a thread makes now
  bool resting_ = false;
  std::exception_ptr failure_;              ///< that stopped a ball
  std::optional<BorrowedThreads> threads_;  ///< the last: they end before what they use
};

template <class M>
HostWorkspace<M> HostWorkspace<M>::ball_of(std::uint32_t ball, const SingleLane& lane,
                                           WorkspaceCounts& counts) const {
  return {lane, counts, team().memory_of(ball)};
}

}  // namespace sluice::ppr
