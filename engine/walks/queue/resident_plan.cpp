#include <algorithm>

#include "engine/memory/sweep_pages.hpp"
#include "engine/select/build_tables.hpp"
#include "engine/walks/queue/queued_walks.hpp"

namespace sluice::walks {

namespace {

/// Bytes of a rank beside slots and walks: look-ups of partitions, and counts for each rank.
std::uint64_t look_up_bytes(const PartitionPlan& plan, std::uint64_t slots, std::uint64_t slot_bytes,
                            std::uint64_t ranks) {
  constexpr std::uint64_t kHalves = 2, kCounters = 64u << 10;
  const std::uint64_t owners = plan.ranges().bytes(),
                      round = plan.size() * sizeof(std::uint32_t) + (slots + 1) * slot_bytes,
                      half = (plan.size() + 2) * sizeof(std::uint32_t) + ranks * (ranks + 2) * 8;
  return owners + round + kHalves * half + ranks * 16 + kCounters;
}

/// Temporary bytes of a GPU while it makes tables of its partitions: weights of partitions that are processed
/// concurrently, sums of the longest list (kHubScratchEntryBytes), and hubs.
std::uint64_t scratch_of_tables(const Device& device, const Graph& graph, const PartitionPlan& plan,
                                const PageColumns& columns, std::uint64_t slots) {
  if (!device.is_cuda()) return 0;
  constexpr std::uint64_t kLanes = 4;  // in Slots that bring partitions, at most
  const std::uint64_t edges = plan.largest() / columns.bytes_per_edge(),
                      hubs = edges / GraphView::kHubDegree * sizeof(Vertex);
  if (!columns.wide_alias) return hubs;
  const std::uint64_t weights = graph.weighted && !columns.weights ? edges * sizeof(float) : 0,
                      longest = longest_list(graph.out.offsets.span(), device.threads());
  return std::min(kLanes, slots) * weights + longest * kHubScratchEntryBytes + hubs;
}

}  // namespace

std::optional<PagedPlan> plan_resident_shard(Communicator& ranks, const Device& device, const Graph& graph,
                                             const PagingOptions& paging, const PageColumns& columns,
                                             std::uint64_t bytes_per_walk, std::uint64_t instances,
                                             bool pairs, std::uint64_t slot_bytes, bool with_set) {
  // A pair brings a partition of another rank, which should be a small part of what that rank owns.
  constexpr std::uint64_t kPartsForPairs = 16, kMinShare = 2;
  // Ranks may have devices of different kinds, which cannot be connected.
  std::uint64_t kinds[] = {device.is_cuda() ? 1u : 0u, device.is_cuda() ? 0u : 1u};
  ranks.all_reduce(kinds, Reduce::max, "the devices of ranks");
  if (kinds[0] + kinds[1] > 1) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const std::uint64_t parts =
      paging.partitions != 0 ? paging.partitions : size * (pairs ? kPartsForPairs : 1);
  PagedPlan plan{PartitionPlan::of_count(graph.out.offsets.span(), {0, columns.bytes_per_edge()}, parts)};
  const OwnedPartitions own = OwnedPartitions::of(&ranks, plan.partitions.size());
  const std::uint64_t owned = own.end - own.begin,
                      slots = std::max<std::uint64_t>(owned + (pairs && owned < plan.partitions.size()), 1);
  plan.slots = static_cast<unsigned>(slots);
  if (with_set) {
    const auto begins = plan.partitions.ranges().begins();
    plan.edge_set =
        EdgeSet::of({graph.out.view(), nullptr, !graph.directed}, begins[own.begin], begins[own.end]);
  }
  std::uint64_t max_batch = std::max<std::uint64_t>(instances, 1);
  ranks.all_reduce(std::span(&max_batch, 1), Reduce::max, "the partition plan");
  // The memory of the host backend also holds results on their way to the sink.
  const std::uint64_t limit = device.is_cuda() ? ~std::uint64_t{0} : host_budget().available() / 2,
                      available = std::min(device.memory().available(), limit),
                      slots_bytes = slots * plan.partitions.largest(),
                      parts_bytes = slots_bytes + plan.edge_set.bytes(),
                      scratch = columns.wide_alias || with_set
                                    ? scratch_of_tables(device, graph, plan.partitions, columns, slots)
                                    : 0,
                      fixed_bytes =
                          parts_bytes + scratch + look_up_bytes(plan.partitions, slots, slot_bytes, size);
  // A walk may visit any rank, and all walks of a batch may visit the rank that owns a hub. So every rank has
  // a row and queue space for the walks of all ranks, and writes into a row the steps made on it. With less
  // queue space, full ranks would wait for each other. With rows for its own walks only, each step made
  // elsewhere would need a message, and smaller batches would need proportionally more rounds. So memory
  // alone bounds a batch, not the number of ranks.
  std::uint64_t batch = 0;
  if (fixed_bytes < available && (paging.slots == 0 || slots <= std::max<std::uint64_t>(paging.slots, 2)))
    batch = std::min({(available - fixed_bytes) / (bytes_per_walk * size), max_batch, kMaxInFlight / size});
  // If partitions leave little memory for walks, the additional batches cost more than bringing partitions.
  if (batch < max_batch && parts_bytes > available / kMinShare) batch = 0;
  ranks.all_reduce(std::span(&batch, 1), Reduce::min, "the partition plan");
  if (batch == 0) return std::nullopt;
  plan.batch = batch;
  plan.slot_bytes = slots_bytes;
  plan.instance_bytes = bytes_per_walk * size;
  return plan;
}

}  // namespace sluice::walks
