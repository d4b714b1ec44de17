#include "engine/ppr/walks.hpp"

#include <algorithm>
#include <cmath>

#include "engine/select/graph_view.hpp"

namespace sluice {

double walk_error(std::uint32_t walks, double confidence) {
  return 2 * std::sqrt(std::log(2 / (1 - confidence)) / (2.0 * walks));
}

QueryWalks::QueryWalks(const CsrView& graph, const PprOptions& options)
    : graph_(graph), options_(options), go_on_(Probability::of(options.alpha)) {}

std::uint64_t QueryWalks::run(const Seeds& seeds, Instance query, ReachedVertices& reached) {
  std::uint64_t steps = 0;
  const std::uint32_t limit = options_.length != 0 ? options_.length : ~std::uint32_t{0};
  for (std::uint32_t walk = 0; walk < options_.walks; ++walk) {
    const auto draws = [&](std::uint32_t step) {
      return WalkDraws{options_.seed, step, query}.block(Stream::end_point, walk);
    };
    Vertex vertex = seeds.pick(draws(0).low());
    for (std::uint32_t step = 1; step <= limit; ++step, ++steps) {
      const PhiloxBlock random = draws(step);
      if (!go_on_.happens(random.high())) break;
      vertex = next(vertex, random.low(), seeds);
    }
    ++reached.at(vertex).score;
  }
  for (Reached& entry : reached) {
    const auto ended = static_cast<unsigned __int128>(entry.score) << 63;
    entry.score = static_cast<Mass>(ended / options_.walks);
  }
  return steps;
}

Vertex QueryWalks::next(Vertex vertex, std::uint64_t random, const Seeds& seeds) const {
  const EdgeIndex begin = graph_.offsets[vertex], end = graph_.offsets[vertex + 1];
  if (options_.weighted) {
    if (next_by_weight(vertex, random)) return vertex;
  } else if (begin != end) {
    return graph_.targets[begin + uniform_index(random, end - begin)];
  }
  if (options_.dangling == PprDangling::seed) return seeds.pick(random);
  return static_cast<Vertex>(uniform_index(random, graph_.vertices));
}

/// Inverse transform over the list's weights as integers; false where all are 0.
bool QueryWalks::next_by_weight(Vertex& vertex, std::uint64_t random) const {
  const EdgeIndex begin = graph_.offsets[vertex], end = graph_.offsets[vertex + 1];
  int exponent = -32768;
  for (EdgeIndex edge = begin; edge < end; ++edge)
    exponent = std::max(exponent, weight_exponent(graph_.weights[edge]));
  const auto bias = [&](EdgeIndex edge) { return quantise_weight(graph_.weights[edge], exponent); };
  std::uint64_t total = 0;
  for (EdgeIndex edge = begin; edge < end; ++edge) total += bias(edge);
  if (total == 0) return false;
  std::uint64_t point = uniform_index(random, total);
  EdgeIndex edge = begin;
  for (; point >= bias(edge); ++edge) point -= bias(edge);
  vertex = graph_.targets[edge];
  return true;
}

}  // namespace sluice
