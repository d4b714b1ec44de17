// Results leave while the next wave runs: one write is under way at a time, in order, on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <utility>

namespace sluice {

class WaveWriter {
 public:
  ~WaveWriter() {
    if (pending_.valid()) pending_.wait();
  }

  /// Waits for the write before, then starts this one. What `write` reads must stay until the next submit or
  /// finish.
  void submit(std::function<void()> write) {
    finish();
    ++submitted_;
    pending_ = std::async(std::launch::async, std::move(write));
  }
  /// How often submit was called.
  std::uint64_t submitted() const { return submitted_; }
  /// Has nothing been submitted since the last finish?
  bool idle() const { return !pending_.valid(); }
  /// Waits; throws what the write threw.
  void finish() {
    if (pending_.valid()) pending_.get();
  }

 private:
  std::uint64_t submitted_ = 0;
  std::future<void> pending_;
};

}  // namespace sluice
