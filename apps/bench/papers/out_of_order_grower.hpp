// Samples out of order: an instance advances as soon as its own frontier has all its edges, so that a
// partition on the device serves entries of several depths (C-SAW section V.C). Both backends share this
// code. It supports tree semantics only; a visited rule would search an instance's earlier entries each time.
// Instances that advance together form a level, whose entries have one depth; at the end, entries are ordered
// by depth. It is slower: in 8 partitions chains of 20 take 95 instead of 122 transfers but 13 times as long,
// samples of three depths 1.1 to 1.6 times (H200, Kronecker 22); on a host 92, 3.5 and 1.1 to 1.5. Partitions
// without work are evicted: keeping them for later entries took 4 to 15% more transfers in forest fires
// (host, Kronecker 19, 8 partitions, 2 slots).
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <span>
#include <vector>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/sink.hpp"
#include "engine/core/clock.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/memory/shared_words.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/resident_impl.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/level_selector.hpp"
#include "engine/samples/partitioned/setup.hpp"

namespace sluice::bench::papers {

/// An instance's entries of one depth: [begin, begin + count) of a level. Their edges are contiguous there.
struct EntryRange {
  std::uint64_t begin;
  std::uint32_t count, level;
};

/// The columns of a level that bodies read.
struct MadeLevel {
  const samples::FrontierEntry* frontier;
  const std::uint64_t* offsets;
  const std::uint32_t* indices;
  const Vertex *targets, *arrivals;

  SLUICE_HD std::uint64_t edge(const EntryRange& range, std::uint32_t entry) const {
    return offsets[range.begin + entry];
  }
  SLUICE_HD std::uint64_t edges(const EntryRange& range) const {
    return edge(range, range.count) - edge(range, 0);
  }
};

/// The state of all instances.
struct InstancesView {
  std::uint64_t instances;
  std::uint32_t depths;
  EntryRange* ranges;       ///< [depths][instances]
  std::uint32_t* depth;     ///< [instances] depth of the frontier
  std::uint64_t* selected;  ///< [instances] edges of the frontier so far
  std::uint64_t* slots;     ///< [instances] entries up to the frontier's depth
  const MadeLevel* levels;

  SLUICE_HD EntryRange& range(std::uint32_t depth_of, std::uint64_t instance) const {
    return ranges[depth_of * instances + instance];
  }
};

/// Begins each instance with its seeds, the first level.
struct BeginInstance {
  InstancesView all;
  const std::uint64_t* entries;  ///< [instances + 1] number of seeds of earlier instances

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    all.range(0, i) = {entries[i], static_cast<std::uint32_t>(entries[i + 1] - entries[i]), 0};
    all.slots[i] = entries[i + 1] - entries[i];
    all.selected[i] = all.depth[i] = 0;
  }
};

/// Adds up the edges of listed entries.
struct CountSelected {
  InstancesView all;
  const std::uint32_t* items;
  const samples::FrontierEntry* frontier;
  const std::uint64_t* offsets;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const std::uint32_t at = items[i];
    fetch_add(all.selected + frontier[at].instance, offsets[at + 1] - offsets[at]);
  }
};

/// The depth of a complete frontier that is not the last; kNoKey else, and for a frontier without edges.
struct DepthThatIsDone {
  InstancesView all;

  SLUICE_HD std::uint32_t operator()(std::uint64_t i) const {
    const std::uint32_t depth = all.depth[i];
    if (all.selected[i] == 0 || depth + 1 == all.depths) return kNoKey;
    const EntryRange range = all.range(depth, i);
    return all.levels[range.level].edges(range) == all.selected[i] ? depth : kNoKey;
  }
};

/// Counts the vertices that the edges of an instance add to its next frontier.
struct CountArrivals {
  InstancesView all;
  const std::uint32_t* instances;
  std::uint64_t* counts;

