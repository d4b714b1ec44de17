// The host's driver of traversal-based samples: a thread grows one instance at a time, depth by depth.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/drive/block_driver.hpp"
#include "engine/drive/dynamic_step.hpp"
#include "engine/drive/sample_errors.hpp"
#include "engine/drive/sample_step.hpp"
#include "engine/drive/sample_store.hpp"
#include "engine/drive/starts_view.hpp"
#include "engine/drive/visited.hpp"
#include "engine/select/group.hpp"

namespace sluice::host {

/// The list of one expansion whose bias is tabled, drawn from as a DynamicList is.
template <class Program>
struct TabledList {
  const Program& program;
  Vertex vertex;
  Row row;

  bool is_candidate(std::uint32_t index) const { return program.is_candidate(vertex, row, index); }
  std::uint32_t draw_one(const SampleDraws& random, std::uint32_t j, const std::uint64_t*,
                         PickCounters& counters) const {
    return program.draw_one(random, vertex, row, j, counters);
  }
};

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
  using At = decltype(Program().expansion({}, 1));

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
    const Row row = program_.graph.row(entry.vertex);
    const SampleDraws random = program_.draws(entry);
    picks_.clear();
    if constexpr (Program::kDynamic) {
      const DynamicList<Program> list(program_, at, row);
      select(list, at, random, row, measure(list, at, row), counters);
    } else {
      const TabledList<Program> list{program_, entry.vertex, row};
      select(list, at, random, row, program_.candidates(entry.vertex, row), counters);
    }
    for (const std::uint32_t index : picks_) {
      const Edge edge{entry.vertex, program_.graph.target(row.offset + index), row.offset + index};
      out.add_edge(edge.source, edge.target, at.depth, edge.position);
      const Vertex arrival = program_.arrival(at, edge);
      if (arrival == kNoVertex) continue;
      if (!revisit && !visited_.insert(arrival)) continue;
      next_.push_back({0, arrival, revisit ? seeds_ + out.edge.size() - 1 - edges_before : arrival});
      if constexpr (Program::kDynamic) next_parents_.push_back(entry.vertex);
    }
  }

  /// Candidates of a list, and its CTPS into sums_ where the technique needs it.
  template <class List>
  std::uint32_t measure(const List& list, const At& at, const Row& row) {
    const bool makes_ctps = program_.select != Select::rejection;
    if (program_.every_is_candidate && !makes_ctps) return row.degree;
    if (makes_ctps) sums_.resize(std::max<std::size_t>(sums_.size(), row.degree));
    const ListMeasure measured = list.measure(SingleLane{}, makes_ctps ? sums_.data() : nullptr);
    if (!measured.fits) throw biases_too_large(at.vertex);
    return measured.candidates;
  }

  /// The indices that this entry selects, ascending, into picks_.
  template <class List>
  void select(const List& list, const At& at, const SampleDraws& random, const Row& row,
              std::uint32_t available, BlockCounters& counters) {
    const std::uint64_t size = program_.size(at, random, available);
    if (size == 0) return;
    if (program_.takes_all(size, at, random, available)) {
      for (std::uint32_t i = 0; i < row.degree; ++i) {
        if (list.is_candidate(i)) picks_.push_back(i);
      }
      return;
    }
    if (size > program_.most_draws()) throw too_many_draws(size, program_.most_draws());
    PickCounters pick;
    if (program_.sampler.replacement()) {
      for (std::uint32_t j = 0; j < size; ++j) picks_.push_back(list.draw_one(random, j, sums_.data(), pick));
    } else if (!draw_distinct(random, row, static_cast<std::uint32_t>(size), pick)) {
      throw too_many_redraws();
    }
    std::sort(picks_.begin(), picks_.end());
    counters.selections += size, counters.iterations += pick.iterations, counters.searches += pick.searches;
  }

  bool draw_distinct(const SampleDraws& random, const Row& row, std::uint32_t size, PickCounters& pick) {
    picks_.resize(size);
    excluded_.resize(size);
    if (program_.collision != Collision::linear)
      words_.resize(std::max<std::size_t>(words_.size(), row.degree / 32 + 1));
    const PickScratch scratch{picks_.data(), excluded_.data(), words_.data(), sums_.data()};
    if constexpr (Program::kDynamic) {
      return program_.draw_distinct_by(sums_.data(), SingleLane{}, random, row, size, scratch, pick);
    } else {
      return program_.draw_distinct(SingleLane{}, random, row, size, scratch, pick);
    }
  }

  Program program_;
  StartsView starts_;
  VisitedSet visited_;
  std::vector<FrontierEntry> frontier_, next_;
  std::vector<Vertex> parents_, next_parents_;  ///< dynamic samplers: where each entry came from
  std::vector<std::uint32_t> picks_, excluded_, words_;
  std::vector<std::uint64_t> sums_;
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
