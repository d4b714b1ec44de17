// Which vertices MeLoPPR's next stage goes on from (next-stage nodes), and what the others score. All of them
// go on together: diffusion is linear, so the scores are those of one ball at a time (one_by_one.hpp), and an
// edge that several balls share is read once.
#pragma once

#include <cstdint>

#include "engine/ppr/options.hpp"
#include "engine/ppr/reached.hpp"

namespace sluice::ppr {

class NextStage {
 public:
  /// Keeps references to both.
  NextStage(const Device& device, const Options& options);

  void clear() { held_ = peak_bytes_ = 0; }
  /// Leaves mass in waiting[now] of the vertices chosen alone: by share, those where most waits (smaller ids
  /// first among equals), or those where at least so much waits. Elsewhere it becomes score, or a share of it
  /// does (Unexpanded).
  void choose(ReachedVertices& reached, unsigned now);

  /// Residual kept as score, where it may not belong.
  Mass held() const { return held_; }
  std::uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  void choose_share(ReachedVertices& reached, unsigned now);
  void leave_out(Reached& entry, unsigned now);

  const Device& device_;
  const Options& options_;
  Continuation continuation_;
  Buffer<std::uint32_t> order_;
  Mass held_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace sluice::ppr
