// Walks by queues: on a graph in partitions, which come where walks wait, and over ranks that own partitions
// each and hand walks to each other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/batch/instance_run.hpp"
#include "engine/batch/starts_view.hpp"
#include "engine/memory/paged_plan.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/tables/edge_set.hpp"
#include "engine/walks/batch_rows.hpp"
#include "engine/walks/options.hpp"
#include "engine/walks/queue/walk_queue.hpp"

namespace sluice::walks {

/// Instances of one sampler's walks, and what they need. References are kept.
struct QueuedRun : InstanceRun<WalkSink, Options> {
  WalkJob& job;
  const PageRequest& pages;
  StartsView starts;
  std::uint64_t steps = options.length;  ///< that a walk takes, about
};

enum class WalkMode {
  brought,   ///< partitions come and go
  resident,  ///< every rank holds all of its partitions
  stepped,   ///< the same, and all walks make a step a round (SteppedWalks)
};

/// A run's walks, batch by batch. Where partitions are resident, all walks that are here go on until they
/// leave for another rank or end, or make a step, then change hands. The longest walk leaves at almost every
/// step, so that there are about as many rounds as steps. A GPU takes each batch in two halves by turns: what
/// leaves one of them travels while it works on the other.
class WalksInQueues {
 public:
  /// `link`: null where walks travel through the hosts. All ranks make one, of the same plan; one may find
  /// too little memory. All receive first where the instances are, and what comes after is a rank's own, up
  /// to run_all().
  WalksInQueues(const QueuedRun& run, PagedPlan plan, DeviceRanks* link, WalkMode mode);

  void run_all(InstanceRange range, WalkSink* sink);

  // For run_batches: ranks make as many batches.
  bool more(std::uint64_t) const { return batch_ < origins_.batches(); }
  std::uint64_t next(std::uint64_t left);
  void run(Instance first, std::uint64_t count, BatchWriter& writer);

 private:
  std::uint64_t per_origin() const { return cache_.plan().batch; }
  /// Where the rows begin that this rank writes.
  std::uint64_t own_rows() const { return rows_of(origins_.own() * per_origin()); }
  std::uint32_t leg() const {
    return keys_.resident || job_.ends_only() ? options_.length
                                              : static_cast<std::uint32_t>(cache_.plan().leg);
  }
  std::uint64_t rows_of(std::uint64_t walks) const {
    return walks * (job_.ends_only() ? kEndWords : std::uint64_t{leg()} + 1);
  }
  /// Do walks go from GPU to GPU?
  bool linked() const { return router_ && router_->linked(); }
  void connect();
  const Vertex* join_rows();
  void walk_batch(BatchWriter& writer);
  void walk_leg();
  void walk_own();
  void count_waiting();
  std::uint64_t waiting_own() const;
  void work(std::vector<std::uint32_t> keys);
  void exchange_by_turns();
  bool exchange(WalkHalf& half, Crossing& crossing);
  void bring_list(WalkQueue& queue, bool some);
  void hold(std::vector<std::uint32_t> more);
  void make_edge_set();

  ResidentGraph::Impl& graph_;
  WalkJob& job_;
  const Options& options_;
  RunStats& stats_;
  Communicator* ranks_;  ///< null: this one is alone
  BatchOrigins origins_;
  PartitionCache cache_;
  EdgeSetInMemory edge_set_;  ///< of the plan
  QueueKeys keys_;
  Buffer<Vertex> paths_;
  std::vector<std::unique_ptr<WalkQueue>> queues_;      ///< one, or the batch's halves
  std::vector<std::unique_ptr<SteppedWalks>> stepped_;  ///< or these
  std::vector<WalkHalf*> halves_;                       ///< either
  std::optional<BatchRows> rows_;
  std::vector<std::uint64_t> waiting_;  ///< by partition
  bool leaves_ = false;                 ///< is there a sink?
  std::uint64_t batch_ = 0;
  std::optional<Router> router_;  ///< of ranks_; goes first, for others may not come any more
};

/// What a slot takes of a round's look-up: its columns, and a program of most kinds.
inline constexpr std::uint64_t kSlotLookUp = 512;

/// A plan by which every rank holds all of its partitions, and with `pairs` a slot for one more; none, on all
/// ranks, where that does not fit one of them or leaves too little for walks. `bytes_per_walk` is what a rank
/// holds for one walk of the batch, which has as many of every rank. `slot_bytes` is what a slot takes of the
/// look-up that a round publishes. `with_set`: a set of the rank's edges beside the slots.
std::optional<PagedPlan> plan_resident_shard(Communicator& ranks, const Device& device, const Graph& graph,
                                             const PagingOptions& paging, const PageColumns& columns,
                                             std::uint64_t bytes_per_walk, std::uint64_t instances,
                                             bool pairs, std::uint64_t slot_bytes = kSlotLookUp,
                                             bool with_set = false);

/// Where ranks own partitions: may a rank hold all of its own, or must it?
enum class Stay { never, may, must };
/// Never where it asks for another way to work on queues.
bool may_stay(const PagingOptions& paging);

/// Walks by WalksInQueues; resident where these partitions fit. False, on all ranks: they must and do not.
bool walk_in_queues(const QueuedRun& run, Stay stay);

}  // namespace sluice::walks
