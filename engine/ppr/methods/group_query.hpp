// One query answered by a group of threads in a workspace of its own: a block of a GPU, or one thread of the
// host (solver.hpp). If a single thread lacks lists, advance() returns and is called again.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "engine/ppr/methods/ball_units.hpp"
#include "engine/ppr/methods/diffusion.hpp"

namespace sluice::ppr {

/// Writes the result list of `table`, as TopList. It is sorted in `workspace`: the table, or one not smaller.
template <class Group, class Shared, class Workspace>
SLUICE_HD void write_top_of(const Group& group, Shared& shared, const Workspace& workspace,
                            const Workspace& table, const QueryRules& rules, Vertex* vertices,
                            double* scores) {
  const std::uint32_t top = rules.top;
  std::uint32_t present = 0;
  table.for_each_reached([&](auto& entry) { present += entry.score != 0; });
  present = group.sum(present);
  const std::uint32_t found = present < top ? present : top;
  // Positive doubles have the same order as their bits.
  const auto at = [&](std::uint32_t i) {
    const auto& entry = table[table.reached_slot(i)];
    return RankedVertex{bits_of(shared.units.share(entry.score)), entry.vertex};
  };
  RankCut cut;  // accepts all
  if (found < present) cut = select_first(group, shared.bins, table.reached(), found, at);
  RankedVertex* const list = top <= kSharedSortLimit ? shared.ranked : workspace.ranked(found);
  workspace.empty_list(0);
  for (std::uint32_t i = group.rank(); i < table.reached(); i += Group::kSize) {
    const RankedVertex v = at(i);
    if (v.key != 0 && cut.accepts(v)) list[fetch_add(&shared.counts.listed[0], 1u)] = v;
  }
  group.sync();
  sort_ranked(group, list, found);
  for (std::uint32_t i = group.rank(); i < top; i += Group::kSize) {
    vertices[i] = i < found ? list[i].vertex : kNoVertex;
    scores[i] = i < found ? double_of(list[i].key) : 0.0;
  }
}

/// Chooses which of the vertices at(0) .. at(size - 1) MeLoPPR's next stage expands (next-stage nodes), by
/// their residuals: those with the largest, a share of these vertices and of `dropped` others; or those that
/// reach the threshold.
template <class Group, class Shared, class At>
SLUICE_HD RankCut select_next_stage(const Group& group, Shared& shared, const QueryRules& rules,
                                    std::uint32_t size, std::uint64_t dropped, At&& at) {
  constexpr RankCut kAll{}, kNone{~std::uint64_t{0}, ~std::uint32_t{0}};
  if (rules.threshold != 0) return {rules.threshold_of(shared.units), 0};
  const auto all = static_cast<double>(size + dropped);
  const auto chosen = static_cast<std::uint64_t>(std::ceil(rules.expand * all));
  if (chosen >= size) return kAll;
  if (chosen == 0) return kNone;
  return select_first(group, shared.bins, size, static_cast<std::uint32_t>(chosen), at);
}

/// A vertex that the next stage does not expand keeps its residual, or a part of it, as score. Returns the
/// residual that became score but might have been expanded.
template <class Entry>
SLUICE_HD Mass settle_unexpanded(const QueryRules& rules, Entry& entry, Mass residual) {
  const bool all = rules.unexpanded == Unexpanded::residual;
  entry.score += all ? residual : rules.continuation.kept(residual);
  return all ? residual : 0;
}

/// Figures of a query whose scores are in `table`.
template <class Group, class Workspace>
SLUICE_HD GroupFigures figures_of_table(const Group& group, const MassUnits& units, const Workspace& table,
                                        Mass held) {
  GroupFigures figures;
  figures.held = held;
  figures.units = units.whole;
  figures.reached = table.reached();
  figures.abandoned = table.stopped();
  figures.missing_lists = table.missing_lists();
  Mass scored = 0;
  table.for_each_reached([&](auto& entry) { scored += entry.score; });
  figures.scored = group.sum(scored);
  return figures;
}

template <class Group, class Workspace = GroupWorkspace<Group>>
class GroupQuery {
 public:
  using Shared = typename Diffusion<Group, Workspace>::Shared;

