// The host's threads. The process keeps every thread that it starts, because a start costs more than most
// rounds. A pool borrows some of them, works in any number of short rounds, and gives them back.
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

/// Threads borrowed from the process while this object lives. Throws RunError if the system starts no more.
class BorrowedThreads {
 public:
  explicit BorrowedThreads(unsigned count);
  BorrowedThreads(const BorrowedThreads&) = delete;
  BorrowedThreads& operator=(const BorrowedThreads&) = delete;
  /// Waits for the threads, and gives them back.
  ~BorrowedThreads();

  /// Calls task(i) once on each thread i, and returns at once. `task` is copied, and must not throw.
  void begin(const std::function<void(unsigned)>& task);
  /// Returns when all threads have ended their tasks.
  void wait() const;

 private:
  std::vector<HostThread*> threads_;
};

/// Claims blocks of [0, count), of at most `grain`, by advancing `next`, and calls body(begin, end) for each.
/// After an exception no further block is claimed.
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
  /// Throws the exception if there was one, once.
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
  /// Starts `task` after the task before has ended; throws what that one threw.
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
  BorrowedThreads thread_{1};  ///< the last member: the thread ends before what it uses
};

/// Threads for many short rounds; between rounds they wait.
class ThreadPool {
 public:
  /// The caller is one of the threads. Throws RunError if the system starts no more.
  explicit ThreadPool(unsigned threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  unsigned size() const { return size_; }

  /// Calls body(thread) once on every thread, and returns when all have. The first exception is thrown here.
  template <class Body>
  void run_on_all(Body&& body) {
    if (size_ == 1) return body(0u);
    run([](void* context,
           unsigned thread) { (*static_cast<std::remove_reference_t<Body>*>(context))(thread); },
        &body);
  }

  /// Calls body(begin, end, thread) over [0, count) in blocks of at most `grain`, which threads claim: no
  /// thread waits for a slow one. If there is only one block, the caller runs it and wakes no thread. The
  /// first exception ends the loop and is thrown here.
  template <class Body>
  void for_each_block(std::uint64_t count, std::uint64_t grain, Body&& body) {
    if (count <= grain) {
      if (count > 0) body(std::uint64_t{0}, count, 0u);
      return;
    }
    std::atomic<std::uint64_t> next{0};
    run_on_all([&](unsigned thread) {
      claim_blocks(next, count, grain,
                   [&](std::uint64_t begin, std::uint64_t end) { body(begin, end, thread); });
    });
  }

 private:
  using Job = void (*)(void*, unsigned);

  void run(Job job, void* context);
  void start();
  void serve(unsigned thread);

  unsigned size_;
  Job job_ = nullptr;
  void* context_ = nullptr;
  bool stopping_ = false;
  std::atomic<std::uint32_t> round_{0};
  std::atomic<unsigned> active_{0};
  FirstFailure failure_;
  BorrowedThreads helpers_;  ///< the last member: the threads end before what they use
};

}  // namespace sluice
