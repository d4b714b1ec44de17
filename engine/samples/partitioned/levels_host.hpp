// The host's levels of samples on a graph in partitions: a thread advances an instance at a time, and selects
// for an entry at a time. Out of order, an instance whose frontier is done goes on at once, so that entries
// of several depths wait: those of an instance are of one depth, as only all edges of one number the entries
// of the next.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <list>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/host_executor.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/schedule/host_queues.hpp"
#include "engine/samples/entry_selector.hpp"
#include "engine/samples/levels_host.hpp"
#include "engine/samples/partitioned/host_frontiers.hpp"
#include "engine/samples/partitioned/level_grower.hpp"
#include "engine/samples/partitioned/sample.hpp"
#include "engine/samples/plant.hpp"
#include "engine/samples/visited.hpp"
#include "engine/select/tables.hpp"

namespace sluice::samples::host {

/// Levels of a batch.
template <class P>
class Levels<P, Partitioned> {
 public:
  using Program = P;
  using Exec = HostExecutor;
  static constexpr bool kOutOfOrder = true;

  Levels(const LevelSetup<Program>& setup, PartitionCache& cache)
      : device_(setup.graph.device),
        cache_(cache),
        program_(setup.program),
        starts_(setup.starts),
        revisit_(setup.revisit),
        stats_(setup.stats),
        executor_(device_),
        workers_(device_.threads()),
        queues_(device_.threads(), cache.paging()),
        frontiers_(device_, revisit_) {}

  HostExecutor& executor() { return executor_; }
  /// Without edges: lists are read by on_page's.
  const Program& program() const { return program_; }
  /// The newest level.
  SampleLevel& level() { return frontiers_.last(); }
  std::uint64_t entries() const { return frontiers_.last().entries; }
  void step() const {}
  std::uint64_t edges() const { return frontiers_.edges(); }

  /// Plants the seeds of instances [first, first + count).
  void begin(Instance first, std::uint64_t count) {
    program_.first = first;
    instances_ = count;
    frontiers_.begin(count);
    SampleLevel& seeds = frontiers_.add_level();
    plant_seeds(device_, executor_, starts_, first, count, revisit_, Program::kDynamic, seeds);
    const std::uint64_t* const begins = seeds.instance_entries.data();
    Frontier* const planted = frontiers_.at_depth(0);
    for_each(count, 0, [&](std::uint64_t i, VisitedSet&) {
      planted[i] = {begins[i], static_cast<std::uint32_t>(begins[i + 1] - begins[i]), 0};
    });
    for (Buffer<std::uint32_t>* each : {&depth_, &pending_, &done_}) {
      each->reserve(device_, count, kSampleBatch);
      executor_.fill(each->data(), 0, each->bytes());
    }
    done_count_ = 0;
  }

  /// Makes the next depth's frontiers of all instances.
  void advance() {
    const std::span all(done_.data(), instances_);
    std::iota(all.begin(), all.end(), 0u);
    make_level(all);
  }
  /// Makes those of the instances whose frontiers have all their edges; false: there are none.
  bool advance_some() {
    const std::span all(done_.data(), std::exchange(done_count_, 0));
    std::ranges::sort(all);
    if (!all.empty()) make_level(all);
    return !all.empty();
  }

  void begin_measure(const SampleLevel&) const {}
  /// Counts what waits of each instance that goes on.
  void begin_select(const LevelTask& task, const OrderedItems&) {
    if (task.depth != LevelTask::kOwnDepths) return;
    const FrontierEntry* const frontier = task.level.frontier.data();
    const std::uint64_t* const offsets = task.level.offsets.data();
    parallel_blocks(device_.threads(), task.level.entries, kManyEntries,
                    [&](std::uint64_t at, std::uint64_t end, unsigned) {
                      while (at < end) {
                        const std::uint32_t instance = frontier[at].instance;
                        std::uint32_t waiting = 0;
                        for (; at < end && frontier[at].instance == instance; ++at)
                          waiting += offsets[at + 1] > offsets[at];
                        if (goes_on(instance)) std::atomic_ref(pending_.data()[instance]).fetch_add(waiting);
                      }
                    });
  }
  /// How many edges the entries of an origin rank select, where that is known without their lists.
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

  /// Works on the entries that wait for partitions that are present.
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

