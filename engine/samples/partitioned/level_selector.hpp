// Levels of samples on a graph in partitions: their entries are expanded as the partitions that hold their
// lists become resident.
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

/// The work on an entry whose list is resident.
enum class LevelWork { measure, select };

/// The waiting entries of a level and the work on them.
struct LevelTask {
  SampleLevel& level;
  std::uint32_t depth;               ///< of the edges
  std::vector<LevelOrigin> origins;  ///< origin ranks of the entries, in order of entries
  LevelWork work;
};

/// The entries of a level, ordered by the partitions for which they wait.
struct QueuedLevel {
  LevelTask task;
  std::vector<std::uint64_t> waiting;  ///< [partitions] entries that still wait
  OrderedItems order;

  bool done() const {
    return std::ranges::all_of(waiting, [](std::uint64_t count) { return count == 0; });
  }
};

/// The stretch that holds an entry's list: one of 256 equal ranges of a partition's vertices, whose lists are
/// contiguous. kNoKey if the entry does not wait.
struct StretchOfEntry {
  static constexpr std::uint32_t kStretches = 256;  ///< per partition

  WaitingEntries entries;
  OwnershipView owners;

  SLUICE_HD std::uint32_t operator()(std::uint64_t entry) const {
    const Vertex v = entries.awaited_vertex(entry);
    if (v == kNoVertex) return kNoKey;
    const std::uint32_t owner = owners.owner(v);
    const std::uint64_t begin = owners.begins[owner], size = owners.begins[owner + 1] - begin;
    return owner * kStretches + static_cast<std::uint32_t>((v - begin) * kStretches / size);
  }
};

/// Selects the edges of levels. `Levels`, the backend's work on entries, is host::Levels or cuda::Levels. Any
/// number of levels of any depths may wait at once: a resident partition serves all that wait for it.
template <class Levels>
class LevelSelector {
  using Program = typename Levels::Program;

 public:
  /// `in_peer_memory`: partitions are in other GPUs' memory.
  LevelSelector(const Device& device, Levels& levels, PartitionCache& cache, bool in_peer_memory)
      : device_(device),
        levels_(levels),
        cache_(cache),
        spare_(cache.partitions(), kSampleBatch),
        stretches_(in_peer_memory ? cache.partitions() * std::size_t{kStretches} : 0, kSampleBatch),
        waiting_(cache.partitions(), 0) {}

  /// Selects the edges of a level whose entries belong to `origins`. This rank must own the entries' lists.
  void select(SampleLevel& level, std::uint32_t depth, std::vector<LevelOrigin> origins) {
    queue(level, depth, std::move(origins));
    drain([](const std::list<QueuedLevel>&, std::span<const std::uint32_t>) {}, [] {});
  }

  /// Queues a level, whose edges drain() selects. The number of edges of each entry is computed at once; with
  /// a dynamic bias it depends on the lists, so these are first visited to count their candidates.
  void queue(SampleLevel& level, std::uint32_t depth, std::vector<LevelOrigin> origins) {
    level.offsets.reserve(device_, level.entries + 1, kSampleBatch);
    levels_.begin_measure(level, queued_.empty());
    LevelTask task{level, depth, std::move(origins), LevelWork::measure};
    if (!Program::kDynamic || levels_.program().all_are_candidates) {
      for (const LevelOrigin& origin : task.origins) levels_.measure(level, depth, origin);
      return queue_selection(std::move(task));
    }
    levels_.executor().fill(level.offsets.data(), 0, level.entries * sizeof(std::uint64_t));
    enqueue(std::move(task), nullptr);
  }

  /// Works on all waiting entries as partitions become resident. After every visit it calls
  /// worked(queued, present), while the visited entries still count as waiting, then visited(), which may
  /// queue more levels.
  template <class Worked, class Visited>
  void drain(const Worked& worked, const Visited& visited) {
    retire_levels();
    cache_.drain(waiting_, [&](std::span<const std::uint32_t> present) {
      levels_.work(queued_, present);
      worked(queued_, present);
      for (const std::uint32_t p : present) {
        waiting_[p] = 0;
        for (QueuedLevel& queued : queued_) queued.waiting[p] = 0;
      }
      visited();
      retire_levels();
    });
  }

  std::uint64_t bytes() const {
    std::uint64_t sum = spare_.items.bytes();
    for (const QueuedLevel& queued : queued_) sum += queued.order.items.bytes();
    return sum;
  }

 private:
  static constexpr std::uint32_t kStretches = StretchOfEntry::kStretches;

  void queue_selection(LevelTask task) {
    levels_.sum_sizes(task.level);
    levels_.reserve_edges(task.level);
    task.work = LevelWork::select;
    if (task.level.edges > 0) enqueue(std::move(task), task.level.offsets.data());
  }

  /// `offsets`: see WaitingEntries.
  void enqueue(LevelTask task, const std::uint64_t* offsets) {
    const WaitingEntries waiting{levels_.program().graph, task.level.frontier.data(), offsets};
    OrderedItems order = std::exchange(spare_, OrderedItems(cache_.partitions(), kSampleBatch));
    if (stretches_.keys() > 0 && task.origins.size() == 1) {
      order_by_stretch(task.level.entries, waiting, order);
    } else {
      const OwnerOfItem<WaitingEntries> owner{waiting, cache_.owners()};
      levels_.executor().order_by_key(task.level.entries, owner, order);
    }
    if (task.work == LevelWork::select) levels_.begin_select(task, order);
    queued_.push_back({std::move(task), order.counts(), std::move(order)});
    for (std::uint32_t p = 0; p < cache_.partitions(); ++p) waiting_[p] += queued_.back().waiting[p];
  }

  /// Removes levels without waiting entries, and queues the selection of those that were measured.
  void retire_levels() {
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

  /// Orders entries by partition, and by stretch within it: a GPU resolves few addresses of another GPU's
  /// memory at a time.
  void order_by_stretch(std::uint64_t entries, const WaitingEntries& waiting, OrderedItems& order) {
    stretches_.items = std::move(order.items);
    levels_.executor().order_by_key(entries, StretchOfEntry{waiting, cache_.owners()}, stretches_);
    order.items = std::move(stretches_.items);
    for (std::size_t p = 0; p < order.begins.size(); ++p) order.begins[p] = stretches_.begins[p * kStretches];
  }

  const Device& device_;
  Levels& levels_;
  PartitionCache& cache_;
  OrderedItems spare_;      ///< memory of a removed level, for the next one
  OrderedItems stretches_;  ///< no keys: entries are ordered by partition only
  std::list<QueuedLevel> queued_;
  std::vector<std::uint64_t> waiting_;  ///< [partitions] entries of all levels
};

}  // namespace sluice::samples