  /// The workspace must be as clear() leaves it.
  SLUICE_HD GroupQuery(const Group& group, Shared& shared, typename Workspace::Memory& workspace,
                       const QueryRules& rules, const SeedsView& seeds, Instance query)
      : group_(group),
        shared_(shared),
        units_(group, shared, rules),
        ball_(group, shared, workspace, rules, seeds),
        rules_(rules),
        seeds_(seeds),
        query_(query) {}

  /// All lanes get the same figures.
  SLUICE_HD GroupFigures solve() {
    begin();
    advance();
    return figures();
  }

  SLUICE_HD void begin() {
    units_.begin();
    if (rules_.method == Method::walks) return;
    group_.sync();  // all lanes know the units
    if (rules_.method == Method::push)
      threshold_ = rules_.threshold != 0 ? rules_.threshold_of(shared_.units) : kFirstThreshold;
    if (units_.known()) ball_.begin(threshold_);
  }
  /// Continues until the query has its scores, or lacks what it needs.
  SLUICE_HD void advance() {
    if (!units_.known()) {
      if (!units_.count(ball_.workspace(), seeds_)) return;
      ball_.begin(0);
    }
    if constexpr (Workspace::kSingleThread) {
      if (rules_.method != Method::walks && !ball_.resume()) return;
    }
    switch (rules_.method) {
      case Method::staged:
        diffuse_in_stages();
        break;
      case Method::push:
        push();
        break;
      case Method::walks:
        walk();
        break;
      default:
        diffuse();
    }
  }
  /// As advance(), for walks made elsewhere: the vertices where they ended, and their steps in total.
  void count_ends(std::span<const Vertex> ends, std::uint64_t steps) {
    for (const Vertex vertex : ends) count_end(vertex);
    ball_.lane_edges() += steps;
    score_ends();
  }
  /// As advance() of an exact query; false after a round along at least `edges` edges, if the query goes on.
  bool advance_to(std::uint64_t edges) {
    for (std::uint64_t sent_edges = 0; is_running();) {
      if (sent_edges >= edges) return false;
      const std::uint64_t before = ball_.edges();
      diffuse_once();
      sent_edges = ball_.edges() - before;
    }
    diffuse();
    return true;
  }

  SLUICE_HD GroupFigures figures() {
    GroupFigures figures = figures_of_table(group_, shared_.units, ball_.workspace(), held_);
    figures.edges = ball_.edges();
    return figures;
  }

  SLUICE_HD void write_top(Vertex* vertices, double* scores) {
    write_top_of(group_, shared_, ball_.workspace(), ball_.workspace(), rules_, vertices, scores);
  }

  /// Empties the workspace for the next query.
  SLUICE_HD void clear() { ball_.workspace().clear(); }

  SLUICE_HD bool stopped() const { return ball_.stopped(); }
  std::uint64_t edges() const { return ball_.edges(); }
  /// Rounds that an exact query has begun.
  std::uint32_t steps() const { return step_; }

 private:
  /// GD(L), or the limit. For the limit residuals do not become score: scores miss exactly the residuals, and
  /// each round leaves at most alpha of those.
  SLUICE_HD void diffuse() {
    while (is_running()) diffuse_once();
    if (rules_.length != 0 && !stopped()) ball_.settle([](Mass mass) { return mass; });
  }
  SLUICE_HD bool is_running() const {
    return (rules_.length != 0 ? step_ < rules_.length : ball_.total_residual() > rules_.tolerance_mass) &&
           ball_.has_active();
  }
  SLUICE_HD void diffuse_once() {
    ++step_;
    ball_.round(0);
  }

