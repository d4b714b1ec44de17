// Threads of the host that diffuse balls of one query in parallel (MeLoPPR's parallelism P), as a team of
// blocks does on a GPU (ball_team.cuh). P balls have a workspace each; the first has the query's. Once all
// are finished the query takes them in their order: scores are the same for any P. A ball that reaches a
// missing list keeps its workspace, and goes on with the lists of a later call. The lists that P balls lack
// are fetched together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "engine/exec/threads.hpp"
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
      : device_(device), query_(query), rules_(rules), balls_(balls), threads_(threads) {
    members_.emplace_back(query);
  }

  /// From now on this many threads diffuse balls, including the query's.
  void use_threads(unsigned threads) { threads_ = threads; }
  /// Begins the next query.
  void begin() {
    for (Memory& memory : others_) memory.begin();
  }
  /// Peak bytes of this query in workspaces other than its own.
  std::uint64_t peak_bytes() const {
    std::uint64_t bytes = 0;
    for (const Memory& memory : others_) bytes += memory.peak_bytes();
    return bytes;
  }
  /// Calls use(vertex) for each list that balls outside the query's workspace wait for.
  template <class Use>
  void for_each_missing(Use&& use) const {
    for (const Memory& memory : others_) memory.for_each_missing(use);
  }
  /// True if only a part of the graph's lists is available.
  bool brings_lists() const {
    const std::span<const ListRange> ranges = query_.lists->ranges();
    return ranges.size() != 1 || ranges[0].begin != 0 || ranges[0].end != rules_.graph.vertices ||
           ranges[0].each != nullptr;
  }

  /// Sets the next balls, as many as there are workspaces; returns their number. Throws BudgetError.
  std::uint32_t give(BallOrder order) {
    order.count = std::min(balls_, order.count);
    while (members_.size() < order.count)
      members_.emplace_back(others_.emplace_back(device_, rules_.graph.vertices));
    for (Member& member : members_) member.ball.reset(), member.made = false;
    order_ = order;
    return order.count;
  }
  /// Diffuses them as far as the query's lists allow; returns how many lack lists. Throws BudgetError.
  std::uint32_t make() {
    for (Memory& memory : others_) memory.lists = query_.lists;
    parallel_blocks(threads_, order_.count, 1, [this](std::uint64_t i, std::uint64_t, unsigned) {
      if (!members_[i].made) members_[i].made = make(static_cast<std::uint32_t>(i));
    });
    return static_cast<std::uint32_t>(std::count_if(members_.begin(), members_.begin() + order_.count,
                                                    [](const Member& member) { return !member.made; }));
  }

  // ---- a finished ball, as TeamMemory has a member's

  Memory& memory_of(std::uint32_t member) { return *members_[member].memory; }
  const Mass* returning_of(std::uint32_t member) { return members_[member].returning.data(); }
  const BallFigures& figures_of(std::uint32_t member) { return members_[member].figures; }

 private:
  using OwnBall = Ball<SingleLane, HostWorkspace<M>>;

  /// A workspace, and the ball in it.
  struct Member {
    explicit Member(Memory& own) : memory(&own) {}

    Memory* memory;
    typename OwnBall::Shared shared{};
    std::optional<OwnBall> ball;    ///< in progress
    std::uint32_t step = 0;         ///< next round of the ball
    std::vector<Mass> returning{};  ///< per step
    BallFigures figures{};
    bool made = false;
  };

  /// Diffuses as far as lists allow; false if lists are missing.
  bool make(std::uint32_t number) {
    Member& member = members_[number];
    if (!member.ball) {
      member.returning.assign(order_.steps, 0);
      member.step = 0;
      member.ball.emplace(SingleLane{}, member.shared, *member.memory, rules_, SeedsView{});
    } else if (!member.ball->go_on()) {
      return false;
    }
    member.ball->run_from(query_.second->ranked[order_.first + number], member.step, order_.steps,
                          member.returning.data());
    if (member.ball->stopped()) return false;
    member.figures = member.ball->figures();
    member.ball.reset();
    return true;
  }

  const Device& device_;
  Memory& query_;
  const QueryRules& rules_;
  unsigned balls_, threads_;
  std::deque<Memory> others_;   ///< P - 1, once a stage has that many balls
  std::deque<Member> members_;  ///< the first has the query's workspace
  BallOrder order_;
};

template <class M>
HostWorkspace<M> HostWorkspace<M>::ball_of(std::uint32_t member, const SingleLane& lane,
                                           WorkspaceCounts& counts) const {
  return {lane, counts, team().memory_of(member)};
}

}  // namespace sluice::ppr
