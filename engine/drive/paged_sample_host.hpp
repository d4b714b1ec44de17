// The host's side of samples on a graph in partitions: all instances of a wave depth by depth, each entry of
// a frontier expanded when the partition that holds its list is here.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/drive/entry_selector.hpp"
#include "engine/drive/page_loop.hpp"
#include "engine/drive/paged_sample.hpp"
#include "engine/drive/sample_store.hpp"
#include "engine/drive/starts_view.hpp"
#include "engine/drive/visited.hpp"
#include "engine/drive/wave_writer.hpp"
#include "engine/exec/buffer.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::host {

/// One depth of a wave: edges in order of entries, entries in order of instances.
struct SampleLevel {
  std::uint64_t entries = 0, edges = 0;
  Buffer<FrontierEntry> frontier;   ///< [entries]
  Buffer<std::uint64_t> begins;     ///< [instances + 1] entries before an instance's
  Buffer<std::uint64_t> offsets;    ///< [entries + 1] edges before an entry's
  Buffer<Vertex> parents;           ///< [entries] dynamic samplers: where the entry came from
  Buffer<std::uint32_t> available;  ///< [entries] dynamic samplers: its candidates
  Buffer<std::uint32_t> indices;    ///< [edges] in the entry's list
  Buffer<Vertex> targets;           ///< [edges]
  Buffer<Vertex> arrivals;          ///< [edges] where the sampler says itself which vertex an edge brings

  std::uint64_t bytes() const {
    return frontier.bytes() + begins.bytes() + offsets.bytes() + parents.bytes() + available.bytes() +
           indices.bytes() + targets.bytes() + arrivals.bytes();
  }
};

/// What a run gives its grower.
template <class Program>
struct PagedSampleSetup {
  ResidentGraph::Impl& graph;
  const Program& program;
  StartsView starts;
  bool revisit;
  RunStats& stats;
};

template <class Program>
class PagedGrower {
 public:
  PagedGrower(const PagedSampleSetup<Program>& setup, PageLoop& loop)
      : device_(setup.graph.device),
        loop_(loop),
        program_(setup.program),
        starts_(setup.starts),
        revisit_(setup.revisit),
        stats_(setup.stats),
        workers_(device_.threads()),
        levels_(setup.program.sampler.depth() + std::size_t{1}),
        waiting_(loop.partitions(), 0) {}

  /// Grows instances [first, first + count).
  void grow(Instance first, std::uint64_t count) {
    const double start = seconds_now();
    program_.first = first;
    instances_ = count;
    plant();
    for (depths_ = 0; depths_ < program_.sampler.depth() && levels_[depths_].entries > 0; ++depths_) {
      select(levels_[depths_], depths_ + 1);
      stats_.sampled_edges += levels_[depths_].edges;
      if (depths_ + 1 < program_.sampler.depth()) advance(levels_[depths_], levels_[depths_ + 1]);
    }
    for (Worker& worker : workers_) {
      stats_.selections += worker.counters.selections, stats_.collision_searches += worker.counters.searches;
      stats_.selection_iterations += worker.counters.iterations;
      worker.counters = {};
    }
    stats_.compute_seconds += seconds_now() - start;
  }

