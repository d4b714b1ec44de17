// Samples of a whole graph on the host: a thread grows one instance at a time and appends its edges directly
// to the results of its block. Memory latency of lists and targets dominates, so both are prefetched: a
// vertex's list offset when an edge reaches it, and the targets that several entries select before the first
// of them is read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/batch/starts_view.hpp"
#include "engine/samples/entry_selector.hpp"
#include "engine/samples/grow_levels.hpp"
#include "engine/samples/instance_blocks.hpp"
#include "engine/samples/partitioned/setup.hpp"
#include "engine/samples/plant.hpp"
#include "engine/samples/store.hpp"
#include "engine/samples/visited.hpp"
#include "engine/select/tables.hpp"

namespace sluice::samples::host {

/// The hooks' argument `at` for entry `entry` of a frontier. `parents` is read for dynamic samplers only.
template <class Program>
auto expansion_of(const Program& program, const FrontierEntry* frontier, const Vertex* parents,
                  std::uint64_t entry, std::uint32_t depth) {
  return program.expansion(frontier[entry], depth, Program::kDynamic ? parents[entry] : kNoVertex);
}

/// Entries of one instance at one depth, and the edges that they selected.
struct InstanceLevel {
  const FrontierEntry* entries;  ///< [count]
  const std::uint64_t* offsets;  ///< [count + 1] first edge of each entry
  std::uint64_t count;
  const Vertex* arrivals;  ///< by edge, the vertex that it adds to the frontier; kNoVertex: none
  bool revisit;            ///< tree semantics
  std::uint64_t first_slot;  ///< revisit: edge e adds an entry with slot `first_slot` + e

  /// Calls put(entry, parent) for every entry of the next frontier, in order of edges: one for each arrival
  /// for which accepts(edge, arrival) is true.
  template <class Accepts, class Put>
  void for_each_next(const Accepts& accepts, const Put& put) const {
    for (std::uint64_t i = 0; i < count; ++i) {
      for (std::uint64_t edge = offsets[i]; edge < offsets[i + 1]; ++edge) {
        const Vertex v = arrivals[edge];
        if (v == kNoVertex || !accepts(edge, v)) continue;
        put(FrontierEntry{entries[i].instance, v, revisit ? edge + first_slot : v}, entries[i].vertex);
      }
    }
  }
};

/// Levels of one instance after another; each thread has one.
template <class P>
class Levels<P, Whole> {
 public:
  using Program = P;

  explicit Levels(const LevelSetup<Program>& setup)
      : program_(setup.program), starts_(setup.starts), revisit_(setup.revisit) {}

  void grow(Instance instance, SampleStore& out, BlockCounters& counters) {
    begin(instance, out);
    grow_levels(*this, nullptr, [&](std::uint32_t depth) { select(depth, counters); });
    out.edge_counts.push_back(out.edge.size() - instance_begin_);
  }

  const Program& program() const { return program_; }
  std::uint64_t entries() const { return current_.entries.size(); }

  /// Makes the next depth's frontier.
  void advance() {
    next_.entries.clear(), next_.parents.clear();
    const Vertex* const arrivals = Program::kUpdates ? arrivals_.data() : out_->target.data() + level_begin_;
    const InstanceLevel level{current_.entries.data(),
                              offsets_.data(),
                              entries(),
                              arrivals,
                              revisit_,
                              seeds_ + level_begin_ - instance_begin_};
    level.for_each_next([&](std::uint64_t, Vertex v) { return revisit_ || visited_.insert(v); },
                        [&](const FrontierEntry& entry, Vertex parent) {
                          next_.entries.push_back(entry);
                          if constexpr (Program::kDynamic) next_.parents.push_back(parent);
                        });
    std::swap(current_, next_);
  }

 private:
  struct Frontier {
    std::vector<FrontierEntry> entries;
    std::vector<Vertex> parents;  ///< dynamic samplers: source of the edge that reached each entry
  };
  using EntryExpansion = typename EntrySelector<Program>::EntryExpansion;

