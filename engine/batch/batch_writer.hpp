// Results leave while the next batch runs: one write is under way at a time, in order, on a thread of its
// own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace sluice {

/// Of a GPU's batch whose results leave: a disk takes longer for it than the GPU for the next one. Two are
/// page-locked for walks, which took about a second for 1.5 GB.
inline constexpr std::uint64_t kLeavingBytes = std::uint64_t{64} << 20;

class BatchWriter {
 public:
  /// `waited`, which may be null: to which submit() and finish() add the seconds that they wait.
  explicit BatchWriter(double* waited = nullptr);
  ~BatchWriter();

  /// Waits for the write before, then starts this one. What `write` reads must stay until the next submit or
  /// finish.
  void submit(std::function<void()> write);
  /// How often submit was called.
  std::uint64_t submitted() const { return submitted_; }
  /// Has nothing been submitted since the last finish?
  bool idle() const;
  /// Has a write thrown? Then what it was to write is lost.
  bool failed() const { return failed_; }
  /// Waits; throws what the write threw.
  void finish();

 private:
  struct Pending;
  double* waited_;
  std::uint64_t submitted_ = 0;
  bool failed_ = false;
  std::unique_ptr<Pending> pending_;
};

}  // namespace sluice
