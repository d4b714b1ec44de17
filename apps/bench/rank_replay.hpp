// sluice pagerank --replay: a temporal edge list, batch by batch.
#pragma once

#include <string>

#include "apps/cli/command_line.hpp"
#include "apps/cli/common_options.hpp"
#include "engine/pagerank/dynamic/replay.hpp"

namespace sluice::apps {

struct RankReplayOptions {
  std::string file;
  ReplayOptions replay;
};

void declare_replay(Command& command, RankReplayOptions& options);

/// Throws UsageError for options of a replay where there is none, and for a missing graph.
void refuse_replay_options(const Command& command);

/// Replays, with a table on standard error and every batch in the report. Methods all, unless one is given.
void run_replay(const Command& command, RankReplayOptions& options, const PageRankOptions& rank,
                CommonOptions& common);

}  // namespace sluice::apps
