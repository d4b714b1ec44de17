// MeLoPPR as published: next-stage vertices are expanded one by one, each on a ball of its own (linear
// decomposition). A query then takes the memory of one ball at a time, and a table of scores. It saves memory
// only if the table has a fixed size. A hard limit (TableLimit) holds even while the table takes in a ball.
//
// The query has two workspaces: one for the current ball, which is empty between balls, and the table, which
// sums over balls. Balls run in the order of their mass, so that a table of fixed size drops the same scores.
// Mass of vertices without out-edges returns to the seeds, not to the middle of a ball.
#pragma once

#include <cstdint>

#include "engine/ppr/methods/ball.hpp"
#include "engine/ppr/methods/fixed_table.hpp"
#include "engine/ppr/methods/group_query.hpp"

namespace sluice::ppr {

template <class Group, class Workspace = GroupWorkspace<Group>>
class GroupOneByOne {
 public:
  using Entry = typename Workspace::Entry;
  /// State that the lanes share; on a GPU in shared memory.
  struct Shared {
    typename Diffusion<Group, Workspace>::Shared ball;
    WorkspaceCounts counts, member_counts;  ///< of the table, and of another member's ball
    std::uint32_t placed;
  };

  /// Both workspaces must be as clear() leaves them.
  SLUICE_HD GroupOneByOne(const Group& group, Shared& shared, typename Workspace::Memory& workspace,
                          const QueryRules& rules, const SeedsView& seeds, Instance)
      : group_(group),
        shared_(shared),
        units_(group, shared.ball, rules),
        ball_(group, shared.ball, workspace, rules, seeds),
        table_(group, shared.counts, Workspace::second(workspace)),
        fixed_(group, shared.ball, table_, rules),
        returning_(workspace.mass_by_step()),
        rules_(rules),
        seeds_(seeds) {}

  /// All lanes get the same figures.
  SLUICE_HD GroupFigures solve() {
    begin();
    advance();
    return figures();
  }

  SLUICE_HD void begin() {
    units_.begin();
    group_.sync();  // all lanes know the units
    if (units_.known()) begin_ball();
  }
  /// As GroupQuery::advance().
  SLUICE_HD void advance() {
    if (!units_.known()) {
      if (!units_.count(ball_.workspace(), seeds_)) return;
      begin_ball();
    }
    if constexpr (Workspace::kSingleThread) {
      if (!ball_.resume()) return;
      missing_lists_ = 0;
    }
    if (stage_ == 0) {
      diffuse_from_seeds(rules_.stages[0], nullptr);
      if (is_waiting()) return;
      merge_ball(ball_.extracts_from_seeds());
      begin_stage();
    }
    while (stage_ < rules_.stage_count && !stopped()) {
      continue_stage();
      if (is_waiting()) return;
      begin_stage();
    }
  }

  SLUICE_HD GroupFigures figures() {
    GroupFigures figures = figures_of_table(group_, shared_.ball.units, table_, held_);
    static_cast<BallFigures&>(figures) = ball_.figures();
    figures.table_entries = max_entries_;
    figures.abandoned = stopped();
    figures.missing_lists = missing_lists_ + ball_.workspace().missing_lists();
    return figures;
  }

  SLUICE_HD void write_top(Vertex* vertices, double* scores) {
    write_top_of(group_, shared_.ball, ball_.workspace(), table_, rules_, vertices, scores);
  }

  /// Empties the workspaces for the next query.
  SLUICE_HD void clear() {
    ball_.workspace().clear();
    table_.clear();
  }

  SLUICE_HD bool stopped() const {
    return full() || missing_lists_ != 0 || ball_.workspace().missing_lists() != 0;
  }

 private:
  /// Only after a barrier that follows the last change of either workspace: all lanes agree.
  SLUICE_HD bool full() const { return ball_.workspace().full() || table_.full(); }
  /// True if a single thread waits for lists: those of the current round, or those of parallel balls.
  SLUICE_HD bool is_waiting() const { return Workspace::kSingleThread && stopped(); }

  SLUICE_HD void begin_ball() {
    if (!ball_.extracts_from_seeds()) ball_.begin(0);
  }
  SLUICE_HD void begin_stage() {
    ++stage_;
    next_ball_ = step_ = 0;
    from_seeds_ = false;
    fixed_.begin_stage();
    if (stage_ == rules_.stage_count || stopped()) return;
    chosen_ = choose_vertices();
    for (std::uint32_t step = group_.rank(); step < rules_.stages[stage_]; step += Group::kSize)
      returning_[step] = 0;
    group_.sync();
    if constexpr (Workspace::kHasTeam && Workspace::kSingleThread) {
      uses_team_ = should_use_team();
      if (uses_team_) ball_.workspace().team().begin_stage({0, chosen_, rules_.stages[stage_]});
    }
  }

