// The host's side of samples on a graph in partitions: all instances of a batch depth by depth, each entry of
// a frontier expanded when the partition that holds its list is here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/batch/batch_writer.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts_view.hpp"
#include "engine/core/clock.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/threads.hpp"
#include "engine/memory/partition_cache.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/partitioned/level_select.hpp"
#include "engine/samples/partitioned/sample_owners.hpp"
#include "engine/samples/store.hpp"
#include "engine/samples/visited.hpp"

namespace sluice::host {

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
  PagedGrower(const PagedSampleSetup<Program>& setup, PartitionCache& cache)
      : device_(setup.graph.device),
        ranks_(setup.graph.paging.shard),
        program_(setup.program),
        starts_(setup.starts),
        revisit_(setup.revisit),
        stats_(setup.stats),
        visited_(device_.threads()),
        levels_(setup.program.sampler.depth() + std::size_t{1}),
        selector_(device_, program_, cache) {
    if (ranks_) owners_.emplace(*ranks_, device_, program_, cache, selector_, stats_);
  }

  /// Grows instances [first, first + count); all ranks together where they share out the graph.
  void grow(Instance first, std::uint64_t count) {
    const double start = seconds_now();
    program_.first = first;
    instances_ = count;
    if (owners_) owners_->begin({first, count});
    together(ranks_, [&] { plant(); });
    for (depths_ = 0; depths_ < program_.sampler.depth() &&
                      any_left(ranks_, levels_[depths_].entries, "samples under way");
         ++depths_) {
      SampleLevel& level = levels_[depths_];
      const LevelOrigin all{first, 0, level.entries};
      owners_ ? owners_->select(level, depths_ + 1) : selector_.select(level, depths_ + 1, {&all, 1});
      stats_.sampled_edges += level.edges;
      if (depths_ + 1 < program_.sampler.depth())
        together(ranks_, [&] { advance(level, levels_[depths_ + 1]); });
    }
    selector_.count(stats_);
    stats_.compute_seconds += seconds_now() - start;
  }

  /// Results leave in pieces: what they take of the host's memory does not grow with the batch.
  void emit(Instance first, std::uint64_t count, SampleSink& sink, BatchWriter& writer) {
    const std::uint64_t piece_bytes = sample_piece_bytes();
    const double start = seconds_now(), waited = stats_.write_seconds;
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
    stats_.transfer_seconds += seconds_now() - start - (stats_.write_seconds - waited);
  }

  std::uint64_t bytes() const {
    std::uint64_t sum = selector_.bytes() + flags_.bytes() + drawn_.bytes();
    if (owners_) sum += owners_->bytes();
    for (const SampleLevel& level : levels_) sum += level.bytes();
    return sum;
  }

 private:
  static constexpr const char* kPurpose = kSampleBatch;
  static constexpr std::uint64_t kGrain = 64;

  /// Calls body(instance, visited) for all instances; `visited` is the thread's own, not empty.
  template <class Body>
  void for_each(Body&& body) {
    parallel_blocks(device_.threads(), instances_, kGrain,
                    [&](std::uint64_t from, std::uint64_t to, unsigned thread) {
                      for (std::uint64_t i = from; i < to; ++i) body(i, visited_[thread]);
                    });
  }

  /// Seeds are visited at depth 0; repeated ones count once.
  template <class Body>
  void for_each_seed(std::uint64_t i, VisitedSet& visited, Body&& body) const {
    const Instance instance = program_.first + i;
    visited.clear();
    for (std::uint64_t j = 0; j < starts_.count(instance); ++j) {
      const Vertex seed = starts_.seed_vertex(instance, j);
      if (visited.insert(seed)) body(seed);
    }
  }

  void plant() {
    SampleLevel& seeds = levels_[0];
    seeds.begins.reserve(device_, instances_ + 1, kPurpose);
    drawn_.reserve(device_, instances_, kPurpose);
    std::uint64_t* const begins = seeds.begins.data();
    for_each([&](std::uint64_t i, VisitedSet& visited) {
      begins[i] = 0, drawn_.data()[i] = 0;
      for_each_seed(i, visited, [&](Vertex) { ++begins[i]; });
    });
    seeds.entries = sum_up(begins, instances_);
    seeds.frontier.reserve(device_, seeds.entries, kPurpose);
    if constexpr (Program::kDynamic) {
      seeds.parents.reserve(device_, seeds.entries, kPurpose);
      std::fill_n(seeds.parents.data(), seeds.entries, kNoVertex);
    }
    for_each([&](std::uint64_t i, VisitedSet& visited) {
      std::uint64_t number = 0;
      for_each_seed(i, visited, [&](Vertex seed) {
        seeds.frontier.data()[begins[i] + number] = {static_cast<std::uint32_t>(i), seed,
                                                     revisit_ ? number : seed};
        ++number;
      });
    });
  }

  /// Makes the next depth's frontier: in order of edges, what was first reached by them, or every arrival.
  void advance(const SampleLevel& now, SampleLevel& next) {
    flags_.reserve(device_, now.edges, kPurpose);
    next.begins.reserve(device_, instances_ + 1, kPurpose);
    std::uint64_t* const begins = next.begins.data();
    const Vertex* const arrivals = Program::kUpdates ? now.arrivals.data() : now.targets.data();
    const auto edge_of = [&](std::uint64_t i) { return now.offsets.data()[now.begins.data()[i]]; };
    for_each([&](std::uint64_t i, VisitedSet& visited) {
      if (!revisit_) remember(i, visited);
      begins[i] = 0;
      for (std::uint64_t e = edge_of(i); e < edge_of(i + 1); ++e) {
        flags_.data()[e] = arrivals[e] != kNoVertex && (revisit_ || visited.insert(arrivals[e]));
        begins[i] += flags_.data()[e];
      }
    });
    next.entries = sum_up(begins, instances_);
    next.frontier.reserve(device_, next.entries, kPurpose);
    if constexpr (Program::kDynamic) next.parents.reserve(device_, next.entries, kPurpose);
    for_each([&](std::uint64_t i, VisitedSet&) {
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
  Communicator* ranks_;
  Program program_;  ///< without edges: lists are read by on_page's
  StartsView starts_;
  bool revisit_;
  RunStats& stats_;
  std::vector<VisitedSet> visited_;  ///< by thread
  std::vector<SampleLevel> levels_;
  LevelSelector<Program> selector_;
  std::optional<SampleOwners<Program>> owners_;
  std::uint64_t instances_ = 0;
  std::uint32_t depths_ = 0;
  Buffer<std::uint8_t> flags_;   ///< [edges] goes on to the next depth?
  Buffer<std::uint64_t> drawn_;  ///< [instances] edges of lesser depths
};

}  // namespace sluice::host
