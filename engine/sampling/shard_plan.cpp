#include "engine/sampling/shard_plan.hpp"

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "engine/memory/owned_partitions.hpp"
#include "engine/walks/sharded/walk.hpp"

namespace sluice {

namespace {

/// What an edge costs to bring: its columns, or what these are made of where edges lie in a file.
std::uint64_t bytes_brought_per_edge(const Graph& graph, const PageColumns& columns) {
  if (!graph.edges_elsewhere) return columns.bytes_per_edge();
  const bool weights = columns.weights || (graph.weighted && (columns.cumulative || columns.alias));
  return sizeof(Vertex) + (weights ? sizeof(float) : 0);
}

/// What a walk takes that changes hands between ranks which hold all of their partitions.
std::uint64_t resident_bytes(const ShardedPlanInput& job) {
  return (job.asks ? kShardWalkBytes<true> : kShardWalkBytes<false>)+job.row_bytes;
}

/// This rank's part of a plan.
RankPlan part_of(const PagedPlan& parts, const Graph& graph, const ShardedPlanInput& job,
                 const Communicator& ranks, bool holds_all) {
  const OwnedPartitions own = OwnedPartitions::of(&ranks, parts.partitions.size());
  const auto& offsets = graph.out.offsets;
  const std::uint64_t edges =
      offsets[parts.partitions.begin(own.end)] - offsets[parts.partitions.begin(own.begin)];
  RankPlan part;
  part.first = own.begin, part.last = own.end, part.slots = parts.slots;
  part.brought_bytes = static_cast<double>(edges * bytes_brought_per_edge(graph, job.columns));
  // With a slot more than there are partitions, what came stays. Else it comes again for almost every step,
  // as work leaves for other ranks and returns, and more than once where work goes on between its partitions.
  if (!holds_all && parts.slots <= own.end - own.begin) {
    const double away = 1 - static_cast<double>(parts.slots) / (own.end - own.begin);
    const double batches = std::ceil(static_cast<double>(job.instances) / static_cast<double>(parts.batch));
    part.brought_bytes *= batches * static_cast<double>(job.steps) * (1 + away);
  }
  return part;
}

std::vector<RankPlan> gather(Communicator& ranks, const RankPlan& own) {
  std::string bytes(sizeof own, '\0');
  std::memcpy(bytes.data(), &own, sizeof own);
  std::vector<RankPlan> all;
  for (const std::string& text : ranks.all_gather(bytes, "the ranks' plans"))
    std::memcpy(&all.emplace_back(), text.data(), sizeof own);
  return all;
}

}  // namespace

void plan_on_ranks(RunPlan& plan, const Device& device, const Graph& graph, const PagingOptions& paging,
                   const ShardedPlanInput& job) {
  Communicator& ranks = *paging.shard;
  const std::uint64_t homes = job.roams ? static_cast<std::uint64_t>(ranks.size()) : 1;
  std::uint64_t each = homes * resident_bytes(job);
  std::optional<PagedPlan> parts;
  if (job.travels) {
    parts = plan_resident_shard(ranks, device, graph, paging, job.columns, resident_bytes(job), job.instances,
                                job.asks, job.taken);
  }
  plan.holds_all = parts.has_value();
  if (!parts) {
    each = homes * job.instance_bytes;
    parts = plan_shard(&ranks, device, graph, paging, job.columns, each, job.instances, job.steps, job.taken);
  }
  RankPlan own = part_of(*parts, graph, job, ranks, plan.holds_all);
  plan.graph_bytes = job.taken + parts->slot_bytes;
  plan.table_bytes = 0;
  plan.batch_bytes = parts->batch * each;
  own.device_bytes = plan.device_bytes_needed = plan.graph_bytes + plan.batch_bytes;
  plan.slots = parts->slots;
  plan.by_rank = gather(ranks, own);
  plan.brought_bytes = 0;
  for (const RankPlan& rank : plan.by_rank) plan.brought_bytes += rank.brought_bytes;
  plan.partitions = std::move(parts->partitions);
}

}  // namespace sluice
