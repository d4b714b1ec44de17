// Mass spreads from a query's seeds, round by round (graph diffusion). A vertex keeps 1 - alpha of its
// residual as score, and splits the rest among its out-neighbours. In each round, all vertices first take out
// their residuals; then these are spread.
//
// A group of threads shares a workspace of fixed size (group_workspace.hpp). The addition that brings a
// vertex to the threshold puts it on the next round's list; sums only grow meanwhile, so exactly one addition
// does. Edges of a round are divided evenly among lanes (edge_chunk.hpp). A missing list is noted, and the
// query is abandoned at the end of the round.
//
// A single thread (host_workspace.hpp) scans all reached vertices for those of a round: a list of them cost
// 20 to 40 % more. It keeps mass that waits for a list, and continues the round once the list is available.
#pragma once

#include <cstdint>

#include "engine/exec/group.hpp"
#include "engine/ppr/adjacency/lists.hpp"
#include "engine/ppr/group_workspace.hpp"
#include "engine/ppr/mass.hpp"
#include "engine/ppr/methods/edge_chunk.hpp"
#include "engine/ppr/methods/group_select.hpp"
#include "engine/ppr/query_rules.hpp"
#include "engine/ppr/seeds.hpp"

namespace sluice::ppr {

/// State that the lanes of a group share; on a GPU in shared memory. kListed: entries of result lists that it
/// has room to sort.
template <class Group, std::uint32_t kListed = kSharedSortLimit>
struct GroupShared {
  WorkspaceCounts counts;
  MassUnits units;  ///< of the query
  union {
    EdgeChunk<Group> chunk;
    std::uint32_t bins[RankDigits::kBins];  ///< of a selection
  };
  RankedVertex ranked[kListed];
};

template <class Group, class Workspace>
class Diffusion {
 public:
  /// A single thread of the host sorts its result lists elsewhere (TopList).
  using Shared = GroupShared<Group, Workspace::kSingleThread ? 1 : kSharedSortLimit>;
  using Entry = typename Workspace::Entry;

  /// The workspace must be as clear() leaves it.
  SLUICE_HD Diffusion(const Group& group, Shared& shared, typename Workspace::Memory& workspace,
                      const QueryRules& rules, const SeedsView& seeds)
      : group_(group),
        shared_(shared),
        workspace_(group, shared.counts, workspace),
        rules_(rules),
        seeds_(seeds) {}

  SLUICE_HD Workspace& workspace() { return workspace_; }
  SLUICE_HD const Workspace& workspace() const { return workspace_; }
  /// The sum of all residuals.
  SLUICE_HD Mass total_residual() const { return total_residual_; }
  /// Edges over all rounds.
  SLUICE_HD std::uint64_t edges() const { return group_.sum(edges_); }
  /// Edges of this lane.
  SLUICE_HD std::uint64_t& lane_edges() { return edges_; }

  /// All mass of the query starts at the seeds.
  SLUICE_HD void begin(Mass threshold) {
    Mass added = 0;
    current_ = 1;  // lists are filled for the round after this one
    add_to_seeds(shared_.units.whole, threshold, added);
    total_residual_ = group_.sum(added);
    current_ = 0;
    moved_ = true;
  }
  /// In an empty workspace: mass starts at one vertex, or nowhere.
  SLUICE_HD void begin_at(Vertex vertex, Mass mass) {
    Mass added = 0;
    current_ = 1;
    if (group_.rank() == 0) add_mass(vertex, mass, 0, added);
    group_.sync();
    current_ = 0;
    moved_ = true;
  }
  SLUICE_HD void begin_empty() {
    current_ = 0;
    moved_ = false;
  }

  SLUICE_HD bool stopped() const { return workspace_.stopped(); }
  /// True if a vertex is on the list; all lanes agree, because a barrier follows its last change.
  SLUICE_HD bool has_active() const {
    return !stopped() && (Workspace::kSingleThread ? moved_ : workspace_.listed(current_) != 0);
  }

