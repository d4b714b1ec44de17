// Merges on GPUs that share a graph, or bring it in partitions: every rank joins the ends of its own edges on
// its device, as owned_merge.hpp does on the host, and the hosts join the trees of ranks.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/partitioned/place.hpp"
#include "engine/acc/partitioned/rank_forests.hpp"
#include "engine/acc/partitioned/round_output.hpp"

namespace sluice::acc {

/// Pointers are to the device's memory.
template <class Program>
struct MergeRows {
  Program program;
  std::uint64_t first = 0;
  const EdgeIndex* offsets = nullptr;  ///< [own vertices + 1]
  Vertex* states = nullptr;            ///< [vertices]
  bool spares = false;                 ///< are vertices of the hub's tree left out?

  /// Is this vertex known to be of the tree with that root? Later it may be of another, never less.
  SLUICE_HD bool is_spared(Vertex v, Vertex hub_root) const {
    return spares && !program.active(load(states + v), hub_root);
  }
  SLUICE_HD void join_edge(Vertex v, Vertex target, EdgeIndex e, const float* weights) const {
    const AccEdge<Vertex> edge{v, target, e, AccRound{1, 0}, states, weights};
    if (program.compute(edge)) join(program, states, v, target);
  }
};

/// The first edges of every own vertex: sums[0] counts them.
template <class Program>
struct JoinSome {
  MergeRows<Program> rows;
  const Vertex* targets;
  const float* weights;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane& lane) const {
    const EdgeIndex begin = rows.offsets[row], end = rows.offsets[row + 1];
    for (EdgeIndex e = begin; e < end && e < begin + kSampledEdges; ++e, lane.add(0, 1))
      rows.join_edge(static_cast<Vertex>(rows.first + row), targets[e], e, weights);
  }
};

/// All edges of vertices that are not spared.
template <class Program>
struct JoinEdges {
  MergeRows<Program> rows;
  Vertex hub_root;
  const Vertex* targets;
  const float* weights;

  SLUICE_HD bool sends(Vertex v) const { return !rows.is_spared(v, hub_root); }
  template <class Lane>
  SLUICE_HD void edge(Vertex v, EdgeIndex e, Lane&) const {
    rows.join_edge(v, targets[e], e, weights);
  }
};

struct Compress {
  Vertex* states;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t v, Lane&) const {
    compress(states, static_cast<Vertex>(v));
  }
};

/// The edges, by partition, of own vertices that are not spared.
template <class Program>
struct CountNotSpared {
  MergeRows<Program> rows;
  Vertex hub_root;
  const std::uint64_t* begins;
  unsigned partitions;
  unsigned long long* edges;  ///< [partitions]

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane&) const {
    const EdgeIndex degree = rows.offsets[row + 1] - rows.offsets[row];
    if (degree == 0 || rows.is_spared(static_cast<Vertex>(rows.first + row), hub_root)) return;
    fetch_add(edges + range_of(begins, partitions, row), degree);
  }
};

template <MergeProgram Program, class Team>
class ListedMerge {
 public:
  ListedMerge(const AccGraph& graph, const Program& program)
      : device_(graph.device()),
        rows_(*graph.owned()),
        program_(program),
        own_rows_(rows_.last() - rows_.first()),
        team_(device_, rows_.lists().edges),
        offsets_(device_, own_rows_ + 1, "the graph's offsets"),
        states_(device_, graph.vertices(), "vertex states"),
        counts_(device_, Found::kSums + 1, "counts") {
    {
      // Slots take what is left: keep room for what is known once they are there.
      const bool paged = rows_.has_pages(rows_.out());
      const Buffer<std::uint64_t> kept(device_, paged ? 2 * rows_.most_partitions() + 1 : 0, "partitions");
      place_.emplace(device_, rows_, rows_.out());
    }
    copy_to_device(device_, offsets_.data(), rows_.lists().offsets, offsets_.bytes());
    notes_.sums = counts_.data();
    notes_.lowest = counts_.data() + Found::kSums;
    view_ = {program, rows_.first(), offsets_.data(), states_.data(), rows_.symmetric()};
    if (place_->pages() == nullptr) return;
    const std::vector<std::uint64_t> begins = place_->boundaries();
    begins_ = Buffer<std::uint64_t>(device_, begins.size(), "partitions");
    waiting_ = Buffer<unsigned long long>(device_, begins.size() - 1, "partitions");
    copy_to_device(device_, begins_.data(), begins.data(), begins_.bytes());
  }

