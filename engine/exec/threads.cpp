#include "engine/exec/threads.hpp"

#include <algorithm>

#include "engine/exec/thread_pool.hpp"

namespace sluice {

void parallel_blocks(unsigned threads, std::uint64_t count, std::uint64_t grain,
                     void (*block)(void*, std::uint64_t, std::uint64_t, unsigned), void* body) {
  grain = std::max<std::uint64_t>(grain, 1);
  const std::uint64_t blocks = (count + grain - 1) / grain;
  ThreadPool pool(static_cast<unsigned>(std::min<std::uint64_t>(std::max(threads, 1u), blocks)));
  pool.blocks(count, grain, [=](std::uint64_t begin, std::uint64_t end, unsigned thread) {
    block(body, begin, end, thread);
  });
}

}  // namespace sluice