  /// Splits the residuals of all listed vertices. Vertices that then have at least `threshold` per edge are
  /// the next list. `external` is added to the mass that returns in this round.
  SLUICE_HD void round(Mass threshold, Mass external = 0) {
    if constexpr (Workspace::kSingleThread) {
      single_thread_round({threshold, external});
    } else {
      Mass added = 0;
      const Mass returning = split_listed(threshold, added) + external;
      if (returning != 0) return_mass(returning, threshold, added);
      total_residual_ += group_.sum(added);
      next_list();
    }
  }
  /// The same, but mass of vertices without out-edges leaves: it is added to `sum`.
  SLUICE_HD void round_without_return(Mass& sum) {
    if constexpr (Workspace::kSingleThread) {
      single_thread_round({0, 0, &sum});
    } else {
      Mass added = 0;
      const Mass returning = split_listed(0, added);
      next_list();
      if (group_.rank() == 0) sum += returning;
    }
  }
  /// For a single thread: continues a round that waits for lists. False if lists are still missing.
  bool resume() {
    if (!stopped()) return true;
    Mass added = 0;
    workspace_.retry_missing([&](std::uint32_t number, const AvailableLists& lists) {
      return split_vertex(number, lists, added);
    });
    end_round(added);
    return !stopped();
  }

  /// Residuals, or a part of them, become score where they are.
  template <class Part>
  SLUICE_HD void settle(Part&& part) {
    workspace_.for_each_reached([&](auto& entry) {
      const Mass mass = load(&entry.residual);
      entry.residual = 0;
      if (mass != 0) entry.score += part(mass);
    });
    group_.sync();
  }

  /// Fills the round's empty list from all residuals, by another threshold.
  SLUICE_HD void rebuild_list(Mass threshold) {
    moved_ = true;
    if constexpr (!Workspace::kSingleThread) list_active(threshold);
  }
  /// Builds the round's list, for use between rounds; returns its size.
  SLUICE_HD std::uint32_t build_list() {
    if constexpr (Workspace::kSingleThread) {
      workspace_.empty_list(current_);
      list_active(0);
    }
    return workspace_.listed(current_);
  }
  SLUICE_HD auto& listed(std::uint32_t i) const { return workspace_[workspace_.listed_slot(current_, i)]; }
  /// Keeps the listed vertices with keep(entry); keep() clears the residuals of all others.
  template <class Keep>
  SLUICE_HD void filter_listed(Keep&& keep) {
    const std::uint32_t size = workspace_.listed(current_);
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) {
      if (!keep(listed(i))) continue;
      if constexpr (!Workspace::kSingleThread)
        workspace_.append_listed(current_ ^ 1, workspace_.listed_slot(current_, i));
    }
    group_.sync();  // all lanes have read the size
    next_list();
  }

  /// Notes a missing list. The query is abandoned at the end of the round, with all missing lists noted.
  SLUICE_HD void request_list(Vertex vertex) {
    rules_.request_list(vertex);
    workspace_.note_missing_list();
  }

 private:
  // ---- rounds of a group

