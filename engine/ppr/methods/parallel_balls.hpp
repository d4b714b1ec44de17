// Next-stage balls of one query side by side on threads of the host (MeLoPPR's parallelism P), each in a
// workspace of its own. Sums are integers, so that threads add up the balls that they diffuse, and these sums
// are merged. But a table of fixed size drops scores, which ones depends on the order: balls are merged one
// by one then, in theirs, and the scores are the same for any number of threads and balls at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/charged_vector.hpp"
#include "engine/exec/algorithms/in_order.hpp"
#include "engine/exec/group.hpp"
#include "engine/ppr/host_workspace.hpp"
#include "engine/ppr/methods/diffusion.hpp"
#include "engine/ppr/query_rules.hpp"

namespace sluice::ppr {

/// What a ball leaves at a vertex.
struct BallEntry {
  Mass score = 0, waiting = 0;
  Vertex vertex = 0;
};

/// The balls of a stage, all of whose lists are at hand.
struct StageBalls {
  const QueryRules& rules;
  SeedsView seeds;
  const ListsAtHand& lists;
  std::span<const RankedVertex> from;  ///< a ball each, in order
  std::span<Mass> returning;           ///< of each step; what vertices without out-edges had is added
};

class ParallelBalls {
 public:
  /// Of one ball that reaches all vertices, at most.
  static std::uint64_t ball_bytes(std::uint64_t vertices);

  /// Keeps a reference to the device.
  ParallelBalls(const Device& device, std::uint64_t vertices, unsigned at_once, unsigned threads);

  using Merge = std::function<void(std::span<const BallEntry>)>;

  /// For the next query.
  void begin();
  /// Calls merge(entries) for each ball, in order, or for sums of balls. Returns the edges of all.
  std::uint64_t run(const StageBalls& stage, const Merge& merge);
  /// At most, of this query.
  std::uint64_t peak_bytes() const;

 private:
  using Ball = Diffusion<SingleLane, HostWorkspace>;

  /// Consecutive balls that a thread diffuses one after the other, and what came of them.
  struct Run {
    Run(const Device& device, std::uint64_t vertices) : workspace(device, vertices), sums(device, vertices) {}

    HostWorkspaceMemory workspace;
    ReachedVertices sums;  ///< over balls of all runs in its place, where their order does not matter
    Ball::Shared shared;
    std::span<const RankedVertex> from;
    ChargedVector<BallEntry> entries{ChargedAllocator<BallEntry>("balls of a query")};
    std::vector<std::size_t> ends;  ///< of each ball's entries
    std::vector<Mass> returning;    ///< of each step
    std::uint64_t edges = 0;
    std::uint32_t most_sums = 0;  ///< of this query
  };

  bool begin_run(const StageBalls& stage, Run& run);
  void diffuse(const StageBalls& stage, Run& run);
  void keep(const StageBalls& stage, Run& run);
  void merge_balls(const Run& run, const Merge& merge);
  void merge_sums(Run& run, const Merge& merge);

  std::uint64_t vertices_;
  std::vector<std::unique_ptr<Run>> runs_;
  InOrder in_order_;
  std::size_t next_ = 0;                                      ///< ball of the stage
  std::atomic<std::uint64_t> ball_size_ = ~std::uint64_t{0};  ///< entries of a ball of late
};

}  // namespace sluice::ppr
