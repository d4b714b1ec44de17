// Personalized PageRank by walks: a walk from the seeds that goes on with probability alpha ends at a vertex
// with the probability that is its score, so scores are counts (Avrachenkov et al., 2007: "Monte Carlo end
// point"). After L steps it ends wherever it is, which is GD(L).
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/graph/graph_view.hpp"
#include "engine/ppr/adjacency/lists.hpp"
#include "engine/ppr/mass.hpp"
#include "engine/ppr/options.hpp"
#include "engine/ppr/seeds.hpp"
#include "engine/random/streams.hpp"
#include "partition/graph.hpp"

namespace sluice::ppr {

/// With probability `confidence` no score of a query is off by more, all of them together: the empirical
/// distribution function of N draws is within e of the true one but for 2 exp(-2 N e^2) (Dvoretzky, Kiefer,
/// Wolfowitz; Massart), whatever the number of vertices, and a score is a difference of two of its values.
inline double walk_error(std::uint32_t walks, double confidence) {
  return 2 * std::sqrt(std::log(2 / (1 - confidence)) / (2.0 * walks));
}

/// The score of a vertex where so many of the walks ended, rounded down. Neither number is above kMostWalks,
/// 2^24, so that nothing here passes 64 bits.
SLUICE_HD Mass walk_score(std::uint64_t ended, std::uint64_t walks) {
  const std::uint64_t part = ended << 39;
  return (part / walks << 24) + (part % walks << 24) / walks;
}

/// Where a walk is, and the step that it takes next.
struct WalkAt {
  Vertex vertex = 0;
  std::uint32_t step = 1;
};

struct WalkUnderWay {
  std::uint32_t number = 0;
  WalkAt at;
};

/// How a walk goes from vertex to vertex. Draws belong to query, walk and step alone.
struct WalkRules {
  bool weighted = false;
  Dangling dangling = Dangling::seed;
  Probability go_on;
  std::uint64_t seed = 1;
  std::uint32_t limit = 0;  ///< steps

  static WalkRules of(const Options& options) {
    return {options.weighted, options.dangling, Probability::of(options.alpha), options.seed,
            options.length != 0 ? options.length : ~std::uint32_t{0}};
  }

  SLUICE_HD WalkAt begin(const SeedsView& seeds, Instance query, std::uint32_t walk) const {
    return {seeds.pick(draws(query, walk, 0).low()), 1};
  }
  /// Goes on to the walk's end, or to a vertex whose list is missing: false then. Counts its steps. Of
  /// `graph` it reads offsets.
  template <class Lists>
  SLUICE_HD bool go(const CsrView& graph, const Lists& lists, const SeedsView& seeds, Instance query,
                    std::uint32_t walk, WalkAt& at, std::uint64_t& steps) const {
    for (; at.step <= limit; ++at.step, ++steps) {
      const PhiloxBlock random = draws(query, walk, at.step);
      if (!go_on.happens(random.high())) break;
      const EdgeIndex begin = graph.offsets[at.vertex], end = graph.offsets[at.vertex + std::uint64_t{1}];
      ListColumns list;
      if (begin != end) {
        list = lists.of(at.vertex);
        if (list.targets == nullptr) return false;
      }
      at.vertex = next(list, begin, end, seeds, graph.vertices, random.low());
    }
    return true;
  }

 private:
  SLUICE_HD PhiloxBlock draws(Instance query, std::uint32_t walk, std::uint32_t step) const {
    return WalkDraws{seed, step, query}.block(Stream::end_point, walk);
  }

  SLUICE_HD Vertex next(const ListColumns& list, EdgeIndex begin, EdgeIndex end, const SeedsView& seeds,
                        std::uint64_t vertices, std::uint64_t random) const {
    if (weighted) {
      Vertex vertex;
      if (next_by_weight(list, begin, end, random, vertex)) return vertex;
    } else if (begin != end) {
      return list.targets[begin + uniform_index(random, end - begin)];
    }
    if (dangling == Dangling::seed) return seeds.pick(random);
    return static_cast<Vertex>(uniform_index(random, vertices));
  }

  /// Inverse transform over the list's weights as integers; false where all are 0.
  SLUICE_HD static bool next_by_weight(const ListColumns& list, EdgeIndex begin, EdgeIndex end,
                                       std::uint64_t random, Vertex& vertex) {
    int exponent = -32768;
    for (EdgeIndex edge = begin; edge < end; ++edge) {
      const int own = weight_exponent(list.weights[edge]);
      exponent = own > exponent ? own : exponent;
    }
    std::uint64_t total = 0;
    for (EdgeIndex edge = begin; edge < end; ++edge) total += quantise_weight(list.weights[edge], exponent);
    if (total == 0) return false;
    std::uint64_t point = uniform_index(random, total);
    EdgeIndex edge = begin;
    while (true) {
      const std::uint64_t bias = quantise_weight(list.weights[edge], exponent);
      if (point < bias) break;
      point -= bias;
      ++edge;
    }
    vertex = list.targets[edge];
    return true;
  }
};

}  // namespace sluice::ppr
