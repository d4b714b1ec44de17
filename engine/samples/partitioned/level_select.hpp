// One depth of a batch of samples on the host: its entries are expanded as the partitions that hold their
// lists come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/memory/schedule/host_queues.hpp"
#include "engine/samples/entry_selector.hpp"
#include "engine/samples/partitioned/sample.hpp"
#include "engine/samples/partitioned/sample_origins.hpp"

namespace sluice::host {

inline constexpr const char* kSampleBatch = "a batch of samples";

/// One depth of a batch: edges in order of entries, entries in order of instances.
struct SampleLevel {
  std::uint64_t entries = 0, edges = 0;
  Buffer<FrontierEntry> frontier;  ///< [entries]
  Buffer<std::uint64_t> begins;    ///< [instances + 1] entries before an instance's
  Buffer<std::uint64_t> offsets;   ///< [entries + 1] edges before an entry's
  Buffer<Vertex> parents;          ///< [entries] dynamic samplers: where the entry came from
  Buffer<std::uint32_t> indices;   ///< [edges] in the entry's list
  Buffer<Vertex> targets;          ///< [edges]
  Buffer<Vertex> arrivals;         ///< [edges] where the sampler says itself which vertex an edge brings

  std::uint64_t bytes() const {
    return frontier.bytes() + begins.bytes() + offsets.bytes() + parents.bytes() + indices.bytes() +
           targets.bytes() + arrivals.bytes();
  }
  void reserve_edges(const Device& device, bool updates) {
    indices.reserve(device, edges, kSampleBatch);
    targets.reserve(device, edges, kSampleBatch);
    if (updates) arrivals.reserve(device, edges, kSampleBatch);
  }
};

/// Counts become what is before each; returns the sum of all, which it puts behind them.
inline std::uint64_t sum_up(std::uint64_t* counts, std::uint64_t size) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < size; ++i) sum += std::exchange(counts[i], sum);
  return counts[size] = sum;
}

template <class Program>
class LevelSelector {
 public:
  LevelSelector(const Device& device, const Program& program, PartitionCache& cache)
      : device_(device),
        cache_(cache),
        program_(program),
        workers_(device.threads()),
        queues_(device.threads(), cache.paging()),
        waiting_(cache.partitions(), 0) {}

  /// Selects the edges of a level whose entries belong to `origins`, in this order; their lists are in this
  /// rank's partitions.
  void select(SampleLevel& level, std::uint32_t depth, std::span<const LevelOrigin> origins) {
    level.offsets.reserve(device_, level.entries + 1, kSampleBatch);
    measure(level, depth, origins);
    std::uint64_t* const offsets = level.offsets.data();
    queue(level, [&](std::uint64_t entry) { return offsets[entry] > 0; });
    level.edges = sum_up(offsets, level.entries);
    level.reserve_edges(device_, Program::kUpdates);
    visit(level, origins, [&](const Program& program, std::uint64_t at, Worker& worker) {
      const FrontierEntry& entry = level.frontier.data()[at];
      const EdgeIndex first = program.graph.row(entry.vertex).offset;
      const At expanded = expansion(program, level, at, depth);
      std::uint64_t out = offsets[at];
      for (const std::uint32_t index : worker.selector.select(program, entry, expanded, worker.counters)) {
        const Edge edge{entry.vertex, program.graph.target(first + index), first + index};
        level.indices.data()[out] = index;
        level.targets.data()[out] = edge.target;
        if constexpr (Program::kUpdates) level.arrivals.data()[out] = program.arrival(expanded, edge);
        ++out;
      }
      if (worker.in_place) worker.read += read_bytes(program, entry.vertex, out - offsets[at]);
    });
  }

  /// Adds what was counted since the last call to the run's figures.
  void count(RunStats& stats) {
    for (Worker& worker : workers_) {
      stats.selections += worker.counters.selections, stats.collision_searches += worker.counters.searches;
      stats.selection_iterations += worker.counters.iterations;
      worker.counters = {};
      stats.mapped_bytes += std::exchange(worker.read, 0);
    }
    stats.kernels += std::exchange(queues_.times(), {});
  }
  std::uint64_t bytes() const { return order_.bytes(); }

 private:
  static constexpr std::uint64_t kGrain = 64;

  /// What a thread has of its own.
  struct Worker {
    EntrySelector<Program> selector;
    BlockCounters counters;
    bool in_place = false;   ///< is the list that it works on read in place?
    std::uint64_t read = 0;  ///< bytes of such lists
  };
  using At = typename EntrySelector<Program>::At;

