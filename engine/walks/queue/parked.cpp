#include "engine/walks/queue/parked.hpp"

namespace sluice::walks {

QueueKeys::QueueKeys(const Communicator* ranks, std::uint32_t partitions, bool all_resident)
    : resident(all_resident), rank_keys(ranks ? static_cast<std::uint32_t>(ranks->size()) : 0) {
  const OwnedPartitions owned = OwnedPartitions::of(ranks, partitions);
  partition_keys = resident ? 1 : owned.end - owned.begin;
  pair_key = resident ? rank_keys : rank_keys + partition_keys;
  next_leg_key = rank_keys + partition_keys + (resident ? 0 : 1);
  count = next_leg_key + (resident ? 0 : 1);
  const Ownership ranges = ranks ? owners_of_partitions(*ranks, partitions) : Ownership{};
  for (std::uint32_t p = 0; p < partitions; ++p) {
    const bool is_own = p >= owned.begin && p < owned.end;
    queue_key.push_back(is_own ? rank_keys + (resident ? 0 : p - owned.begin) : ranges.owner(p));
  }
  queue_key.insert(queue_key.end(),
                   {count, pair_key, next_leg_key});  // ActiveWalks::ended_key(), pair_key(), next_leg_key()
}

}  // namespace sluice::walks
