// The host's levels of samples on a graph in partitions: a thread advances one instance at a time, and
// selects edges for one entry at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <list>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/host_executor.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/schedule/host_queues.hpp"
#include "engine/samples/entry_selector.hpp"
#include "engine/samples/levels_host.hpp"
#include "engine/samples/partitioned/level_grower.hpp"
#include "engine/samples/plant.hpp"
#include "engine/samples/visited.hpp"
#include "engine/select/tables.hpp"

namespace sluice::samples::host {

/// Levels of a batch of samples.
template <class P>
class Levels<P, Partitioned> {
 public:
  using Program = P;
  using Exec = HostExecutor;

  Levels(const LevelSetup<Program>& setup, PartitionCache& cache)
      : device_(setup.graph.device),
        cache_(cache),
        program_(setup.program),
        starts_(setup.starts),
        revisit_(setup.revisit),
        stats_(setup.stats),
        executor_(device_),
        workers_(device_.threads()),
        queues_(device_.threads(), cache.paging()) {}

  HostExecutor& executor() { return executor_; }
  /// Its graph has no edges; on_page() returns a program that reads the lists of a partition.
  const Program& program() const { return program_; }
  /// The deepest level.
  SampleLevel& level() { return levels_.back(); }
  SampleLevel& level_at(std::uint32_t depth) {
    return depth < levels_.size() ? levels_[depth] : levels_.emplace_back();
  }
  std::uint64_t entries() const { return levels_.back().entries; }
  void finish_level() const {}
  void set_depth(std::uint32_t) const {}
  /// Number of edges selected so far, in all levels.
  std::uint64_t edges() const {
    std::uint64_t sum = 0;
    for (const SampleLevel& level : levels_) sum += level.edges;
    return sum;
  }

  /// Begins a batch: the seeds of instances [first, first + count) become the first frontier.
  void begin(Instance first, std::uint64_t count) {
    program_.first = first;
    instances_ = count;
    levels_.clear();
    write_seeds(device_, executor_, starts_, first, count, revisit_, Program::kDynamic,
                levels_.emplace_back());
  }

  /// Makes the next depth's frontiers: in order of edges, each newly reached vertex, or every arrival.
  void advance() {
    const SampleLevel& current = levels_.back();
    SampleLevel& next = levels_.emplace_back();
    flags_.reserve(device_, current.edges, kSampleBatch);
    next.instance_entries.reserve(device_, instances_ + 1, kSampleBatch);
    next.earlier_edges.reserve(device_, instances_, kSampleBatch);
    std::uint8_t* const flags = flags_.data();
    std::uint64_t* const begins = next.instance_entries.data();
    for_each(instances_, current.edges, [&](std::uint64_t i, VisitedSet& visited) {
      if (!revisit_) insert_visited(i, visited);
      std::uint64_t entries = 0;
      selected(current, i)
          .for_each_next([&](std::uint64_t e, Vertex v) { return flags[e] = revisit_ || visited.insert(v); },
                         [&](const FrontierEntry&, Vertex) { ++entries; });
      begins[i] = entries;
      next.earlier_edges.data()[i] = current.earlier_edges.data()[i] + edges_of(current, i);
    });
    next.entries = executor_.exclusive_sum(begins, instances_);
    next.frontier.reserve(device_, next.entries, kSampleBatch);
    if constexpr (Program::kDynamic) next.parents.reserve(device_, next.entries, kSampleBatch);
    for_each(instances_, current.edges, [&](std::uint64_t i, VisitedSet&) {
      std::uint64_t target = begins[i];
      selected(current, i)
          .for_each_next([&](std::uint64_t e, Vertex) { return flags[e]; },
                         [&](const FrontierEntry& entry, Vertex parent) {
                           if constexpr (Program::kDynamic) next.parents.data()[target] = parent;
                           next.frontier.data()[target++] = entry;
                         });
    });
  }

