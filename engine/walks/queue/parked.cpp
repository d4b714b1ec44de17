#include "engine/walks/queue/parked.hpp"

namespace sluice::walks {

QueueKeys::QueueKeys(const Communicator* ranks, std::uint32_t partitions, bool all_here)
    : resident(all_here), others(ranks ? static_cast<std::uint32_t>(ranks->size()) : 0) {
  const OwnedPartitions owned = OwnedPartitions::of(ranks, partitions);
  own = resident ? 1 : owned.end - owned.begin;
  pairs = resident ? others : others + own;
  next_leg = others + own + (resident ? 0 : 1);
  count = next_leg + (resident ? 0 : 1);
  const Ownership ranges = ranks ? owners_of_partitions(*ranks, partitions) : Ownership{};
  for (std::uint32_t p = 0; p < partitions; ++p) {
    const bool here = p >= owned.begin && p < owned.end;
    of.push_back(here ? others + (resident ? 0 : p - owned.begin) : ranges.owner(p));
  }
  of.insert(of.end(), {count, pairs, next_leg});  // ActiveWalks::ended(), pairs(), next_leg()
}

}  // namespace sluice::walks