  template <class Body>
  void for_each(std::uint64_t begin, std::uint64_t end, Body&& body) {
    parallel_blocks(device_.threads(), end - begin, kGrain,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      for (std::uint64_t i = begin + from; i < begin + to; ++i) body(i, workers_[thread]);
                    });
  }
  static At expansion(const Program& program, const SampleLevel& level, std::uint64_t entry,
                      std::uint32_t depth) {
    const Vertex parent = Program::kDynamic ? level.parents.data()[entry] : kNoVertex;
    return program.expansion(level.frontier.data()[entry], depth, parent);
  }

  /// How many edges each entry selects, into its place in `offsets`.
  void measure(SampleLevel& level, std::uint32_t depth, std::span<const LevelOrigin> origins) {
    const auto size = [&](const Program& program, std::uint64_t at, Worker& worker) {
      const At expanded = expansion(program, level, at, depth);
      level.offsets.data()[at] = program.size(expanded, program.draws(level.frontier.data()[at]),
                                              worker.selector.available(program, expanded));
    };
    if (!Program::kDynamic || program_.every_is_candidate) {
      for (const LevelOrigin& origin : origins) {
        Program program = program_;
        program.first = origin.first;
        for_each(origin.begin, origin.end,
                 [&](std::uint64_t at, Worker& worker) { size(program, at, worker); });
      }
      return;
    }
    // A dynamic bias says only as the list is read how many candidates there are.
    std::fill_n(level.offsets.data(), level.entries, 0);
    queue(level,
          [&](std::uint64_t at) { return program_.graph.degree(level.frontier.data()[at].vertex) > 0; });
    visit(level, origins, size);
  }

  /// Orders the entries that have work by the partition they wait for.
  template <class Waits>
  void queue(const SampleLevel& level, const Waits& waits) {
    const PartitionPlan& plan = cache_.plan().partitions;
    order_.reserve(device_, level.entries, kSampleBatch);
    std::fill(waiting_.begin(), waiting_.end(), 0);
    for (std::uint64_t at = 0; at < level.entries; ++at)
      if (waits(at)) ++waiting_[plan.owner(level.frontier.data()[at].vertex)];
    places_.assign(waiting_.begin(), waiting_.end());
    places_.push_back(0);
    sum_up(places_.data(), waiting_.size());
    std::vector<std::uint64_t> next = places_;
    for (std::uint64_t at = 0; at < level.entries; ++at) {
      if (waits(at)) order_.data()[next[plan.owner(level.frontier.data()[at].vertex)]++] = at;
    }
  }

  /// Calls body(program, entry, worker) for all entries in the queue, as their partitions come.
  template <class Body>
  void visit(const SampleLevel& level, std::span<const LevelOrigin> origins, const Body& body) {
    cache_.drain(waiting_, [&](std::span<const std::uint32_t> present) {
      std::vector<Program> programs;
      std::vector<std::uint64_t> sizes;
      for (const std::uint32_t partition : present) {
        programs.push_back(on_page(program_, cache_.page(partition)));
        sizes.push_back(std::exchange(waiting_[partition], 0));
      }
      const auto entries = [&](std::size_t queue) { return order_.data() + places_[present[queue]]; };
      const auto instance_end = [&](std::size_t queue, std::uint64_t at) {
        const std::uint64_t* const order = entries(queue);
        const auto instance = [&](std::uint64_t i) { return level.frontier.data()[order[i]].instance; };
        const std::uint64_t begin = at;
        while (++at < sizes[queue] && instance(at) == instance(begin)) {
        }
        return at;
      };
      queues_.work(sizes, kGrain, instance_end,
                   [&](std::size_t queue, std::uint64_t from, std::uint64_t to, unsigned thread) {
                     const std::uint64_t* at = entries(queue) + from;
                     const std::uint64_t* const end = entries(queue) + to;
                     Program program = programs[queue];
                     workers_[thread].in_place = cache_.in_place(present[queue]);
                     for (const LevelOrigin& origin : origins) {
                       program.first = origin.first;
                       for (; at < end && *at < origin.end; ++at) body(program, *at, workers_[thread]);
                     }
                   });
    });
  }

  const Device& device_;
  PartitionCache& cache_;
  const Program& program_;  ///< without edges: lists are read by on_page's
  std::vector<Worker> workers_;
  HostQueues queues_;
  Buffer<std::uint64_t> order_;         ///< entries by partition
  std::vector<std::uint64_t> waiting_;  ///< [partitions] entries that wait
  std::vector<std::uint64_t> places_;   ///< [partitions + 1] where they begin in `order_`
};

}  // namespace sluice::host
