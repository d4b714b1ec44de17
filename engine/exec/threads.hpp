// The host backend's parallel loop: blocks of indices claimed from a counter, so that no thread waits for a
// slow one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice {

/// Calls body(begin, end, thread) over [0, count) in blocks of at most `grain`, on `threads` threads (the
/// caller is one of them). The first exception ends the loop and is thrown here.
template <class Body>
void parallel_blocks(unsigned threads, std::uint64_t count, std::uint64_t grain, Body&& body) {
  grain = std::max<std::uint64_t>(grain, 1);
  const std::uint64_t blocks = (count + grain - 1) / grain;
  std::atomic<std::uint64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&](unsigned thread) {
    try {
      for (std::uint64_t block; (block = next.fetch_add(1)) < blocks;) {
        body(block * grain, std::min(count, (block + 1) * grain), thread);
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next.store(blocks);
    }
  };
  const auto extra = static_cast<unsigned>(std::min<std::uint64_t>(std::max(threads, 1u), blocks));
  {
    std::vector<std::jthread> pool;
    for (unsigned thread = 1; thread < extra; ++thread) pool.emplace_back(work, thread);
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sluice
