// Personalized PageRank by walks: a walk from the seeds that goes on with probability alpha ends at a vertex
// with the probability that is its score, so scores are counts (Avrachenkov et al., 2007: "Monte Carlo end
// point"). After L steps it ends wherever it is, which is GD(L).
#pragma once

#include <cstdint>

#include "engine/ppr/options.hpp"
#include "engine/ppr/reached.hpp"
#include "engine/ppr/seeds.hpp"
#include "engine/random/streams.hpp"
#include "engine/select/graph_view.hpp"
#include "partition/graph.hpp"

namespace sluice {

/// With probability `confidence` no score of a query is off by more, all of them together: the empirical
/// distribution function of N draws is within e of the true one but for 2 exp(-2 N e^2) (Dvoretzky, Kiefer,
/// Wolfowitz; Massart), whatever the number of vertices, and a score is a difference of two of its values.
double walk_error(std::uint32_t walks, double confidence);

/// The score of a vertex where so many of the walks ended, rounded down. Neither number is above kMostWalks,
/// 2^24, so that nothing here passes 64 bits.
SLUICE_HD Mass walk_score(std::uint64_t ended, std::uint64_t walks) {
  const std::uint64_t part = ended << 39;
  return (part / walks << 24) + (part % walks << 24) / walks;
}

/// How a walk goes from vertex to vertex. Draws belong to query, walk and step alone.
struct WalkRules {
  bool weighted = false;
  PprDangling dangling = PprDangling::seed;
  Probability go_on;
  std::uint64_t seed = 1;
  std::uint32_t limit = 0;  ///< steps

  static WalkRules of(const PprOptions& options) {
    return {options.weighted, options.dangling, Probability::of(options.alpha), options.seed,
            options.length != 0 ? options.length : ~std::uint32_t{0}};
  }

  /// Where walk `walk` of a query ends; counts its steps.
  SLUICE_HD Vertex end(const CsrView& graph, const SeedsView& seeds, Instance query, std::uint32_t walk,
                       std::uint64_t& steps) const {
    Vertex vertex = seeds.pick(draws(query, walk, 0).low());
    for (std::uint32_t step = 1; step <= limit; ++step, ++steps) {
      const PhiloxBlock random = draws(query, walk, step);
      if (!go_on.happens(random.high())) break;
      vertex = next(graph, seeds, vertex, random.low());
    }
    return vertex;
  }

 private:
  SLUICE_HD PhiloxBlock draws(Instance query, std::uint32_t walk, std::uint32_t step) const {
    return WalkDraws{seed, step, query}.block(Stream::end_point, walk);
  }

  SLUICE_HD Vertex next(const CsrView& graph, const SeedsView& seeds, Vertex vertex,
                        std::uint64_t random) const {
    const EdgeIndex begin = graph.offsets[vertex], end = graph.offsets[vertex + std::uint64_t{1}];
    if (weighted) {
      if (next_by_weight(graph, begin, end, random, vertex)) return vertex;
    } else if (begin != end) {
      return graph.targets[begin + uniform_index(random, end - begin)];
    }
    if (dangling == PprDangling::seed) return seeds.pick(random);
    return static_cast<Vertex>(uniform_index(random, graph.vertices));
  }

  /// Inverse transform over the list's weights as integers; false where all are 0.
  SLUICE_HD static bool next_by_weight(const CsrView& graph, EdgeIndex begin, EdgeIndex end,
                                       std::uint64_t random, Vertex& vertex) {
    int exponent = -32768;
    for (EdgeIndex edge = begin; edge < end; ++edge) {
      const int own = weight_exponent(graph.weights[edge]);
      exponent = own > exponent ? own : exponent;
    }
    std::uint64_t total = 0;
    for (EdgeIndex edge = begin; edge < end; ++edge) total += quantise_weight(graph.weights[edge], exponent);
    if (total == 0) return false;
    std::uint64_t point = uniform_index(random, total);
    EdgeIndex edge = begin;
    while (true) {
      const std::uint64_t bias = quantise_weight(graph.weights[edge], exponent);
      if (point < bias) break;
      point -= bias;
      ++edge;
    }
    vertex = graph.targets[edge];
    return true;
  }
};

class QueryWalks {
 public:
  QueryWalks(const CsrView& graph, const PprOptions& options)
      : graph_(graph), rules_(WalkRules::of(options)), walks_(options.walks) {}

  /// Ends all walks of a query; scores go to `reached`, which must be empty. Returns the number of steps.
  std::uint64_t run(const Seeds& seeds, Instance query, ReachedVertices& reached) const;

 private:
  CsrView graph_;
  WalkRules rules_;
  std::uint32_t walks_;
};

}  // namespace sluice
