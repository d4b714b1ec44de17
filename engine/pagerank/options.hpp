// What a PageRank run is asked for (CONTRACT section 4).
#pragma once

#include <cstdint>

namespace sluice::pagerank {

/// How ranks are found: from scratch, or from earlier ones.
enum class RankMethod {
  from_scratch,
  naive_dynamic,
  dynamic_traversal,
  dynamic_frontier,
  pruned_frontier,
  residual_frontier
};

/// Of the change that an iteration makes; never scaled by the number of vertices.
enum class RankNorm { linf, l1, l2 };

/// What happens to the rank of a vertex without out-edges.
enum class Dangling {
  uniform,    ///< it is spread over all vertices
  self_loop,  ///< every vertex without a self-loop gets one, and degrees count it
};

/// How contributions are gathered.
enum class RankPrecision {
  f64,  ///< 63 bits after the point
  f32,  ///< 24 significant bits, half the bytes: ranks err by 2^-24 of themselves and a little more
};

/// How in-edges lie in memory; changes no result.
enum class RankRows {
  automatic,  ///< on a GPU sliced, on the host with numbered sources, where they fit
  listed,     ///< as they are stored
  sliced,     ///< sorted by degree and in slices of 32 rows: all in-edges on the GPUs
};

/// Do iterations share a kernel, where one GPU has sliced rows? Changes no result.
enum class RankFusion {
  automatic,  ///< those of graphs of up to 67 M entries: larger ones gain nothing
  none,
  all,
};

/// Which affected vertices a GPU gives to a thread, a tile of a warp, a warp or several blocks by their
/// degree, instead of to a thread all (DF-P's three partitionings of the work, Fig. 1 of Sahu's report);
/// changes no result.
enum class RankSplit {
  none,
  in,      ///< those that pull, by in-degree
  in_out,  ///< those whose change spreads, too, by out-degree
};

struct Options {
  double damping = 0.85;
  double tolerance = 1e-10;  ///< on the last change, in `norm`
  RankNorm norm = RankNorm::linf;
  std::uint32_t max_iterations = 500;
  Dangling dangling = Dangling::uniform;
  bool weighted = false;  ///< rank is split by weight instead of evenly
  RankPrecision precision = RankPrecision::f64;
};

/// Throws UsageError naming the option.
void validate(const Options& options);

}  // namespace sluice::pagerank