  /// Expands each chosen vertex, by falling mass; then diffuses once from the seeds, with the returning mass.
  SLUICE_HD void continue_stage() {
    const std::uint32_t steps = rules_.stages[stage_];
    if constexpr (Workspace::kHasTeam) {
      if constexpr (Workspace::kSingleThread) {
        if (uses_team_ && next_ball_ < chosen_) expand_with_threads(steps);
        if (is_waiting()) return;
      } else {
        expand_with_blocks(steps);
      }
    }
    for (; next_ball_ < chosen_ && !full(); ++next_ball_, step_ = 0) {
      ball_.run_from(table_.ranked_at(next_ball_), step_, steps, returning_);
      if (is_waiting()) return;
      merge_ball(ball_.extracts());
    }
    if (stopped() || !begin_from_seeds(steps)) return;
    diffuse_from_seeds(steps, returning_);
    if (!is_waiting()) merge_ball(ball_.extracts_from_seeds());
  }

  /// `external_by_step` is null if all mass is at the seeds, and none joins it.
  SLUICE_HD void diffuse_from_seeds(std::uint32_t steps, const Mass* external_by_step) {
    if constexpr (Workspace::kExtracts) {
      if (ball_.extracts_from_seeds()) return ball_.run_from_seeds(steps, external_by_step);
    }
    for (; step_ < steps && !stopped(); ++step_) {
      const Mass external = external_by_step == nullptr ? 0 : external_by_step[step_];
      if (external == 0 && !ball_.has_active() && external_by_step == nullptr) break;
      if (external != 0 || ball_.has_active()) ball_.round(0, external);
    }
  }

  /// It takes threads tens of microseconds to meet; balls have about as many edges as the query so far. If
  /// lists are fetched, those of several balls are fetched together.
  bool should_use_team() const {
    const Workspace& workspace = ball_.workspace();
    return workspace.has_team() && chosen_ > 1 &&
           (workspace.team().fetches_lists() || ball_.edges() * chosen_ >= (1u << 13));
  }

  /// Expands all chosen vertices by threads (host_team.hpp), as far as lists allow.
  void expand_with_threads(std::uint32_t steps) {
    auto& team = ball_.workspace().team();
    team.resume();
    for (; next_ball_ < chosen_ && team.wait_for(next_ball_); ++next_ball_)
      merge_member(team, next_ball_, steps);
    team.pause();
    missing_lists_ = chosen_ - next_ball_;
  }

  /// Expands all chosen vertices by blocks (ball_team.cuh).
  SLUICE_HD void expand_with_blocks(std::uint32_t steps) {
    auto& team = ball_.workspace().team();
    while (next_ball_ < chosen_ && !full()) {
      const std::uint32_t balls = team.publish({next_ball_, chosen_ - next_ball_, steps});
      ball_.run_from(table_.ranked_at(next_ball_), steps, returning_);
      team.sync();
      merge_ball(ball_.extracts());
      for (std::uint32_t member = 1; member < balls && !full(); ++member) merge_member(team, member, steps);
      next_ball_ += balls;
    }
  }

  template <class Team>
  SLUICE_HD void merge_member(Team& team, std::uint32_t member, std::uint32_t steps) {
    const Workspace ball = ball_.workspace().ball_of(member, group_, shared_.member_counts);
    if (const std::uint32_t missing_lists = ball.missing_lists();
        missing_lists != 0) {  // the member empties it
      missing_lists_ += missing_lists;
      return group_.sync();  // all lanes have read it
    }
    merge(ball, ball_.extracts());
    if (ball.full()) {  // the query's own is then full as well
      ball.clear();
      ball_.workspace().set_full();
      return;
    }
    const Mass* const returning = team.returning_of(member);
    for (std::uint32_t step = group_.rank(); step < steps; step += Group::kSize)
      returning_[step] += returning[step];
    if (group_.rank() == 0) ball_.add(team.figures_of(member));
    group_.sync();
  }

  SLUICE_HD bool begin_from_seeds(std::uint32_t steps) {
    if (from_seeds_) return true;
    std::uint32_t any = 0;
    for (std::uint32_t step = group_.rank(); step < steps; step += Group::kSize) any += returning_[step] != 0;
    if (group_.sum(any) == 0) return false;
    ball_.begin_empty();
    return from_seeds_ = true;
  }

  /// Drops a ball that lacks lists. Other balls go on, so that the lists they lack are fetched with it.
  SLUICE_HD void merge_ball(bool extracted) {
    const Workspace& ball = ball_.workspace();
    if (ball.missing_lists() == 0) return merge(ball, extracted);
    missing_lists_ += ball.missing_lists();
    ball.clear();
    ball.reset();
  }
  /// Empties a ball into the table. The residuals of the last stage are score.
  SLUICE_HD void merge(const Workspace& ball, bool extracted) {
    if (ball.full() || table_.full()) return;
    group_.sync();  // all lanes have seen that neither workspace is full
    const bool last = stage_ + 1 == rules_.stage_count;
    if (rules_.table_limit == TableLimit::hard) {
      fixed_.merge(ball, last);
      return update_peak();
    }
    ball.drain_reached([&](auto& entry) {
      if (extracted && entry.moving == 0) return;  // no mass arrived there
      const std::uint64_t slot = table_.slot_of(entry.vertex);
      if (slot != table_.kNoSlot) add_to(table_[slot], entry, last);
    });
    update_peak();
    if (rules_.table != 0 && !full() && table_.reached() > rules_.table) trim();
  }