  /// Results leave in pieces: what they take of the host's memory does not grow with the wave.
  void emit(Instance first, std::uint64_t count, SampleSink& sink, WaveWriter& writer) {
    const std::uint64_t piece_bytes = sample_piece_bytes();
    const double start = seconds_now();
    auto store = std::make_shared<SampleStore>();
    const auto leave = [&] { writer.submit([store, &sink] { sink.write(store->batch()); }); };
    store->first = first;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (store->bytes() > piece_bytes) {
        leave();
        store = std::make_shared<SampleStore>();
        store->first = first + i;
      }
      collect(i, *store);
    }
    leave();
    stats_.write_seconds += seconds_now() - start;
  }

  std::uint64_t bytes() const {
    std::uint64_t sum = order_.bytes() + flags_.bytes() + drawn_.bytes();
    for (const SampleLevel& level : levels_) sum += level.bytes();
    return sum;
  }

 private:
  static constexpr const char* kPurpose = "a wave of samples";
  static constexpr std::uint64_t kGrain = 64;

  /// What a thread has of its own.
  struct Worker {
    EntrySelector<Program> selector;
    VisitedSet visited;
    BlockCounters counters;
  };
  using At = typename EntrySelector<Program>::At;

  template <class Body>
  void for_each(std::uint64_t count, Body&& body) {
    parallel_blocks(device_.threads(), count, kGrain,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      for (std::uint64_t i = from; i < to; ++i) body(i, workers_[thread]);
                    });
  }
  /// Counts become what is before each; returns the sum of all.
  static std::uint64_t sum_up(std::uint64_t* counts, std::uint64_t size) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < size; ++i) sum += std::exchange(counts[i], sum);
    return counts[size] = sum;
  }
  At expansion(const SampleLevel& level, std::uint64_t entry, std::uint32_t depth) const {
    const Vertex parent = Program::kDynamic ? level.parents.data()[entry] : kNoVertex;
    return program_.expansion(level.frontier.data()[entry], depth, parent);
  }

  /// Seeds are visited at depth 0; repeated ones count once.
  template <class Body>
  void for_each_seed(std::uint64_t i, Worker& worker, Body&& body) const {
    const Instance instance = program_.first + i;
    worker.visited.clear();
    for (std::uint64_t j = 0; j < starts_.count(instance); ++j) {
      const Vertex seed = starts_.seed_vertex(instance, j);
      if (worker.visited.insert(seed)) body(seed);
    }
  }

  void plant() {
    SampleLevel& seeds = levels_[0];
    seeds.begins.reserve(device_, instances_ + 1, kPurpose);
    drawn_.reserve(device_, instances_, kPurpose);
    std::uint64_t* const begins = seeds.begins.data();
    for_each(instances_, [&](std::uint64_t i, Worker& worker) {
      begins[i] = 0, drawn_.data()[i] = 0;
      for_each_seed(i, worker, [&](Vertex) { ++begins[i]; });
    });
    seeds.entries = sum_up(begins, instances_);
    seeds.frontier.reserve(device_, seeds.entries, kPurpose);
    if constexpr (Program::kDynamic) {
      seeds.parents.reserve(device_, seeds.entries, kPurpose);
      std::fill_n(seeds.parents.data(), seeds.entries, kNoVertex);
    }
    for_each(instances_, [&](std::uint64_t i, Worker& worker) {
      std::uint64_t number = 0;
      for_each_seed(i, worker, [&](Vertex seed) {
        seeds.frontier.data()[begins[i] + number] = {static_cast<std::uint32_t>(i), seed,
                                                     revisit_ ? number : seed};
        ++number;
      });
    });
  }

  /// Selects the edges of one depth.
  void select(SampleLevel& level, std::uint32_t depth) {
    level.offsets.reserve(device_, level.entries + 1, kPurpose);
    measure(level, depth);
    std::uint64_t* const offsets = level.offsets.data();
    queue(level, [&](std::uint64_t entry) { return offsets[entry] > 0; });
    level.edges = sum_up(offsets, level.entries);
    level.indices.reserve(device_, level.edges, kPurpose);
    level.targets.reserve(device_, level.edges, kPurpose);
    if constexpr (Program::kUpdates) level.arrivals.reserve(device_, level.edges, kPurpose);
    visit([&](const Program& program, std::uint64_t at, Worker& worker) {
      const FrontierEntry& entry = level.frontier.data()[at];
      const EdgeIndex first = program.graph.row(entry.vertex).offset;
      const At expanded = expansion(level, at, depth);
      std::uint64_t out = offsets[at];
      for (const std::uint32_t index : worker.selector.select(program, entry, expanded, worker.counters)) {
        const Edge edge{entry.vertex, program.graph.target(first + index), first + index};
        level.indices.data()[out] = index;
        level.targets.data()[out] = edge.target;
        if constexpr (Program::kUpdates) level.arrivals.data()[out] = program.arrival(expanded, edge);
        ++out;
      }
    });
  }

  /// How many edges each entry selects, into its place in `offsets`.
  void measure(SampleLevel& level, std::uint32_t depth) {
    const auto size = [&](std::uint64_t at, std::uint32_t available) {
      level.offsets.data()[at] =
          program_.size(expansion(level, at, depth), program_.draws(level.frontier.data()[at]), available);
    };
    if (!Program::kDynamic || program_.every_is_candidate) {
      return for_each(level.entries, [&](std::uint64_t at, Worker& worker) {
        size(at, worker.selector.available(program_, expansion(level, at, depth)));
      });
    }
    // A dynamic bias says only as the list is read how many candidates there are.
    std::fill_n(level.offsets.data(), level.entries, 0);
    queue(level,
          [&](std::uint64_t at) { return program_.graph.degree(level.frontier.data()[at].vertex) > 0; });
    visit([&](const Program& program, std::uint64_t at, Worker& worker) {
      size(at, worker.selector.available(program, expansion(level, at, depth)));
    });
  }

  /// Orders the entries that have work by the partition they wait for.
  template <class Waits>
  void queue(const SampleLevel& level, const Waits& waits) {
    const PartitionPlan& plan = loop_.plan().partitions;
    order_.reserve(device_, level.entries, kPurpose);
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
  void visit(const Body& body) {
    loop_.drain(waiting_, [&](std::span<const std::uint32_t> here) {
      for (const std::uint32_t partition : here) {
        const Program program = on_page(program_, loop_.page(partition));
        for_each(waiting_[partition], [&](std::uint64_t i, Worker& worker) {
          body(program, order_.data()[places_[partition] + i], worker);
        });
        waiting_[partition] = 0;
      }
    });
  }

  /// Makes the next depth's frontier: in order of edges, what was first reached by them, or every arrival.
  void advance(const SampleLevel& now, SampleLevel& next) {
    flags_.reserve(device_, now.edges, kPurpose);
    next.begins.reserve(device_, instances_ + 1, kPurpose);
    std::uint64_t* const begins = next.begins.data();
    const Vertex* const arrivals = Program::kUpdates ? now.arrivals.data() : now.targets.data();
    const auto edge_of = [&](std::uint64_t i) { return now.offsets.data()[now.begins.data()[i]]; };
    for_each(instances_, [&](std::uint64_t i, Worker& worker) {
      if (!revisit_) remember(i, worker.visited);
      begins[i] = 0;
      for (std::uint64_t e = edge_of(i); e < edge_of(i + 1); ++e) {
        flags_.data()[e] = arrivals[e] != kNoVertex && (revisit_ || worker.visited.insert(arrivals[e]));
        begins[i] += flags_.data()[e];
      }
    });
    next.entries = sum_up(begins, instances_);
    next.frontier.reserve(device_, next.entries, kPurpose);
    if constexpr (Program::kDynamic) next.parents.reserve(device_, next.entries, kPurpose);
    for_each(instances_, [&](std::uint64_t i, Worker&) {
      const std::uint64_t* const seeds = levels_[0].begins.data() + i;
      const std::uint64_t before = seeds[1] - seeds[0] + drawn_.data()[i];
      std::uint64_t to = begins[i];
      for (std::uint64_t at = now.begins.data()[i]; at < now.begins.data()[i + 1]; ++at) {
        for (std::uint64_t e = now.offsets.data()[at]; e < now.offsets.data()[at + 1]; ++e) {
          if (!flags_.data()[e]) continue;
          const std::uint64_t slot = revisit_ ? before + (e - edge_of(i)) : arrivals[e];
          if constexpr (Program::kDynamic) next.parents.data()[to] = now.frontier.data()[at].vertex;
          next.frontier.data()[to++] = {static_cast<std::uint32_t>(i), arrivals[e], slot};
        }
      }
      drawn_.data()[i] += edge_of(i + 1) - edge_of(i);
    });
  }

  /// What an instance has visited up to this depth.
  void remember(std::uint64_t i, VisitedSet& visited) const {
    visited.clear();
    for (std::uint32_t d = 0; d <= depths_; ++d) {
      const std::uint64_t* const begins = levels_[d].begins.data() + i;
      for (std::uint64_t at = begins[0]; at < begins[1]; ++at)
        visited.insert(levels_[d].frontier.data()[at].vertex);
    }
  }

  void collect(std::uint64_t i, SampleStore& out) const {
    const std::uint64_t* const seeds = levels_[0].begins.data() + i;
    for (std::uint64_t at = seeds[0]; at < seeds[1]; ++at)
      out.seeds.push_back(levels_[0].frontier.data()[at].vertex);
    out.seed_counts.push_back(seeds[1] - seeds[0]);
    const std::size_t before = out.edge.size();
    for (std::uint32_t d = 0; d < depths_; ++d) {
      const SampleLevel& level = levels_[d];
      for (std::uint64_t at = level.begins.data()[i]; at < level.begins.data()[i + 1]; ++at) {
        const Vertex source = level.frontier.data()[at].vertex;
        const EdgeIndex first = program_.graph.row(source).offset;
        for (std::uint64_t e = level.offsets.data()[at]; e < level.offsets.data()[at + 1]; ++e)
          out.add_edge(source, level.targets.data()[e], d + 1, first + level.indices.data()[e]);
      }
    }
    out.edge_counts.push_back(out.edge.size() - before);
  }

  const Device& device_;
  PageLoop& loop_;
  Program program_;  ///< without edges: lists are read by on_page's
  StartsView starts_;
  bool revisit_;
  RunStats& stats_;
  std::vector<Worker> workers_;
  std::vector<SampleLevel> levels_;
  std::uint64_t instances_ = 0;
  std::uint32_t depths_ = 0;
  Buffer<std::uint64_t> order_;         ///< entries by partition
  Buffer<std::uint8_t> flags_;          ///< [edges] goes on to the next depth?
  Buffer<std::uint64_t> drawn_;         ///< [instances] edges of lesser depths
  std::vector<std::uint64_t> waiting_;  ///< [partitions] entries that wait
  std::vector<std::uint64_t> places_;   ///< [partitions + 1] where they begin in `order_`
};

}  // namespace sluice::host
