// Kernels that answer queries: each block takes one query after another, and keeps its workspace.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "engine/exec/block_group.cuh"
#include "engine/exec/device_clock.cuh"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/stream.cuh"
#include "engine/ppr/methods/ball_team.cuh"
#include "engine/ppr/methods/group_one_by_one.hpp"
#include "engine/ppr/methods/group_query.hpp"

namespace sluice::ppr {

/// A round of a query has tens to thousands of edges, and ends with a barrier. Four blocks fill the registers
/// of an SM.
inline constexpr unsigned kQueryBlock = 256;
inline constexpr unsigned kQueryBlocksPerSm = 4;

using QueryBlock = BlockGroup<kQueryBlock>;
template <class M>
using JointQuery = GroupQuery<QueryBlock, GroupWorkspace<QueryBlock, M>>;
template <class M>
using OneByOneQuery = GroupOneByOne<QueryBlock, GroupWorkspace<QueryBlock, M>>;
template <class M>
using ExtractingQuery = GroupOneByOne<QueryBlock, GroupWorkspace<QueryBlock, M, true>>;
template <class M, bool Extracts>
using TeamQuery = GroupOneByOne<QueryBlock, TeamWorkspace<QueryBlock, M, Extracts>>;

/// The queries of a launch; trivially copyable.
struct QueriesView {
  QueryRules rules;
  WorkspaceView workspace;  ///< of the first block
  std::uint64_t workspace_bytes = 0;
  std::uint32_t fast_bytes = 0;  ///< shared memory for a sub-graph
  Instance first = 0;            ///< query of row 0
  BatchView batch;
  const std::uint32_t* rows = nullptr;  ///< [count] in the batch
  std::uint32_t count = 0;
  std::uint32_t* next = nullptr;  ///< the next query that no block has taken
  BallTeam* teams = nullptr;      ///< [blocks / members]
  std::uint32_t members = 1;      ///< blocks per team
};

/// A block, or the first of a team, answers one query after another.
template <class Query, class Memory>
__device__ void run_queries(const QueryBlock& block, typename Query::Shared& shared, Memory& workspace,
                            const QueriesView& view) {
  while (true) {
    const std::uint32_t item = block.broadcast(threadIdx.x == 0 ? atomicAdd(view.next, 1u) : 0u, 0);
    if (item >= view.count) return;
    const std::uint32_t row = view.rows[item];
    const unsigned long long begin = cuda::nanoseconds_now();
    Query query(block, shared, workspace, view.rules, view.batch.seeds_of(row), view.first + row);
    GroupFigures figures = query.solve();
    const std::uint64_t list = std::uint64_t{row} * view.rules.top;
    if (figures.abandoned == 0) query.write_top(view.batch.vertices + list, view.batch.scores + list);
    query.clear();
    figures.nanoseconds = cuda::nanoseconds_now() - begin;
    if (threadIdx.x == 0) view.batch.figures[row] = figures;
  }
}

// ---- kernels

template <class M>
__global__ void __launch_bounds__(kQueryBlock)
    clear_workspaces_kernel(WorkspaceView first, std::uint64_t workspace_bytes) {
  const auto clear = [](const WorkspaceView& view) {
    for (std::uint64_t slot = threadIdx.x; slot < view.slots; slot += kQueryBlock)
      view.entries_of<M>()[slot] = WorkspaceEntry<M>{};
  };
  const WorkspaceView workspace = WorkspaceShape::shifted(first, blockIdx.x * workspace_bytes);
  clear(workspace);
  if (workspace.second != 0) clear(WorkspaceShape::second_of<M>(workspace));
}

/// The workspace of this block.
__device__ inline WorkspaceView workspace_of(const QueriesView& view) {
  extern __shared__ __align__(16) unsigned char sub_graph[];
  WorkspaceView workspace = WorkspaceShape::shifted(view.workspace, blockIdx.x * view.workspace_bytes);
  workspace.fast = sub_graph, workspace.fast_bytes = view.fast_bytes;
  return workspace;
}

template <class Query>
__global__ void __launch_bounds__(kQueryBlock, kQueryBlocksPerSm) queries_kernel(QueriesView view) {
  // Raw bytes: variables in shared memory have no constructors.
  __shared__ alignas(Query::Shared) unsigned char shared[sizeof(Query::Shared)];
  __shared__ QueryBlock::Workspace block_workspace;
  const QueryBlock block(block_workspace);
  const WorkspaceView workspace = workspace_of(view);
  run_queries<Query>(block, *reinterpret_cast<typename Query::Shared*>(shared), workspace, view);
}

/// All blocks of a launch must run at once.
template <class M, bool Extracts>
__global__ void __launch_bounds__(kQueryBlock, kQueryBlocksPerSm) team_queries_kernel(QueriesView view) {
  using Query = TeamQuery<M, Extracts>;
  __shared__ alignas(typename Query::Shared) unsigned char shared[sizeof(typename Query::Shared)];
  __shared__ QueryBlock::Workspace block_workspace;
  const QueryBlock block(block_workspace);
  auto& query = *reinterpret_cast<typename Query::Shared*>(shared);
  const std::uint32_t member = blockIdx.x % view.members;
  const TeamMemory memory{workspace_of(view), view.teams + blockIdx.x / view.members, view.members,
                          view.workspace_bytes};
  if (member != 0) return run_member<M, Extracts>(block, query.ball, memory, member, view.rules);
  run_queries<Query>(block, query, memory, view);
  memory.publish({});
}

// ---- launchers

/// Contiguous workspaces, empty whenever no query runs.
class Workspaces {
 public:
  /// Makes up to `wanted` workspaces of this shape, as many as the memory allows and at least one; returns
  /// their number.
  unsigned prepare(const Device& device, const WorkspaceShape& shape, std::uint64_t wanted,
                   const cuda::Stream& stream) {
    const std::uint64_t fit = (device.memory().available() + memory_.bytes()) / shape.bytes();
    const auto workspaces = static_cast<unsigned>(std::clamp<std::uint64_t>(fit, 1, wanted));
    if (shape.limit == limit_ && workspaces <= workspaces_) return workspaces;
    memory_.reserve(device, workspaces * shape.bytes(), "vertices that queries reached");
    first_ = shape.view(memory_.data());
    limit_ = shape.limit, workspaces_ = workspaces;
    if (device.is_planning()) return workspaces;
    const bool coarse = shape.entry_bytes == sizeof(WorkspaceEntry<CoarseMass>);
    const auto clear = coarse ? clear_workspaces_kernel<CoarseMass> : clear_workspaces_kernel<Mass>;
    clear<<<workspaces, kQueryBlock, 0, stream.get()>>>(first_, shape.bytes());
    cuda::check_launch("clear_workspaces_kernel");
    return workspaces;
  }

  /// Only while no query runs.
  void release() { *this = Workspaces(); }
  std::uint64_t bytes() const { return memory_.bytes(); }

  const WorkspaceView& first() const { return first_; }

 private:
  Buffer<unsigned char> memory_;
  WorkspaceView first_;
  std::uint64_t limit_ = 0;
  unsigned workspaces_ = 0;
};

}  // namespace sluice::ppr
