// The units of a query's mass, if its ball determines them (MeLoPPR V-A: Max = d |G_L|): the number of
// vertices within the steps of the query, times their average or largest degree in the graph. A breadth-first
// search counts them before the diffusion, in the workspace that the query uses afterwards. A workspace
// numbers vertices as they are inserted, so that those of the last step are the frontier.
#pragma once

#include <cstdint>

#include "engine/ppr/adjacency/lists.hpp"
#include "engine/ppr/mass.hpp"
#include "engine/ppr/methods/edge_chunk.hpp"
#include "engine/ppr/query_rules.hpp"
#include "engine/ppr/seeds.hpp"

namespace sluice::ppr {

template <class Group, class Workspace, class Shared>
class BallUnits {
 public:
  SLUICE_HD BallUnits(const Group& group, Shared& shared, const QueryRules& rules)
      : group_(group), shared_(shared), rules_(rules) {}

  /// Begins a query. After the next barrier all lanes know its units, or that its ball must be counted.
  SLUICE_HD void begin() {
    if (group_.rank() == 0) shared_.units = rules_.units;
    known_ = rules_.unit_degree == BallDegree::none;
  }
  SLUICE_HD bool known() const { return known_; }

  /// Counts the ball in an empty workspace, and empties it again. False if the workspace has stopped: a
  /// single thread is called again once lists are available.
  SLUICE_HD bool count(const Workspace& workspace, const SeedsView& seeds) {
    if (step_ == 0) {
      for (std::uint32_t i = group_.rank(); i < seeds.count; i += Group::kSize)
        workspace.slot_of(seeds.seeds[i].vertex);
      group_.sync();
    } else if constexpr (Workspace::kSingleThread) {
      workspace.retry_missing([&](std::uint32_t number, const AvailableLists& lists) {
        return insert_targets_of(workspace, number, lists);
      });
    }
    while (step_ < rules_.ball_steps() && expanded_ != workspace.reached() && !workspace.stopped())
      step(workspace);
    if (workspace.stopped()) return false;
    set_units(workspace);
    workspace.clear();
    workspace.reset();
    return known_ = true;
  }

 private:
  SLUICE_HD void step(const Workspace& workspace) {
    const std::uint32_t begin = expanded_;
    expanded_ = workspace.reached();
    ++step_;
    group_.sync();  // all lanes have read the counts
    if constexpr (Workspace::kSingleThread) {
      for (std::uint32_t number = begin; number < expanded_; ++number) {
        workspace[number].moving = 1;
        if (!insert_targets_of(workspace, number, workspace.lists()))
          workspace.add_missing(number, expanded_);
      }
      workspace.sort_missing();
    } else {
      for (std::uint32_t first = begin; first < expanded_; first += Group::kSize)
        insert_targets(workspace, first);
    }
  }

  /// Inserts the targets of as many vertices as there are lanes.
  SLUICE_HD void insert_targets(const Workspace& workspace, std::uint32_t first) {
    const std::uint32_t i = first + group_.rank();
    std::uint64_t degree = 0;
    if (i < expanded_) {
      const Vertex vertex = workspace[workspace.reached_slot(i)].vertex;
      const EdgeIndex position = rules_.position_of(vertex);
      degree = rules_.degree_of(vertex);
      shared_.chunk.begins[group_.rank()] = position;
      if (position == kNoPosition && degree != 0) {
        rules_.request_list(vertex);
        workspace.note_missing_list();
        degree = 0;
      }
    }
    auto& chunk = shared_.chunk;
    chunk.for_each(group_, chunk.begin(group_, degree),
                   [&](std::uint64_t list, std::uint64_t position, std::uint64_t) {
                     workspace.slot_of(rules_.graph.targets[chunk.begins[list] + position]);
                   });
  }

  /// For a single thread. False if the list is missing: the vertex waits for it, with `moving` not 0.
  bool insert_targets_of(const Workspace& workspace, std::uint32_t number, const AvailableLists& lists) {
    const Vertex vertex = workspace[number].vertex;
    const EdgeIndex begin = rules_.graph.offsets[vertex], degree = rules_.degree_of(vertex);
    const ListColumns list = degree == 0 ? ListColumns{} : lists.list_of(vertex);
    if (degree != 0 && list.targets == nullptr) return false;
    workspace[number].moving = 0;
    for (EdgeIndex edge = begin; edge < begin + degree; ++edge) workspace.slot_of(list.targets[edge]);
    return true;
  }

  SLUICE_HD void set_units(const Workspace& workspace) {
    const std::uint64_t vertices = workspace.reached();
    std::uint64_t edges = 0, largest = 0;
    workspace.for_each_reached([&](const auto& entry) {
      const std::uint64_t degree = rules_.degree_of(entry.vertex);
      edges += degree;
      largest = degree > largest ? degree : largest;
    });
    edges = group_.sum(edges), largest = group_.maximum(largest);
    const std::uint64_t average = (edges + vertices - 1) / vertices;
    if (group_.rank() == 0)
      shared_.units =
          MassUnits::of_ball(rules_.unit_degree == BallDegree::largest ? largest : average, vertices);
  }

  Group group_;
  Shared& shared_;
  const QueryRules& rules_;
  // Progress of the search; the same in all lanes.
  std::uint32_t step_ = 0, expanded_ = 0;  ///< expanded_: vertices whose edges it followed, or waits to
  bool known_ = false;
};

}  // namespace sluice::ppr
