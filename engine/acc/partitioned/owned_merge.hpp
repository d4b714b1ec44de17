// Merges over ranks and in partitions. Every rank joins the ends of its own edges in trees of all vertices;
// then the trees of two ranks become one's, until one has them all. Where every edge is there in both
// directions, vertices of the tree that holds a hub are spared, and so are partitions that have no others: an
// edge out of that tree is also seen from its other end.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/forest.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/partitioned/owned_rows.hpp"
#include "engine/acc/partitioned/rank_forests.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice::acc {

template <MergeProgram Program>
class OwnedMerge {
 public:
  OwnedMerge(const AccGraph& graph, const Program& program)
      : rows_(*graph.owned()),
        program_(program),
        crew_(graph.device().threads()),
        states_(graph.device(), graph.vertices(), "vertex states"),
        mine_(crew_.size()),
        pages_(rows_.make_pages(rows_.out(), locks_)) {}

  void run(AccStats& stats) {
    over_vertices(rows_.first(), rows_.last(),
                  [&](Vertex v, Mine&) { states_.data()[v] = program_.init(v, rows_.degree(v)); });
    rows_.share(states_.data(), "the states to begin with");
    hub_ = hub_of(rows_, states_.size());
    join_all();
    join_ranks(rows_, program_, crew_, std::span(states_.data(), states_.size()));
    std::array<std::uint64_t, 2> sums{};
    for (const Mine& mine : mine_) sums[0] += mine.active, sums[1] += mine.edges;
    rows_.ranks().all_reduce(sums, Reduce::sum, "a round's vertices and edges");
    stats.add({.active = sums[0], .edges = sums[1]});
    if (pages_ != nullptr) stats.add_traffic(pages_->traffic());
  }

  const Vertex* states() const { return states_.data(); }

 private:
  static constexpr std::uint64_t kVerticesAtOnce = 1u << 12;

  struct alignas(64) Mine {
    std::uint64_t active = 0, edges = 0;
  };

  template <class Body>
  void over_vertices(std::uint64_t first, std::uint64_t last, Body&& body) {
    crew_.blocks(last - first, kVerticesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      for (std::uint64_t v = first + begin; v < first + end; ++v) body(static_cast<Vertex>(v), mine_[thread]);
    });
  }

  Vertex root_of(Vertex v) const {
    Vertex root = load(states_.data() + v);
    for (Vertex above; (above = load(states_.data() + root)) != root;) root = above;
    return root;
  }

  bool is_spared(Vertex v, Vertex hub_root) const {
    return rows_.symmetric() && !program_.active(root_of(v), hub_root);
  }

  void join_all() {
    if (pages_ == nullptr) return join_whole();
    std::vector<bool> done(pages_->size());
    const auto bring = [&](const std::vector<bool>& wanted) {
      pages_->for_each([&](std::uint32_t p) { return wanted[p] ? 1 : 0; },
                       [&](std::span<const SweepPage> pages) {
                         for (const SweepPage& page : pages) join_page(page);
                       });
    };
    // A few first, the hub's own before all: what these have joined may spare the others.
    if (rows_.owns(hub_)) {
      done[pages_->plan().owner(static_cast<Vertex>(hub_ - rows_.first()))] = true;
      bring(done);
    }
    for (std::uint64_t first = 0, count = 1; first < pages_->size(); first += count, count *= 2) {
      std::vector<bool> wanted(pages_->size());
      for (std::uint64_t p = first; p < std::min(first + count, pages_->size()); ++p)
        wanted[p] = !done[p] && is_wanted(static_cast<std::uint32_t>(p));
      bring(wanted);
    }
  }

  bool is_wanted(std::uint32_t p) const {
    const Vertex hub_root = root_of(hub_);
    for (std::uint64_t row = pages_->begin(p); row < pages_->end(p); ++row) {
      const auto v = static_cast<Vertex>(rows_.first() + row);
      if (rows_.degree(v) > 0 && !is_spared(v, hub_root)) return true;
    }
    return false;
  }

  /// Two edges of every vertex, and then all that are left of those outside of the hub's tree.
  void join_whole() {
    const SweepPage whole{0, 0, rows_.lists().vertices, rows_.lists().targets, rows_.lists().weights};
    over_vertices(rows_.first(), rows_.last(), [&](Vertex v, Mine& mine) {
      join_edges(whole, v, 0, std::min<std::uint64_t>(rows_.degree(v), kSampledEdges), mine);
    });
    over_vertices(rows_.first(), rows_.last(), [&](Vertex v, Mine&) { compress(states_.data(), v); });
    const Vertex hub_root = root_of(hub_);
    over_vertices(rows_.first(), rows_.last(), [&](Vertex v, Mine& mine) {
      if (rows_.degree(v) > kSampledEdges && !is_spared(v, hub_root))
        join_edges(whole, v, kSampledEdges, rows_.degree(v), mine);
    });
  }

  /// All edges: to look at them costs less than to bring another partition.
  void join_page(const SweepPage& page) {
    over_vertices(rows_.first() + page.begin, rows_.first() + page.end,
                  [&](Vertex v, Mine& mine) { join_edges(page, v, 0, rows_.degree(v), mine); });
  }

  void join_edges(const SweepPage& page, Vertex v, std::uint64_t begin, std::uint64_t end, Mine& mine) {
    const EdgeIndex list = rows_.lists().offsets[v - rows_.first()];
    for (EdgeIndex e = list + begin; e < list + end; ++e) {
      const AccEdge<Vertex> edge{v, page.sources[e], e, at_, states_.data(), page.weights};
      if (program_.compute(edge)) join(program_, states_.data(), v, edge.target);
    }
    mine.active += begin == 0;
    mine.edges += end - begin;
  }

  const OwnedRows& rows_;
  Program program_;
  Crew crew_;
  Buffer<Vertex> states_;   ///< [vertices]
  std::vector<Mine> mine_;  ///< [threads]
  std::vector<PageLock> locks_;
  std::unique_ptr<SweepPages> pages_;
  Vertex hub_ = 0;
  AccRound at_{1, 0};
};

}  // namespace sluice::acc
