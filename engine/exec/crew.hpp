// Host threads that stay, for work in many short rounds: starting a thread for each round would cost more
// than the round.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {

class Crew {
 public:
  /// The caller is one of the threads.
  explicit Crew(unsigned threads) : size_(std::max(threads, 1u)) {
    for (unsigned thread = 1; thread < size_; ++thread)
      threads_.emplace_back([this, thread] { serve(thread); });
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    leave_ = true;
    start();
  }

  unsigned size() const { return size_; }

  /// Calls body(thread) once on every thread, and returns when all have. The first exception is thrown here.
  template <class Body>
  void all(Body&& body) {
    if (size_ == 1) return body(0u);
    job_ = [](void* with, unsigned thread) { (*static_cast<std::remove_reference_t<Body>*>(with))(thread); };
    with_ = &body;
    working_.store(size_ - 1, std::memory_order_relaxed);
    start();
    work(0);
    for (unsigned left; (left = working_.load(std::memory_order_acquire)) != 0;) working_.wait(left);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  /// Calls body(begin, end, thread) over [0, count) in blocks of at most `grain`, which threads claim. One
  /// block is the caller's own, and wakes nobody.
  template <class Body>
  void blocks(std::uint64_t count, std::uint64_t grain, Body&& body) {
    if (count <= grain) {
      if (count > 0) body(std::uint64_t{0}, count, 0u);
      return;
    }
    std::atomic<std::uint64_t> next{0};
    all([&](unsigned thread) {
      for (std::uint64_t begin; (begin = next.fetch_add(grain, std::memory_order_relaxed)) < count;)
        body(begin, std::min(count, begin + grain), thread);
    });
  }

 private:
  using Job = void (*)(void*, unsigned);

  void start() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }

  void serve(unsigned thread) {
    for (std::uint32_t seen = 0;; ++seen) {
      round_.wait(seen, std::memory_order_acquire);
      if (leave_) return;
      work(thread);
      if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) working_.notify_one();
    }
  }

  void work(unsigned thread) noexcept {
    try {
      job_(with_, thread);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  unsigned size_;
  Job job_ = nullptr;
  void* with_ = nullptr;
  bool leave_ = false;
  std::atomic<std::uint32_t> round_{0};
  std::atomic<unsigned> working_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;  ///< the last: they end before what they use
};

}  // namespace sluice
