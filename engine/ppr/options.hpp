// What a personalized PageRank run is asked for (CONTRACT section 4).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/batch/options.hpp"
#include "engine/core/types.hpp"
#include "engine/random/streams.hpp"

namespace sluice::ppr {

/// How the scores of a query are found.
enum class Method {
  exact,   ///< diffusion from the seeds: GD(L), or until little mass is under way
  staged,  ///< MeLoPPR: diffusion in stages, of which each goes on from some of the vertices reached
  push,    ///< forward push: mass moves on from where much of it waits
  walks,   ///< Monte Carlo: where walks from the seeds end
};

/// Where the mass of a vertex without out-edges goes.
enum class Dangling { seed, uniform };

/// What a vertex that the next stage leaves out gets as its score.
enum class Unexpanded {
  residual,  ///< all that waits there: no mass is lost
  share,     ///< 1 - alpha of it, which stays there in any case: no score is too large, and lists are better
};

/// Where exact queries keep what they know of vertices. Scores do not depend on it.
enum class State {
  automatic,
  sparse,  ///< a query in a table of what it reached
  dense,   ///< queries side by side, a row a vertex
};

/// What the size of a table of scores limits (one by one).
enum class TableLimit {
  soft,  ///< a ball goes in before half of the table is dropped; what waits for the next stage stays
  hard,  ///< its entries at every moment, with what waits for the next stage, as in the paper
};

/// Where the units of a query's mass are counted by its ball, the vertices within L steps of its seeds
/// (staged: in all stages): so many for each of them. MeLoPPR's Max = d |G_L|.
enum class BallDegree {
  none,     ///< they are not
  average,  ///< out-edges of a vertex of the ball, rounded up
  largest,
};

/// What each query gets as it is asked for.
struct QueryOptions {
  Method method = Method::exact;
  std::uint32_t length = 0;  ///< L; 0: the limit, to `tolerance`
  std::uint32_t top = 200;   ///< k
  Dangling dangling = Dangling::seed;
  double expand = 0.1;  ///< staged: share of the vertices reached that the next stage takes
  Unexpanded unexpanded = Unexpanded::residual;
  TableLimit table_limit = TableLimit::soft;
  /// One by one, where all lists are at hand: a ball goes on in a sub-graph of its own, as in the paper. For
  /// measurements: scores do not depend on it.
  bool sub_graphs = false;
  std::uint32_t walks = 10000;  ///< walks: of each query
  /// Of exact, with a length, and staged: scores are integers of 32 bits, of so many units as the query's
  /// ball says, at least 1 and at most 2^32 - 1.
  BallDegree unit_degree = BallDegree::none;
};

struct Options : RunOptions, QueryOptions {
  double alpha = 0.85;       ///< the chance to go on
  double tolerance = 1e-10;  ///< on what the scores of a query miss, in sum
  bool weighted = false;     ///< mass is split by edge weight instead of evenly

  std::vector<std::int64_t> stages{3, 3};  ///< staged: their sum is L
  /// Above 0, staged: the next stage takes those of at least this residual instead. push: mass moves on
  /// where there is so much for each out-edge, and ends where there is not; 0: down to `tolerance`.
  double residual_threshold = 0;
  bool one_by_one = false;  ///< staged: next-stage vertices go on one after the other instead of together
  std::uint32_t table = 0;  ///< one by one: c, scores are kept for c x k vertices at a time; 0: for all
  std::uint32_t balls = 1;  ///< one by one: P, of a query side by side

  /// Above 0, exact and staged: scores are integers of 32 bits, and a query's mass has so many units.
  std::uint32_t score_units = 0;

  State state = State::automatic;

  double confidence = 0.99;  ///< walks: with which the error is stated
};

/// Walks of a query: each has a draw of the stream to itself.
inline constexpr std::uint32_t kMostWalks = kMaxDraws;

/// Bits of alpha where scores are integers of 32.
inline constexpr int kCoarseAlphaBits = 16;

/// The length of a run that is truncated, 0 for the limit.
std::uint32_t length_of(const Options& options);

/// Do next-stage vertices go on one after the other?
inline bool goes_one_by_one(const Options& options) {
  return options.method == Method::staged && options.one_by_one;
}

/// Are masses stored in 32 bits?
inline bool has_coarse_mass(const Options& options) {
  return options.score_units != 0 || options.unit_degree != BallDegree::none;
}

/// Throws UsageError naming the option.
void validate(const Options& options);

}  // namespace sluice::ppr
