// The host's parallel loop.
#include "engine/exec/threads.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/exec/thread_pool.hpp"
#include "engine/memory/schedule/host_queues.hpp"

namespace sluice {
namespace {

TEST(ParallelBlocks, CallsEveryIndexOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 7u}) {
    for (const std::uint64_t count : {0u, 1u, 5u, 64u, 1000u}) {
      for (const std::uint64_t grain : {0u, 1u, 3u, 64u, 5000u}) {
        std::vector<std::atomic<int>> calls(count);
        std::atomic<bool> wrong{false};

        parallel_blocks(threads, count, grain, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
          if (begin >= end || end - begin > std::max<std::uint64_t>(grain, 1) ||
              thread >= std::max(threads, 1u))
            wrong = true;
          for (std::uint64_t i = begin; i < end; ++i) ++calls[i];
        });

        EXPECT_FALSE(wrong) << threads << ' ' << count << ' ' << grain;
        for (const auto& n : calls) ASSERT_EQ(n, 1) << threads << ' ' << count << ' ' << grain;
      }
    }
  }
}

TEST(ParallelBlocks, ThreadsDoNotShareANumberAtOneTime) {
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> shared{false};

  parallel_blocks(4, 4000, 1, [&](std::uint64_t, std::uint64_t, unsigned thread) {
    if (++inside[thread] != 1) shared = true;
    --inside[thread];
  });

  EXPECT_FALSE(shared);
}

TEST(ParallelBlocks, ThrowsTheFirstExceptionAndStops) {
  for (const unsigned threads : {1u, 4u}) {
    std::atomic<std::uint64_t> calls{0};
    const auto run = [&] {
      parallel_blocks(threads, 1'000'000, 1, [&](std::uint64_t begin, std::uint64_t, unsigned) {
        ++calls;
        if (begin >= 10) throw std::runtime_error("block " + std::to_string(begin));
      });
    };

    EXPECT_THROW(run(), std::runtime_error);
    EXPECT_LT(calls, 1'000'000u) << "the loop went on";
  }
}

std::set<std::thread::id> threads_of_a_pool(unsigned size) {
  std::vector<std::thread::id> seen(size);
  ThreadPool(size).run_on_all([&](unsigned thread) { seen[thread] = std::this_thread::get_id(); });
  return {seen.begin(), seen.end()};
}

TEST(ThreadPool, BorrowsThreadsThatWereStartedBefore) {
  const auto first = threads_of_a_pool(4), second = threads_of_a_pool(4);
  EXPECT_EQ(first.size(), 4u);
  EXPECT_EQ(first, second);
}

TEST(ThreadPool, WorksWithinAnotherOnesWork) {
  std::atomic<std::uint64_t> sum{0};
  parallel_blocks(3, 30, 1, [&](std::uint64_t outer, std::uint64_t, unsigned) {
    parallel_blocks(3, 100, 7, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t inner = begin; inner < end; ++inner) sum += outer * inner;
    });
  });
  EXPECT_EQ(sum, 435u * 4950u);
}

TEST(ThreadPool, GoesOnAfterARoundThatFailed) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.run_on_all([](unsigned thread) {
    if (thread == 1) throw std::runtime_error("one of three");
  }),
               std::runtime_error);
  std::atomic<unsigned> called{0};
  pool.run_on_all([&](unsigned) { ++called; });
  EXPECT_EQ(called, 3u);
}

TEST(Background, DropsWhatItsTaskHeldWhenTheTaskHasEnded) {
  const auto held = std::make_shared<int>(1);
  Background background;

  background.begin([held] {});
  background.wait();

  EXPECT_EQ(held.use_count(), 1) << "the thread holds it";
}

TEST(Background, ThrowsWhatItsTaskThrew) {
  Background background;
  background.begin([] { throw std::runtime_error("beside the caller"); });
  EXPECT_THROW(background.wait(), std::runtime_error);
  EXPECT_NO_THROW(background.wait()) << "once";
}

/// Limits the address space to the stack of one more thread.
class StackOfOneThread {
 public:
  StackOfOneThread() {
    constexpr std::size_t kStack = std::size_t{1} << 32;
    pthread_attr_t attributes;
    pthread_getattr_default_np(&attributes);
    pthread_attr_getstacksize(&attributes, &stack_);
    set_stack(kStack);
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &limit_);
    rlimit less = limit_;
    less.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + kStack + kStack / 2;
    setrlimit(RLIMIT_AS, &less);
  }
  ~StackOfOneThread() {
    setrlimit(RLIMIT_AS, &limit_);
    set_stack(stack_);
  }

 private:
  static void set_stack(std::size_t bytes) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_setattr_default_np(&attributes);
  }

  std::size_t stack_ = 0;
  rlimit limit_{};
};

TEST(Threads, WhoIsThereLeavesWhereAnotherCannotStart) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer takes memory beside a thread's stack";
#endif
  const StackOfOneThread stack;

  EXPECT_NO_THROW(ThreadPool{2});
  constexpr unsigned kMany = 64;  // more than idle threads of other tests
  EXPECT_THROW(ThreadPool{kMany}, RunError);
  PagingOptions one_by_one;
  one_by_one.batching = false;
  HostQueues queues(kMany, one_by_one);
  const std::uint64_t sizes[] = {1000};
  const auto end = [](std::size_t, std::uint64_t begin) { return begin + 100; };
  EXPECT_THROW(queues.work(sizes, 10, end, [](std::size_t, std::uint64_t, std::uint64_t, unsigned) {}),
               RunError);
}

}  // namespace
}  // namespace sluice