  void run(AccStats& stats) {
    all_ = first_states(rows_, program_, states_.size(), true, device_.threads());
    copy_to_device(device_, states_.data(), all_.data(), states_.bytes());
    team_.fill(counts_.data(), 0, counts_.bytes());
    hub_ = hub_of(rows_, states_.size());
    place_->pages() == nullptr ? join_whole() : join_pages();
    team_.wait("the last edges of a merge");
    copy_to_host(device_, all_.data(), states_.data(), states_.bytes());
    Crew crew(device_.threads());
    join_ranks(rows_, program_, crew, all_.span());
    std::vector<std::uint64_t> sums(1);
    team_.read(sums.data(), counts_.data(), 1, "the edges of a merge");
    sums.push_back(own_rows_);
    rows_.ranks().all_reduce(sums, Reduce::sum, "a round's vertices and edges");
    stats.add({.active = sums[1], .edges = sums[0]});
    place_->add_traffic(stats);
    stats.kernel_launches = team_.launches();
  }

  /// In host memory.
  const Vertex* states() const { return all_.data(); }

 private:
  /// Makes the root of every vertex its state, and returns the hub's.
  Vertex compress_all() {
    team_.each(states_.size(), notes_, Compress{states_.data()});
    team_.wait("joining trees");
    Vertex root = 0;
    copy_to_host(device_, &root, states_.data() + hub_, sizeof root);
    return root;
  }

  void join(const MergeRows<Program>& view, const SweepPage& page, Vertex hub_root) {
    const ListedVertices vertices{nullptr, rows_.first() + page.begin, page.end - page.begin, rows_.first(),
                                  offsets_.data()};
    team_.over_lists(vertices, notes_, JoinEdges<Program>{view, hub_root, page.sources, page.weights});
  }

  /// Some edges of every vertex, and then all of those outside of the hub's tree.
  void join_whole() {
    const SweepPage whole = place_->whole();
    team_.each(own_rows_, notes_, JoinSome<Program>{view_, whole.sources, whole.weights});
    join(view_, whole, compress_all());
  }

  /// A few partitions first, the hub's own before all: what these have joined may spare the others.
  void join_pages() {
    SweepPages& pages = *place_->pages();
    std::vector<bool> done(pages.size());
    // In a partition that is here all edges are joined: to look at them costs less than to bring another one.
    MergeRows<Program> all = view_;
    all.spares = false;
    const auto bring = [&](const std::vector<std::uint64_t>& waiting) {
      pages.for_each([&](std::uint32_t p) { return waiting[p]; },
                     [&](std::span<const SweepPage> here) {
                       for (const SweepPage& page : here) join(all, page, kNoVertex);
                       team_.wait("partitions of lists");
                     });
    };
    if (rows_.owns(hub_)) {
      const std::uint32_t p = pages.plan().owner(static_cast<Vertex>(hub_ - rows_.first()));
      std::vector<std::uint64_t> waiting(pages.size());
      waiting[p] = 1;
      bring(waiting);
      done[p] = true;
    }
    for (std::uint64_t count = 1;; count *= 2) {
      std::vector<std::uint64_t> waiting = edges_not_spared(compress_all());
      std::uint64_t some = 0;
      for (std::uint64_t p = 0; p < pages.size(); ++p) {
        if (done[p] || some == count) waiting[p] = 0;
        if (waiting[p] == 0) continue;
        done[p] = true;
        ++some;
      }
      if (some == 0) return;
      bring(waiting);
    }
  }

  /// Of every partition.
  std::vector<std::uint64_t> edges_not_spared(Vertex hub_root) {
    std::vector<std::uint64_t> edges(waiting_.size());
    team_.fill(waiting_.data(), 0, waiting_.bytes());
    team_.each(own_rows_, notes_,
               CountNotSpared<Program>{view_, hub_root, begins_.data(),
                                       static_cast<unsigned>(waiting_.size()), waiting_.data()});
    team_.read(edges.data(), waiting_.data(), edges.size(), "edges that are left");
    return edges;
  }

  const Device& device_;
  const OwnedRows& rows_;
  Program program_;
  std::uint64_t own_rows_;
  Team team_;
  Buffer<EdgeIndex> offsets_;
  Buffer<Vertex> states_;
  Buffer<unsigned long long> counts_;  ///< sums, and the lowest
  std::optional<ListedPlace> place_;
  Buffer<std::uint64_t> begins_;        ///< [partitions + 1] rows
  Buffer<unsigned long long> waiting_;  ///< [partitions]
  Found notes_;
  MergeRows<Program> view_;
  Vertex hub_ = 0;
  HostArray<Vertex> all_;
};

}  // namespace sluice::acc
