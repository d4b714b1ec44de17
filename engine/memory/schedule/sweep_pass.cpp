#include "engine/memory/schedule/sweep_pass.hpp"

#include <algorithm>

namespace sluice {

SweepPass::SweepPass(Scheduler& slots, std::span<const std::uint64_t> waiting)
    : slots_(slots), to_load_(slots.wanted(waiting)) {
  const unsigned all = slots.slots();
  pinned_ = all == waiting.size() ? all : all - 2 * std::max(1u, all / 4);
  const auto is_empty = [&](unsigned slot) { return slots.partition_in(slot) == Scheduler::kEmpty; };
  // Slots to fill: empty ones first, since partitions without work may be needed again.
  for (unsigned slot = 0; slot < all; ++slot)
    if (is_empty(slot)) to_fill_.push_back(slot);
  for (unsigned slot = 0; slot < all; ++slot)
    if (!is_empty(slot) && waiting[slots.partition_in(slot)] == 0) to_fill_.push_back(slot);
  // Slots to work on: first those that are filled again afterwards.
  const auto append_wanted = [&](unsigned begin, unsigned end) {
    for (unsigned slot = begin; slot < end; ++slot)
      if (!is_empty(slot) && waiting[slots.partition_in(slot)] > 0) to_work_on_.push_back(slot);
  };
  append_wanted(pinned_, all);
  append_wanted(0, pinned_);
}

PartitionMoves SweepPass::fill() {
  PartitionMoves moves;
  for (; filled_ < to_fill_.size() && loads_begun_ < to_load_.size(); ++filled_, ++loads_begun_, ++loading_) {
    const PartitionLoad load{to_fill_[filled_], to_load_[loads_begun_]};
    const std::uint32_t evicted = slots_.replace(load);
    if (evicted != Scheduler::kEmpty) moves.evicted.push_back(evicted);
    moves.loads.push_back(load);
  }
  return moves;
}

void SweepPass::arrive(std::span<const std::uint32_t> partitions) {
  slots_.arrive(partitions);
  for (const std::uint32_t partition : partitions) to_work_on_.push_back(slots_.slot_of(partition));
  loading_ -= static_cast<unsigned>(partitions.size());
}

std::vector<std::uint32_t> SweepPass::next() {
  // While loads are outstanding, take a few at a time: their slots can be filled again sooner.
  const bool loads_pending = loads_begun_ < to_load_.size() || loading_ > 0;
  const std::size_t count =
      loads_pending ? std::min<std::size_t>(to_work_on_.size(), std::max(1u, streaming_slots() / 4))
                    : to_work_on_.size();
  const auto end = to_work_on_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<std::uint32_t> partitions;
  for (auto slot = to_work_on_.begin(); slot != end; ++slot) {
    partitions.push_back(slots_.partition_in(*slot));
    if (*slot >= pinned_) to_fill_.push_back(*slot);
  }
  to_work_on_.erase(to_work_on_.begin(), end);
  return partitions;
}

}  // namespace sluice
