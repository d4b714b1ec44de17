// Where a replay keeps its graph: in memory, or in a file where memory cannot hold it or the user wants
// it there.
#pragma once

#include <memory>
#include <string>

#include "apps/bench/replay/replay.hpp"
#include "apps/cli/common_options.hpp"

namespace sluice::bench {

/// How much of a graph is in memory.
enum class ReplayGraphPlace {
  made,   ///< it is made there
  read,   ///< it is made in a file, which takes less, and read
  stays,  ///< its edges stay in the file
};

/// What a replay's graph takes in host memory.
struct ReplayMemory {
  ReplayMemory(const TemporalSource& edges, const ReplayOptions& options);

  /// What there must be, beside `beside` bytes for ranks.
  std::uint64_t needed(ReplayGraphPlace place, std::uint64_t beside) const;

  std::uint64_t graph_bytes = 0;   ///< both directions, with all edges
  std::uint64_t update_bytes = 0;  ///< while a batch is applied
  std::uint64_t build_bytes = 0;   ///< while the first graph is made there, itself included
  std::uint64_t file_bytes = 0;    ///< instead of graph_bytes where its edges are in a file
};

/// Where the graph is, on all ranks alike: in a file where `--transport file` or `--distribution shard` say
/// so, or where a rank cannot hold it beside `beside` bytes. All ranks call it.
ReplayGraphPlace place_of_replay(const ReplayMemory& memory, std::uint64_t beside,
                                 const apps::CommonOptions& common);

/// Throws BudgetError, RunError. A file is in `--scratch`, one a machine, and has no name once it is open.
std::unique_ptr<ReplayGraphs> keep_replay_graphs(ReplayGraphPlace place, const apps::CommonOptions& common);

}  // namespace sluice::bench
