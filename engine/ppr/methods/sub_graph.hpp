// A ball in a graph of its own, as in MeLoPPR. Breadth-first search from the ball's middle extracts a
// sub-graph with as many levels as the diffusion has steps. The diffusion reads nothing else. On a GPU the
// sub-graph is built in the block's workspace, and is then in shared memory if it fits.
//
// Local ids number the vertices in the order in which the search reached them. The outermost vertices, at the
// distance of all steps, are the last. Mass reaches them only in the last step: they have no lists, and only
// their residual. Masses of a step are sums of integers: where they are stored makes no difference.
//
// Measured on an H200, with the Kronecker graph of docs/papers.md, Fig. 7: a ball of six steps takes 19.5 ms,
// and 42.3 with the graph's lists. Stages of fewer steps are slower so: 3,3 takes 644 ms, and 609 with lists.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/core/clock.hpp"
#include "engine/ppr/mass.hpp"
#include "engine/ppr/methods/edge_chunk.hpp"
#include "engine/ppr/methods/sub_graph_view.hpp"
#include "engine/ppr/query_rules.hpp"
#if defined(__CUDACC__)
#include "engine/exec/device_clock.cuh"
#endif

namespace sluice::ppr {

/// On a GPU, the time of its own clock.
SLUICE_HD std::uint64_t nanoseconds_now() {
#if defined(__CUDA_ARCH__)
  return cuda::nanoseconds_now();
#else
  return static_cast<std::uint64_t>(seconds_now() * 1e9);
#endif
}

template <class Group, class Workspace>
class SubGraph {
 public:
  /// In a workspace that holds only the vertices where mass starts.
  SLUICE_HD SubGraph(const Group& group, EdgeChunk<Group>& chunk, const Workspace& workspace,
                     const QueryRules& rules)
      : group_(group), chunk_(chunk), workspace_(workspace), rules_(rules) {
    size_.weighted = rules.walk.weighted;
  }

  /// Breadth-first search of `depth` levels. False if the workspace is full.
  SLUICE_HD bool extract(std::uint32_t depth) {
    group_.sync();
    if (workspace_.full()) return false;
    std::uint64_t begin = 0, end = workspace_.reached();
    for (std::uint32_t level = 0; level < depth && begin < end; ++level) {
      for (std::uint64_t first = begin; first < end; first += Group::kSize) {
        if (!expand(first, end)) return false;
      }
      begin = end;
      end = workspace_.reached();
    }
    size_.vertices = end, size_.inner = begin;
    settle();
    return true;
  }
  /// Valid after extract().
  SLUICE_HD const SubGraphSize& size() const { return size_; }
  SLUICE_HD std::uint64_t bytes() const { return View::bytes(size_); }

  /// The local id of a reached vertex.
  SLUICE_HD std::uint32_t id_of(Vertex vertex) const { return workspace_.number_of(workspace_.find(vertex)); }
  /// Adds mass, perhaps 0, to an inner vertex.
  SLUICE_HD void receive(std::uint32_t id, Mass mass) const {
    view_.received[id] = 1;
    add(id, mass);
  }

  /// The result of a round, for all lanes.
  struct Round {
    bool moved;      ///< some mass moved
    Mass returning;  ///< mass of vertices without out-edges
  };
  /// Splits the residuals of all inner vertices. Adds the edges that mass followed to this lane's `edges`.
  SLUICE_HD Round round(std::uint64_t& edges) {
    std::uint32_t taken = 0;
    for (std::uint64_t id = group_.rank(); id < size_.inner; id += Group::kSize)
      taken += consume_residual(id);
    if (group_.sum(taken) == 0) return {false, 0};
    Mass returning = 0;
    for (std::uint64_t first = 0; first < size_.inner; first += Group::kSize) spread(first, edges, returning);
    return {true, group_.sum(returning)};
  }

  /// Copies the result to the workspace. There `moving` tells where mass has arrived.
  SLUICE_HD void write_back() const {
    group_.sync();
    for (std::uint64_t id = group_.rank(); id < size_.vertices; id += Group::kSize) {
      auto& entry = workspace_[workspace_.reached_slot(static_cast<std::uint32_t>(id))];
      const bool is_inner = id < size_.inner;
      entry.score = is_inner ? view_.score[id] : 0;
      entry.residual = load(&view_.residual[id]);
      entry.moving = entry.residual != 0 || (is_inner && view_.received[id] != 0);
    }
    group_.sync();
  }

 private:
  using View = decltype(std::declval<const Workspace&>().sub_graph());
  using Stored = std::remove_pointer_t<decltype(View::residual)>;

