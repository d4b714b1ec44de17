// Options of a personalized PageRank run (CONTRACT section 4).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/batch/options.hpp"
#include "engine/core/types.hpp"
#include "engine/random/streams.hpp"

namespace sluice::ppr {

/// How the scores of a query are computed.
enum class Method {
  exact,   ///< diffusion from the seeds: GD(L), or until little residual is left
  staged,  ///< MeLoPPR: diffusion in stages; each stage expands some of the vertices reached
  push,    ///< forward push: vertices with much residual pass it on
  walks,   ///< Monte Carlo: scores count where walks from the seeds end
};

/// Where the mass of a vertex without out-edges goes.
enum class Dangling { seed, uniform };

/// The score that a vertex gets for residual that the next stage does not expand.
enum class Unexpanded {
  residual,  ///< all of the residual: no mass is lost
  share,     ///< 1 - alpha of it, its part in any case: no score is too large, and result lists are better
};

/// How exact queries store their state. Scores do not depend on it.
enum class State {
  automatic,
  sparse,  ///< each query has a table of the vertices it reached
  dense,   ///< queries side by side: a row per vertex, a column per query
};

/// What the size of the score table limits (one_by_one).
enum class TableLimit {
  soft,  ///< a whole ball is added, then half of a full table is dropped; residuals for the next stage stay
  hard,  ///< the entries at any moment, including residuals for the next stage, as in the paper
};

/// How the ball of a query determines the units of its mass. The ball is the vertices within L steps of the
/// seeds (staged: the steps of all stages); each counts for d units. This is MeLoPPR's Max = d |G_L|.
enum class BallDegree {
  none,     ///< the ball does not determine the units
  average,  ///< d: average out-degree of the ball's vertices, rounded up
  largest,
};

/// Options that reach each query unchanged.
struct QueryOptions {
  Method method = Method::exact;
  std::uint32_t length = 0;  ///< steps L; 0: the limit, to `tolerance`
  std::uint32_t top = 200;   ///< k: entries of a result list
  Dangling dangling = Dangling::seed;
  double expand = 0.1;  ///< staged: share of the vertices with residual that the next stage expands
  Unexpanded unexpanded = Unexpanded::residual;
  TableLimit table_limit = TableLimit::soft;
  /// one_by_one, if all lists are available: each ball is diffused in a sub-graph of its own, as in the
  /// paper. For measurements: scores do not depend on it.
  bool sub_graphs = false;
  std::uint32_t walks = 10000;  ///< walks: number per query
  /// exact with a length, and staged: scores are 32-bit integers. The ball of a query determines its units,
  /// at least 1 and at most 2^32 - 1.
  BallDegree unit_degree = BallDegree::none;
};

struct Options : RunOptions, QueryOptions {
  double alpha = 0.85;       ///< damping: the probability to go on
  double tolerance = 1e-10;  ///< the most that the scores of a query may miss, in sum
  bool weighted = false;     ///< mass is split by edge weight instead of evenly

  std::vector<std::int64_t> stages{3, 3};  ///< staged: their sum is L
  /// staged, above 0: the next stage expands vertices of at least this residual instead. push: residuals of
  /// this size per out-edge are pushed on; the query ends when there are none; 0: at `tolerance`.
  double residual_threshold = 0;
  bool one_by_one = false;  ///< staged: next-stage vertices are diffused one after another, not together
  std::uint32_t table = 0;  ///< one_by_one: c, the table holds scores of c x k vertices; 0: of all
  std::uint32_t balls = 1;  ///< one_by_one: P, parallel balls of a query

  /// Above 0 (exact and staged): scores are 32-bit integers, and a query's mass has this many units.
  std::uint32_t score_units = 0;

  State state = State::automatic;

  double confidence = 0.99;  ///< walks: confidence of the stated error
};

/// Most walks of a query: each walk has its own draw index in the random stream.
inline constexpr std::uint32_t kMaxWalks = kMaxDraws;

/// Bits of alpha if scores are 32-bit integers.
inline constexpr int kCoarseAlphaBits = 16;

/// Steps L of a truncated run; 0 for a run to the limit.
std::uint32_t length_of(const Options& options);

/// True if next-stage vertices are diffused one after another.
inline bool is_one_by_one(const Options& options) {
  return options.method == Method::staged && options.one_by_one;
}

/// True if masses are stored in 32 bits.
inline bool has_coarse_mass(const Options& options) {
  return options.score_units != 0 || options.unit_degree != BallDegree::none;
}

/// Throws UsageError that names the invalid option.
void validate(const Options& options);

}  // namespace sluice::ppr
