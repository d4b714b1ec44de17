// The driver of walks over ranks that each hold all of their partitions on the device: in every superstep
// all walks that are here go on until they leave for another rank or end, then change hands; wave by wave,
// each in two halves where a device works by itself.
// The longest walk leaves at almost every step, so that there are about as many supersteps as steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/batch/sink.hpp"
#include "engine/memory/page_loop.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/batch_rows.hpp"
#include "engine/walks/options.hpp"
#include "engine/walks/sharded/job.hpp"

namespace sluice {

class ShardWalkDriver {
 public:
  /// All ranks make one, of the same plan; one may find too little memory (together). All hear first where
  /// the instances are, and what comes after is a rank's own, up to run().
  ShardWalkDriver(ResidentGraph::Impl& graph, ShardJob& job, const PageRequest& pages, StartsView starts,
                  const WalkOptions& options, RunStats& stats, Instance begin, Instance end, PagedPlan plan);

  void run(WalkSink* sink);

 private:
  void walk_wave();
  bool superstep(unsigned h, bool begun);
  void bring_pair(bool some);
  void hold(std::vector<std::uint32_t> more);

  ResidentGraph::Impl& graph_;
  ShardJob& job_;
  const WalkOptions& options_;
  RunStats& stats_;
  Communicator& ranks_;
  Instance instances_;
  WaveHomes homes_;
  PageLoop loop_;
  std::unique_ptr<ShardRows> rows_;
  std::vector<std::unique_ptr<ShardWalks>> halves_;
};

}  // namespace sluice