  /// A vertex whose weights sum to 0 gets no list: no mass follows its edges.
  SLUICE_HD bool expand(std::uint64_t first, std::uint64_t end) {
    const std::uint64_t id = first + group_.rank();
    std::uint64_t degree = 0;
    double total = 0;
    if (id < end) {
      const Vertex vertex = workspace_[workspace_.reached_slot(static_cast<std::uint32_t>(id))].vertex;
      const EdgeIndex* const offsets = rules_.graph.offsets + vertex;
      degree = offsets[1] - offsets[0];
      chunk_.begins[group_.rank()] = rules_.position_of(vertex);
      if (size_.weighted) {
        total = rules_.totals != nullptr ? rules_.totals[vertex]
                                         : sum_of_weights(rules_.graph.weights + offsets[0], degree);
        if (total == 0) degree = 0;
      }
    }
    const std::uint64_t all = chunk_.begin(group_, degree), before = size_.edges;
    size_.edges += all;
    if (!workspace_.can_hold_edges(size_.edges)) return false;
    workspace_.reserve_lists({0, end, size_.edges, size_.weighted});
    const View lists = workspace_.sub_graph();
    if (id == 0) lists.offsets[0] = 0;
    if (id < end) {
      lists.offsets[id + 1] = static_cast<std::uint32_t>(before + chunk_.end(group_));
      if (size_.weighted) lists.totals[id] = total;
    }
    chunk_.for_each(group_, all, [&](std::uint64_t list, std::uint64_t position, std::uint64_t at) {
      const EdgeIndex edge = chunk_.begins[list] + position;
      lists.targets[before + at] = static_cast<std::uint32_t>(workspace_.slot_of(rules_.graph.targets[edge]));
      if (size_.weighted) lists.weights[before + at] = rules_.graph.weights[edge];
    });
    return !workspace_.full();
  }

  /// Moves the lists to their final place, with local ids, and clears the masses.
  SLUICE_HD void settle() {
    const View lists = workspace_.sub_graph();
    view_ = workspace_.place_sub_graph(size_);
    if constexpr (!Workspace::kSingleThread) {  // a single thread has built them there, with numbers as slots
      workspace_.number_reached();
      for_each(size_.edges, [&](std::uint64_t edge) {
        view_.targets[edge] = workspace_.number_of(lists.targets[edge]);
        if (size_.weighted) view_.weights[edge] = lists.weights[edge];
      });
      for_each(size_.inner, [&](std::uint64_t id) {
        view_.offsets[id + 1] = lists.offsets[id + 1];
        if (size_.weighted) view_.totals[id] = lists.totals[id];
      });
      if (group_.rank() == 0 && size_.inner != 0) view_.offsets[0] = 0;
    }
    for_each(size_.vertices, [&](std::uint64_t id) { view_.residual[id] = 0; });
    for_each(size_.inner, [&](std::uint64_t id) { view_.score[id] = 0, view_.received[id] = 0; });
    group_.sync();
  }

  template <class Use>
  SLUICE_HD void for_each(std::uint64_t count, Use&& use) const {
    for (std::uint64_t i = group_.rank(); i < count; i += Group::kSize) use(i);
  }

  SLUICE_HD bool consume_residual(std::uint64_t id) const {
    const Mass mass = load(&view_.residual[id]);
    view_.moving[id] = 0;
    if (mass == 0) return false;
    view_.residual[id] = 0;
    view_.received[id] = 1;
    view_.score[id] += static_cast<Stored>(rules_.continuation.kept(mass));
    view_.moving[id] = static_cast<Stored>(rules_.continuation.followed(mass) + 1);
    return true;
  }

  /// Spreads the mass of as many vertices as there are lanes, one edge per lane.
  SLUICE_HD void spread(std::uint64_t first, std::uint64_t& edges, Mass& returning) const {
    const std::uint64_t id = first + group_.rank();
    std::uint64_t degree = 0;
    if (id < size_.inner && view_.moving[id] != 0) {
      const Mass mass = view_.moving[id] - Mass{1};
      const std::uint32_t begin = view_.offsets[id];
      degree = view_.offsets[id + 1] - begin;
      chunk_.begins[group_.rank()] = begin;
      if (degree == 0) {
        returning += mass;
      } else {
        edges += degree;
        const std::uint64_t share =
            size_.weighted ? bits_of(mass_per_weight(mass, view_.totals[id])) : mass / degree;
        chunk_.shares[group_.rank()] = share;
        if (share == 0) degree = 0;
      }
    }
    const std::uint64_t all = chunk_.begin(group_, degree);
    chunk_.for_each(group_, all, [&](std::uint64_t list, std::uint64_t position, std::uint64_t) {
      const std::uint64_t edge = chunk_.begins[list] + position, share = chunk_.shares[list];
      const Mass mass =
          size_.weighted ? weighted_share(double_of(share), static_cast<double>(view_.weights[edge])) : share;
      if (mass != 0) add(view_.targets[edge], mass);
    });
  }

  SLUICE_HD void add(std::uint32_t id, Mass mass) const {
    group_add<Group>(&view_.residual[id], static_cast<Stored>(mass));
  }

  Group group_;
  EdgeChunk<Group>& chunk_;
  const Workspace& workspace_;
  const QueryRules& rules_;
  SubGraphSize size_;
  View view_;
};

}  // namespace sluice::ppr