  template <class Group, class Counters>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t k, Counters&) const {
    const std::uint32_t i = instances[k];
    const EntryRange range = all.range(all.depth[i], i);
    const MadeLevel& level = all.levels[range.level];
    std::uint32_t own = 0;
    for (std::uint64_t e = level.edge(range, 0) + group.rank(); e < level.edge(range, range.count);
         e += Group::kSize)
      own += level.arrivals[e] != kNoVertex;
    const std::uint32_t sum = group.sum(own);
    if (group.rank() == 0) counts[k] = sum;
    return true;
  }
};

/// Writes the entries of the next depth, in the order of edges.
struct PutArrivals {
  InstancesView all;
  const std::uint32_t* instances;
  const std::uint64_t* begins;
  std::uint32_t number;  ///< of the level
  samples::FrontierEntry* frontier;
  Vertex* parents;  ///< null if not needed

  template <class Group, class Counters>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t k, Counters&) const {
    const std::uint32_t i = instances[k], depth = all.depth[i];
    const EntryRange range = all.range(depth, i);
    const MadeLevel& level = all.levels[range.level];
    const std::uint64_t first = level.edge(range, 0), slots = all.slots[i];
    std::uint64_t to = begins[k];
    for (std::uint32_t entry = 0; entry < range.count; ++entry) {
      const std::uint64_t end = level.edge(range, entry + 1);
      for (std::uint64_t base = level.edge(range, entry); base < end; base += Group::kSize) {
        const std::uint64_t e = base + group.rank();
        const Vertex v = e < end ? level.arrivals[e] : kNoVertex;
        const std::uint32_t sum = group.inclusive_scan(v != kNoVertex ? 1u : 0u);
        if (v != kNoVertex) {
          frontier[to + sum - 1] = {i, v, slots + (e - first)};
          if (parents) parents[to + sum - 1] = level.frontier[range.begin + entry].vertex;
        }
        to += group.broadcast(sum, Group::kSize - 1);
      }
    }
    group.sync();
    if (group.rank() != 0) return true;
    const auto count = static_cast<std::uint32_t>(to - begins[k]);
    all.range(depth + 1, i) = count > 0 ? EntryRange{begins[k], count, number} : EntryRange{};
    all.depth[i] = depth + 1, all.selected[i] = 0, all.slots[i] = slots + level.edges(range);
    return true;
  }
};

/// Counts the entries of an instance at a depth, and its edges at lower depths.
struct CountEntries {
  InstancesView all;
  std::uint32_t depth;
  const std::uint64_t* earlier;  ///< [instances] `before` of the previous depth
  std::uint64_t *entries, *before;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    entries[i] = all.range(depth, i).count;
    const EntryRange range = all.range(depth - 1, i);
    before[i] = earlier[i] + all.levels[range.level].edges(range);
  }
};

/// Copies those entries, and the number of edges of each.
struct GatherEntries {
  InstancesView all;
  std::uint32_t depth;
  const std::uint64_t* begins;
  samples::FrontierEntry* frontier;
  std::uint64_t* sizes;

  template <class Group, class Counters>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t i, Counters&) const {
    const EntryRange range = all.range(depth, i);
    const MadeLevel& level = all.levels[range.level];
    for (std::uint32_t entry = group.rank(); entry < range.count; entry += Group::kSize) {
      frontier[begins[i] + entry] = level.frontier[range.begin + entry];
      sizes[begins[i] + entry] = level.edge(range, entry + 1) - level.edge(range, entry);
    }
    return true;
  }
};

/// Copies the edges of those entries.
struct GatherEdges {
  InstancesView all;
  std::uint32_t depth;
  const std::uint64_t *begins, *offsets;
  std::uint32_t* indices;
  Vertex* targets;
  std::uint32_t* owners;  ///< null if not needed

  template <class Group, class Counters>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t i, Counters&) const {
    const EntryRange range = all.range(depth, i);
    const MadeLevel& level = all.levels[range.level];
    for (std::uint32_t entry = 0; entry < range.count; ++entry) {
      const std::uint64_t from = level.edge(range, entry), to = offsets[begins[i] + entry];
      const std::uint64_t size = level.edge(range, entry + 1) - from;
      for (std::uint64_t e = group.rank(); e < size; e += Group::kSize) {
        indices[to + e] = level.indices[from + e];
        targets[to + e] = level.targets[from + e];
        if (owners) owners[to + e] = static_cast<std::uint32_t>(begins[i] + entry);
      }
    }
    return true;
  }
};

