// Writes the results of a batch while the next batch runs: one write at a time, in order, on a thread of its
// own.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "engine/core/clock.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice {

/// Bytes of a GPU batch whose results are written: a disk takes longer for them than the GPU for the next
/// batch. Walks page-lock two batches, which took about a second for 1.5 GB.
inline constexpr std::uint64_t kGpuResultBytes = std::uint64_t{64} << 20;

class BatchWriter {
 public:
  /// submit() and finish() add the seconds that they wait to `waited`, which may be null.
  explicit BatchWriter(double* waited = nullptr) : waited_(waited) {}

  /// Waits for the previous write, then starts this one. What `write` reads must stay valid until the next
  /// submit or finish.
  void submit(std::function<void()> write) {
    finish();
    ++submitted_;
    active_ = true;
    write_.begin(std::move(write));
  }
  /// The number of calls of submit().
  std::uint64_t submitted() const { return submitted_; }
  /// True if nothing was submitted since the last finish().
  bool idle() const { return !active_; }
  /// True if a write has thrown; its results are lost.
  bool failed() const { return failed_; }
  /// Waits for the write, and throws what it threw.
  void finish() {
    if (!std::exchange(active_, false)) return;
    const double begin = seconds_now();
    failed_ = true;  // unless wait() returns
    write_.wait();
    failed_ = false;
    if (waited_) *waited_ += seconds_now() - begin;
  }

 private:
  double* waited_;
  std::uint64_t submitted_ = 0;
  bool active_ = false, failed_ = false;
  Background write_;
};

}  // namespace sluice
