// Markov random fields for tests: priors and couplings without a pattern, and graphs that are hard for
// messages.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "acc/cases.hpp"
#include "engine/acc/beliefs/beliefs.hpp"

namespace sluice::test {

/// Pseudo-random numbers, so that priors and couplings have no pattern.
class Numbers {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 40) / (1 << 24) + 0.01;
  }

 private:
  std::uint64_t state_ = 12345;
};

inline acc::BeliefModel some_model(const Graph& graph, unsigned states, double zeros = 0) {
  Numbers number;
  acc::BeliefModel model;
  model.states = states;
  model.coupling.resize(states * states);
  for (unsigned x = 0; x < states; ++x) {
    for (unsigned y = 0; y <= x; ++y)
      model.coupling[x * states + y] = model.coupling[y * states + x] =
          x != y && number() < zeros ? 0 : number() + (x == y ? 0.5 : 0);
  }
  model.priors = HostArray<double>(graph.vertices() * states);
  for (std::size_t i = 0; i < model.priors.size(); ++i)
    model.priors[i] = i % states != 0 && number() < zeros ? 0 : number();
  return model;
}

/// Copies of an edge between two vertices have the same order in both lists.
inline EdgeIndex reverse_of(const CsrView& lists, Vertex v, EdgeIndex e) {
  const Vertex u = lists.targets[e];
  EdgeIndex first = e, back = lists.offsets[u];
  while (first > lists.offsets[v] && lists.targets[first - 1] == u) --first;
  while (lists.targets[back] != v) ++back;
  return back + (e - first);
}

/// Expects that the kept messages of own edges equal those of one process with the whole graph, both as
/// received and as sent.
inline void expect_same_messages(const Graph& graph, unsigned states, const acc::AccGraph& where,
                                 const acc::BeliefResult& found, const acc::BeliefResult& expected) {
  const CsrView lists = graph.out.view();
  std::vector<double> received(states), sent(states), all(graph.edges() * states), rest(all.size());
  expected.messages->read(0, all, rest);
  for (std::uint64_t v = where.first(); v < where.last(); ++v) {
    for (EdgeIndex e = lists.offsets[v]; e < lists.offsets[v + 1]; ++e) {
      found.messages->read(e, received, sent);
      const EdgeIndex back = reverse_of(lists, static_cast<Vertex>(v), e);
      for (unsigned x = 0; x < states; ++x) {
        ASSERT_EQ(received[x], all[e * states + x]) << v << " along " << e;
        ASSERT_EQ(sent[x], all[back * states + x]) << v << " along " << e;
      }
    }
  }
}

/// The undirected graphs of acc_graphs(), one with hubs, and one with self-loops of large weight. A GPU
/// processes the hubs' lists by a block, by a warp, and in between; the last vertex there has no edges.
inline std::vector<NamedGraph> belief_graphs() {
  std::vector<NamedGraph> all;
  for (NamedGraph& graph : acc_graphs())
    if (!graph.graph.directed) all.push_back(std::move(graph));
  std::vector<stat::Edge> star;
  for (Vertex v = 1; v < 5000; ++v) star.push_back({0, v, v % 2 == 0 ? 1e-3f : 50.0f});
  for (Vertex v = 2; v < 2100; ++v) star.push_back({1, v, 0.5f});
  for (Vertex v = 5000; v < 5040; ++v) star.push_back({2, v, 1}), star.push_back({v, v, 0.25f});
  all.push_back({"hubs", stat::make_undirected(5041, star, true)});
  // Factors of these self-loops are below the least one, 2^-1000.
  std::vector<stat::Edge> loops;
  for (Vertex v = 0; v < 40; ++v) loops.push_back({v, v + 1, 0.5f});
  for (Vertex v = 0; v < 40; v += 3) loops.push_back({v, v, 700}), loops.push_back({v, v, 9000});
  all.push_back({"heavy_loops", stat::make_undirected(41, loops, true)});
  return all;
}

}  // namespace sluice::test
