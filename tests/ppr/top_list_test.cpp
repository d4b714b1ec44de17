// The list of a query on the host, compared with all its scores in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "engine/ppr/methods/top_list.hpp"

namespace sluice::test {
namespace {

using ppr::Mass;
using ppr::RankedVertex;

/// Few different scores, some 0, so many are equal; some differ only in bits that doubles drop.
std::vector<Mass> scores_of(std::size_t vertices) {
  std::mt19937_64 random(vertices);
  std::vector<Mass> scores(vertices);
  for (Mass& score : scores) score = (random() % 7 << 60) + random() % 3;
  return scores;
}

TEST(TopList, IsTheBeginningOfAllScoresInOrder) {
  for (const std::size_t vertices : {0, 1, 9, 10, 19, 20, 21, 1000}) {
    const std::vector<Mass> scores = scores_of(vertices);
    std::vector<Vertex> order(vertices);
    for (std::size_t v = 0; v < vertices; ++v) order[v] = static_cast<Vertex>(v);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    constexpr std::uint32_t kTop = 10;
    std::vector<RankedVertex> memory(ppr::TopList::entries(vertices, kTop));
    std::vector<Vertex> listed(kTop);
    std::vector<double> values(kTop);

    ppr::TopList list(memory, kTop);
    for (const Vertex v : order) list.add(v, scores[v]);
    list.write(listed, values);

    std::erase_if(order, [&](Vertex v) { return scores[v] == 0; });
    std::sort(order.begin(), order.end(), [&](Vertex a, Vertex b) {
      const double score_a = ppr::from_mass(scores[a]), score_b = ppr::from_mass(scores[b]);
      return score_a != score_b ? score_a > score_b : a < b;
    });
    order.resize(kTop, kNoVertex);
    EXPECT_EQ(listed, order) << vertices;
    for (std::size_t i = 0; i < kTop; ++i)
      EXPECT_EQ(values[i], order[i] == kNoVertex ? 0.0 : ppr::from_mass(scores[order[i]])) << vertices;
  }
}

}  // namespace
}  // namespace sluice::test
