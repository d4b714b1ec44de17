// Options of Active-Compute-Combine programs, and the statistics of a run. No option changes a result.
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

/// Direction of a round: active vertices push values, or vertices that still want a value pull it.
enum class AccDirection { automatic, push, pull };

/// How the vertices activated by a round become the next worklist.
enum class AccFilter {
  jit,     ///< online; ballot if bins overflow, or in partitions if many vertices are active
  ballot,  ///< all states are scanned
  online,  ///< threads append active vertices to bins during the round
  batch,   ///< the targets of all active edges are listed, then filtered
};

/// Which rounds share a kernel.
enum class AccFusion {
  automatic,  ///< all, except long runs of small frontiers and long rounds of bp
  none,       ///< one launch a round
  push_pull,  ///< two kernels: one for phases of pushes, one for phases of pulls
  all,        ///< all rounds in one kernel
};

struct AccOptions {
  AccDirection direction = AccDirection::automatic;
  AccFilter filter = AccFilter::jit;
  AccFusion fusion = AccFusion::automatic;
  /// Capacity of a thread's bin in vertices, for jit and online on a GPU that holds all its lists. SIMD-X
  /// uses 64; `sluice-bench papers` prints a table of others.
  unsigned bin = 64;
  /// With jit: may a few blocks run rounds with little work while the other blocks wait?
  bool few_blocks = true;
};

class AccGraph;

/// Throws UsageError for options that do not apply to the graph's device and distribution.
void validate(const AccGraph& graph, const AccOptions& options);

/// Throws UsageError if the graph has vertices, but not `source`.
void require_source(const AccGraph& graph, Vertex source);

/// May rounds pull? Throws UsageError if options require pulls and the graph has no in-edges.
bool may_pull(const AccGraph& graph, const AccOptions& options);

/// The ranks that run a job, and how edges reach their devices. None of it changes a result.
struct AccPlace {
  PagingOptions paging{};
  /// Ranks, each of which owns a range of vertices; all make the same calls. Null: one process.
  Communicator* ranks = nullptr;
  /// A folder for belief propagation's messages that exceed host memory. Empty: such a job throws an error.
  std::string scratch = {};
  /// Connection between the GPUs of ranks. Null: NCCL if available, else exchange through the hosts.
  DeviceRanks* link = nullptr;
};

/// Statistics of one round.
struct AccRoundTrace {
  std::uint64_t level = 0;
  bool pull = false;
  bool refilled = false;     ///< a worklist was built by a scan of states or marks
  std::uint64_t active = 0;  ///< vertices on the worklist
  std::uint64_t edges = 0;   ///< edges read
  double seconds = 0;        ///< since the end of the previous round
};

/// Rounds beyond this number are counted, but not traced: a path has as many rounds as vertices.
inline constexpr std::uint64_t kTracedRounds = 1000;

/// Totals over all ranks.
struct RoundTotals {
  std::uint64_t rounds = 0, pulls = 0, levels = 0, edges = 0;
  std::uint64_t refills = 0;  ///< scans of all states for the next worklist

  SLUICE_HD void count(const AccRoundTrace& round) {
    ++rounds;
    pulls += round.pull;
    refills += round.refilled;
    edges += round.edges;
  }
};

/// Statistics of a run. If in-lists have their own partitions, `partitions` counts those of out-lists.
struct AccStats : RoundTotals, Traffic {
  using RoundTotals::rounds;  // rounds of the program

  std::uint64_t kernel_launches = 0;
  /// Registers per thread of the kernels for rounds that push and that pull; 0 if there is none.
  unsigned push_registers = 0, pull_registers = 0;
  double setup_seconds = 0;          ///< graph conversions and upload
  double compute_seconds = 0;        ///< time of all rounds
  double transfer_seconds = 0;       ///< results to all ranks, and to host memory
  std::uint64_t scratch_bytes = 0;   ///< messages in scratch files
  std::uint64_t prepared_bytes = 0;  ///< exchanged between ranks before the first round
  std::vector<AccRoundTrace> trace;  ///< the first kTracedRounds

  /// Starts the clock by which add() times rounds.
  void begin_rounds() { round_end_ = seconds_now(); }
  void add(AccRoundTrace round) {
    count(round);
    if (trace.size() >= kTracedRounds) return;
    const double now = seconds_now();
    round.seconds = now - std::exchange(round_end_, now);
    trace.push_back(round);
  }

 private:
  double round_end_ = 0;
};

}  // namespace sluice::acc
