// Options of a PageRank run (CONTRACT section 4).
#pragma once

#include <cstdint>

namespace sluice::pagerank {

/// How ranks are computed: from scratch, or from earlier ranks.
enum class RankMethod {
  from_scratch,
  naive_dynamic,
  dynamic_traversal,
  dynamic_frontier,
  pruned_frontier,
  residual_frontier
};

/// Norm of the change of one iteration; never scaled by the number of vertices.
enum class RankNorm { linf, l1, l2 };

/// What happens to the rank of a vertex without out-edges.
enum class Dangling {
  uniform,    ///< it is spread over all vertices
  self_loop,  ///< every vertex without a self-loop gets one, and degrees count it
};

/// Precision of the contributions.
enum class RankPrecision {
  f64,  ///< 62 bits after the point
  f32,  ///< 24 significant bits, half the bytes: ranks err by at most 3.4e-7 in L1 at d = 0.85
};

/// Layout of in-edges in memory; changes no result.
enum class RankRows {
  automatic,  ///< sliced on a GPU, numbered sources on the host, where they fit
  listed,     ///< as they are stored
  sliced,     ///< sorted by degree, in slices of 32 rows; all in-edges must fit the GPUs
};

/// Whether iterations share a kernel on a single GPU with sliced rows; changes no result.
enum class RankFusion {
  automatic,  ///< yes for graphs of up to 67 M edges and vertices; larger ones gain nothing
  none,
  all,
};

/// Which affected vertices a GPU assigns by degree to a thread, a tile of a warp, a warp or several blocks;
/// each other vertex gets one thread (DF-P's three partitionings of the work, Fig. 1 of Sahu's report).
/// Changes no result.
enum class RankSplit {
  none,
  in,      ///< vertices that pull, by in-degree
  in_out,  ///< also vertices whose change spreads, by out-degree
};

struct Options {
  double damping = 0.85;
  double tolerance = 1e-10;  ///< of the last iteration's change, in `norm`
  RankNorm norm = RankNorm::linf;
  std::uint32_t max_iterations = 500;
  Dangling dangling = Dangling::uniform;
  bool weighted = false;  ///< rank is split by weight instead of evenly
  RankPrecision precision = RankPrecision::f64;
};

/// Throws UsageError naming the option.
void validate(const Options& options);

}  // namespace sluice::pagerank
