// Traversal-based samples on the host: a thread grows one instance at a time, depth by depth.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/batch/options.hpp"
#include "engine/batch/sink.hpp"
#include "engine/batch/starts_view.hpp"
#include "engine/memory/run_stats.hpp"
#include "engine/samples/entry_selector.hpp"
#include "engine/samples/instance_blocks.hpp"
#include "engine/samples/step.hpp"
#include "engine/samples/store.hpp"
#include "engine/samples/visited.hpp"

namespace sluice::samples::host {

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
      next_parents_.clear();
      for (std::size_t i = 0; i < frontier_.size(); ++i) {
        const Vertex parent = Program::kDynamic ? parents_[i] : kNoVertex;
        expand(frontier_[i], program_.expansion(frontier_[i], depth, parent), edges_before, out, counters);
      }
      frontier_.swap(next_);
      parents_.swap(next_parents_);
    }
    out.edge_counts.push_back(out.edge.size() - edges_before);
  }

  bool revisit = false;  ///< tree semantics

 private:
  using At = typename EntrySelector<Program>::At;

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
    if constexpr (Program::kDynamic) parents_.assign(frontier_.size(), kNoVertex);
    out.seed_counts.push_back(frontier_.size());
    seeds_ = frontier_.size();
  }

  void expand(const FrontierEntry& entry, const At& at, std::size_t edges_before, SampleStore& out,
              BlockCounters& counters) {
    const EdgeIndex offset = program_.graph.row(entry.vertex).offset;
    for (const std::uint32_t index : selector_.select(program_, entry, at, counters)) {
      const Edge edge{entry.vertex, program_.graph.target(offset + index), offset + index};
      out.add_edge(edge.source, edge.target, at.depth, edge.position);
      const Vertex arrival = program_.arrival(at, edge);
      if (arrival == kNoVertex) continue;
      if (!revisit && !visited_.insert(arrival)) continue;
      next_.push_back({0, arrival, revisit ? seeds_ + out.edge.size() - 1 - edges_before : arrival});
      if constexpr (Program::kDynamic) next_parents_.push_back(entry.vertex);
    }
  }

  Program program_;
  StartsView starts_;
  VisitedSet visited_;
  std::vector<FrontierEntry> frontier_, next_;
  std::vector<Vertex> parents_, next_parents_;  ///< dynamic samplers: where each entry came from
  EntrySelector<Program> selector_;
  std::uint64_t seeds_ = 0;
};

template <class Program>
void run_whole_samples(ResidentGraph::Impl& graph, const Program& program, const StartsView& starts,
                       bool revisit, const RunOptions& options, Instance begin, Instance end,
                       SampleSink* sink, RunStats& stats) {
  std::vector<InstanceGrower<Program>> growers(graph.device.threads(),
                                               InstanceGrower<Program>(program, starts));
  for (auto& grower : growers) grower.revisit = revisit;
  run_blocks(graph.device, options, begin, end, sink, stats,
             [&](unsigned thread, Instance instance, SampleStore& out, BlockCounters& counters) {
               growers[thread].grow(instance, out, counters);
             });
}

}  // namespace sluice::samples::host