/// A grower of samples (PartitionedSamples). Throws UsageError unless under tree semantics on one rank.
template <class Levels>
class OutOfOrderGrower {
  using Program = typename Levels::Program;
  using SampleLevel = samples::SampleLevel;
  using QueuedLevel = samples::QueuedLevel;

 public:
  OutOfOrderGrower(const samples::LevelSetup<Program>& setup, PartitionCache& cache)
      : device_(setup.graph.device),
        has_sink_(setup.has_sink),
        stats_(setup.stats),
        levels_(setup, cache),
        selector_(device_, levels_, cache, setup.graph.peers != nullptr),
        done_(levels_.program().sampler.depth(), kPurpose) {
    if (!setup.revisit || setup.graph.paging.shard)
      throw UsageError("samples out of order need tree semantics (--revisit) and one rank");
  }

  /// Grows instances [first, first + count).
  void grow(Instance first, std::uint64_t count) {
    const double start = seconds_now();
    levels_.begin(first, count);
    if (levels_.program().sampler.depth() > 0 && levels_.entries() > 0) select(first, count);
    stats_.sampled_edges += levels_.edges();
    levels_.finish();
    stats_.compute_seconds += seconds_now() - start;
    if (has_sink_) levels_.collect(first, count);
  }

  void emit(Instance first, std::uint64_t count, SampleSink& sink, BatchWriter& writer) {
    levels_.write_results(first, count, sink, writer);
  }

  std::uint64_t bytes() const {
    std::uint64_t sum = levels_.bytes() + selector_.bytes() + ranges_.bytes() + depth_.bytes() +
                        selected_.bytes() + slots_.bytes() + begins_.bytes() + columns_.bytes() +
                        done_.items.bytes();
    for (const SampleLevel& level : deeper_levels_) sum += level.bytes();
    return sum;
  }

 private:
  static constexpr const char* kPurpose = samples::kSampleBatch;

  /// Selects all edges of a batch whose seeds are in place.
  void select(Instance first, std::uint64_t instances) {
    const auto queue = [&](SampleLevel& level, std::uint32_t depth) {
      selector_.queue(level, depth, {{first, 0, level.entries}});
    };
    begin(instances);
    queue(levels_.level(), 1);
    selector_.drain(
        [&](const std::list<QueuedLevel>& queued, std::span<const std::uint32_t> present) {
          for (const QueuedLevel& level : queued) count(level, present);
        },
        [&] { go_on(queue); });
    order_by_depth();
  }

  void begin(std::uint64_t instances) {
    deeper_levels_.clear();
    const std::uint32_t depths = levels_.program().sampler.depth();
    ranges_.reserve(device_, depths * instances, kPurpose);
    depth_.reserve(device_, instances, kPurpose);
    for (Buffer<std::uint64_t>* each : {&selected_, &slots_}) each->reserve(device_, instances, kPurpose);
    view_ = {instances, depths, ranges_.data(), depth_.data(), selected_.data(), slots_.data(), nullptr};
    levels_.executor().fill(ranges_.data(), 0, depths * instances * sizeof(EntryRange));
    levels_.executor().for_each(instances, {}, BeginInstance{view_, levels_.level().instance_entries.data()});
  }

  void count(const QueuedLevel& queued, std::span<const std::uint32_t> present) {
    if (queued.task.work != samples::LevelWork::select) return;
    const SampleLevel& level = queued.task.level;
    for (const std::uint32_t p : present)
      levels_.executor().for_each(queued.waiting[p], {},
                                  CountSelected{view_, queued.order.items.data() + queued.order.begins[p],
                                                level.frontier.data(), level.offsets.data()});
  }

