#include "engine/exec/thread_pool.hpp"

#include <utility>

#include "engine/exec/start_thread.hpp"

namespace sluice {

Crew::Crew(unsigned threads) : size_(std::max(threads, 1u)) {
  try {
    for (unsigned thread = 1; thread < size_; ++thread)
      start_thread(threads_, [this, thread] { serve(thread); });
  } catch (...) {
    leave_ = true;  // those that are there
    start();
    throw;
  }
}

Crew::~Crew() {
  leave_ = true;
  start();
}

void Crew::run(Job job, void* with) {
  job_ = job;
  with_ = with;
  working_.store(size_ - 1, std::memory_order_relaxed);
  start();
  work(0);
  for (unsigned left; (left = working_.load(std::memory_order_acquire)) != 0;) working_.wait(left);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Crew::start() {
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

void Crew::serve(unsigned thread) {
  for (std::uint32_t seen = 0;; ++seen) {
    round_.wait(seen, std::memory_order_acquire);
    if (leave_) return;
    work(thread);
    if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) working_.notify_one();
  }
}

void Crew::work(unsigned thread) noexcept {
  try {
    job_(with_, thread);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

}  // namespace sluice
