// The host's way to expand one frontier entry: which edges of its list it selects.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/exec/group.hpp"
#include "engine/samples/dynamic_step.hpp"
#include "engine/samples/errors.hpp"
#include "engine/samples/instance_blocks.hpp"
#include "engine/samples/step.hpp"
#include "engine/select/options.hpp"

namespace sluice::samples::host {

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

/// Selects for one entry after the other, in scratch of its own; one a thread.
template <class Program>
class EntrySelector {
 public:
  using At = decltype(Program().expansion({}, 1));

  /// Candidates of an entry's list; a dynamic bias reads the list for it.
  std::uint32_t available(const Program& program, const At& at) {
    const Row row = program.graph.row(at.vertex);
    if constexpr (Program::kDynamic) {
      if (program.every_is_candidate) return row.degree;
      return fitting(DynamicList<Program>(program, at, row).measure(SingleLane{}, nullptr), at);
    } else {
      return program.candidates(at.vertex, row);
    }
  }

  /// Indices in the list of the edges that an entry selects, ascending; valid until the next call.
  const std::vector<std::uint32_t>& select(const Program& program, const FrontierEntry& entry, const At& at,
                                           BlockCounters& counters) {
    const Row row = program.graph.row(entry.vertex);
    picks_.clear();
    if constexpr (Program::kDynamic) {
      const DynamicList<Program> list(program, at, row);
      select_from(list, program, at, program.draws(entry), row, measure(list, program, at, row), counters);
    } else {
      const TabledList<Program> list{program, entry.vertex, row};
      select_from(list, program, at, program.draws(entry), row, program.candidates(entry.vertex, row),
                  counters);
    }
    return picks_;
  }

 private:
  static std::uint32_t fitting(const ListMeasure& measured, const At& at) {
    if (!measured.fits) throw biases_too_large(at.vertex);
    return measured.candidates;
  }

  /// Candidates of a list, and its CTPS into sums_ where the technique needs it.
  template <class List>
  std::uint32_t measure(const List& list, const Program& program, const At& at, const Row& row) {
    const bool makes_ctps = program.select != Select::rejection;
    if (program.every_is_candidate && !makes_ctps) return row.degree;
    if (makes_ctps) sums_.resize(std::max<std::size_t>(sums_.size(), row.degree));
    return fitting(list.measure(SingleLane{}, makes_ctps ? sums_.data() : nullptr), at);
  }

  template <class List>
  void select_from(const List& list, const Program& program, const At& at, const SampleDraws& random,
                   const Row& row, std::uint32_t available, BlockCounters& counters) {
    const std::uint64_t size = program.size(at, random, available);
    if (size == 0) return;
    if (program.takes_all(size, at, random, available)) {
      for (std::uint32_t i = 0; i < row.degree; ++i) {
        if (list.is_candidate(i)) picks_.push_back(i);
      }
      return;
    }
    if (size > program.most_draws()) throw too_many_draws(size, program.most_draws());
    PickCounters pick;
    if (program.sampler.replacement()) {
      for (std::uint32_t j = 0; j < size; ++j) picks_.push_back(list.draw_one(random, j, sums_.data(), pick));
    } else if (!draw_distinct(program, random, row, static_cast<std::uint32_t>(size), pick)) {
      throw too_many_redraws();
    }
    std::sort(picks_.begin(), picks_.end());
    counters.selections += size, counters.iterations += pick.iterations, counters.searches += pick.searches;
  }

  bool draw_distinct(const Program& program, const SampleDraws& random, const Row& row, std::uint32_t size,
                     PickCounters& pick) {
    picks_.resize(size);
    excluded_.resize(size);
    if (program.collision != Collision::linear)
      words_.resize(std::max<std::size_t>(words_.size(), row.degree / 32 + 1));
    const PickScratch scratch{picks_.data(), excluded_.data(), words_.data(), sums_.data()};
    if constexpr (Program::kDynamic) {
      return program.draw_distinct_by(sums_.data(), SingleLane{}, random, row, size, scratch, pick);
    } else {
      return program.draw_distinct(SingleLane{}, random, row, size, scratch, pick);
    }
  }

  std::vector<std::uint32_t> picks_, excluded_, words_;
  std::vector<std::uint64_t> sums_;
};

}  // namespace sluice::samples::host
