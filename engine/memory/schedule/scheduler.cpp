#include "engine/memory/schedule/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

Scheduler::Scheduler(std::uint32_t partitions, unsigned slots, SchedulePolicy policy, LargePartitions large)
    : policy_(policy),
      large_(std::move(large)),
      state_(partitions, State::absent),
      waiting_since_(partitions, 0),
      slot_partition_(slots, kEmpty),
      arrival_round_(slots, 0) {}

std::vector<std::uint32_t> Scheduler::wanted(std::span<const std::uint64_t> waiting) const {
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t p = 0; p < state_.size(); ++p)
    if (waiting[p] > 0 && absent(p)) candidates.push_back(p);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (policy_ == SchedulePolicy::workload && waiting[a] != waiting[b]) return waiting[a] > waiting[b];
    if (policy_ == SchedulePolicy::fifo && waiting_since_[a] != waiting_since_[b])
      return waiting_since_[a] < waiting_since_[b];
    return a < b;
  };
  std::sort(candidates.begin(), candidates.end(), before);
  return candidates;
}

std::vector<PartitionLoad> Scheduler::choose(std::span<const std::uint64_t> waiting) {
  ++round_;
  for (std::uint32_t p = 0; p < state_.size(); ++p) {
    if (waiting[p] == 0) {
      waiting_since_[p] = 0;
    } else if (waiting_since_[p] == 0) {
      waiting_since_[p] = round_;
    }
  }
  auto empty = std::count(slot_partition_.begin(), slot_partition_.end(), kEmpty);
  std::vector<PartitionLoad> loads;
  for (const std::uint32_t partition : wanted(waiting)) {
    if (empty == 0) break;
    const unsigned slot = empty_slot_for(partition);
    if (slot == slot_partition_.size()) continue;
    loads.push_back({slot, partition});
    replace(loads.back());
    --empty;
  }
  return loads;
}

std::uint32_t Scheduler::replace(const PartitionLoad& load) {
  const std::uint32_t evicted = slot_partition_[load.slot];
  if (evicted != kEmpty) evict(evicted);
  slot_partition_[load.slot] = load.partition;
  state_[load.partition] = State::loading;
  return evicted;
}

unsigned Scheduler::slot_of(std::uint32_t partition) const {
  return static_cast<unsigned>(std::find(slot_partition_.begin(), slot_partition_.end(), partition) -
                               slot_partition_.begin());
}

unsigned Scheduler::empty_slot_for(std::uint32_t partition) const {
  const auto slots = static_cast<unsigned>(slot_partition_.size());
  const auto first_empty = [&](unsigned begin, unsigned end) {
    while (begin < end && slot_partition_[begin] != kEmpty) ++begin;
    return begin < end ? begin : slots;
  };
  if (large(partition)) return first_empty(0, large_.slots);
  const unsigned usual = first_empty(large_.slots, slots);
  return usual != slots ? usual : first_empty(0, large_.slots);
}

void Scheduler::arrive(std::span<const std::uint32_t> partitions) {
  for (const std::uint32_t partition : partitions) {
    state_[partition] = State::resident;
    arrival_round_[slot_of(partition)] = round_;
  }
}

unsigned Scheduler::loading() const {
  return static_cast<unsigned>(std::ranges::count(state_, State::loading));
}

std::vector<std::uint32_t> Scheduler::retire(std::span<const std::uint64_t> waiting, unsigned empty) {
  std::vector<unsigned> idle;
  unsigned empty_now = 0;
  for (unsigned slot = 0; slot < slot_partition_.size(); ++slot) {
    if (slot_partition_[slot] == kEmpty) {
      ++empty_now;
    } else if (state_[slot_partition_[slot]] == State::resident && waiting[slot_partition_[slot]] == 0) {
      idle.push_back(slot);
    }
  }
  std::stable_sort(idle.begin(), idle.end(),
                   [&](unsigned a, unsigned b) { return arrival_round_[a] < arrival_round_[b]; });
  std::vector<std::uint32_t> evicted;
  for (const unsigned slot : idle) {
    if (empty_now >= empty) break;
    evicted.push_back(slot_partition_[slot]);
    evict(slot_partition_[slot]);
    ++empty_now;
  }
  const auto blocking =
      std::find_if(idle.begin(), idle.end(), [&](unsigned slot) { return slot < large_.slots; });
  if (blocking != idle.end() && lacks_large_slot(waiting)) {
    evicted.push_back(slot_partition_[*blocking]);
    evict(slot_partition_[*blocking]);
  }
  return evicted;
}

bool Scheduler::lacks_large_slot(std::span<const std::uint64_t> waiting) const {
  for (std::uint32_t p = 0; p < state_.size(); ++p) {
    if (large(p) && absent(p) && waiting[p] > 0) return empty_slot_for(p) == slot_partition_.size();
  }
  return false;
}

std::vector<std::uint32_t> Scheduler::clear() {
  std::vector<std::uint32_t> evicted;
  for (const std::uint32_t partition : slot_partition_) {
    if (partition != kEmpty) evicted.push_back(partition);
  }
  for (const std::uint32_t partition : evicted) evict(partition);
  return evicted;
}

void Scheduler::evict(std::uint32_t partition) {
  slot_partition_[slot_of(partition)] = kEmpty;
  state_[partition] = State::absent;
}

std::vector<std::uint32_t> Scheduler::residents() const {
  std::vector<std::uint32_t> resident;
  for (const std::uint32_t partition : slot_partition_) {
    if (partition != kEmpty && state_[partition] == State::resident) resident.push_back(partition);
  }
  return resident;
}

}  // namespace sluice
