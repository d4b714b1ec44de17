// Where a replay keeps its graph: in memory, or in a file if memory cannot hold it or the user requests it.
#pragma once

#include <memory>
#include <string>

#include "apps/bench/replay/replay.hpp"
#include "apps/cli/common_options.hpp"

namespace sluice::bench {

/// How much of a graph is in memory.
enum class ReplayGraphStorage {
  built_in_memory,   ///< built in memory
  loaded_from_file,  ///< built in a file, which takes less memory, and read
  in_file,           ///< the edges stay in the file
};

/// Host memory of a replay's graph.
struct ReplayMemory {
  ReplayMemory(const TemporalSource& edges, const ReplayOptions& options);

  /// The host memory needed in total, with `other_bytes` for PageRank vectors.
  std::uint64_t needed(ReplayGraphStorage storage, std::uint64_t other_bytes) const;

  std::uint64_t graph_bytes = 0;   ///< both directions, with all edges
  std::uint64_t update_bytes = 0;  ///< while a batch is applied
  std::uint64_t build_bytes = 0;   ///< while the first graph is made in memory, with the graph
  std::uint64_t file_bytes = 0;    ///< instead of graph_bytes if the edges are in a file
};

/// The storage of the graph, the same on all ranks: in a file if `--transport file` or `--distribution shard`
/// is given, or if a rank cannot hold it in addition to `other_bytes`. All ranks call it.
ReplayGraphStorage choose_replay_storage(const ReplayMemory& memory, std::uint64_t other_bytes,
                                         const apps::CommonOptions& common);

/// Throws BudgetError, RunError. A file is in `--scratch`, one per machine, and has no name once it is open.
std::unique_ptr<ReplayGraphs> make_replay_graphs(ReplayGraphStorage storage,
                                                 const apps::CommonOptions& common);

}  // namespace sluice::bench
