// The memory of a query as MeLoPPR counts it: the sub-graph of the current ball, its scores, and the score
// table, in numbers of four bytes. Also the bytes of the sub-graph that Sluice extracts, which omits the
// lists of the outermost vertices and has masses of eight bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/ppr/host_workspace.hpp"
#include "engine/ppr/methods/sub_graph.hpp"
#include "engine/ppr/ppr.hpp"

namespace sluice::bench::papers {

class PublishedMemory {
 public:
  /// Keeps references; works on the host.
  PublishedMemory(const Device& host, const Graph& graph)
      : host_(host), graph_(graph), memory_(host, graph.vertices()), known_(graph.vertices()) {
    rules_.graph = graph.out.view();
  }

  struct Bytes {
    std::uint64_t published = 0, sub_graph = 0;
  };

  Bytes one_stage(Vertex seed, std::uint32_t steps) { return ball(seed, steps); }

  /// The largest ball of two stages of `steps` steps each, and a table. The next stage expands a `share`.
  Bytes two_stages(Vertex seed, std::uint32_t steps, double share, std::uint64_t table) {
    Bytes largest = known_ball(seed, steps);
    for (const Vertex next : next_stage(seed, steps, share)) {
      const Bytes bytes = known_ball(next, steps);
      largest.published = std::max(largest.published, bytes.published);
      largest.sub_graph = std::max(largest.sub_graph, bytes.sub_graph);
    }
    largest.published += std::min(table, graph_.vertices()) * 8;
    return largest;
  }

 private:
  /// Collects all scores of a query.
  struct Scores : ppr::Sink {
    void write(const ppr::Batch& batch) override {
      for (std::uint64_t i = 0; i < batch.top && batch.vertices[i] != kNoVertex; ++i)
        of[batch.vertices[i]] = batch.scores[i];
    }
    std::vector<double> of;
  };

  /// As ball(), cached; `steps` must always be the same.
  Bytes known_ball(Vertex from, std::uint32_t steps) {
    if (known_[from].published == 0) known_[from] = ball(from, steps);
    return known_[from];
  }

  /// Counts two offsets and two scores per vertex, and its neighbours within the ball.
  Bytes ball(Vertex from, std::uint32_t steps) {
    using Workspace = ppr::HostWorkspace<ppr::Mass>;
    ppr::WorkspaceCounts counts;
    const Workspace workspace({}, counts, memory_);
    workspace.slot_of(from);
    ppr::EdgeChunk<SingleLane> chunk;
    ppr::SubGraph<SingleLane, Workspace> sub_graph({}, chunk, workspace, rules_);
    sub_graph.extract(steps);
    const ppr::SubGraphSize& size = sub_graph.size();
    std::uint64_t edges = size.edges;
    const CsrView& graph = rules_.graph;
    for (std::uint64_t id = size.inner; id < size.vertices; ++id) {
      const Vertex outermost = workspace[id].vertex;
      for (EdgeIndex e = graph.offsets[outermost]; e < graph.offsets[outermost + 1]; ++e)
        edges += workspace.find(graph.targets[e]) != Workspace::kNoSlot;
    }
    workspace.clear();
    return {size.vertices * 16 + edges * 4, sub_graph.bytes()};
  }

  /// The first stage's residual is the difference of scores by the two --unexpanded rules, over alpha.
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
  ppr::QueryRules rules_;
  ppr::HostWorkspaceMemory<ppr::Mass> memory_;
  std::vector<Bytes> known_;  ///< 0 if not computed yet
};

}  // namespace sluice::bench::papers