  /// Stage and linear decomposition (MeLoPPR sections III and IV). A stage's residual alpha^l W^l s is a sum
  /// over vertices, and diffusion is linear: each vertex's residual may be expanded by itself, or settle
  /// where it is. Here they are expanded together. What their balls share is then diffused once, which costs
  /// less than one by one (group_one_by_one.hpp).
  SLUICE_HD void diffuse_in_stages() {
    for (; stage_ < rules_.stage_count; ++stage_, step_ = 0) {
      if (stage_ > 0 && step_ == 0) choose();
      for (; step_ < rules_.stages[stage_] && ball_.has_active(); ++step_) ball_.round(0);
      if (stopped()) return;
    }
    ball_.settle([](Mass mass) { return mass; });
  }

  /// Forward push (Andersen, Chung and Lang, 2006), but in rounds, so that nothing depends on an order: all
  /// vertices with much residual per out-edge push it on together. Of the residuals at the end, 1 - alpha
  /// stays where it is in any case; scores miss the rest. To reach a tolerance, the threshold is lowered
  /// whenever no vertex reaches it.
  SLUICE_HD void push() {
    const Mass max_residual = rules_.threshold != 0 ? 0 : rules_.tolerance_mass;
    while (true) {
      while (ball_.total_residual() > max_residual && ball_.has_active()) ball_.round(threshold_);
      if (stopped()) return;
      if (rules_.threshold != 0 || ball_.total_residual() <= max_residual) break;
      threshold_ /= kThresholdStep;
      ball_.rebuild_list(threshold_);
    }
    ball_.settle([this](Mass mass) { return rules_.continuation.kept(mass); });
  }

  // ---- walks

  /// A walk per lane.
  SLUICE_HD void walk() {
    std::uint64_t steps = 0;
    for (std::uint32_t walk = group_.rank(); walk < rules_.walks; walk += Group::kSize) {
      if (!count_end(rules_.walk.end_vertex(rules_, seeds_, query_, walk, steps))) break;
    }
    ball_.lane_edges() += steps;
    group_.sync();
    if (!stopped()) score_ends();
  }

  /// False if the workspace is full.
  SLUICE_HD bool count_end(Vertex vertex) {
    const std::uint64_t slot = ball_.workspace().slot_of(vertex);
    if (slot == Workspace::kNoSlot) return false;
    group_add<Group>(&ball_.workspace()[slot].score, 1u);
    return true;
  }

  SLUICE_HD void score_ends() {
    ball_.workspace().for_each_reached(
        [this](auto& entry) { entry.score = walk_score(load(&entry.score), rules_.walks); });
    group_.sync();
  }

  // ---- the next stage

  /// At vertices that are not chosen, the residual or a part of it becomes score.
  SLUICE_HD void choose() {
    const std::uint32_t size = ball_.build_list();
    if (stopped() || size == 0) return;
    const RankCut cut = select_next_stage(group_, shared_, rules_, size, 0,
                                          [&](std::uint32_t i) { return by_residual(ball_.listed(i)); });
    Mass held = 0;
    ball_.filter_listed([&](auto& entry) {
      if (cut.accepts(by_residual(entry))) return true;
      held += settle_unexpanded(rules_, entry, entry.residual);
      entry.residual = 0;
      return false;
    });
    held_ += group_.sum(held);
  }

  SLUICE_HD static RankedVertex by_residual(const typename Workspace::Entry& entry) {
    return {load(&entry.residual), entry.vertex};
  }

  Group group_;
  Shared& shared_;
  BallUnits<Group, Workspace, Shared> units_;
  Diffusion<Group, Workspace> ball_;
  const QueryRules& rules_;
  SeedsView seeds_;
  Instance query_;
  // Progress of the query; the same in all lanes.
  std::uint32_t stage_ = 0, step_ = 0;
  Mass threshold_ = 0, held_ = 0;
};

}  // namespace sluice::ppr