  void begin_measure(const SampleLevel&, bool) const {}
  void begin_select(const LevelTask&, const OrderedItems&) const {}
  /// Computes how many edges each entry of an origin rank selects, if that is known without their lists.
  void measure(SampleLevel& level, std::uint32_t depth, const LevelOrigin& origin) {
    Program program = program_;
    program.first = origin.first;
    parallel_blocks(device_.threads(), origin.end - origin.begin, kManyEntries,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                      for (std::uint64_t entry_id = origin.begin + begin; entry_id < origin.begin + end;
                           ++entry_id)
                        measure(program, level, entry_id, depth, workers_[thread]);
                    });
  }
  void sum_sizes(SampleLevel& level) {
    level.edges = executor_.exclusive_sum(level.offsets.data(), level.entries);
  }
  void reserve_edges(SampleLevel& level) const { level.reserve_edges(device_, Program::kUpdates); }
  void set_largest(std::uint64_t) const {}

  /// Works on the entries that wait for the present partitions.
  void work(const std::list<QueuedLevel>& queued, std::span<const std::uint32_t> present) {
    std::vector<PageQueue> queues;
    std::vector<std::uint64_t> sizes;
    for (const std::uint32_t partition : present) {
      queues.push_back({on_page(program_, cache_.page(partition)), cache_.in_place(partition), {}});
      std::uint64_t size = 0;
      for (const QueuedLevel& level : queued) {
        if (level.waiting[partition] == 0) continue;
        queues.back().runs.push_back({&level.task, level.order.items.data() + level.order.begins[partition],
                                      size, size + level.waiting[partition]});
        size = queues.back().runs.back().end;
      }
      sizes.push_back(size);
    }
    const auto instance_end = [&](std::size_t queue, std::uint64_t position) {
      const EntryRun& run = *std::ranges::find_if(queues[queue].runs,
                                                  [position](const EntryRun& r) { return position < r.end; });
      const std::uint32_t instance = run.instance(position);
      while (++position < run.end && run.instance(position) == instance) {
      }
      return position;
    };
    queues_.work(sizes, kGrain, instance_end,
                 [&](std::size_t queue, std::uint64_t block_begin, std::uint64_t block_end, unsigned thread) {
                   Worker& worker = workers_[thread];
                   worker.in_place = queues[queue].in_place;
                   for (const EntryRun& run : queues[queue].runs) {
                     const std::uint64_t begin = std::max(block_begin, run.begin),
                                         end = std::min(block_end, run.end);
                     if (begin < end) work(*run.task, queues[queue].program, run.part(begin, end), worker);
                   }
                 });
  }

  /// Adds the threads' counters to the run's statistics.
  void finish() {
    for (Worker& worker : workers_) {
      std::exchange(worker.counters, {}).add_to(stats_);
      stats_.mapped_bytes += std::exchange(worker.in_place_bytes, 0);
    }
    stats_.kernels += std::exchange(queues_.times(), {});
  }

  void collect(Instance, std::uint64_t) const {}
  void write_results(Instance first, std::uint64_t count, SampleSink& sink, BatchWriter& writer) {
    const std::uint64_t max_bytes = sample_piece_bytes();
    write_in_pieces(first, count, sink, writer, stats_, [&](std::uint64_t instance, SampleStore& store) {
      for (; instance < count && store.bytes() <= max_bytes; ++instance) append(instance, store);
      return instance;
    });
  }

  std::uint64_t bytes() const {
    std::uint64_t sum = flags_.bytes();
    for (const SampleLevel& level : levels_) sum += level.bytes();
    return sum;
  }

 private:
  /// Work of a block: entries that select from lists, and entries or edges in other loops. A level of a visit
  /// may be small, and little work should not wake other threads.
  static constexpr std::uint64_t kGrain = 64, kManyEntries = 2048;