  /// Calls queue(level, depth) for the next frontiers of instances whose frontier is complete.
  template <class Queue>
  void go_on(const Queue& queue) {
    auto& executor = levels_.executor();
    view_levels();
    executor.order_by_key(view_.instances, DepthThatIsDone{view_}, done_);
    for (std::uint32_t depth = 0; depth + 1 < view_.depths; ++depth) {
      const std::uint64_t count = done_.count(depth);
      if (count == 0) continue;
      const std::uint32_t* const instances = done_.items.data() + done_.begins[depth];
      begins_.reserve(device_, count + 1, kPurpose);
      executor.template for_each_group<NoCounters>(count, Groups::warps,
                                                   CountArrivals{view_, instances, begins_.data()});
      SampleLevel& next = deeper_levels_.emplace_back();
      next.entries = executor.exclusive_sum(begins_.data(), count);
      next.frontier.reserve(device_, next.entries, kPurpose);
      if constexpr (Program::kDynamic) next.parents.reserve(device_, next.entries, kPurpose);
      executor.template for_each_group<NoCounters>(
          count, Groups::warps,
          PutArrivals{view_, instances, begins_.data(), static_cast<std::uint32_t>(deeper_levels_.size()),
                      next.frontier.data(), next.parents.data()});
      next.entries > 0 ? queue(next, depth + 2) : deeper_levels_.pop_back();
    }
  }

  /// Orders the levels by depth, as if all instances had advanced together.
  void order_by_depth() {
    auto& executor = levels_.executor();
    view_levels();
    for (std::uint32_t depth = 1; depth < view_.depths; ++depth) {
      const std::uint64_t* const earlier = levels_.level_at(depth - 1).earlier_edges.data();
      SampleLevel& to = levels_.level_at(depth);
      to.instance_entries.reserve(device_, view_.instances + 1, kPurpose);
      to.earlier_edges.reserve(device_, view_.instances, kPurpose);
      std::uint64_t* const begins = to.instance_entries.data();
      executor.for_each(view_.instances, {},
                        CountEntries{view_, depth, earlier, begins, to.earlier_edges.data()});
      to.entries = executor.exclusive_sum(begins, view_.instances);
      to.frontier.reserve(device_, to.entries, kPurpose);
      to.offsets.reserve(device_, to.entries + 1, kPurpose);
      executor.template for_each_group<NoCounters>(
          view_.instances, Groups::warps,
          GatherEntries{view_, depth, begins, to.frontier.data(), to.offsets.data()});
      to.edges = executor.exclusive_sum(to.offsets.data(), to.entries);
      to.fanout = 0;
      to.reserve_edges(device_, false);
      executor.template for_each_group<NoCounters>(
          view_.instances, Groups::warps,
          GatherEdges{view_, depth, begins, to.offsets.data(), to.indices.data(), to.targets.data(),
                      to.owners.data()});
    }
    executor.wait("samples");
    levels_.set_depth(view_.depths);
  }

  /// Views the levels again, as they allocate their edges after their creation.
  void view_levels() {
    std::vector<MadeLevel> columns;
    const auto add = [&](const SampleLevel& level) {
      columns.push_back({level.frontier.data(), level.offsets.data(), level.indices.data(),
                         level.targets.data(),
                         Program::kUpdates ? level.arrivals.data() : level.targets.data()});
    };
    add(levels_.level_at(0));
    for (const SampleLevel& level : deeper_levels_) add(level);
    columns_.reserve(device_, columns.size(), kPurpose);
    copy_to_device(device_, columns_.data(), columns.data(), columns.size() * sizeof(MadeLevel));
    view_.levels = columns_.data();
  }

  const Device& device_;
  bool has_sink_;
  RunStats& stats_;
  Levels levels_;
  samples::LevelSelector<Levels> selector_;
  std::deque<SampleLevel> deeper_levels_;  ///< of depths after the seeds'
  InstancesView view_{};
  Buffer<EntryRange> ranges_;
  Buffer<std::uint32_t> depth_;
  Buffer<std::uint64_t> selected_, slots_;
  Buffer<std::uint64_t> begins_;  ///< [advancing instances + 1] entries of earlier ones
  Buffer<MadeLevel> columns_;
  OrderedItems done_;  ///< advancing instances, by depth
};

}  // namespace sluice::bench::papers
