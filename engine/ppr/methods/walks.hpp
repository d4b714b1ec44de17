// Personalized PageRank by random walks. A walk from the seeds goes on with probability alpha. It ends at a
// vertex with a probability that equals the vertex's score, so scores are counts (Avrachenkov et al., 2007:
// "Monte Carlo end point"). After L steps it ends wherever it is, which gives GD(L).
//
// If the whole graph is available, a thread or a lane takes a walk to its end (group_query.hpp), without the
// memory of a queue. A step takes a core 65 ns this way, and 54 in the queue (queue/), where walks wait for
// missing lists.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/exec/group.hpp"
#include "engine/graph/graph_view.hpp"
#include "engine/ppr/mass.hpp"
#include "engine/ppr/options.hpp"
#include "engine/ppr/seeds.hpp"
#include "engine/random/streams.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

/// With probability `confidence` all scores of a query are within this error. The empirical distribution
/// function of N draws is within e of the true one, except with probability 2 exp(-2 N e^2) (Dvoretzky,
/// Kiefer, Wolfowitz; Massart), for any number of vertices. A score is a difference of two of its values.
inline double walk_error(std::uint32_t walks, double confidence) {
  return 2 * std::sqrt(std::log(2 / (1 - confidence)) / (2.0 * walks));
}

/// The score of a vertex where `ended` of `walks` walks ended, rounded down. Neither number exceeds
/// kMaxWalks, 2^24, so that nothing here exceeds 64 bits.
SLUICE_HD Mass walk_score(std::uint64_t ended, std::uint64_t walks) {
  const std::uint64_t part = ended << 39;
  return (part / walks << 24) + (part % walks << 24) / walks;
}

/// The list of a vertex; the pointers are to its first entry.
struct WalkList {
  const Vertex* targets = nullptr;
  const float* weights = nullptr;  ///< null unless the run is weighted
  std::uint64_t degree = 0;
};

/// The rules of a walk. A draw depends on query, walk and step alone. Seeds have pick(random), as SeedsView.
struct WalkRules {
  bool weighted = false;
  Dangling dangling = Dangling::seed;
  Probability continue_probability;
  std::uint64_t seed = 1;
  std::uint32_t limit = 0;  ///< steps at most

  static WalkRules of(const Options& options) {
    return {options.weighted, options.dangling, Probability::of(options.alpha), options.seed,
            options.length != 0 ? options.length : ~std::uint32_t{0}};
  }

  /// Random bits of a walk's step, from 1 on. High: whether the walk takes the step; low: for next().
  SLUICE_HD PhiloxBlock draws(Instance query, std::uint32_t walk, std::uint32_t step) const {
    return WalkDraws{seed, step, query}.block(Stream::end_point, walk);
  }

  template <class Seeds>
  SLUICE_HD Vertex start(const Seeds& seeds, Instance query, std::uint32_t walk) const {
    return seeds.pick(draws(query, walk, 0).low());
  }

  /// The next vertex of a step from a vertex with this list.
  template <class Seeds>
  SLUICE_HD Vertex next(const WalkList& list, const Seeds& seeds, std::uint64_t vertices,
                        std::uint64_t random) const {
    if (weighted) {
      Vertex vertex;
      if (next_by_weight(list, random, vertex)) return vertex;
    } else if (list.degree != 0) {
      return list.targets[uniform_index(random, list.degree)];
    }
    if (dangling == Dangling::seed) return seeds.pick(random);
    return static_cast<Vertex>(uniform_index(random, vertices));
  }

  /// Takes a walk to its end, and counts its steps. `lists` has the graph, and list_of() of every vertex.
  template <class Lists>
  SLUICE_HD Vertex end_vertex(const Lists& lists, const SeedsView& seeds, Instance query, std::uint32_t walk,
                              std::uint64_t& steps) const {
    Vertex vertex = start(seeds, query, walk);
    for (std::uint32_t step = 1; step <= limit; ++step, ++steps) {
      const PhiloxBlock random = draws(query, walk, step);
      if (!continue_probability.happens(random.high())) break;
      vertex = next(lists.list_of(vertex), seeds, lists.graph.vertices, random.low());
    }
    return vertex;
  }

 private:
  /// Inverse transform sampling over the list's weights as integers; false if all are 0.
  SLUICE_HD static bool next_by_weight(const WalkList& list, std::uint64_t random, Vertex& vertex) {
    int exponent = -32768;
    for (std::uint64_t i = 0; i < list.degree; ++i) {
      const int edge_exponent = weight_exponent(list.weights[i]);
      exponent = edge_exponent > exponent ? edge_exponent : exponent;
    }
    const auto bias = [&](std::uint64_t i) { return quantise_weight(list.weights[i], exponent); };
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < list.degree; ++i) total += bias(i);
    if (total == 0) return false;
    const std::uint64_t point = uniform_index(random, total);
    vertex = list.targets[first_sum_above(SingleLane{}, list.degree, point, bias).index()];
    return true;
  }
};

}  // namespace sluice::ppr