  /// Entries [begin, end) of a partition's queue: those of one level.
  struct EntryRun {
    const LevelTask* task;
    const std::uint32_t* items;  ///< in order of instance
    std::uint64_t begin, end;

    std::uint32_t instance(std::uint64_t position) const {
      return task->level.frontier.data()[items[position - begin]].instance;
    }
    std::span<const std::uint32_t> part(std::uint64_t part_begin, std::uint64_t part_end) const {
      return {items + (part_begin - begin), part_end - part_begin};
    }
  };
  struct PageQueue {
    Program program;
    bool in_place;
    std::vector<EntryRun> runs;
  };

  /// State of one thread.
  struct Worker {
    EntrySelector<Program> selector;
    BlockCounters counters;
    VisitedSet visited;
    bool in_place = false;   ///< true if the current partition is read in place
    std::uint64_t in_place_bytes = 0;  ///< bytes read in place
  };
  using EntryExpansion = typename EntrySelector<Program>::EntryExpansion;

  /// Calls body(i, visited) for all i below `count`, which have `edges` edges in all. `visited` belongs to
  /// the thread and is not cleared.
  template <class Body>
  void for_each(std::uint64_t count, std::uint64_t edges, Body&& body) {
    parallel_blocks(device_.threads(), count, kManyEntries * count / (count + edges + 1) + 1,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                      for (std::uint64_t i = begin; i < end; ++i) body(i, workers_[thread].visited);
                    });
  }

  static std::uint64_t edges_of(const SampleLevel& level, std::uint64_t instance) {
    const std::uint64_t *const entries = level.instance_entries.data(), *const offsets = level.offsets.data();
    return offsets[entries[instance + 1]] - offsets[entries[instance]];
  }

  /// An instance's entries at a level and the edges that they selected.
  InstanceLevel selected(const SampleLevel& level, std::uint64_t instance) const {
    const std::uint64_t *const entries = level.instance_entries.data() + instance,
                               *const seeds = levels_[0].instance_entries.data() + instance,
                               *const offsets = level.offsets.data() + entries[0];
    return {level.frontier.data() + entries[0],
            offsets,
            entries[1] - entries[0],
            Program::kUpdates ? level.arrivals.data() : level.targets.data(),
            revisit_,
            seeds[1] - seeds[0] + level.earlier_edges.data()[instance] - offsets[0]};
  }

  /// Fills `visited` with the instance's vertices of all levels but the last, which is being made.
  void insert_visited(std::uint64_t instance, VisitedSet& visited) const {
    visited.clear();
    for (std::size_t d = 0; d + 1 < levels_.size(); ++d)
      each_entry(levels_[d], instance, [&](std::uint64_t entry_id) {
        visited.insert(levels_[d].frontier.data()[entry_id].vertex);
      });
  }

  /// Appends the edges and seeds of an instance to `out`.
  void append(std::uint64_t instance, SampleStore& out) const {
    const std::size_t first_edge = out.edge.size(), depths = program_.sampler.depth();
    each_entry(levels_[0], instance, [&](std::uint64_t entry_id) {
      out.seeds.push_back(levels_[0].frontier.data()[entry_id].vertex);
    });
    const std::uint64_t* const seeds = levels_[0].instance_entries.data() + instance;
    out.seed_counts.push_back(seeds[1] - seeds[0]);
    for (std::uint32_t d = 0; d < std::min(depths, levels_.size()); ++d)
      each_entry(levels_[d], instance, [&](std::uint64_t entry_id) {
        const SampleLevel& level = levels_[d];
        const Vertex source = level.frontier.data()[entry_id].vertex;
        const EdgeIndex first = program_.graph.row(source).offset;
        for (std::uint64_t e = level.offsets.data()[entry_id]; e < level.offsets.data()[entry_id + 1]; ++e)
          out.add_edge(source, level.targets.data()[e], d + 1, first + level.indices.data()[e]);
      });
    out.edge_counts.push_back(out.edge.size() - first_edge);
  }
  template <class Body>
  static void each_entry(const SampleLevel& level, std::uint64_t instance, const Body& body) {
    const std::uint64_t* const entries = level.instance_entries.data() + instance;
    for (std::uint64_t entry_id = entries[0]; entry_id < entries[1]; ++entry_id) body(entry_id);
  }

  EntryExpansion expansion(const Program& program, const SampleLevel& level, std::uint64_t entry_id,
                           std::uint32_t depth) const {
    return expansion_of(program, level.frontier.data(), level.parents.data(), entry_id, depth);
  }

  void measure(const Program& program, const SampleLevel& level, std::uint64_t entry_id, std::uint32_t depth,
               Worker& worker) const {
    const EntryExpansion expansion_at = expansion(program, level, entry_id, depth);
    level.offsets.data()[entry_id] =
        program.size(expansion_at, program.draws(level.frontier.data()[entry_id]),
                     worker.selector.available(program, expansion_at));
  }

  void select(const Program& program, const SampleLevel& level, std::uint64_t entry_id, std::uint32_t depth,
              Worker& worker) const {
    const FrontierEntry& entry = level.frontier.data()[entry_id];
    const Row row = program.graph.row(entry.vertex);
    const EntryExpansion expansion_at = expansion(program, level, entry_id, depth);
    const std::uint64_t begin = level.offsets.data()[entry_id];
    std::uint64_t out = begin;
    for (const std::uint32_t index : worker.selector.select(program, entry, expansion_at, worker.counters)) {
      const Edge edge{entry.vertex, program.target_on_page(entry.vertex, row, index), row.offset + index};
      level.indices.data()[out] = index;
      level.targets.data()[out] = edge.target;
      if constexpr (Program::kUpdates) level.arrivals.data()[out] = program.arrival(expansion_at, edge);
      ++out;
    }
    if (worker.in_place) worker.in_place_bytes += read_bytes(program, entry.vertex, out - begin);
  }

  /// Prefetches the list of the entry kLists ahead, and the list offset of the entry kRows ahead.
  static void prefetch_ahead(const LevelTask& task, const Program& program,
                             std::span<const std::uint32_t> entries) {
    constexpr std::size_t kLists = 4, kRows = 8;
    const auto vertex = [&](std::size_t i) { return task.level.frontier.data()[entries[i]].vertex; };
    const CsrView& csr = program.graph.csr;
    if (entries.size() > kRows) prefetch(csr.offsets + vertex(kRows));
    if (entries.size() <= kLists) return;
    const Vertex next = vertex(kLists);
    if (program.coded.words) return prefetch(program.coded.words + program.coded.rows[next].begin);
    prefetch(csr.targets + csr.offsets[next]);
  }

  /// Works on entries of one partition, ordered by origin rank.
  void work(const LevelTask& task, Program program, std::span<const std::uint32_t> entries, Worker& worker) {
    auto next_entry = entries.begin();
    for (const LevelOrigin& origin : task.origins) {
      program.first = origin.first;
      for (; next_entry != entries.end() && *next_entry < origin.end; ++next_entry) {
        prefetch_ahead(task, program, {next_entry, entries.end()});
        task.work == LevelWork::measure ? measure(program, task.level, *next_entry, task.depth, worker)
                                        : select(program, task.level, *next_entry, task.depth, worker);
      }
    }
  }

  const Device& device_;
  PartitionCache& cache_;
  Program program_;
  StartsView starts_;
  bool revisit_;
  RunStats& stats_;
  HostExecutor executor_;
  std::vector<Worker> workers_;
  HostQueues queues_;
  std::uint64_t instances_ = 0;
  std::deque<SampleLevel> levels_;  ///< by depth
  Buffer<std::uint8_t> flags_;      ///< [edges] 1 if it adds an entry to the next frontier
};

}  // namespace sluice::samples::host
