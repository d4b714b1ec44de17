// Results leave while the next wave runs: one write is under way at a time, in order, on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace sluice {

class WaveWriter {
 public:
  WaveWriter();
  ~WaveWriter();

  /// Waits for the write before, then starts this one. What `write` reads must stay until the next submit or
  /// finish.
  void submit(std::function<void()> write);
  /// How often submit was called.
  std::uint64_t submitted() const { return submitted_; }
  /// Has nothing been submitted since the last finish?
  bool idle() const;
  /// Waits; throws what the write threw.
  void finish();

 private:
  struct Pending;
  std::uint64_t submitted_ = 0;
  std::unique_ptr<Pending> pending_;
};

}  // namespace sluice
