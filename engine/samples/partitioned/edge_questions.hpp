// Targets of single edges, asked of the ranks that own them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "engine/core/ownership.hpp"
#include "engine/exchange/communicator.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice::samples {

class EdgeQuestions {
 public:
  /// `owners` says which rank owns which edges.
  EdgeQuestions(Communicator& ranks, Ownership owners, RunStats& stats)
      : ranks_(ranks), owners_(std::move(owners)), stats_(stats) {}

  /// Finds the targets of edges that this rank owns.
  using Answer = std::function<void(std::span<const EdgeIndex> positions, std::span<Vertex> targets)>;

  /// The targets of the edges at `positions`, which any rank may own; all ranks call it. `answer` is called
  /// for all that the ranks ask of this one. Throws BudgetError on this rank alone.
  void ask(std::span<const EdgeIndex> positions, std::span<Vertex> targets, const Answer& answer);

 private:
  Communicator& ranks_;
  Ownership owners_;
  RunStats& stats_;
};

}  // namespace sluice::samples
