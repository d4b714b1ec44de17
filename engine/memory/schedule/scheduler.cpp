#include "engine/memory/schedule/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

Scheduler::Scheduler(std::uint32_t partitions, unsigned slots, SchedulePolicy policy, LargePartitions large)
    : policy_(policy),
      large_(std::move(large)),
      state_(partitions, State::away),
      since_(partitions, 0),
      held_(slots, kEmpty),
      arrived_(slots, 0) {}

std::vector<std::uint32_t> Scheduler::wanted(std::span<const std::uint64_t> waiting) const {
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t p = 0; p < state_.size(); ++p)
    if (waiting[p] > 0 && away(p)) candidates.push_back(p);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (policy_ == SchedulePolicy::workload && waiting[a] != waiting[b]) return waiting[a] > waiting[b];
    if (policy_ == SchedulePolicy::fifo && since_[a] != since_[b]) return since_[a] < since_[b];
    return a < b;
  };
  std::sort(candidates.begin(), candidates.end(), before);
  return candidates;
}

std::vector<PartitionLoad> Scheduler::choose(std::span<const std::uint64_t> waiting) {
  ++round_;
  for (std::uint32_t p = 0; p < state_.size(); ++p) {
    if (waiting[p] == 0) {
      since_[p] = 0;
    } else if (since_[p] == 0) {
      since_[p] = round_;
    }
  }
  auto empty = std::count(held_.begin(), held_.end(), kEmpty);
  std::vector<PartitionLoad> loads;
  for (const std::uint32_t partition : wanted(waiting)) {
    if (empty == 0) break;
    const unsigned slot = place_for(partition);
    if (slot == held_.size()) continue;
    loads.push_back({slot, partition});
    replace(loads.back());
    --empty;
  }
  return loads;
}

std::uint32_t Scheduler::replace(const PartitionLoad& load) {
  const std::uint32_t left = held_[load.slot];
  if (left != kEmpty) evict(left);
  held_[load.slot] = load.partition;
  state_[load.partition] = State::coming;
  return left;
}

unsigned Scheduler::slot_of(std::uint32_t partition) const {
  return static_cast<unsigned>(std::find(held_.begin(), held_.end(), partition) - held_.begin());
}

unsigned Scheduler::place_for(std::uint32_t partition) const {
  const auto slots = static_cast<unsigned>(held_.size());
  const auto first_empty = [&](unsigned from, unsigned to) {
    while (from < to && held_[from] != kEmpty) ++from;
    return from < to ? from : slots;
  };
  if (large(partition)) return first_empty(0, large_.slots);
  const unsigned usual = first_empty(large_.slots, slots);
  return usual != slots ? usual : first_empty(0, large_.slots);
}

void Scheduler::arrive(std::span<const std::uint32_t> partitions) {
  for (const std::uint32_t partition : partitions) {
    state_[partition] = State::resident;
    arrived_[slot_of(partition)] = round_;
  }
}

unsigned Scheduler::coming() const {
  return static_cast<unsigned>(std::ranges::count(state_, State::coming));
}

std::vector<std::uint32_t> Scheduler::retire(std::span<const std::uint64_t> waiting, unsigned empty) {
  std::vector<unsigned> idle;
  unsigned already = 0;
  for (unsigned slot = 0; slot < held_.size(); ++slot) {
    if (held_[slot] == kEmpty) {
      ++already;
    } else if (state_[held_[slot]] == State::resident && waiting[held_[slot]] == 0) {
      idle.push_back(slot);
    }
  }
  std::stable_sort(idle.begin(), idle.end(),
                   [&](unsigned a, unsigned b) { return arrived_[a] < arrived_[b]; });
  std::vector<std::uint32_t> left;
  for (const unsigned slot : idle) {
    if (already >= empty) break;
    left.push_back(held_[slot]);
    evict(held_[slot]);
    ++already;
  }
  const auto in_the_way =
      std::find_if(idle.begin(), idle.end(), [&](unsigned slot) { return slot < large_.slots; });
  if (in_the_way != idle.end() && lacks_large_slot(waiting)) {
    left.push_back(held_[*in_the_way]);
    evict(held_[*in_the_way]);
  }
  return left;
}

bool Scheduler::lacks_large_slot(std::span<const std::uint64_t> waiting) const {
  for (std::uint32_t p = 0; p < state_.size(); ++p) {
    if (large(p) && away(p) && waiting[p] > 0) return place_for(p) == held_.size();
  }
  return false;
}

std::vector<std::uint32_t> Scheduler::clear() {
  std::vector<std::uint32_t> left;
  for (const std::uint32_t partition : held_) {
    if (partition != kEmpty) left.push_back(partition);
  }
  for (const std::uint32_t partition : left) evict(partition);
  return left;
}

void Scheduler::evict(std::uint32_t partition) {
  held_[slot_of(partition)] = kEmpty;
  state_[partition] = State::away;
}

std::vector<std::uint32_t> Scheduler::residents() const {
  std::vector<std::uint32_t> resident;
  for (const std::uint32_t partition : held_) {
    if (partition != kEmpty && state_[partition] == State::resident) resident.push_back(partition);
  }
  return resident;
}

}  // namespace sluice
