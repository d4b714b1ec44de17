#include "engine/exec/threads.hpp"

#include <algorithm>
#include <atomic>

#include "engine/exec/thread_pool.hpp"

namespace sluice {

// The threads run one round and are given back. A ThreadPool would wake them once more to dismiss them, which
// costs as much as many a loop.
void parallel_blocks(unsigned threads, std::uint64_t count, std::uint64_t grain,
                     void (*block)(void*, std::uint64_t, std::uint64_t, unsigned), void* body) {
  grain = std::max<std::uint64_t>(grain, 1);
  const std::uint64_t blocks = (count + grain - 1) / grain;
  const auto size = static_cast<unsigned>(std::min<std::uint64_t>(std::max(threads, 1u), blocks));
  std::atomic<std::uint64_t> next{0};
  FirstFailure failure;
  const auto work = [&](unsigned thread) {
    failure.guard([&] {
      claim_blocks(next, count, grain,
                   [&](std::uint64_t begin, std::uint64_t end) { block(body, begin, end, thread); });
    });
  };
  BorrowedThreads helpers(size > 1 ? size - 1 : 0);
  helpers.begin([&](unsigned helper) { work(helper + 1); });
  work(0);
  helpers.wait();
  failure.rethrow();
}

}  // namespace sluice
