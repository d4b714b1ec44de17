// Traversal-based samples on the host: a thread grows one instance at a time, depth by depth. Most of its
// time it waits for lists and targets, so both are prefetched: where a list lies when its vertex joins the
// frontier, and targets of several entries' selections before the first of them is looked at.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/batch/starts_view.hpp"
#include "engine/samples/entry_selector.hpp"
#include "engine/samples/instance_blocks.hpp"
#include "engine/samples/partitioned/setup.hpp"
#include "engine/samples/step.hpp"
#include "engine/samples/store.hpp"
#include "engine/samples/visited.hpp"
#include "engine/select/tables.hpp"

namespace sluice::samples::host {

/// Grows instances one after the other; one a thread.
template <class Program>
class InstanceGrower {
 public:
  explicit InstanceGrower(const LevelSetup<Program>& setup)
      : program_(setup.program), starts_(setup.starts), revisit_(setup.revisit) {}

  void grow(Instance instance, SampleStore& out, BlockCounters& counters) {
    const std::size_t edges_before = out.edge.size();
    program_.first = instance;  // entries are numbered relative to it: always 0 here
    plant(instance, out);
    for (std::uint32_t depth = 1; depth <= program_.sampler.depth() && !frontier_.empty(); ++depth) {
      next_.clear();
      next_parents_.clear();
      for (std::size_t entry = 0; entry < frontier_.size();) {
        const std::size_t first = entry;
        entry = select_some(first, depth, counters);
        take_selected(first, depth, edges_before, out);
      }
      frontier_.swap(next_);
      parents_.swap(next_parents_);
    }
    out.edge_counts.push_back(out.edge.size() - edges_before);
  }

 private:
  using At = typename EntrySelector<Program>::At;

  /// Seeds are visited at depth 0.
  void plant(Instance instance, SampleStore& out) {
    visited_.clear();
    frontier_.clear();
    for (std::uint64_t i = 0; i < starts_.count(instance); ++i) {
      const Vertex seed = starts_.seed_vertex(instance, i);
      visited_.insert(seed);
      out.seeds.push_back(seed);
      frontier_.push_back({0, seed, revisit_ ? frontier_.size() : seed});
    }
    if constexpr (Program::kDynamic) parents_.assign(frontier_.size(), kNoVertex);
    out.seed_counts.push_back(frontier_.size());
    seeds_ = frontier_.size();
  }

  At expansion(std::size_t entry, std::uint32_t depth) const {
    return program_.expansion(frontier_[entry], depth, Program::kDynamic ? parents_[entry] : kNoVertex);
  }

  /// Selects for frontier entries from `entry` on, for a few of them; returns the first of the others.
  std::size_t select_some(std::size_t entry, std::uint32_t depth, BlockCounters& counters) {
    picks_.clear();
    ends_.clear();
    while (entry < frontier_.size() && ends_.size() < kEntriesAhead && picks_.size() < kPicksAhead) {
      const FrontierEntry& from = frontier_[entry];
      const EdgeIndex offset = program_.graph.row(from.vertex).offset;
      for (const std::uint32_t index :
           selector_.select(program_, from, expansion(entry++, depth), counters)) {
        prefetch(program_.graph.csr.targets + offset + index);
        picks_.push_back(offset + index);
      }
      ends_.push_back(picks_.size());
    }
    return entry;
  }

  /// Their edges, and the vertices that these bring to the next frontier.
  void take_selected(std::size_t entry, std::uint32_t depth, std::size_t edges_before, SampleStore& out) {
    std::size_t pick = 0;
    for (const std::size_t end : ends_) {
      const At at = expansion(entry++, depth);
      for (; pick < end; ++pick) take(at, picks_[pick], edges_before, out);
    }
  }

  void take(const At& at, EdgeIndex position, std::size_t edges_before, SampleStore& out) {
    const Edge edge{at.vertex, program_.graph.target(position), position};
    out.add_edge(edge.source, edge.target, at.depth, edge.position);
    if (at.depth == program_.sampler.depth()) return;  // nothing is expanded any more
    const Vertex arrival = program_.arrival(at, edge);
    if (arrival == kNoVertex) return;
    if (!revisit_ && !visited_.insert(arrival)) return;
    prefetch(program_.graph.csr.offsets + arrival);
    next_.push_back({0, arrival, revisit_ ? seeds_ + out.edge.size() - 1 - edges_before : arrival});
    if constexpr (Program::kDynamic) next_parents_.push_back(edge.source);
  }

  /// As many as a core can wait for; whole lists are not held back by others.
  static constexpr std::size_t kEntriesAhead = 16, kPicksAhead = 64;

  Program program_;
  StartsView starts_;
  bool revisit_;
  VisitedSet visited_;
  std::vector<FrontierEntry> frontier_, next_;
  std::vector<Vertex> parents_, next_parents_;  ///< dynamic samplers: where each entry came from
  EntrySelector<Program> selector_;
  // Of the entries that are expanded together: positions of the edges that they select, one after the other.
  std::vector<EdgeIndex> picks_;
  std::vector<std::size_t> ends_;
  std::uint64_t seeds_ = 0;
};

/// `run` is an InstanceRun.
template <class Run, class Program>
void run_whole_samples(const Run& run, const LevelSetup<Program>& setup) {
  std::vector<InstanceGrower<Program>> growers(run.graph.device.threads(), InstanceGrower<Program>(setup));
  run_blocks(run, [&](unsigned thread, Instance instance, SampleStore& out, BlockCounters& counters) {
    growers[thread].grow(instance, out, counters);
  });
}

}  // namespace sluice::samples::host
