#include "engine/exec/thread_pool.hpp"

#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/core/error.hpp"

namespace sluice {

/// A thread that runs one task after the other, until the process ends.
class HostThread {
 public:
  HostThread() {
    try {
      std::thread([this] { serve(); }).detach();
    } catch (const std::system_error& error) {
      throw RunError("a thread cannot be started: " + error.code().message() + " (use fewer --threads)");
    }
  }

  void begin(std::function<void()> task) {
    task_ = std::move(task);
    busy_.store(1, std::memory_order_release);
    busy_.notify_one();
  }

  void wait() const { busy_.wait(1, std::memory_order_acquire); }

 private:
  void serve() {
    for (;;) {
      busy_.wait(0, std::memory_order_acquire);
      task_();
      task_ = nullptr;  // frees what the task holds, such as the memory of a batch
      busy_.store(0, std::memory_order_release);
      busy_.notify_one();
    }
  }

  std::function<void()> task_;
  std::atomic<std::uint32_t> busy_{0};  ///< 32 bits, on which the system lets threads wait
};

namespace {

/// The threads of the process that nothing has borrowed.
class IdleThreads {
 public:
  HostThread* borrow() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        HostThread* const thread = idle_.back();
        idle_.pop_back();
        return thread;
      }
    }
    return new HostThread;
  }

  void return_thread(HostThread* thread) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(thread);
  }

 private:
  std::mutex mutex_;
  std::vector<HostThread*> idle_;
};

/// Never destroyed: threads may still use it while static objects are destroyed.
IdleThreads& idle_threads() {
  static IdleThreads& all = *new IdleThreads;
  return all;
}

}  // namespace

BorrowedThreads::BorrowedThreads(unsigned count) {
  threads_.reserve(count);
  try {
    while (threads_.size() < count) threads_.push_back(idle_threads().borrow());
  } catch (...) {
    for (HostThread* const thread : threads_) idle_threads().return_thread(thread);
    throw;
  }
}

BorrowedThreads::~BorrowedThreads() {
  wait();
  for (HostThread* const thread : threads_) idle_threads().return_thread(thread);
}

void BorrowedThreads::begin(const std::function<void(unsigned)>& task) {
  for (unsigned i = 0; i < threads_.size(); ++i) threads_[i]->begin([task, i] { task(i); });
}

void BorrowedThreads::wait() const {
  for (const HostThread* const thread : threads_) thread->wait();
}

ThreadPool::ThreadPool(unsigned threads) : size_(std::max(threads, 1u)), helpers_(size_ - 1) {
  helpers_.begin([this](unsigned helper) { serve(helper + 1); });
}

ThreadPool::~ThreadPool() {
  stopping_ = true;
  start();
}

void ThreadPool::run(Job job, void* context) {
  job_ = job;
  context_ = context;
  active_.store(size_ - 1, std::memory_order_relaxed);
  start();
  failure_.guard([&] { job(context, 0); });
  for (unsigned remaining; (remaining = active_.load(std::memory_order_acquire)) != 0;)
    active_.wait(remaining);
  failure_.rethrow();
}

void ThreadPool::start() {
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

void ThreadPool::serve(unsigned thread) {
  for (std::uint32_t last_round = 0;; ++last_round) {
    round_.wait(last_round, std::memory_order_acquire);
    if (stopping_) return;
    failure_.guard([&] { job_(context_, thread); });
    if (active_.fetch_sub(1, std::memory_order_acq_rel) == 1) active_.notify_one();
  }
}

}  // namespace sluice
