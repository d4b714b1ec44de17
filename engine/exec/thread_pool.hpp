// The host's threads. The process keeps those that were ever started: a pool borrows some of them, works in
// any number of short rounds, and gives them back, for starting a thread costs more than most rounds.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <type_traits>
#include <vector>

namespace sluice {

class HostThread;

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
      for (std::uint64_t begin; (begin = next.fetch_add(grain, std::memory_order_relaxed)) < count;) {
        try {
          body(begin, std::min(count, begin + grain), thread);
        } catch (...) {
          next.store(count, std::memory_order_relaxed);
          throw;
        }
      }
    });
  }

 private:
  using Job = void (*)(void*, unsigned);

  void run(Job job, void* with);
  void start();
  void serve(unsigned thread);
  void work(unsigned thread) noexcept;
  void dismiss();

  unsigned size_;
  Job job_ = nullptr;
  void* with_ = nullptr;
  bool leave_ = false;
  std::atomic<std::uint32_t> round_{0};
  std::atomic<unsigned> working_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::vector<HostThread*> threads_;  ///< borrowed
};

}  // namespace sluice
