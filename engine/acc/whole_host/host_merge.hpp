// Merges on the host: two edges of every vertex first; then all that is left of those outside of the largest
// tree, since an edge within it joins nothing.
#pragma once

#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/forest.hpp"
#include "engine/acc/options.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice::acc {

template <MergeProgram Program>
class HostMerge {
 public:
  HostMerge(const AccGraph& graph, const Program& program)
      : graph_(graph),
        program_(program),
        pool_(graph.device().threads()),
        states_(graph.device(), graph.vertices(), "vertex states"),
        edges_(pool_.size()) {}

  void run(AccStats& stats) {
    over_vertices(
        [&](Vertex v, std::uint64_t degree, Mine&) { states_.data()[v] = program_.init(v, degree); });
    for (; at_.round <= kSampledEdges; ++at_.round) {
      round(stats, [&](Vertex v, std::uint64_t degree, Mine& mine) {
        if (degree >= at_.round) join_edges(v, at_.round - 1, at_.round, mine);
      });
    }
    // An edge out of the largest tree is also seen from its other end, where both ends have it.
    const bool skip = graph_.symmetric();
    const Vertex largest = skip ? frequent_root() : kNoVertex;
    round(stats, [&](Vertex v, std::uint64_t degree, Mine& mine) {
      if (degree <= kSampledEdges || (skip && !program_.active(load(states_.data() + v), largest))) return;
      join_edges(v, kSampledEdges, degree, mine);
    });
  }

  const Vertex* states() const { return states_.data(); }

 private:
  static constexpr std::uint64_t kVerticesAtOnce = 1u << 12;

  struct alignas(64) Mine {
    std::uint64_t active = 0, edges = 0;
  };

  template <class Body>
  void over_vertices(Body&& body) {
    const EdgeIndex* offsets = graph_.out().offsets;
    pool_.blocks(graph_.vertices(), kVerticesAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                   Mine mine;
                   for (std::uint64_t v = begin; v < end; ++v)
                     body(static_cast<Vertex>(v), offsets[v + 1] - offsets[v], mine);
                   edges_[thread].active += mine.active, edges_[thread].edges += mine.edges;
                 });
  }

  template <class Body>
  void round(AccStats& stats, Body&& body) {
    over_vertices(body);
    over_vertices([&](Vertex v, std::uint64_t, Mine&) { compress(states_.data(), v); });
    AccRoundTrace trace;
    for (Mine& mine : edges_) {
      trace.active += std::exchange(mine.active, 0);
      trace.edges += std::exchange(mine.edges, 0);
    }
    stats.add(trace);
  }

  /// Edges [first, last) of v's list.
  void join_edges(Vertex v, std::uint64_t first, std::uint64_t last, Mine& mine) {
    const CsrView& out = graph_.out();
    for (EdgeIndex e = out.offsets[v] + first; e < out.offsets[v] + last; ++e) {
      const AccEdge<Vertex> edge{v, out.targets[e], e, at_, states_.data(), out.weights};
      if (program_.compute(edge)) join(program_, states_.data(), v, edge.target);
    }
    ++mine.active;
    mine.edges += last - first;
  }

  /// The root that most of some vertices have, spread over all.
  Vertex frequent_root() const {
    std::vector<Vertex> roots;
    const std::uint64_t stride = graph_.vertices() / kSampledRoots + 1;
    for (std::uint64_t v = 0; v < graph_.vertices(); v += stride) roots.push_back(states_.data()[v]);
    return most_frequent(std::move(roots));
  }

  const AccGraph& graph_;
  Program program_;
  ThreadPool pool_;
  Buffer<Vertex> states_;
  std::vector<Mine> edges_;  ///< [threads]
  AccRound at_{1, 0};
};

}  // namespace sluice::acc
