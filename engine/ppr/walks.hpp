// Personalized PageRank by walks: a walk from the seeds that goes on with probability alpha ends at a vertex
// with the probability that is its score, so scores are counts (Avrachenkov et al., 2007: "Monte Carlo end
// point"). After L steps it ends wherever it is, which is GD(L).
#pragma once

#include <cstdint>

#include "engine/ppr/options.hpp"
#include "engine/ppr/reached.hpp"
#include "engine/ppr/seeds.hpp"
#include "engine/random/streams.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// With probability `confidence` no score of a query is off by more, all of them together: the empirical
/// distribution function of N draws is within e of the true one but for 2 exp(-2 N e^2) (Dvoretzky, Kiefer,
/// Wolfowitz; Massart), whatever the number of vertices, and a score is a difference of two of its values.
double walk_error(std::uint32_t walks, double confidence);

class QueryWalks {
 public:
  QueryWalks(const CsrView& graph, const PprOptions& options);

  /// Ends all walks of a query; scores go to `reached`, which must be empty. Draws belong to query, walk and
  /// step alone. Returns the number of steps.
  std::uint64_t run(const Seeds& seeds, Instance query, ReachedVertices& reached);

 private:
  Vertex next(Vertex vertex, std::uint64_t random, const Seeds& seeds) const;
  bool next_by_weight(Vertex& vertex, std::uint64_t random) const;

  CsrView graph_;
  const PprOptions& options_;
  Probability go_on_;
};

}  // namespace sluice
