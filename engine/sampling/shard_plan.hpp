// What a job of ranks that share out the graph would take: the plan that these ranks would agree on, and each
// one's part of it.
#pragma once

#include <cstdint>

#include "engine/graph/page_columns.hpp"
#include "engine/sampling/run.hpp"

namespace sluice {

/// What a run on ranks asks of its plan.
struct ShardedPlanInput {
  PageColumns columns;
  std::uint64_t instances = 1;       ///< of this rank
  std::uint64_t steps = 1;           ///< how often an instance goes on to another list
  std::uint64_t instance_bytes = 0;  ///< that an instance under way takes
  bool roams = false;                ///< every rank holds the instances of all: work goes to where lists are
  bool travels = false;         ///< walks may change hands between ranks that hold all of their partitions
  bool asks = false;            ///< and may need two lists at once
  std::uint64_t row_bytes = 0;  ///< of `instance_bytes`, a walk's path
  std::uint64_t taken = 0;      ///< what lies on the device before
};

/// Fills `plan` as the run would cut and share. All ranks of `paging.shard` call it; that GPUs reach each
/// other is taken for granted.
void plan_on_ranks(RunPlan& plan, const Device& device, const Graph& graph, const PagingOptions& paging,
                   const ShardedPlanInput& job);

}  // namespace sluice