  /// Returns the mass of vertices without out-edges, to all lanes.
  SLUICE_HD Mass split_listed(Mass threshold, Mass& added) {
    const std::uint32_t size = workspace_.listed(current_);
    Mass consumed = 0, returning = 0;
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize)
      consumed += consume_residual(listed(i));
    total_residual_ -= group_.sum(consumed);
    for (std::uint32_t first = 0; first < size; first += Group::kSize)
      spread(first, size, threshold, added, returning);
    return group_.sum(returning);
  }

  SLUICE_HD Mass consume_residual(Entry& entry) {
    const Mass mass = load(&entry.residual);
    entry.residual = 0;
    entry.score += rules_.continuation.kept(mass);
    entry.moving = rules_.continuation.followed(mass);
    return mass;
  }

  /// Spreads the mass of as many vertices as there are lanes, one edge per lane.
  SLUICE_HD void spread(std::uint32_t first, std::uint32_t size, Mass threshold, Mass& added,
                        Mass& returning) {
    const std::uint32_t i = first + group_.rank();
    auto& chunk = shared_.chunk;
    std::uint64_t degree = 0;
    if (i < size) {
      const auto& entry = listed(i);
      degree = degree_of(entry.vertex);
      const EdgeIndex position = rules_.position_of(entry.vertex);
      chunk.begins[group_.rank()] = position;
      // A share of 0 needs no list.
      if (position == kNoPosition && degree != 0 && (rules_.totals != nullptr || entry.moving >= degree)) {
        request_list(entry.vertex);
        degree = 0;
      } else if (degree == 0 || (rules_.totals != nullptr && rules_.totals[entry.vertex] == 0)) {
        returning += entry.moving;
        degree = 0;
      } else {
        edges_ += degree;
        const std::uint64_t share = share_of_edge(entry, degree);
        chunk.shares[group_.rank()] = share;
        if (share == 0) degree = 0;
      }
    }
    const std::uint64_t all = chunk.begin(group_, degree);
    chunk.for_each(group_, all, [&](std::uint64_t row, std::uint64_t position, std::uint64_t) {
      const EdgeIndex edge = chunk.begins[row] + position;
      const Mass mass = edge_mass(chunk.shares[row], edge);
      if (mass != 0) add_mass(rules_.graph.targets[edge], mass, threshold, added);
    });
  }

  SLUICE_HD std::uint64_t share_of_edge(const Entry& entry, std::uint64_t degree) const {
    if (rules_.totals == nullptr) return entry.moving / degree;
    return bits_of(mass_per_weight(entry.moving, rules_.totals[entry.vertex]));
  }

  SLUICE_HD Mass edge_mass(std::uint64_t share, EdgeIndex edge) const {
    if (rules_.totals == nullptr) return share;
    return weighted_share(double_of(share), static_cast<double>(rules_.graph.weights[edge]));
  }

  // ---- rounds of a single thread

  struct SingleThreadRound {
    Mass threshold = 0, returning = 0;
    Mass* leaving = nullptr;  ///< if set, returning mass is added here
  };

  /// Where a vertex takes part, `moving` is the moving mass plus 1, since the mass may be 0.
  void single_thread_round(const SingleThreadRound& round) {
    round_ = round;
    const std::uint32_t before = workspace_.reached();
    Mass consumed = 0, added = 0;
    for (std::uint32_t number = 0; number < before; ++number) {
      auto& entry = workspace_[number];
      if (!is_active(entry.vertex, entry.residual, round.threshold)) continue;
      consumed += consume_residual(entry);
      ++entry.moving;
    }
    total_residual_ -= consumed;
    moved_ = consumed != 0;
    for (std::uint32_t number = 0; number < before; ++number) {
      if (workspace_[number].moving != 0 && !split_vertex(number, workspace_.lists(), added))
        workspace_.add_missing(number, before);
    }
    workspace_.sort_missing();
    end_round(added);
  }

  void end_round(Mass added) {
    if (!stopped() && round_.returning != 0) {
      moved_ = true;
      round_.leaving != nullptr ? void(*round_.leaving += round_.returning)
                                : return_mass(round_.returning, round_.threshold, added);
    }
    total_residual_ += added;
  }

  /// False if its list is missing; a share of 0 needs no list. Always inlined: push on Kronecker 14 took an
  /// eighth longer where the compiler made it a call.
  [[gnu::always_inline]] bool split_vertex(std::uint32_t number, const AvailableLists& lists, Mass& added) {
    auto& entry = workspace_[number];
    const Mass mass = entry.moving - 1;
    const EdgeIndex begin = rules_.graph.offsets[entry.vertex], degree = degree_of(entry.vertex);
    const bool weighted = rules_.walk.weighted;
    ListColumns list;
    if (degree != 0 && (weighted || mass >= degree)) {
      list = lists.list_of(entry.vertex);
      if (list.targets == nullptr) return false;
    }
    entry.moving = 0;
    if (degree == 0 || (weighted && !spread_by_weight(begin, begin + degree, mass, list, added))) {
      round_.returning += mass;
      return true;
    }
    edges_ += degree;
    const Mass share = mass / degree;
    if (weighted || share == 0) return true;
    for (EdgeIndex edge = begin; edge < begin + degree; ++edge)
      add_mass(list.targets[edge], share, round_.threshold, added);
    return true;
  }

  /// False if no edge has a weight above 0.
  bool spread_by_weight(EdgeIndex begin, EdgeIndex end, Mass mass, const ListColumns& list, Mass& added) {
    const double total = sum_of_weights(list.weights + begin, end - begin);
    if (total == 0) return false;
    const double per_weight = mass_per_weight(mass, total);
    for (EdgeIndex edge = begin; edge < end; ++edge) {
      const Mass share = weighted_share(per_weight, static_cast<double>(list.weights[edge]));
      if (share != 0) add_mass(list.targets[edge], share, round_.threshold, added);
    }
    return true;
  }

  // ---- mass that arrives

  SLUICE_HD void add_to_seeds(Mass mass, Mass threshold, Mass& added) {
    for (std::uint32_t i = group_.rank(); i < seeds_.count; i += Group::kSize)
      add_mass(seeds_.seeds[i].vertex, seeds_.share(i, mass), threshold, added);
  }

  /// Returns the mass of vertices without out-edges to the seeds, or to all vertices.
  SLUICE_HD void return_mass(Mass mass, Mass threshold, Mass& added) {
    if (rules_.dangling == Dangling::seed) return add_to_seeds(mass, threshold, added);
    const std::uint64_t vertices = rules_.graph.vertices;
    const Mass share = mass / vertices;
    if (share == 0 || !workspace_.can_hold(vertices)) return;
    for (std::uint64_t v = group_.rank(); v < vertices; v += Group::kSize)
      add_mass(static_cast<Vertex>(v), share, threshold, added);
  }

  SLUICE_HD void add_mass(Vertex vertex, Mass mass, Mass threshold, Mass& added) {
    const std::uint64_t slot = workspace_.slot_of(vertex);
    if (slot == workspace_.kNoSlot) return;
    added += mass;
    if constexpr (Workspace::kSingleThread) {
      workspace_[slot].residual += mass;
    } else {
      const Mass before = fetch_add(&workspace_[slot].residual, mass);
      if (is_active(vertex, before + mass, threshold) && !is_active(vertex, before, threshold))
        workspace_.append_listed(current_ ^ 1, slot);
    }
  }

  /// True if a vertex with this residual takes part in the next round.
  SLUICE_HD bool is_active(Vertex vertex, Mass mass, Mass threshold) const {
    if (mass < threshold || mass == 0) return false;
    if (threshold == 0) return true;
    return reaches(mass, threshold, degree_of(vertex));
  }

  SLUICE_HD std::uint64_t degree_of(Vertex vertex) const { return rules_.degree_of(vertex); }

  // ---- lists

  SLUICE_HD void next_list() {
    workspace_.empty_list(current_);
    current_ ^= 1;
  }

  SLUICE_HD void list_active(Mass threshold) {
    group_.sync();  // all lanes have seen the empty list
    const std::uint32_t size = workspace_.reached();
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) {
      const std::uint32_t slot = workspace_.reached_slot(i);
      const auto& entry = workspace_[slot];
      if (is_active(entry.vertex, load(&entry.residual), threshold)) workspace_.append_listed(current_, slot);
    }
    group_.sync();
  }

 protected:
  Group group_;
  Shared& shared_;
  Workspace workspace_;
  const QueryRules& rules_;
  SeedsView seeds_;
  std::uint64_t edges_ = 0;  ///< this lane's

 private:
  unsigned current_ = 0;
  Mass total_residual_ = 0;  ///< the same in all lanes
  // Only for a single thread.
  bool moved_ = true;  ///< mass, in the last round: residual is left
  SingleThreadRound round_;  ///< the current round
};

}  // namespace sluice::ppr
