// Walks in queues: on a graph in partitions, which are brought when walks wait for them, and over ranks that
// own partitions and send walks to each other.
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

/// Instances of a sampler's walks, with their job and inputs. Keeps references.
struct QueuedRun : InstanceRun<WalkSink, Options> {
  WalkJob& job;
  const PageRequest& pages;
  StartsView starts;
  std::uint64_t steps = options.length;  ///< expected steps of a walk
};

enum class WalkMode {
  paged,     ///< partitions are brought into slots and replaced
  resident,  ///< every rank holds all of its partitions
  stepped,   ///< as resident, and each walk makes one step a round (SteppedWalks)
};

/// Runs walks batch by batch. With resident partitions, a round advances all walks of a rank until they end
/// or leave for another rank (stepped: by one step); then the ranks exchange walks. The longest walk leaves
/// at almost every step, so there are about as many rounds as steps. A GPU alternates between two halves of a
/// batch: the departing walks of one half travel while it advances the other.
class WalksInQueues {
 public:
  /// `link`: null if walks travel through the hosts. All ranks construct one, with the same plan. They first
  /// exchange their ranges of instances. All else, up to run_all(), is local: one rank alone may find too
  /// little memory.
  WalksInQueues(const QueuedRun& run, PagedPlan plan, DeviceRanks* link, WalkMode mode);

  void run_all(InstanceRange range, WalkSink* sink);

  // For run_batches: all ranks run the same number of batches.
  bool has_more(std::uint64_t) const { return batch_ < origins_.batches(); }
  std::uint64_t next_size(std::uint64_t left);
  void run(Instance first, std::uint64_t count, BatchWriter& writer);

 private:
  std::uint64_t per_origin() const { return cache_.plan().batch; }
  /// Offset in the paths of the rows that this rank writes.
  std::uint64_t own_rows() const { return rows_of(origins_.own_index() * per_origin()); }
  std::uint32_t leg() const {
    return keys_.resident || job_.ends_only() ? options_.length
                                              : static_cast<std::uint32_t>(cache_.plan().leg);
  }
  std::uint64_t rows_of(std::uint64_t walks) const {
    return walks * (job_.ends_only() ? kEndWords : std::uint64_t{leg()} + 1);
  }
  /// True if walks travel directly from GPU to GPU.
  bool linked() const { return router_ && router_->has_link(); }
  void connect();
  const Vertex* merge_rows();
  void walk_batch(BatchWriter& writer);
  void walk_leg();
  void walk_own_partitions();
  void count_waiting();
  std::uint64_t own_waiting_count() const;
  void work(std::vector<std::uint32_t> keys);
  void alternate_halves();
  bool exchange(WalkHalf& half, ExchangeCounts& exchanged);
  void fetch_list(WalkQueue& queue, bool has_walks);
  void hold(std::vector<std::uint32_t> extra);
  void make_edge_set();

  ResidentGraph::Impl& graph_;
  WalkJob& job_;
  const Options& options_;
  RunStats& stats_;
  Communicator* ranks_;  ///< null in a run of one rank
  BatchOrigins origins_;
  PartitionCache cache_;
  EdgeSetInMemory edge_set_;  ///< as planned; may be empty
  QueueKeys keys_;
  Buffer<Vertex> paths_;
  std::vector<std::unique_ptr<WalkQueue>> queues_;      ///< one, or one for each half of the batch
  std::vector<std::unique_ptr<SteppedWalks>> stepped_;  ///< instead of queues_ if stepped
  std::vector<WalkHalf*> halves_;                       ///< queues_ or stepped_
  std::optional<BatchRows> rows_;
  std::vector<std::uint64_t> waiting_;  ///< walks that wait for each partition
  bool has_sink_ = false;               ///< true if there is a sink
  std::uint64_t batch_ = 0;
  std::optional<Router> router_;  ///< of ranks_; destroyed first, for other ranks may have failed
};

/// Bytes for each slot in a round's look-up: its columns, and the program of most kinds.
inline constexpr std::uint64_t kSlotLookUp = 512;

/// Plans that every rank holds all of its partitions, and with `pairs` a slot for one more. Returns nullopt,
/// on all ranks, if that does not fit one of them or leaves too little memory for walks. `bytes_per_walk`:
/// what a rank holds for one walk of a batch, which has equally many of every rank. `slot_bytes`: bytes for
/// each slot in a round's look-up. `with_set`: plans a set of the rank's edges beside the slots.
std::optional<PagedPlan> plan_resident_shard(Communicator& ranks, const Device& device, const Graph& graph,
                                             const PagingOptions& paging, const PageColumns& columns,
                                             std::uint64_t bytes_per_walk, std::uint64_t instances,
                                             bool pairs, std::uint64_t slot_bytes = kSlotLookUp,
                                             bool with_set = false);

/// Whether a rank that owns partitions may, or must, hold all of its own.
enum class ShardResidency { never, allowed, required };
/// True if ranks own partitions and `paging` selects no other way to work on queues.
bool can_hold_shard(const PagingOptions& paging);

/// Runs walks by WalksInQueues, with resident partitions if they fit. False, on all ranks, if they must and
/// do not.
bool walk_in_queues(const QueuedRun& run, ShardResidency residency);

}  // namespace sluice::walks
