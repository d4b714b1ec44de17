#include "engine/schedule/scheduler.hpp"

#include <algorithm>

namespace sluice {

Scheduler::Scheduler(std::uint32_t partitions, unsigned slots, SchedulePolicy policy)
    : policy_(policy),
      state_(partitions, State::away),
      since_(partitions, 0),
      held_(slots, kEmpty),
      arrived_(slots, 0) {}

std::vector<PartitionLoad> Scheduler::choose(std::span<const std::uint64_t> waiting) {
  ++round_;
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t p = 0; p < state_.size(); ++p) {
    if (waiting[p] == 0) {
      since_[p] = 0;
      continue;
    }
    if (since_[p] == 0) since_[p] = round_;
    if (state_[p] == State::away) candidates.push_back(p);
  }
  std::vector<unsigned> empty;
  for (unsigned slot = 0; slot < held_.size(); ++slot) {
    if (held_[slot] == kEmpty) empty.push_back(slot);
  }
  const std::size_t count = std::min(empty.size(), candidates.size());
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (policy_ == SchedulePolicy::workload && waiting[a] != waiting[b]) return waiting[a] > waiting[b];
    if (policy_ == SchedulePolicy::fifo && since_[a] != since_[b]) return since_[a] < since_[b];
    return a < b;
  };
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count),
                    candidates.end(), before);
  std::vector<PartitionLoad> loads;
  for (std::size_t i = 0; i < count; ++i) {
    loads.push_back({empty[i], candidates[i]});
    held_[empty[i]] = candidates[i];
    state_[candidates[i]] = State::coming;
  }
  return loads;
}

void Scheduler::arrive() {
  for (unsigned slot = 0; slot < held_.size(); ++slot) {
    if (held_[slot] == kEmpty || state_[held_[slot]] != State::coming) continue;
    state_[held_[slot]] = State::resident;
    arrived_[slot] = round_;
  }
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
  return left;
}

void Scheduler::evict(std::uint32_t partition) {
  const auto at = std::find(held_.begin(), held_.end(), partition);
  *at = kEmpty;
  state_[partition] = State::away;
}

std::vector<std::uint32_t> Scheduler::residents() const {
  std::vector<std::uint32_t> here;
  for (const std::uint32_t partition : held_) {
    if (partition != kEmpty && state_[partition] == State::resident) here.push_back(partition);
  }
  return here;
}

}  // namespace sluice
