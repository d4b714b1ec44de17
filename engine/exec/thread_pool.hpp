// The host's threads. The process keeps those that were ever started: a pool borrows some of them, works in
// any number of short rounds, and gives them back, for starting a thread costs more than most rounds.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {

class HostThread;

/// Threads of the process for as long as it lives. Throws RunError where the system starts no more.
class BorrowedThreads {
 public:
  explicit BorrowedThreads(unsigned count);
  BorrowedThreads(const BorrowedThreads&) = delete;
  BorrowedThreads& operator=(const BorrowedThreads&) = delete;
  /// Waits, and gives them back.
  ~BorrowedThreads();

  /// Calls task(i) once on thread i of each, and returns at once. `task` is kept, and must not throw.
  void begin(const std::function<void(unsigned)>& task);
  /// Returns when all have ended what they began.
  void wait() const;

 private:
  std::vector<HostThread*> threads_;
};

/// Calls body(begin, end) for blocks of [0, count) that `next` says are free, of at most `grain`. After an
/// exception none is.
template <class Body>
void claim_blocks(std::atomic<std::uint64_t>& next, std::uint64_t count, std::uint64_t grain, Body&& body) {
  for (std::uint64_t begin; (begin = next.fetch_add(grain, std::memory_order_relaxed)) < count;) {
    try {
      body(begin, std::min(count, begin + grain));
    } catch (...) {
      next.store(count, std::memory_order_relaxed);
      throw;
    }
  }
}

/// The first exception of several threads.
class FirstFailure {
 public:
  template <class Body>
  void guard(Body&& body) noexcept {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }
  /// Throws it, once.
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
};

/// A thread that works beside the caller, on one task at a time.
class Background {
 public:
  /// Waits for the task before, whose exception is thrown here.
  template <class Task>
  void begin(Task task) {
    wait();
    thread_.begin([this, task = std::move(task)](unsigned) { failure_.guard(task); });
  }
  /// Returns when the task has ended; throws what it threw.
  void wait() {
    thread_.wait();
    failure_.rethrow();
  }

 private:
  FirstFailure failure_;
  BorrowedThreads thread_{1};  ///< the last: it ends before what it uses
};

/// Threads for many short rounds: between two of them they wait for the next.
class ThreadPool {
 public:
  /// The caller is one of the threads. Throws RunError where the system starts no more.
  explicit ThreadPool(unsigned threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  unsigned size() const { return size_; }

  /// Calls body(thread) once on every thread, and returns when all have. The first exception is thrown here.
  template <class Body>
  void all(Body&& body) {
    if (size_ == 1) return body(0u);
    run([](void* with, unsigned thread) { (*static_cast<std::remove_reference_t<Body>*>(with))(thread); },
        &body);
  }

  /// Calls body(begin, end, thread) over [0, count) in blocks of at most `grain`, which threads claim: no
  /// thread waits for a slow one. One block is the caller's own, and wakes no other thread. The first
  /// exception ends the loop and is thrown here.
  template <class Body>
  void blocks(std::uint64_t count, std::uint64_t grain, Body&& body) {
    if (count <= grain) {
      if (count > 0) body(std::uint64_t{0}, count, 0u);
      return;
    }
    std::atomic<std::uint64_t> next{0};
    all([&](unsigned thread) {
      claim_blocks(next, count, grain,
                   [&](std::uint64_t begin, std::uint64_t end) { body(begin, end, thread); });
    });
  }

 private:
  using Job = void (*)(void*, unsigned);

  void run(Job job, void* with);
  void start();
  void serve(unsigned thread);

  unsigned size_;
  Job job_ = nullptr;
  void* with_ = nullptr;
  bool leave_ = false;
  std::atomic<std::uint32_t> round_{0};
  std::atomic<unsigned> working_{0};
  FirstFailure failure_;
  BorrowedThreads others_;  ///< the last: they end before what they use
};

}  // namespace sluice
