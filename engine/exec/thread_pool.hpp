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
#include <vector>

namespace sluice {

class Crew {
 public:
  /// The caller is one of the threads.
  explicit Crew(unsigned threads);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  unsigned size() const { return size_; }

  /// Calls body(thread) once on every thread, and returns when all have. The first exception is thrown here.
  template <class Body>
  void all(Body&& body) {
    if (size_ == 1) return body(0u);
    run([](void* with, unsigned thread) { (*static_cast<std::remove_reference_t<Body>*>(with))(thread); },
        &body);
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

  void run(Job job, void* with);
  void start();
  void serve(unsigned thread);
  void work(unsigned thread) noexcept;

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
