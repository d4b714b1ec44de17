// Targets of single edges, asked of the ranks that own them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/exchange/communicator.hpp"
#include "engine/memory/run_stats.hpp"

namespace sluice {

class EdgeQuestions {
 public:
  /// Rank r owns the edges from `first_edges[r]` on, up to those of the next rank; the last entry is behind
  /// all edges.
  EdgeQuestions(Communicator& ranks, std::vector<EdgeIndex> first_edges, RunStats& stats)
      : ranks_(ranks), first_edges_(std::move(first_edges)), stats_(stats) {}

  /// Finds the targets of edges that this rank owns.
  using Answer = std::function<void(std::span<const EdgeIndex> positions, std::span<Vertex> targets)>;

  /// The targets of the edges at `positions`, which any rank may own; all ranks call it. `answer` is called
  /// for all that the ranks ask of this one. Throws BudgetError on this rank alone.
  void ask(std::span<const EdgeIndex> positions, std::span<Vertex> targets, const Answer& answer);

 private:
  Communicator& ranks_;
  std::vector<EdgeIndex> first_edges_;  ///< [ranks + 1]
  RunStats& stats_;
};

}  // namespace sluice
