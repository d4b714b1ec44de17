// One depth of a batch of samples on a graph in partitions: its entries are expanded as the partitions that
// hold their lists come.
#pragma once

#include <cstdint>
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
  std::uint32_t depth;
  std::span<const LevelOrigin> origins;  ///< whose entries those are, in this order
  LevelWork work;
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

/// `Levels` is host::Levels or cuda::Levels, which say what a backend does with entries.
template <class Levels>
class LevelSelector {
  using Program = typename Levels::Program;

 public:
  /// `far`: partitions lie in other GPUs' memory.
  LevelSelector(const Device& device, Levels& levels, PartitionCache& cache, bool far)
      : device_(device),
        levels_(levels),
        cache_(cache),
        order_(cache.partitions(), kSampleBatch),
        stretches_(far ? cache.partitions() * std::size_t{kStretches} : 0, kSampleBatch) {}

  /// Selects the edges of a level whose entries belong to `origins`; their lists are in this rank's
  /// partitions.
  void select(SampleLevel& level, std::uint32_t depth, std::span<const LevelOrigin> origins) {
    level.offsets.reserve(device_, level.entries + 1, kSampleBatch);
    measure({level, depth, origins, LevelWork::measure});
    levels_.sum_sizes(level);
    levels_.reserve_edges(level);
    if (level.edges > 0) visit({level, depth, origins, LevelWork::select}, level.offsets.data());
  }
  std::uint64_t bytes() const { return order_.items.bytes(); }

 private:
  static constexpr std::uint32_t kStretches = StretchOfItem<EntryWaits>::kStretches;

  /// How many edges each entry selects, into its place in `offsets`. That is known beforehand, but for a
  /// dynamic bias, whose lists say how many candidates they have.
  void measure(const LevelTask& task) {
    SampleLevel& level = task.level;
    levels_.begin_measure(level);
    if (!Program::kDynamic || levels_.program().every_is_candidate) {
      for (const LevelOrigin& origin : task.origins) levels_.measure(level, task.depth, origin);
      return;
    }
    levels_.executor().fill(level.offsets.data(), 0, level.entries * sizeof(std::uint64_t));
    visit(task, nullptr);
  }

  /// Works on all entries that wait as their partitions come; `offsets` as EntryWaits has them.
  void visit(const LevelTask& task, const std::uint64_t* offsets) {
    const SampleLevel& level = task.level;
    const EntryWaits waits{levels_.program().graph, level.frontier.data(), offsets};
    if (stretches_.keys() > 0 && task.origins.size() == 1) {
      order_by_stretch(level.entries, waits);
    } else {
      levels_.executor().order_by_key(level.entries, OwnerOfItem<EntryWaits>{waits, cache_.owners()}, order_);
    }
    if (task.work == LevelWork::select) levels_.begin_select(task.level, order_);
    std::vector<std::uint64_t> waiting = order_.counts();
    cache_.drain(waiting, [&](std::span<const std::uint32_t> present) {
      levels_.work(task, order_, present);
      for (const std::uint32_t p : present) waiting[p] = 0;
    });
  }

  /// The same order of partitions, and in a partition by stretches: a GPU finds few addresses of another's
  /// memory at once.
  void order_by_stretch(std::uint64_t entries, const EntryWaits& waits) {
    stretches_.items = std::move(order_.items);
    levels_.executor().order_by_key(entries, StretchOfItem<EntryWaits>{waits, cache_.owners()}, stretches_);
    order_.items = std::move(stretches_.items);
    for (std::size_t p = 0; p < order_.begins.size(); ++p)
      order_.begins[p] = stretches_.begins[p * kStretches];
  }

  const Device& device_;
  Levels& levels_;
  PartitionCache& cache_;
  OrderedItems order_;      ///< entries by partition
  OrderedItems stretches_;  ///< without keys: order_ alone is used
};

}  // namespace sluice::samples
