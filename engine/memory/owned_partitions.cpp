#include "engine/memory/owned_partitions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/core/memory_budget.hpp"
#include "engine/exchange/values_of_ranks.hpp"

namespace sluice {

OwnedPartitions OwnedPartitions::of(std::uint64_t partitions, int rank, int ranks) {
  const Ownership owners = Ownership::even(partitions, static_cast<std::uint64_t>(ranks));
  const auto rank_index = static_cast<std::uint64_t>(rank);
  return {static_cast<std::uint32_t>(owners.begin(rank_index)),
          static_cast<std::uint32_t>(owners.end(rank_index))};
}

OwnedPartitions OwnedPartitions::of(const Communicator* ranks, std::uint64_t partitions) {
  return ranks ? of(partitions, ranks->rank(), ranks->size()) : of(partitions, 0, 1);
}

Ownership owners_of_partitions(const Communicator& ranks, std::uint64_t partitions) {
  return Ownership::even(partitions, static_cast<std::uint64_t>(ranks.size()));
}

Ownership owners_of_vertices(const Communicator& ranks, const PartitionPlan& plan) {
  const Ownership owners = owners_of_partitions(ranks, plan.size());
  std::vector<std::uint64_t> begins;
  for (const std::uint64_t partition : owners.begins()) begins.push_back(plan.ranges().begins()[partition]);
  return Ownership(std::move(begins));
}

std::uint64_t exchange_buffer_bytes(const Device& device) {
  constexpr std::uint64_t kMinBytes = 4u << 20, kMaxBytes = 64u << 20;
  std::uint64_t memory = device.memory().ceiling();
  // The host backend's device memory is part of host memory.
  if (!device.is_cuda()) memory = std::min(memory, host_budget().ceiling());
  return std::clamp(memory / 256, kMinBytes, kMaxBytes);
}

PagedPlan plan_shard(Communicator* ranks, const Device& device, const Graph& graph,
                     const PagingOptions& paging, const PageColumns& columns,
                     std::uint64_t bytes_per_instance, std::uint64_t instances, std::uint64_t steps,
                     std::uint64_t reserved_bytes, std::uint64_t row_bytes) {
  if (!ranks)
    return plan_pages(device, graph, paging, columns, bytes_per_instance, instances, steps, reserved_bytes,
                      row_bytes);
  const auto size = static_cast<std::uint64_t>(ranks->size());
  std::uint64_t maxima[] = {std::max<std::uint64_t>(instances, 1), size};
  PagingOptions wanted = paging;
  const auto plan_with = [&] {
    return plan_pages(device, graph, wanted, columns, bytes_per_instance, maxima[0], steps,
                      reserved_bytes + exchange_buffer_bytes(device));
  };
  ranks->all_reduce(maxima, Reduce::max, "the partition plan");
  maxima[1] = std::max(size, paging.partitions);
  if (paging.partitions == 0)
    agree_on_memory(ranks, [&] { maxima[1] = std::max(size, plan_with().partitions.size()); });
  ranks->all_reduce(maxima, Reduce::max, "the partition plan");
  wanted.partitions = maxima[1];
  std::optional<PagedPlan> fitted;
  agree_on_memory(ranks, [&] { fitted = plan_with(); });
  PagedPlan& plan = *fitted;
  // Slots for this rank's partitions, and for one more: a scan may need a list of another rank.
  const OwnedPartitions owned = OwnedPartitions::of(ranks, plan.partitions.size());
  plan.slots = std::min<unsigned>(plan.slots, std::max(owned.end - owned.begin + 1, 2u));
  plan.slot_bytes = bytes_of_slots(plan.partitions, plan.slots);
  std::uint64_t agreed[] = {plan.batch};
  ranks->all_reduce(agreed, Reduce::min, "the partition plan");
  plan.batch = std::min(agreed[0], kMaxInFlight / size);
  return std::move(plan);
}

BatchOrigins::BatchOrigins(const Device& device, Communicator* ranks, Instance begin, Instance end,
                           std::uint64_t per_origin)
    : device_(device), per_origin_(per_origin) {
  constexpr const char* kLabel = "the ranks' instances";
  begins_ = values_of_ranks(ranks, std::span<const Instance>(&begin, 1), kLabel);
  ends_ = values_of_ranks(ranks, std::span<const Instance>(&end, 1), kLabel);
  own_index_ = ranks ? static_cast<std::size_t>(ranks->rank()) : 0;
  for (std::size_t r = 0; r < size(); ++r)
    batches_ = std::max(batches_, (ends_[r] - begins_[r] + per_origin - 1) / per_origin);
  firsts_.resize(size()), counts_.resize(size());
  device_firsts_ = Buffer<Instance>(device, size(), "the batch's instances");
  device_counts_ = Buffer<std::uint64_t>(device, size(), "the batch's instances");
}

void BatchOrigins::begin(std::uint64_t w) {
  for (std::size_t h = 0; h < size(); ++h) {
    firsts_[h] = std::min(begins_[h] + w * per_origin_, ends_[h]);
    counts_[h] = std::min(per_origin_, ends_[h] - firsts_[h]);
  }
  copy_to_device(device_, device_firsts_.data(), firsts_.data(), device_firsts_.bytes());
  copy_to_device(device_, device_counts_.data(), counts_.data(), device_counts_.bytes());
}

}  // namespace sluice
