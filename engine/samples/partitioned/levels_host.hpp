// The host's depths of samples on a graph in partitions: a thread plants and advances an instance at a time,
// and selects for an entry at a time.
#pragma once

#include <algorithm>
#include <cstdint>
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

/// Levels of a batch.
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
        queues_(device_.threads(), cache.paging()),
        levels_(setup.program.sampler.depth() + std::size_t{1}) {}

  HostExecutor& executor() { return executor_; }
  /// Without edges: lists are read by on_page's.
  const Program& program() const { return program_; }
  SampleLevel& level() { return levels_[depths_]; }
  std::uint64_t entries() const { return levels_[depths_].entries; }
  void step() { ++depths_; }

  /// Plants the seeds of instances [first, first + count).
  void begin(Instance first, std::uint64_t count) {
    program_.first = first;
    instances_ = count, depths_ = 0;
    plant_seeds(device_, executor_, starts_, first, count, revisit_, Program::kDynamic, level());
  }

  /// Makes the next depth's frontier: in order of edges, what was first reached by them, or every arrival.
  void advance() {
    const SampleLevel& now = levels_[depths_ - 1];
    SampleLevel& next = level();
    flags_.reserve(device_, now.edges, kSampleBatch);
    next.instance_entries.reserve(device_, instances_ + 1, kSampleBatch);
    next.before.reserve(device_, instances_, kSampleBatch);
    std::uint64_t* const begins = next.instance_entries.data();
    for_each([&](std::uint64_t i, VisitedSet& visited) {
      if (!revisit_) remember(i, visited);
      std::uint64_t entries = 0;
      part_of(now, i).arrive(
          [&](std::uint64_t e, Vertex v) { return flags_.data()[e] = revisit_ || visited.insert(v); },
          [&](const FrontierEntry&, Vertex) { ++entries; });
      begins[i] = entries;
    });
    take_entries(next);
    for_each([&](std::uint64_t i, VisitedSet&) {
      std::uint64_t to = begins[i];
      part_of(now, i).arrive([&](std::uint64_t e, Vertex) { return flags_.data()[e]; },
                             [&](const FrontierEntry& entry, Vertex parent) {
                               if constexpr (Program::kDynamic) next.parents.data()[to] = parent;
                               next.frontier.data()[to++] = entry;
                             });
      next.before.data()[i] = now.before.data()[i] + edge_of(now, i + 1) - edge_of(now, i);
    });
  }

  void begin_measure(const SampleLevel&) const {}
  void begin_select(const SampleLevel&, const OrderedItems&) const {}
  /// How many edges the entries of an origin rank select, where that is known without their lists.
  void measure(SampleLevel& level, std::uint32_t depth, const LevelOrigin& origin) {
    Program program = program_;
    program.first = origin.first;
    parallel_blocks(device_.threads(), origin.end - origin.begin, kGrain,
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

  /// Works on the entries in order of partition that wait for those that are present.
  void work(const LevelTask& task, const OrderedItems& order, std::span<const std::uint32_t> present) {
    std::vector<Program> programs;
    std::vector<std::uint64_t> sizes;
    for (const std::uint32_t partition : present) {
      programs.push_back(on_page(program_, cache_.page(partition)));
      sizes.push_back(order.count(partition));
    }
    const auto entries = [&](std::size_t queue) { return order.items.data() + order.begins[present[queue]]; };
    const auto instance_end = [&](std::size_t queue, std::uint64_t at) {
      const std::uint32_t* const items = entries(queue);
      const auto instance = [&](std::uint64_t i) { return task.level.frontier.data()[items[i]].instance; };
      const std::uint64_t begin = at;
      while (++at < sizes[queue] && instance(at) == instance(begin)) {
      }
      return at;
    };
    queues_.work(sizes, kGrain, instance_end,
                 [&](std::size_t queue, std::uint64_t from, std::uint64_t to, unsigned thread) {
                   Worker& worker = workers_[thread];
                   worker.in_place = cache_.in_place(present[queue]);
                   work(task, programs[queue], {entries(queue) + from, to - from}, worker);
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
  static constexpr std::uint64_t kGrain = 64;

  /// What a thread has of its own.
  struct Worker {
    EntrySelector<Program> selector;
    BlockCounters counters;
    VisitedSet visited;
    bool in_place = false;   ///< is the list that it works on read in place?
    std::uint64_t read = 0;  ///< bytes of such lists
  };
  using At = typename EntrySelector<Program>::At;

  /// Calls body(instance, visited) for all instances; `visited` is the thread's own, not empty.
  template <class Body>
  void for_each(Body&& body) {
    parallel_blocks(device_.threads(), instances_, kGrain,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      for (std::uint64_t i = from; i < to; ++i) body(i, workers_[thread].visited);
                    });
  }

  /// Takes memory for entries, whose numbers by instance become what is before each.
  void take_entries(SampleLevel& level) {
    level.entries = executor_.exclusive_sum(level.instance_entries.data(), instances_);
    level.frontier.reserve(device_, level.entries, kSampleBatch);
    if constexpr (Program::kDynamic) level.parents.reserve(device_, level.entries, kSampleBatch);
  }
  static std::uint64_t edge_of(const SampleLevel& level, std::uint64_t i) {
    return level.offsets.data()[level.instance_entries.data()[i]];
  }

  /// An instance's part of a level whose edges are selected.
  InstanceLevel part_of(const SampleLevel& level, std::uint64_t i) const {
    const std::uint64_t* const entries = level.instance_entries.data() + i;
    const std::uint64_t* const seeds = levels_[0].instance_entries.data() + i;
    return {level.frontier.data() + entries[0],
            level.offsets.data() + entries[0],
            entries[1] - entries[0],
            Program::kUpdates ? level.arrivals.data() : level.targets.data(),
            revisit_,
            seeds[1] - seeds[0] + level.before.data()[i] - edge_of(level, i)};
  }

  /// What an instance has visited up to this depth.
  void remember(std::uint64_t i, VisitedSet& visited) const {
    visited.clear();
    for (std::uint32_t d = 0; d < depths_; ++d) {
      const std::uint64_t* const begins = levels_[d].instance_entries.data() + i;
      for (std::uint64_t at = begins[0]; at < begins[1]; ++at)
        visited.insert(levels_[d].frontier.data()[at].vertex);
    }
  }

  static At expansion(const Program& program, const SampleLevel& level, std::uint64_t entry,
                      std::uint32_t depth) {
    return expansion_of(program, level.frontier.data(), level.parents.data(), entry, depth);
  }

  static void measure(const Program& program, const SampleLevel& level, std::uint64_t at, std::uint32_t depth,
                      Worker& worker) {
    const At expanded = expansion(program, level, at, depth);
    level.offsets.data()[at] = program.size(expanded, program.draws(level.frontier.data()[at]),
                                            worker.selector.available(program, expanded));
  }

  static void select(const Program& program, const SampleLevel& level, std::uint64_t at, std::uint32_t depth,
                     Worker& worker) {
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
  static void work(const LevelTask& task, Program program, std::span<const std::uint32_t> entries,
                   Worker& worker) {
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

  void append(std::uint64_t i, SampleStore& out) const {
    const std::uint64_t* const seeds = levels_[0].instance_entries.data() + i;
    for (std::uint64_t at = seeds[0]; at < seeds[1]; ++at)
      out.seeds.push_back(levels_[0].frontier.data()[at].vertex);
    out.seed_counts.push_back(seeds[1] - seeds[0]);
    const std::size_t before = out.edge.size();
    for (std::uint32_t d = 0; d < depths_; ++d) {
      const SampleLevel& level = levels_[d];
      const std::uint64_t* const entries = level.instance_entries.data() + i;
      for (std::uint64_t at = entries[0]; at < entries[1]; ++at) {
        const Vertex source = level.frontier.data()[at].vertex;
        const EdgeIndex first = program_.graph.row(source).offset;
        for (std::uint64_t e = level.offsets.data()[at]; e < level.offsets.data()[at + 1]; ++e)
          out.add_edge(source, level.targets.data()[e], d + 1, first + level.indices.data()[e]);
      }
    }
    out.edge_counts.push_back(out.edge.size() - before);
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
  std::vector<SampleLevel> levels_;
  std::uint64_t instances_ = 0;
  std::uint32_t depths_ = 0;
  Buffer<std::uint8_t> flags_;  ///< [edges] goes on to the next depth?
};

}  // namespace sluice::samples::host