  /// Adds what was counted to the run's figures.
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
      for (; from < count && store.bytes() <= most; ++from)
        frontiers_.append(program_.graph, program_.sampler.depth(), from, store);
      return from;
    });
  }

  std::uint64_t bytes() const {
    return frontiers_.bytes() + flags_.bytes() + first_edges_.bytes() + first_entries_.bytes() +
           depth_.bytes() + pending_.bytes() + done_.bytes();
  }

 private:
  /// A block of what is selected from lists, and of entries or edges that are looked at: a level of a visit
  /// may be small, and should wake no other thread for little.
  static constexpr std::uint64_t kGrain = 64, kManyEntries = 2048;

  /// Entries [begin, end) of a partition's queue: what waits of one level.
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

  /// What a thread has of its own.
  struct Worker {
    EntrySelector<Program> selector;
    BlockCounters counters;
    VisitedSet visited;
    bool in_place = false;   ///< is the list that it works on read in place?
    std::uint64_t read = 0;  ///< bytes of such lists
  };
  using At = typename EntrySelector<Program>::At;

  /// Calls body(i, visited) for all i below `count`, which have so many edges; `visited` is the thread's own,
  /// not empty.
  template <class Body>
  void for_each(std::uint64_t count, std::uint64_t edges, Body&& body) {
    parallel_blocks(device_.threads(), count, kManyEntries * count / (count + edges + 1) + 1,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      for (std::uint64_t i = from; i < to; ++i) body(i, workers_[thread].visited);
                    });
  }

  /// Makes the next frontiers of some instances: in order of edges, what was first reached by them, or every
  /// arrival.
  void make_level(std::span<const std::uint32_t> of) {
    const std::uint32_t number = frontiers_.levels();
    SampleLevel& next = frontiers_.add_level();
    first_edges_.reserve(device_, of.size() + 1, kSampleBatch);
    first_entries_.reserve(device_, of.size() + 1, kSampleBatch);
    std::uint64_t *const edges = first_edges_.data(), *const begins = first_entries_.data();
    for (const std::uint32_t i : of) frontiers_.at_depth(depth_.data()[i] + 1);  // takes memory for them
    for_each(of.size(), 0, [&](std::uint64_t k, VisitedSet&) {
      edges[k] = frontiers_.edges_of(depth_.data()[of[k]], of[k]);
    });
    const std::uint64_t sum = executor_.exclusive_sum(edges, of.size());
    flags_.reserve(device_, sum, kSampleBatch);
    // Calls goes_on(flag, arrival) and put(entry, parent) as InstanceLevel::arrive().
    const auto arrive = [&](std::uint64_t k, const auto& goes_on, const auto& put) {
      const InstanceLevel now = frontiers_.selected(depth_.data()[of[k]], of[k]);
      std::uint8_t* const flags = flags_.data() + edges[k];
      now.arrive([&](std::uint64_t e, Vertex v) { return goes_on(flags[e - now.offsets[0]], v); }, put);
    };
    for_each(of.size(), sum, [&](std::uint64_t k, VisitedSet& visited) {
      if (!revisit_) frontiers_.remember(depth_.data()[of[k]], of[k], visited);
      std::uint64_t entries = 0;
      arrive(
          k, [&](std::uint8_t& flag, Vertex v) { return flag = revisit_ || visited.insert(v); },
          [&](const FrontierEntry&, Vertex) { ++entries; });
      begins[k] = entries;
    });
    next.entries = executor_.exclusive_sum(begins, of.size());
    next.frontier.reserve(device_, next.entries, kSampleBatch);
    if constexpr (Program::kDynamic) next.parents.reserve(device_, next.entries, kSampleBatch);
    for_each(of.size(), sum, [&](std::uint64_t k, VisitedSet&) {
      std::uint64_t to = begins[k];
      arrive(
          k, [](std::uint8_t flag, Vertex) { return flag; },
          [&](const FrontierEntry& entry, Vertex parent) {
            if constexpr (Program::kDynamic) next.parents.data()[to] = parent;
            next.frontier.data()[to++] = entry;
          });
      frontiers_.at_depth(++depth_.data()[of[k]])[of[k]] = {
          begins[k], static_cast<std::uint32_t>(to - begins[k]), number};
    });
  }

  /// Entry `at` of a level whose entries are of `depth`, or of their instances' own.
  At expansion(const Program& program, const SampleLevel& level, std::uint64_t at,
               std::uint32_t depth) const {
    if (depth == LevelTask::kOwnDepths) depth = depth_.data()[level.frontier.data()[at].instance] + 1;
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

  /// Asks memory for where the list of a later entry lies, and for the list of one that comes before it.
  static void prefetch_ahead(const LevelTask& task, const Program& program,
                             std::span<const std::uint32_t> entries) {
    constexpr std::size_t kLists = 4, kRows = 8;
    const auto vertex = [&](std::size_t i) { return task.level.frontier.data()[entries[i]].vertex; };
    const CsrView& csr = program.graph.csr;
    if (entries.size() > kRows) prefetch(csr.offsets + vertex(kRows));
    if (entries.size() <= kLists) return;
    const Vertex next = vertex(kLists);
    if (program.coded.words) return prefetch(program.coded.words + program.coded.begins[next]);
    prefetch(csr.targets + csr.offsets[next]);
  }

  /// Works on entries of one partition, which are in order of origin rank.
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
    if (task.depth == LevelTask::kOwnDepths && task.work == LevelWork::select)
      count_done(task.level.frontier.data(), entries);
  }

  /// Is an instance's frontier not its last?
  bool goes_on(std::uint32_t instance) const {
    return depth_.data()[instance] + 1 < program_.sampler.depth();
  }
  /// Entries have their edges: which instances wait for no others?
  void count_done(const FrontierEntry* frontier, std::span<const std::uint32_t> entries) {
    for (auto at = entries.begin(); at != entries.end();) {
      const std::uint32_t instance = frontier[*at].instance;
      std::uint32_t count = 0;
      for (; at != entries.end() && frontier[*at].instance == instance; ++at) ++count;
      if (goes_on(instance) && std::atomic_ref(pending_.data()[instance]).fetch_sub(count) == count)
        done_.data()[std::atomic_ref(done_count_).fetch_add(1)] = instance;
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
  Frontiers<Program> frontiers_;
  Buffer<std::uint32_t> depth_;    ///< [instances] of their frontiers, from 0 on
  Buffer<std::uint32_t> pending_;  ///< [instances] entries that wait
  Buffer<std::uint32_t> done_;     ///< [done_count_] instances that have not gone on
  std::uint64_t done_count_ = 0;
  Buffer<std::uint64_t> first_edges_, first_entries_;  ///< [instances that go on + 1] edges of those before
  Buffer<std::uint8_t> flags_;                         ///< [their edges] goes on to the next depth?
};

}  // namespace sluice::samples::host
