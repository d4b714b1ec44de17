// Finds the scores of one query after another, on one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/ppr/methods/diffusion.hpp"
#include "engine/ppr/methods/next_stage.hpp"
#include "engine/ppr/methods/one_by_one.hpp"
#include "engine/ppr/methods/walks.hpp"

namespace sluice::ppr {

/// What a query took, and how far its scores may be from the true ones.
struct QueryFigures {
  double error = 0;  ///< no score is off by more; of walks, with the confidence asked for
  double held = 0;   ///< staged: residual kept as score
  std::uint64_t edges = 0;
  std::uint64_t reached = 0;     ///< vertices
  std::uint64_t peak_bytes = 0;  ///< of memory, at once
  double seconds = 0;            ///< until its list was there
};

/// A query between two steps.
struct PausedQuery {
  const ReachedVertices& reached;
  unsigned now;                ///< which of Reached::waiting is split next
  std::uint64_t steps, edges;  ///< so far
  std::uint64_t bytes;         ///< memory, at most
};

class QuerySolver {
 public:
  /// Keeps references to all of them.
  QuerySolver(const Device& device, const CsrView& graph, const Options& options);

  /// Begins a query; what it has of another one goes.
  void begin(const Seeds& seeds, Instance query);
  /// Goes on as far as lists are at hand. False if others are missing; true once there are scores.
  bool advance(const ListsAtHand& lists);
  /// The same of an exact query, but false after a step along so many edges, if it goes on.
  bool advance_to(std::uint64_t edges, const ListsAtHand& lists);
  PausedQuery paused() const {
    return {diffusion_.reached(), diffusion_.now(), step_, diffusion_.edges(), diffusion_.peak_bytes()};
  }
  /// Calls use(vertex) for all whose lists are waited for, perhaps several times.
  template <class Use>
  void for_each_missing(Use&& use) const {
    if (options_.method == Method::walks) {
      walks_.for_each_missing(use);
    } else if (one_by_one_) {
      one_by_one_->for_each_missing(use);
    } else {
      diffusion_.for_each_missing(use);
    }
  }
  /// Of a query that has ended.
  QueryFigures figures();

  /// The graph's lists, where all are at hand.
  ListsAtHand whole() const { return ListsAtHand(std::span(&whole_, 1)); }
  /// All at once, where they are.
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
  bool begin_step();
  bool diffuse();
  bool is_diffused();
  bool diffuse_in_stages();
  bool push();

  const Options& options_;
  ListRange whole_;
  Diffusion diffusion_;
  NextStage next_stage_;
  QueryWalks walks_;
  std::optional<OneByOne> one_by_one_;
  Mass enough_;
  // Of the query under way.
  std::uint64_t step_ = 0;  ///< that have begun, in this stage
  std::size_t stage_ = 0;
  Mass least_ = 0;
};

}  // namespace sluice::ppr
