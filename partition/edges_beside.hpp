// Reads edges in the background, while the caller processes lists in vertex order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

#include "engine/exec/thread_pool.hpp"
#include "partition/edge_source.hpp"

namespace sluice {

class BackgroundEdges {
 public:
  /// Starts to read the edges of `pending` on `threads` threads; null: all edges are already in memory.
  BackgroundEdges(PendingEdges* pending, unsigned threads);
  BackgroundEdges(const BackgroundEdges&) = delete;
  BackgroundEdges& operator=(const BackgroundEdges&) = delete;

  /// Returns when the lists of vertices [0, end) have been read. Throws what PendingEdges::read() throws.
  void wait(std::uint64_t end);
  /// Returns when all edges have been read. Throws what PendingEdges::read() throws.
  void finish() { reading_.wait(); }

 private:
  void add(std::uint64_t begin, std::uint64_t end);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t read_end_ = 0;                           ///< lists of vertices [0, read_end_) have been read
  std::map<std::uint64_t, std::uint64_t> out_of_order_;  ///< ranges read beyond read_end_: end by begin
  bool ended_ = false;
  Background reading_;
};

inline BackgroundEdges::BackgroundEdges(PendingEdges* pending, unsigned threads) {
  if (pending == nullptr || pending->complete()) {
    ended_ = true;
    return;
  }
  reading_.begin([this, pending, threads] {
    FirstFailure failure;
    failure.guard([&] {
      pending->read(threads, [this](std::uint64_t begin, std::uint64_t end, unsigned) { add(begin, end); });
    });
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    failure.rethrow();
  });
}

inline void BackgroundEdges::wait(std::uint64_t end) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return read_end_ >= end || ended_; });
  if (read_end_ >= end) return;
  lock.unlock();
  finish();
}

inline void BackgroundEdges::add(std::uint64_t begin, std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  out_of_order_.emplace(begin, end);
  for (auto next = out_of_order_.begin(); next != out_of_order_.end() && next->first == read_end_;
       next = out_of_order_.erase(next))
    read_end_ = next->second;
  changed_.notify_all();
}

}  // namespace sluice
