#include "engine/exec/threads.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/exec/start_thread.hpp"

namespace sluice {

void parallel_blocks(unsigned threads, std::uint64_t count, std::uint64_t grain,
                     void (*block)(void*, std::uint64_t, std::uint64_t, unsigned), void* body) {
  grain = std::max<std::uint64_t>(grain, 1);
  const std::uint64_t blocks = (count + grain - 1) / grain;
  std::atomic<std::uint64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&](unsigned thread) {
    try {
      for (std::uint64_t i; (i = next.fetch_add(1)) < blocks;) {
        block(body, i * grain, std::min(count, (i + 1) * grain), thread);
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
    for (unsigned thread = 1; thread < extra; ++thread) start_thread(pool, [&work, thread] { work(thread); });
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sluice
