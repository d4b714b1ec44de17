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
#include "engine/samples/partitioned/sample.hpp"
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
  SampleLevel& of_depth(std::uint32_t depth) {
    return depth < levels_.size() ? levels_[depth] : levels_.emplace_back();
  }
  std::uint64_t entries() const { return levels_.back().entries; }
  void step() const {}
  void stepped(std::uint32_t) const {}
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
    plant_seeds(device_, executor_, starts_, first, count, revisit_, Program::kDynamic,
                levels_.emplace_back());
  }

  /// Makes the next depth's frontiers: in order of edges, each newly reached vertex, or every arrival.
  void advance() {
    const SampleLevel& now = levels_.back();
    SampleLevel& next = levels_.emplace_back();
    flags_.reserve(device_, now.edges, kSampleBatch);
    next.instance_entries.reserve(device_, instances_ + 1, kSampleBatch);
    next.before.reserve(device_, instances_, kSampleBatch);
    std::uint8_t* const flags = flags_.data();
    std::uint64_t* const begins = next.instance_entries.data();
    for_each(instances_, now.edges, [&](std::uint64_t i, VisitedSet& visited) {
      if (!revisit_) remember(i, visited);
      std::uint64_t entries = 0;
      selected(now, i).arrive(
          [&](std::uint64_t e, Vertex v) { return flags[e] = revisit_ || visited.insert(v); },
          [&](const FrontierEntry&, Vertex) { ++entries; });
      begins[i] = entries;
      next.before.data()[i] = now.before.data()[i] + edges_of(now, i);
    });
    next.entries = executor_.exclusive_sum(begins, instances_);
    next.frontier.reserve(device_, next.entries, kSampleBatch);
    if constexpr (Program::kDynamic) next.parents.reserve(device_, next.entries, kSampleBatch);
    for_each(instances_, now.edges, [&](std::uint64_t i, VisitedSet&) {
      std::uint64_t to = begins[i];
      selected(now, i).arrive([&](std::uint64_t e, Vertex) { return flags[e]; },
                              [&](const FrontierEntry& entry, Vertex parent) {
                                if constexpr (Program::kDynamic) next.parents.data()[to] = parent;
                                next.frontier.data()[to++] = entry;
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
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      for (std::uint64_t at = origin.begin + from; at < origin.begin + to; ++at)
                        measure(program, level, at, depth, workers_[thread]);
                    });
  }
  void sum_sizes(SampleLevel& level) {
    level.edges = executor_.exclusive_sum(level.offsets.data(), level.entries);
  }
  void reserve_edges(SampleLevel& level) const { level.reserve_edges(device_, Program::kUpdates); }
  void note_largest(std::uint64_t) const {}

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
    const auto instance_end = [&](std::size_t queue, std::uint64_t at) {
      const Run& run = *std::ranges::find_if(queues[queue].runs, [at](const Run& r) { return at < r.end; });
      const std::uint32_t instance = run.instance(at);
      while (++at < run.end && run.instance(at) == instance) {
      }
      return at;
    };
    queues_.work(sizes, kGrain, instance_end,
                 [&](std::size_t queue, std::uint64_t from, std::uint64_t to, unsigned thread) {
                   Worker& worker = workers_[thread];
                   worker.in_place = queues[queue].in_place;
                   for (const Run& run : queues[queue].runs) {
                     const std::uint64_t begin = std::max(from, run.begin), end = std::min(to, run.end);
                     if (begin < end) work(*run.task, queues[queue].program, run.part(begin, end), worker);
                   }
                 });
  }

  /// Adds the threads' counters to the run's statistics.
  void finish() {
    for (Worker& worker : workers_) {
      std::exchange(worker.counters, {}).add_to(stats_);
      stats_.mapped_bytes += std::exchange(worker.read, 0);
    }
    stats_.kernels += std::exchange(queues_.times(), {});
  }

  void collect(Instance, std::uint64_t) const {}
  void leave(Instance first, std::uint64_t count, SampleSink& sink, BatchWriter& writer) {
    const std::uint64_t most = sample_piece_bytes();
    leave_in_pieces(first, count, sink, writer, stats_, [&](std::uint64_t from, SampleStore& store) {
      for (; from < count && store.bytes() <= most; ++from) append(from, store);
      return from;
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
  struct Run {
    const LevelTask* task;
    const std::uint32_t* items;  ///< in order of instance
    std::uint64_t begin, end;

    std::uint32_t instance(std::uint64_t at) const {
      return task->level.frontier.data()[items[at - begin]].instance;
    }
    std::span<const std::uint32_t> part(std::uint64_t from, std::uint64_t to) const {
      return {items + (from - begin), to - from};
    }
  };
  struct PageQueue {
    Program program;
    bool in_place;
    std::vector<Run> runs;
  };

  /// State of one thread.
  struct Worker {
    EntrySelector<Program> selector;
    BlockCounters counters;
    VisitedSet visited;
    bool in_place = false;   ///< true if the current partition is read in place
    std::uint64_t read = 0;  ///< bytes read in place
  };
  using At = typename EntrySelector<Program>::At;

  /// Calls body(i, visited) for all i below `count`, which have `edges` edges in all. `visited` belongs to
  /// the thread and is not cleared.
  template <class Body>
  void for_each(std::uint64_t count, std::uint64_t edges, Body&& body) {
    parallel_blocks(device_.threads(), count, kManyEntries * count / (count + edges + 1) + 1,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      for (std::uint64_t i = from; i < to; ++i) body(i, workers_[thread].visited);
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
            seeds[1] - seeds[0] + level.before.data()[instance] - offsets[0]};
  }

  /// Fills `visited` with the instance's vertices of all levels but the last, which is being made.
  void remember(std::uint64_t instance, VisitedSet& visited) const {
    visited.clear();
    for (std::size_t d = 0; d + 1 < levels_.size(); ++d)
      each_entry(levels_[d], instance,
                 [&](std::uint64_t at) { visited.insert(levels_[d].frontier.data()[at].vertex); });
  }

  /// Appends the edges and seeds of an instance to `out`.
  void append(std::uint64_t instance, SampleStore& out) const {
    const std::size_t before = out.edge.size(), depths = program_.sampler.depth();
    each_entry(levels_[0], instance,
               [&](std::uint64_t at) { out.seeds.push_back(levels_[0].frontier.data()[at].vertex); });
    const std::uint64_t* const seeds = levels_[0].instance_entries.data() + instance;
    out.seed_counts.push_back(seeds[1] - seeds[0]);
    for (std::uint32_t d = 0; d < std::min(depths, levels_.size()); ++d)
      each_entry(levels_[d], instance, [&](std::uint64_t at) {
        const SampleLevel& level = levels_[d];
        const Vertex source = level.frontier.data()[at].vertex;
        const EdgeIndex first = program_.graph.row(source).offset;
        for (std::uint64_t e = level.offsets.data()[at]; e < level.offsets.data()[at + 1]; ++e)
          out.add_edge(source, level.targets.data()[e], d + 1, first + level.indices.data()[e]);
      });
    out.edge_counts.push_back(out.edge.size() - before);
  }
  template <class Body>
  static void each_entry(const SampleLevel& level, std::uint64_t instance, const Body& body) {
    const std::uint64_t* const entries = level.instance_entries.data() + instance;
    for (std::uint64_t at = entries[0]; at < entries[1]; ++at) body(at);
  }

  At expansion(const Program& program, const SampleLevel& level, std::uint64_t at,
               std::uint32_t depth) const {
    return expansion_of(program, level.frontier.data(), level.parents.data(), at, depth);
  }

  void measure(const Program& program, const SampleLevel& level, std::uint64_t at, std::uint32_t depth,
               Worker& worker) const {
    const At expanded = expansion(program, level, at, depth);
    level.offsets.data()[at] = program.size(expanded, program.draws(level.frontier.data()[at]),
                                            worker.selector.available(program, expanded));
  }

  void select(const Program& program, const SampleLevel& level, std::uint64_t at, std::uint32_t depth,
              Worker& worker) const {
    const FrontierEntry& entry = level.frontier.data()[at];
    const Row row = program.graph.row(entry.vertex);
    const At expanded = expansion(program, level, at, depth);
    const std::uint64_t begin = level.offsets.data()[at];
    std::uint64_t out = begin;
    for (const std::uint32_t index : worker.selector.select(program, entry, expanded, worker.counters)) {
      const Edge edge{entry.vertex, program.target_on_page(entry.vertex, row, index), row.offset + index};
      level.indices.data()[out] = index;
      level.targets.data()[out] = edge.target;
      if constexpr (Program::kUpdates) level.arrivals.data()[out] = program.arrival(expanded, edge);
      ++out;
    }
    if (worker.in_place) worker.read += read_bytes(program, entry.vertex, out - begin);
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
    auto at = entries.begin();
    for (const LevelOrigin& origin : task.origins) {
      program.first = origin.first;
      for (; at != entries.end() && *at < origin.end; ++at) {
        prefetch_ahead(task, program, {at, entries.end()});
        task.work == LevelWork::measure ? measure(program, task.level, *at, task.depth, worker)
                                        : select(program, task.level, *at, task.depth, worker);
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
