// Blocks of a GPU that diffuse balls of one query in parallel (MeLoPPR's parallelism P). The first block has
// the query, its table and a ball; each other block has a ball in a workspace of its own. The first block
// takes in the results in the order of balls: scores are the same for any P. Blocks wait for each other
// through memory, so all blocks of a launch must run at once.
#pragma once

#include <cstdint>

#include "engine/exec/grid.cuh"
#include "engine/ppr/methods/ball.hpp"

namespace sluice::ppr {

inline constexpr std::uint32_t kMaxMembers = 16;

/// State that the blocks of a team share. In device memory, and zero at first.
struct BallTeam {
  unsigned arrived;
  BallOrder order;
  WorkspaceCounts counts[kMaxMembers];  ///< of each member's ball
  BallFigures figures[kMaxMembers];
};

/// The workspace of a member.
struct TeamMemory : WorkspaceView {
  BallTeam* team = nullptr;
  std::uint32_t members = 1;
  std::uint64_t workspace_bytes = 0;  ///< per member; the workspaces are contiguous

  /// The workspace of another member, called by the first.
  __device__ WorkspaceView member_workspace(std::uint32_t member) const {
    return WorkspaceShape::shifted(*this, member * workspace_bytes);
  }
  __device__ const Mass* returning_of(std::uint32_t member) const {
    return member_workspace(member).mass_by_step();
  }
  __device__ const BallFigures& figures_of(std::uint32_t member) const { return team->figures[member]; }
  __device__ void sync() const { cuda::FewTeam{members, &team->arrived}.sync(); }
  /// Called by the first member, for which the others wait. Returns the number of balls.
  __device__ std::uint32_t publish(BallOrder order) const {
    order.count = order.count < members ? order.count : members;
    if (threadIdx.x == 0) team->order = order;
    sync();
    return order.count;
  }
};

/// A workspace of the first member, as GroupWorkspace, or its table.
template <class Group, class M, bool Extracts>
class TeamWorkspace : public GroupWorkspace<Group, M, Extracts> {
  using Base = GroupWorkspace<Group, M, Extracts>;

 public:
  static constexpr bool kHasTeam = true;
  using Memory = const TeamMemory;

  __device__ TeamWorkspace(const Group& group, WorkspaceCounts& counts, const WorkspaceView& workspace)
      : Base(group, counts, workspace) {}
  __device__ TeamWorkspace(const Group& group, WorkspaceCounts& counts, const TeamMemory& memory)
      : Base(group, counts, memory), memory_(&memory) {}

  /// The workspace of another member's finished ball, with its counts in `counts`.
  __device__ TeamWorkspace ball_of(std::uint32_t member, const Group& group, WorkspaceCounts& counts) const {
    TeamWorkspace ball(group, counts, memory_->member_workspace(member));
    if (group.rank() == 0) counts = memory_->team->counts[member];
    group.sync();
    return ball;
  }
  __device__ const TeamMemory& team() const { return *memory_; }

 private:
  const TeamMemory* memory_ = nullptr;  ///< null in the table
};

/// Work of each member but the first.
template <class M, bool Extracts, class Group>
__device__ void run_member(const Group& group, GroupShared<Group>& shared, const TeamMemory& memory,
                           std::uint32_t member, const QueryRules& rules) {
  const WorkspaceView leader =
      WorkspaceShape::shifted(memory, std::uint64_t{0} - member * memory.workspace_bytes);
  const RankedVertex* const from = WorkspaceShape::second_of<M>(leader).ranked;
  Ball<Group, GroupWorkspace<Group, M, Extracts>> ball(group, shared, memory, rules, SeedsView{});
  Mass* const returning = memory.mass_by_step();
  while (true) {
    memory.sync();
    const BallOrder order = memory.team->order;
    ball.workspace().clear();  // the first member has taken in the balls
    ball.workspace().reset();
    if (order.count == 0) return;
    if (member < order.count) {
      for (std::uint32_t step = group.rank(); step < order.steps; step += Group::kSize) returning[step] = 0;
      ball.reset_figures();
      ball.run_from(from[order.first + member], order.steps, returning);
      const BallFigures figures = ball.figures();
      if (group.rank() == 0)
        memory.team->counts[member] = shared.counts, memory.team->figures[member] = figures;
    }
    memory.sync();
  }
}

}  // namespace sluice::ppr