  /// Makes the seeds of an instance its first frontier. Entries have instance 0, relative to `instance`.
  void begin(Instance instance, SampleStore& out) {
    program_.first = instance;
    out_ = &out, instance_begin_ = out.edge.size();
    seeds_ = starts_.count(instance);
    current_.entries.resize(seeds_);
    std::uint64_t begins = 0;
    struct {
    } lane;
    WriteSeeds{starts_, instance, 1, revisit_, current_.entries.data(), &begins}(0, lane);
    if constexpr (Program::kDynamic) current_.parents.assign(seeds_, kNoVertex);
    visited_.clear();
    for (const FrontierEntry& seed : current_.entries) {
      if (!revisit_) visited_.insert(seed.vertex);
      out.seeds.push_back(seed.vertex);
    }
    out.seed_counts.push_back(seeds_);
  }

  EntryExpansion expansion(std::size_t entry, std::uint32_t depth) const {
    return expansion_of(program_, current_.entries.data(), current_.parents.data(), entry, depth);
  }

  /// Selects the edges of the frontier.
  void select(std::uint32_t depth, BlockCounters& counters) {
    level_begin_ = out_->edge.size();
    offsets_.assign(1, 0), arrivals_.clear();
    for (std::size_t entry = 0; entry < entries();) {
      const std::size_t begin = entry;
      entry = select_chunk(begin, depth, counters);
      add_selected(begin, depth);
    }
  }

  /// Selects edges for a few frontier entries from `entry` on; returns the first entry that is left.
  std::size_t select_chunk(std::size_t entry, std::uint32_t depth, BlockCounters& counters) {
    picks_.clear();
    const std::uint64_t chunk_begin = offsets_.back();
    for (const std::size_t end = entry + kEntriesAhead;
         entry < std::min<std::size_t>(end, entries()) && picks_.size() < kPicksAhead; ++entry) {
      const FrontierEntry& source = current_.entries[entry];
      const EdgeIndex offset = program_.graph.row(source.vertex).offset;
      for (const std::uint32_t index :
           selector_.select(program_, source, expansion(entry, depth), counters)) {
        prefetch(program_.graph.csr.targets + offset + index);
        picks_.push_back(offset + index);
      }
      offsets_.push_back(chunk_begin + picks_.size());
    }
    return entry;
  }

  /// Adds the edges of picks_, selected for entries from `entry` on, to the results.
  void add_selected(std::size_t entry, std::uint32_t depth) {
    std::size_t pick = 0;
    for (const std::uint64_t chunk_begin = offsets_[entry]; entry + 1 < offsets_.size(); ++entry) {
      const EntryExpansion at = expansion(entry, depth);
      for (const std::size_t end = offsets_[entry + 1] - chunk_begin; pick < end; ++pick)
        add_edge(at, picks_[pick]);
    }
  }

  void add_edge(const EntryExpansion& at, EdgeIndex position) {
    const Edge edge{at.vertex, program_.graph.target(position), position};
    out_->add_edge(edge.source, edge.target, at.depth, edge.position);
    if (at.depth == program_.sampler.depth()) return;  // the last depth has no next frontier
    const Vertex arrival = program_.arrival(at, edge);
    if (arrival != kNoVertex) prefetch(program_.graph.csr.offsets + arrival);
    if constexpr (Program::kUpdates) arrivals_.push_back(arrival);
  }

  /// Entries and picks selected together: about as many loads as a core can have in flight.
  static constexpr std::size_t kEntriesAhead = 16, kPicksAhead = 64;

  Program program_;
  StartsView starts_;
  bool revisit_;
  VisitedSet visited_;
  EntrySelector<Program> selector_;
  SampleStore* out_ = nullptr;
  std::uint64_t seeds_ = 0;
  std::uint64_t instance_begin_ = 0, level_begin_ = 0;  ///< edges in `out_` before them
  Frontier current_, next_;
  std::vector<std::uint64_t> offsets_;  ///< [entries + 1] first edge of each entry in the level
  std::vector<Vertex> arrivals_;        ///< [edges of the level] samplers with an update only
  std::vector<EdgeIndex> picks_;        ///< edges of the entries that are expanded together
};

/// `run` is an InstanceRun.
template <class Run, class Program>
void run_whole_samples(const Run& run, const LevelSetup<Program>& setup) {
  using WholeLevels = Levels<Program, Whole>;
  std::vector<WholeLevels> levels(run.graph.device.threads(), WholeLevels(setup));
  run_blocks(run, [&](unsigned thread, Instance instance, SampleStore& out, BlockCounters& counters) {
    levels[thread].grow(instance, out, counters);
  });
}

}  // namespace sluice::samples::host
