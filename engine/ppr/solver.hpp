// Finds the scores of one query after another, on one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/ppr/diffusion.hpp"
#include "engine/ppr/next_stage.hpp"
#include "engine/ppr/one_by_one.hpp"
#include "engine/ppr/walks.hpp"

namespace sluice {

/// What a query took, and how far its scores may be from the true ones.
struct QueryFigures {
  double error = 0;  ///< no score is off by more; of walks, with the confidence asked for
  double held = 0;   ///< staged: residual kept as score
  std::uint64_t edges = 0;
  std::uint64_t reached = 0;     ///< vertices
  std::uint64_t peak_bytes = 0;  ///< of memory, at once
  double seconds = 0;            ///< until its list was there
};

class QuerySolver {
 public:
  /// Keeps references to all of them.
  QuerySolver(const Device& device, const CsrView& graph, const PprOptions& options);

  QueryFigures solve(const Seeds& seeds, Instance query);
  /// The vertices of the largest scores above 0, largest first, smaller ids first among equals; behind the
  /// last kNoVertex and 0. Scores are compared as they are handed out, rounded to doubles.
  void write_top(std::span<Vertex> vertices, std::span<double> values);
  /// Calls use(vertex, score) for every score.
  template <class Use>
  void for_each_score(Use&& use) {
    for (const Reached& entry : scores()) use(entry.vertex, from_mass(entry.score));
  }

 private:
  ReachedVertices& scores() { return one_by_one_ ? one_by_one_->scores() : diffusion_.reached(); }
  void diffuse_by_method();
  void diffuse();
  void diffuse_in_stages();
  void push();

  const PprOptions& options_;
  Diffusion diffusion_;
  NextStage next_stage_;
  QueryWalks walks_;
  std::optional<OneByOne> one_by_one_;
};

}  // namespace sluice
