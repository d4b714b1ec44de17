// Levels of samples on a graph in partitions: their entries are expanded as the partitions that hold their
// lists come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/ownership.hpp"
#include "engine/exec/executor.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/samples/partitioned/items.hpp"
#include "engine/samples/partitioned/level_bodies.hpp"
#include "engine/samples/partitioned/sample_origins.hpp"

namespace sluice::samples {

/// What is done with an entry whose list is here.
enum class LevelWork { measure, select };

/// The entries of a level that wait, and what is done with them.
struct LevelTask {
  SampleLevel& level;
  std::uint32_t depth;               ///< of the edges
  std::vector<LevelOrigin> origins;  ///< whose entries those are, in this order
  LevelWork work;
};

/// Entries in order of the partitions that they wait for.
struct QueuedLevel {
  LevelTask task;
  std::vector<std::uint64_t> waiting;  ///< [partitions] how many; those that have been worked on do not
  OrderedItems order;

  bool done() const {
    return std::ranges::all_of(waiting, [](std::uint64_t count) { return count == 0; });
  }
};

/// The stretch of its partition that has an item's list; kNoKey: the item does not wait. Lists of a stretch
/// lie side by side.
template <class Waits>
struct StretchOfItem {
  static constexpr std::uint32_t kStretches = 256;  ///< of a partition

  Waits waits;
  OwnershipView owners;

  SLUICE_HD std::uint32_t operator()(std::uint64_t item) const {
    const Vertex v = waits(item);
    if (v == kNoVertex) return kNoKey;
    const std::uint32_t owner = owners.owner(v);
    const std::uint64_t begin = owners.begins[owner], size = owners.begins[owner + 1] - begin;
    return owner * kStretches + static_cast<std::uint32_t>((v - begin) * kStretches / size);
  }
};

/// `Levels` is host::Levels or cuda::Levels, which say what a backend does with entries. Any number of levels
/// wait at once, of any depths: a partition that is here serves all that wait for it.
template <class Levels>
class LevelSelector {
  using Program = typename Levels::Program;

 public:
  /// `far`: partitions lie in other GPUs' memory.
  LevelSelector(const Device& device, Levels& levels, PartitionCache& cache, bool far)
      : device_(device),
        levels_(levels),
        cache_(cache),
        spare_(cache.partitions(), kSampleBatch),
        stretches_(far ? cache.partitions() * std::size_t{kStretches} : 0, kSampleBatch),
        waiting_(cache.partitions(), 0) {}

  /// Selects the edges of a level whose entries belong to `origins`; their lists are in this rank's
  /// partitions.
  void select(SampleLevel& level, std::uint32_t depth, std::vector<LevelOrigin> origins) {
    queue(level, depth, std::move(origins));
    drain([](const std::list<QueuedLevel>&, std::span<const std::uint32_t>) {}, [] {});
  }

  /// Has the edges of a level selected by drain(). How many each entry selects is known beforehand, but for a
  /// dynamic bias, whose lists say how many candidates they have.
  void queue(SampleLevel& level, std::uint32_t depth, std::vector<LevelOrigin> origins) {
    level.offsets.reserve(device_, level.entries + 1, kSampleBatch);
    levels_.begin_measure(level, queued_.empty());
    LevelTask task{level, depth, std::move(origins), LevelWork::measure};
    if (!Program::kDynamic || levels_.program().every_is_candidate) {
      for (const LevelOrigin& origin : task.origins) levels_.measure(level, depth, origin);
      return queue_selection(std::move(task));
    }
    levels_.executor().fill(level.offsets.data(), 0, level.entries * sizeof(std::uint64_t));
    await_lists(std::move(task), nullptr);
  }

  /// Works on all that waits as partitions come, and on what visited() queues, which is called after every
  /// visit. Of entries that have been worked on, worked(queued, present) is told while they count as waiting.
  template <class Worked, class Visited>
  void drain(const Worked& worked, const Visited& visited) {
    leave();
    cache_.drain(waiting_, [&](std::span<const std::uint32_t> present) {
      levels_.work(queued_, present);
      worked(queued_, present);
      for (const std::uint32_t p : present) {
        waiting_[p] = 0;
        for (QueuedLevel& queued : queued_) queued.waiting[p] = 0;
      }
      visited();
      leave();
    });
  }

  std::uint64_t bytes() const {
    std::uint64_t sum = spare_.items.bytes();
    for (const QueuedLevel& queued : queued_) sum += queued.order.items.bytes();
    return sum;
  }

 private:
  static constexpr std::uint32_t kStretches = StretchOfItem<EntryWaits>::kStretches;

  void queue_selection(LevelTask task) {
    levels_.sum_sizes(task.level);
    levels_.reserve_edges(task.level);
    task.work = LevelWork::select;
    if (task.level.edges > 0) await_lists(std::move(task), task.level.offsets.data());
  }

  /// `offsets` as EntryWaits has them.
  void await_lists(LevelTask task, const std::uint64_t* offsets) {
    const EntryWaits waits{levels_.program().graph, task.level.frontier.data(), offsets};
    OrderedItems order = std::exchange(spare_, OrderedItems(cache_.partitions(), kSampleBatch));
    if (stretches_.keys() > 0 && task.origins.size() == 1) {
      order_by_stretch(task.level.entries, waits, order);
    } else {
      const OwnerOfItem<EntryWaits> owner{waits, cache_.owners()};
      levels_.executor().order_by_key(task.level.entries, owner, order);
    }
    if (task.work == LevelWork::select) levels_.begin_select(task, order);
    queued_.push_back({std::move(task), order.counts(), std::move(order)});
    for (std::uint32_t p = 0; p < cache_.partitions(); ++p) waiting_[p] += queued_.back().waiting[p];
  }

  /// Levels of which nothing waits any more leave; edges of those that are measured are selected next.
  void leave() {
    for (auto queued = queued_.begin(); queued != queued_.end();) {
      if (!queued->done()) {
        ++queued;
        continue;
      }
      LevelTask task = std::move(queued->task);
      spare_ = std::move(queued->order);
      queued = queued_.erase(queued);
      if (task.work == LevelWork::measure) queue_selection(std::move(task));
    }
  }

  /// The same order of partitions, and in a partition by stretches: a GPU finds few addresses of another's
  /// memory at once.
  void order_by_stretch(std::uint64_t entries, const EntryWaits& waits, OrderedItems& order) {
    stretches_.items = std::move(order.items);
    levels_.executor().order_by_key(entries, StretchOfItem<EntryWaits>{waits, cache_.owners()}, stretches_);
    order.items = std::move(stretches_.items);
    for (std::size_t p = 0; p < order.begins.size(); ++p) order.begins[p] = stretches_.begins[p * kStretches];
  }

  const Device& device_;
  Levels& levels_;
  PartitionCache& cache_;
  OrderedItems spare_;      ///< of a level that has left
  OrderedItems stretches_;  ///< without keys: entries are in order of partition alone
  std::list<QueuedLevel> queued_;
  std::vector<std::uint64_t> waiting_;  ///< [partitions] entries of all levels
};

}  // namespace sluice::samples