  SLUICE_HD void update_peak() {
    max_entries_ = table_.reached() > max_entries_ ? table_.reached() : max_entries_;
  }

  /// Keeps half of the table, the larger scores. All residuals for the next stage stay.
  SLUICE_HD void trim() {
    const std::uint32_t size = table_.reached();
    std::uint32_t with_residual = 0;
    table_.for_each_reached([&](auto& entry) { with_residual += entry.residual != 0; });
    with_residual = group_.sum(with_residual);
    const std::uint64_t half = rules_.table / 2, kept = with_residual > half ? with_residual : half;
    if (kept >= size) return;
    if constexpr (Workspace::kSingleThread) {
      table_.keep_first(static_cast<std::uint32_t>(kept),
                        [](const Entry& entry) { return by_trim_order(entry); });
    } else {
      rebuild_table(size, static_cast<std::uint32_t>(kept));
    }
  }

  /// Rebuilds the table with its first `kept` entries. The ball's empty workspace holds them meanwhile.
  SLUICE_HD void rebuild_table(std::uint32_t size, std::uint32_t kept) {
    const RankCut cut = select_first(group_, shared_.ball.bins, size, kept, [&](std::uint32_t i) {
      return by_trim_order(table_[table_.reached_slot(i)]);
    });
    reset_placed(0);
    Workspace& scratch = ball_.workspace();
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) {
      auto& entry = table_[table_.reached_slot(i)];
      if (cut.accepts(by_trim_order(entry))) scratch[fetch_add(&shared_.placed, 1u)] = entry;
      entry = Entry{};
    }
    table_.reset();
    for (std::uint32_t i = group_.rank(); i < kept; i += Group::kSize) {
      const std::uint64_t slot = table_.slot_of(scratch[i].vertex);
      if (slot != table_.kNoSlot) add_to(table_[slot], scratch[i].score, scratch[i].residual);
      scratch[i] = Entry{};
    }
    group_.sync();
  }

  /// Residuals rank first: no score has all bits set.
  SLUICE_HD static RankedVertex by_trim_order(const Entry& entry) {
    return {entry.residual != 0 ? ~std::uint64_t{0} : entry.score, entry.vertex};
  }

  /// Chooses the vertices to expand, and sorts them in the ranked vertices of the table's workspace. The
  /// others keep their residual, or a part of it, as score.
  SLUICE_HD std::uint32_t choose_vertices() {
    table_.empty_list(0);
    for (std::uint32_t i = group_.rank(); i < table_.reached(); i += Group::kSize) {
      const std::uint32_t slot = table_.reached_slot(i);
      if (table_[slot].residual != 0) table_.append_listed(0, slot);
    }
    group_.sync();
    const std::uint32_t size = table_.listed(0);
    const auto at = [&](std::uint32_t i) {
      const auto& entry = table_[table_.listed_slot(0, i)];
      return RankedVertex{entry.residual, entry.vertex};
    };
    const RankCut cut = select_next_stage(group_, shared_.ball, rules_, size, fixed_.drain_dropped(), at);
    reset_placed(0);
    Mass held = 0;
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) {
      const RankedVertex v = at(i);
      auto& entry = table_[table_.listed_slot(0, i)];
      entry.residual = 0;
      if (cut.accepts(v)) {
        table_.ranked_at(group_add<Group>(&shared_.placed, 1u)) = v;
        continue;
      }
      held += settle_unexpanded(rules_, entry, v.key);
    }
    held_ += group_.sum(held);
    const std::uint32_t chosen = shared_.placed;
    sort_ranked(group_, table_.ranked(chosen), chosen);
    return chosen;
  }

  SLUICE_HD void reset_placed(std::uint32_t place) {
    group_.sync();
    if (group_.rank() == 0) shared_.placed = place;
    group_.sync();
  }

  Group group_;
  Shared& shared_;
  BallUnits<Group, Workspace, typename Diffusion<Group, Workspace>::Shared> units_;
  Ball<Group, Workspace> ball_;
  Workspace table_;
  FixedTable<Group, Workspace> fixed_;
  Mass* returning_;  ///< [steps] from vertices without out-edges
  const QueryRules& rules_;
  SeedsView seeds_;
  // Progress of the query; the same in all lanes.
  std::uint32_t stage_ = 0, step_ = 0;
  std::uint32_t next_ball_ = 0, chosen_ = 0;  ///< number of the current ball, and of chosen vertices
  bool from_seeds_ = false;              ///< the current ball is the stage's last, from the seeds
  Mass held_ = 0;
  bool uses_team_ = false;           ///< threads of the host diffuse the stage's balls
  std::uint32_t missing_lists_ = 0;  ///< missing lists of earlier balls; or unfinished balls of a team
  std::uint32_t max_entries_ = 0;    ///< most entries of the table
};

}  // namespace sluice::ppr
