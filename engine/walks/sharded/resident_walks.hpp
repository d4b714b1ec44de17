// Walks over ranks that each hold all of their partitions on the device: in every superstep
// all walks that are here go on until they leave for another rank or end, then change hands; batch by
// batch, each in two halves where a device works by itself.
// The longest walk leaves at almost every step, so that there are about as many supersteps as steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/batch/sink.hpp"
#include "engine/batch/starts.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/walks/batch_rows.hpp"
#include "engine/walks/options.hpp"
#include "engine/walks/sharded/job.hpp"

namespace sluice {

class ResidentWalks {
 public:
  /// All ranks make one, of the same plan; one may find too little memory (together). All receive first where
  /// the instances are, and what comes after is a rank's own, up to run_all().
  ResidentWalks(ResidentGraph::Impl& graph, ShardJob& job, const PageRequest& pages, StartsView starts,
                const WalkOptions& options, RunStats& stats, Instance begin, Instance end, PagedPlan plan);

  void run_all(InstanceRange range, WalkSink* sink);

  // For run_batches: ranks make as many batches.
  bool more(std::uint64_t) const { return batch_ < origins_.batches(); }
  std::uint64_t next(std::uint64_t left);
  void run(Instance first, std::uint64_t count, BatchWriter& writer);

 private:
  void walk_batch();
  bool superstep(unsigned h, bool begun);
  void bring_pair(bool some);
  void hold(std::vector<std::uint32_t> more);

  ResidentGraph::Impl& graph_;
  ShardJob& job_;
  const WalkOptions& options_;
  RunStats& stats_;
  Communicator& ranks_;
  BatchOrigins origins_;
  PartitionCache cache_;
  std::unique_ptr<ShardRows> rows_;
  std::optional<BatchRows> leaving_;
  std::vector<std::unique_ptr<ShardWalks>> halves_;
  std::uint64_t batch_ = 0;
};

}  // namespace sluice
