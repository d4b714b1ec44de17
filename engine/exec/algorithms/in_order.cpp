#include "engine/exec/algorithms/in_order.hpp"

#include <algorithm>

namespace sluice {

void InOrder::run(const Job& job) {
  begun_ = taken_ = 0;
  taking_ = all_begun_ = failed_ = false;
  std::ranges::fill(made_, 0);
  pool_.all([&](unsigned) {
    try {
      work(job);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failed_ = true;
      changed_.notify_all();
      throw;
    }
  });
}

/// What waits to be taken comes first: its place is free for another part then.
void InOrder::work(const Job& job) {
  Lock lock(mutex_);
  while (!failed_) {
    if (take_next(job, lock) || make_next(job, lock)) continue;
    if (all_begun_ && taken_ == begun_) return;
    changed_.wait(lock);
  }
}

bool InOrder::take_next(const Job& job, Lock& lock) {
  const unsigned place = place_of(taken_);
  if (taking_ || made_[place] == 0) return false;
  taking_ = true;
  lock.unlock();
  job.take(place);
  lock.lock();
  made_[place] = 0;
  ++taken_;
  taking_ = false;
  changed_.notify_all();
  return true;
}

bool InOrder::make_next(const Job& job, Lock& lock) {
  if (all_begun_ || begun_ - taken_ == made_.size()) return false;
  const unsigned place = place_of(begun_);
  if (!job.begin(place)) {
    all_begun_ = true;
    changed_.notify_all();
    return false;
  }
  ++begun_;
  lock.unlock();
  job.make(place);
  lock.lock();
  made_[place] = 1;
  changed_.notify_all();
  return true;
}

}  // namespace sluice
