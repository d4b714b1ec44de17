// Results leave while the next wave runs: one write is under way at a time, in order, on a thread of its own.
#pragma once

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
    pending_ = std::async(std::launch::async, std::move(write));
  }
  /// Waits; throws what the write threw.
  void finish() {
    if (pending_.valid()) pending_.get();
  }

 private:
  std::future<void> pending_;
};

}  // namespace sluice
