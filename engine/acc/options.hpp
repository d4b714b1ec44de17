// How Active-Compute-Combine programs are run, and what is reported of a run. None of it changes a result.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/clock.hpp"
#include "engine/core/macros.hpp"
#include "engine/core/types.hpp"
#include "engine/memory/paging.hpp"
#include "engine/memory/traffic.hpp"

namespace sluice {
class Communicator;
class DeviceRanks;
}  // namespace sluice

namespace sluice::acc {

/// Which way values go along edges: from active vertices, or to those that still want one.
enum class AccDirection { automatic, push, pull };

/// How the vertices that a round has made active become the next worklist.
enum class AccFilter {
  jit,     ///< online, and ballot where bins overflow, in partitions where many were active before
  ballot,  ///< all states are looked through
  online,  ///< threads note them in bins as they go
  batch,   ///< the targets of all active edges are listed, then filtered
};

/// Which rounds share a kernel.
enum class AccFusion {
  automatic,  ///< all, but for long runs of small frontiers, and rounds of bp that are long themselves
  none,       ///< none: a launch a round
  push_pull,  ///< those of a phase of pushes, and those of a phase of pulls: two kernels
  all,        ///< all
};

struct AccOptions {
  AccDirection direction = AccDirection::automatic;
  AccFilter filter = AccFilter::jit;
  AccFusion fusion = AccFusion::automatic;
  /// Of jit and online, where a GPU has its lists whole: how many vertices a thread's bin takes. SIMD-X has
  /// 64; `sluice-bench papers` has a table of others.
  unsigned bin = 64;
  /// With jit, may a few blocks make rounds that have little to do, while the others wait?
  bool few_blocks = true;
};

class AccGraph;

/// Throws UsageError for options that have no meaning for how the graph is worked on.
void validate(const AccGraph& graph, const AccOptions& options);

/// Throws UsageError where a graph with vertices has no such one.
void require_source(const AccGraph& graph, Vertex source);

/// May rounds pull? Throws UsageError where a graph without in-edges must.
bool may_pull(const AccGraph& graph, const AccOptions& options);

/// Who works on the graph, and how edges reach them. None of it changes a result.
struct AccPlace {
  PagingOptions paging{};
  /// Each owns a range of vertices, all make the same runs. Null: one process.
  Communicator* ranks = nullptr;
  /// A folder for messages of belief propagation that host memory does not hold. Empty: that is refused.
  std::string scratch = {};
  /// How GPUs of ranks reach each other. Null: by NCCL where they can, else through the hosts.
  DeviceRanks* link = nullptr;
};

/// One round.
struct AccRoundTrace {
  std::uint64_t level = 0;
  bool pull = false;
  bool refilled = false;     ///< a worklist came from looking through the states or their marks
  std::uint64_t active = 0;  ///< vertices on the worklist
  std::uint64_t edges = 0;   ///< looked at
  double seconds = 0;        ///< since the round before ended
};

/// Rounds beyond so many are counted, but not reported one by one: a path has as many as vertices.
inline constexpr std::uint64_t kTracedRounds = 1000;

/// Of several ranks, rounds and edges are those of all.
struct RoundTotals {
  std::uint64_t rounds = 0, pulls = 0, levels = 0, edges = 0;
  std::uint64_t refills = 0;  ///< times that states were looked through for the next worklist

  SLUICE_HD void count(const AccRoundTrace& round) {
    ++rounds;
    pulls += round.pull;
    refills += round.refilled;
    edges += round.edges;
  }
};

/// Where in-lists have their own partitions, those of out-lists are counted.
struct AccStats : RoundTotals, Traffic {
  using RoundTotals::rounds;  // of the program

  std::uint64_t kernel_launches = 0;
  /// That a thread holds in the kernel for rounds that push, and that pull; 0: there is none.
  unsigned push_registers = 0, pull_registers = 0;
  double setup_seconds = 0;          ///< other forms of the graph, and the graph to the device
  double compute_seconds = 0;        ///< rounds
  double transfer_seconds = 0;       ///< results to all ranks, and to host memory
  std::uint64_t scratch_bytes = 0;   ///< of messages, in scratch files
  std::uint64_t prepared_bytes = 0;  ///< exchanged before the first round
  std::vector<AccRoundTrace> trace;  ///< the first kTracedRounds

  /// Rounds begin; add() takes their times, too.
  void begin_rounds() { last_ = seconds_now(); }
  void add(AccRoundTrace round) {
    count(round);
    if (trace.size() >= kTracedRounds) return;
    const double now = seconds_now();
    round.seconds = now - std::exchange(last_, now);
    trace.push_back(round);
  }

 private:
  double last_ = 0;
};

}  // namespace sluice::acc
