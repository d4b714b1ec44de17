// Memory of a query as MeLoPPR counts it: the sub-graph of the ball at work, its scores, and the table of
// scores. Numbers have four bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/ppr/ppr.hpp"

namespace sluice::bench::papers {

class PublishedMemory {
 public:
  /// Keeps references; works on the host.
  PublishedMemory(const Device& host, const Graph& graph)
      : host_(host), graph_(graph), depth_(graph.vertices()), known_(graph.vertices()) {}

  double one_stage(Vertex seed, std::uint32_t steps) { return static_cast<double>(ball(seed, steps)); }

  /// The largest ball of two stages of so many steps, where the next one takes a share, and a table.
  double two_stages(Vertex seed, std::uint32_t steps, double share, std::uint64_t table) {
    std::uint64_t most = known_ball(seed, steps);
    for (const Vertex next : next_stage(seed, steps, share)) most = std::max(most, known_ball(next, steps));
    return static_cast<double>(most + std::min(table, graph_.vertices()) * 8);
  }

 private:
  /// All scores of a query.
  struct Scores : ppr::Sink {
    void write(const ppr::Batch& batch) override {
      for (std::uint64_t i = 0; i < batch.top && batch.vertices[i] != kNoVertex; ++i)
        of[batch.vertices[i]] = batch.scores[i];
    }
    std::vector<double> of;
  };

  /// Always of the same number of steps.
  std::uint64_t known_ball(Vertex from, std::uint32_t steps) {
    if (known_[from] == 0) known_[from] = ball(from, steps);
    return known_[from];
  }

  /// Two offsets and two scores a vertex, and its neighbours inside.
  std::uint64_t ball(Vertex from, std::uint32_t steps) {
    const CsrView graph = graph_.out.view();
    std::vector<Vertex> members{from};
    depth_[from] = 1;
    for (std::size_t i = 0; i < members.size() && depth_[members[i]] <= steps; ++i) {
      const Vertex v = members[i];
      for (EdgeIndex e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        const Vertex w = graph.targets[e];
        if (depth_[w] != 0) continue;
        depth_[w] = depth_[v] + 1;
        members.push_back(w);
      }
    }
    std::uint64_t edges = 0;
    for (const Vertex v : members) {
      for (EdgeIndex e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
        edges += depth_[graph.targets[e]] != 0;
    }
    for (const Vertex v : members) depth_[v] = 0;
    return members.size() * 16 + edges * 4;
  }

  /// What waits behind the first stage is the difference of the two ways to keep it, over alpha.
  std::vector<Vertex> next_stage(Vertex seed, std::uint32_t steps, double share) const {
    ppr::Options o;
    o.method = ppr::Method::staged;
    o.stages = {steps, steps};
    o.expand = 0;
    o.top = static_cast<std::uint32_t>(graph_.vertices());
    const std::vector<double> all = scores(seed, o);
    o.unexpanded = ppr::Unexpanded::share;
    const std::vector<double> kept = scores(seed, o);
    std::vector<Vertex> waiting;
    for (Vertex v = 0; v < all.size(); ++v)
      if (all[v] > kept[v]) waiting.push_back(v);
    const auto chosen = static_cast<std::size_t>(std::ceil(share * static_cast<double>(waiting.size())));
    std::ranges::stable_sort(waiting,
                             [&](Vertex a, Vertex b) { return all[a] - kept[a] > all[b] - kept[b]; });
    waiting.resize(chosen);
    return waiting;
  }

  std::vector<double> scores(Vertex seed, const ppr::Options& o) const {
    Starts starts;
    starts.mode = Starts::Mode::listed;
    starts.offsets = {0, 1};
    starts.vertices = {seed};
    Scores found;
    found.of.resize(graph_.vertices());
    ppr::run_ppr(host_, graph_, starts, o, found);
    return found.of;
  }

  const Device& host_;
  const Graph& graph_;
  std::vector<std::uint32_t> depth_;  ///< one more than it is; 0: outside
  std::vector<std::uint64_t> known_;  ///< bytes; 0: not yet
};

}  // namespace sluice::bench::papers
