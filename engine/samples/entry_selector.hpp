// The host's expansion of one frontier entry: which edges of its list it selects. EntryList makes the draws,
// as it does for kernels. A thread's scratch grows with the list; a GPU warp has a fixed part of a buffer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/exec/group.hpp"
#include "engine/samples/entry_list.hpp"
#include "engine/samples/errors.hpp"
#include "engine/samples/instance_blocks.hpp"
#include "engine/samples/step.hpp"
#include "engine/select/options.hpp"

namespace sluice::samples::host {

/// Selects for one entry after another, with its own scratch; each thread has one.
template <class Program>
class EntrySelector {
 public:
  using EntryExpansion = decltype(Program().expansion({}, 1));

  /// Number of candidates of an entry's list; with a dynamic bias this reads the list.
  std::uint32_t available(const Program& program, const EntryExpansion& at) {
    const Row row = program.graph.row(at.vertex);
    return measure(EntryList<Program>(program, at, row), program, at, row, false);
  }

  /// Indices in the list of the edges that an entry selects, ascending; valid until the next call.
  const std::vector<std::uint32_t>& select(const Program& program, const FrontierEntry& entry,
                                           const EntryExpansion& at, BlockCounters& counters) {
    const Row row = program.graph.row(entry.vertex);
    picks_.clear();
    const EntryList<Program> list(program, at, row);
    const bool makes_ctps = Program::kDynamic && program.select != Select::rejection;
    select_from(list, program, at, program.draws(entry), row, measure(list, program, at, row, makes_ctps),
                counters);
    return picks_;
  }

 private:
  /// Number of candidates of a list; `makes_ctps`: writes its CTPS to sums_.
  std::uint32_t measure(const EntryList<Program>& list, const Program& program, const EntryExpansion& at,
                        const Row& row, bool makes_ctps) {
    if constexpr (Program::kDynamic) {
      if (program.all_are_candidates && !makes_ctps) return row.degree;
      if (makes_ctps) sums_.resize(std::max<std::size_t>(sums_.size(), row.degree));
      const ListMeasure measured = list.measure(SingleLane{}, makes_ctps ? sums_.data() : nullptr);
      if (!measured.fits) throw biases_too_large(at.vertex);
      return measured.candidates;
    } else {
      return program.candidates(at.vertex, row);
    }
  }

  void select_from(const EntryList<Program>& list, const Program& program, const EntryExpansion& at,
                   const SampleDraws& random, const Row& row, std::uint32_t available,
                   BlockCounters& counters) {
    const std::uint64_t size = program.size(at, random, available);
    if (size == 0) return;
    if (program.takes_all(size, at, random, available)) {
      for (std::uint32_t i = 0; i < row.degree; ++i) {
        if (list.is_candidate(i)) picks_.push_back(i);
      }
      return;
    }
    if (size > program.max_draws()) throw too_many_draws(size, program.max_draws());
    PickCounters pick;
    if (program.sampler.replacement()) {
      for (std::uint32_t j = 0; j < size; ++j) picks_.push_back(list.draw_one(random, j, sums_.data(), pick));
    } else {
      picks_.resize(size);
      excluded_.resize(size);
      if (program.collision != Collision::linear)
        words_.resize(std::max<std::size_t>(words_.size(), row.degree / 32 + 1));
      const PickScratch scratch{picks_.data(), excluded_.data(), words_.data(), sums_.data()};
      if (!list.draw_distinct(SingleLane{}, random, static_cast<std::uint32_t>(size), scratch, pick))
        throw too_many_redraws();
    }
    std::sort(picks_.begin(), picks_.end());
    counters.selections += size, counters.iterations += pick.iterations, counters.searches += pick.searches;
  }

  std::vector<std::uint32_t> picks_, excluded_, words_;
  std::vector<std::uint64_t> sums_;
};

}  // namespace sluice::samples::host
