#include "engine/memory/schedule/sweep_pass.hpp"

#include <algorithm>

namespace sluice {

SweepPass::SweepPass(Scheduler& slots, std::span<const std::uint64_t> waiting)
    : slots_(slots), away_(slots.wanted(waiting)) {
  const unsigned all = slots.slots();
  pinned_ = all == waiting.size() ? all : all - 2 * std::max(1u, all / 4);
  const auto is_empty = [&](unsigned slot) { return slots.held(slot) == Scheduler::kEmpty; };
  // Slots to fill: empty ones first, since partitions without work may be needed again.
  for (unsigned slot = 0; slot < all; ++slot)
    if (is_empty(slot)) free_.push_back(slot);
  for (unsigned slot = 0; slot < all; ++slot)
    if (!is_empty(slot) && waiting[slots.held(slot)] == 0) free_.push_back(slot);
  // Slots to work on: first those that are filled again afterwards.
  const auto list_wanted = [&](unsigned begin, unsigned end) {
    for (unsigned slot = begin; slot < end; ++slot)
      if (!is_empty(slot) && waiting[slots.held(slot)] > 0) resident_.push_back(slot);
  };
  list_wanted(pinned_, all);
  list_wanted(0, pinned_);
}

PartitionMoves SweepPass::fill() {
  PartitionMoves moves;
  for (; filled_ < free_.size() && begun_ < away_.size(); ++filled_, ++begun_, ++coming_) {
    const PartitionLoad load{free_[filled_], away_[begun_]};
    const std::uint32_t left = slots_.replace(load);
    if (left != Scheduler::kEmpty) moves.left.push_back(left);
    moves.loads.push_back(load);
  }
  return moves;
}

void SweepPass::arrive(std::span<const std::uint32_t> partitions) {
  slots_.arrive(partitions);
  for (const std::uint32_t partition : partitions) resident_.push_back(slots_.slot_of(partition));
  coming_ -= static_cast<unsigned>(partitions.size());
}

std::vector<std::uint32_t> SweepPass::next() {
  // While loads are outstanding, take a few at a time: their slots can be filled again sooner.
  const bool hurry = begun_ < away_.size() || coming_ > 0;
  const std::size_t some =
      hurry ? std::min<std::size_t>(resident_.size(), std::max(1u, passing() / 4)) : resident_.size();
  const auto end = resident_.begin() + static_cast<std::ptrdiff_t>(some);
  std::vector<std::uint32_t> partitions;
  for (auto slot = resident_.begin(); slot != end; ++slot) {
    partitions.push_back(slots_.held(*slot));
    if (*slot >= pinned_) free_.push_back(*slot);
  }
  resident_.erase(resident_.begin(), end);
  return partitions;
}

}  // namespace sluice
