// Reads edges in the background, while the caller processes lists in vertex order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

#include "engine/exec/thread_pool.hpp"
#include "partition/edge_source.hpp"

namespace sluice {

class EdgesBeside {
 public:
  /// Starts to read the edges of `coming` on `threads` threads; null: all edges are already in memory.
  EdgesBeside(EdgesToCome* coming, unsigned threads);
  EdgesBeside(const EdgesBeside&) = delete;
  EdgesBeside& operator=(const EdgesBeside&) = delete;

  /// Returns when the lists of vertices [0, end) have been read. Throws what EdgesToCome::read() throws.
  void wait(std::uint64_t end);
  /// Returns when all edges have been read. Throws what EdgesToCome::read() throws.
  void finish() { reading_.wait(); }

 private:
  void add(std::uint64_t begin, std::uint64_t end);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t there_ = 0;                       ///< lists of vertices [0, there_) have been read
  std::map<std::uint64_t, std::uint64_t> later_;  ///< ranges read beyond there_: end by begin
  bool ended_ = false;
  Background reading_;
};

inline EdgesBeside::EdgesBeside(EdgesToCome* coming, unsigned threads) {
  if (coming == nullptr || coming->there()) {
    ended_ = true;
    return;
  }
  reading_.begin([this, coming, threads] {
    FirstFailure failure;
    failure.guard([&] {
      coming->read(threads, [this](std::uint64_t begin, std::uint64_t end, unsigned) { add(begin, end); });
    });
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    failure.rethrow();
  });
}

inline void EdgesBeside::wait(std::uint64_t end) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return there_ >= end || ended_; });
  if (there_ >= end) return;
  lock.unlock();
  finish();
}

inline void EdgesBeside::add(std::uint64_t begin, std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  later_.emplace(begin, end);
  for (auto next = later_.begin(); next != later_.end() && next->first == there_; next = later_.erase(next))
    there_ = next->second;
  changed_.notify_all();
}

}  // namespace sluice
