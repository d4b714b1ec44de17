// The host's driver of traversal-based samples: a thread grows one instance at a time, depth by depth.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/drive/block_driver.hpp"
#include "engine/drive/sample_step.hpp"
#include "engine/drive/sample_store.hpp"
#include "engine/drive/starts_view.hpp"
#include "engine/drive/visited.hpp"
#include "engine/select/group.hpp"

namespace sluice::host {

/// Grows instances one after the other; one a thread.
template <class Program>
class InstanceGrower {
 public:
  InstanceGrower(const Program& program, const StartsView& starts) : program_(program), starts_(starts) {}

  void grow(Instance instance, SampleStore& out, BlockCounters& counters) {
    const std::size_t edges_before = out.edge.size();
    program_.first = instance;  // entries are numbered relative to it: always 0 here
    plant(instance, out);
    for (std::uint32_t depth = 1; depth <= program_.sampler.depth() && !frontier_.empty(); ++depth) {
      next_.clear();
      for (const FrontierEntry& entry : frontier_) expand(entry, depth, edges_before, out, counters);
      frontier_.swap(next_);
    }
    out.edge_counts.push_back(out.edge.size() - edges_before);
  }

  bool revisit = false;  ///< tree semantics

 private:
  /// Seeds are visited at depth 0; repeated ones count once.
  void plant(Instance instance, SampleStore& out) {
    visited_.clear();
    frontier_.clear();
    for (std::uint64_t i = 0; i < starts_.count(instance); ++i) {
      const Vertex seed = starts_.seed_vertex(instance, i);
      if (!visited_.insert(seed)) continue;
      out.seeds.push_back(seed);
      frontier_.push_back({0, seed, revisit ? frontier_.size() : seed});
    }
    out.seed_counts.push_back(frontier_.size());
    seeds_ = frontier_.size();
  }

  void expand(const FrontierEntry& entry, std::uint32_t depth, std::size_t edges_before, SampleStore& out,
              BlockCounters& counters) {
    const Row row = program_.graph.row(entry.vertex);
    const std::uint32_t available = program_.candidates(entry.vertex, row);
    const std::uint64_t size = program_.size(entry, depth, available);
    if (size == 0) return;
    select(entry, row, depth, available, size, counters);
    const Expansion at = program_.expansion(entry, depth);
    for (const std::uint32_t index : picks_) {
      const Edge edge{entry.vertex, program_.graph.target(row.offset + index), row.offset + index};
      out.add_edge(edge.source, edge.target, depth, edge.position);
      const Vertex arrival = program_.arrival(at, edge);
      if (arrival == kNoVertex) continue;
      if (revisit) {
        next_.push_back({0, arrival, seeds_ + out.edge.size() - 1 - edges_before});
      } else if (visited_.insert(arrival)) {
        next_.push_back({0, arrival, arrival});
      }
    }
  }

  /// The indices that this entry selects, ascending, into picks_.
  void select(const FrontierEntry& entry, const Row& row, std::uint32_t depth, std::uint32_t available,
              std::uint64_t size, BlockCounters& counters) {
    picks_.clear();
    if (program_.takes_all(size, entry, depth, available)) {
      for (std::uint32_t i = 0; i < row.degree; ++i) {
        if (program_.is_candidate(entry.vertex, row, i)) picks_.push_back(i);
      }
      return;
    }
    PickCounters pick;
    const SampleDraws random = program_.draws(entry);
    if (program_.sampler.replacement()) {
      for (std::uint32_t j = 0; j < size; ++j)
        picks_.push_back(program_.draw_one(random, entry.vertex, row, j, pick));
    } else {
      picks_.resize(size);
      excluded_.resize(size);
      if (program_.collision != Collision::linear)
        words_.resize(std::max<std::size_t>(words_.size(), row.degree / 32 + 1));
      program_.draw_distinct(SingleLane{}, random, row, static_cast<std::uint32_t>(size),
                             {picks_.data(), excluded_.data(), words_.data()}, pick);
    }
    std::sort(picks_.begin(), picks_.end());
    counters.selections += size, counters.iterations += pick.iterations, counters.searches += pick.searches;
  }

  Program program_;
  StartsView starts_;
  VisitedSet visited_;
  std::vector<FrontierEntry> frontier_, next_;
  std::vector<std::uint32_t> picks_, excluded_, words_;
  std::uint64_t seeds_ = 0;
};

template <class Program>
void drive_samples(ResidentGraph::Impl& graph, const Program& program, const StartsView& starts, bool revisit,
                   const RunOptions& options, Instance begin, Instance end, SampleSink* sink,
                   RunStats& stats) {
  std::vector<InstanceGrower<Program>> growers(graph.device.threads(),
                                               InstanceGrower<Program>(program, starts));
  for (auto& grower : growers) grower.revisit = revisit;
  drive_blocks(graph.device, options, begin, end, sink, stats,
               [&](unsigned thread, Instance instance, SampleStore& out, BlockCounters& counters) {
                 growers[thread].grow(instance, out, counters);
               });
}

}  // namespace sluice::host
