// The score table of a query with a hard limit (TableLimit). At every moment it holds the best vertices that
// the balls reached: those that would score most if they were not expanded. Its entries grow in place. Other
// vertices are candidates if they rank before the last dropped entry (cut_). Worth only grows within a stage,
// so that no other vertex can enter.
#pragma once

#include <cstdint>

#include "engine/ppr/methods/diffusion.hpp"
#include "engine/ppr/methods/group_select.hpp"
#include "engine/ppr/query_rules.hpp"

namespace sluice::ppr {

/// No other lane updates this vertex at the same time.
template <class Entry>
SLUICE_HD void add_to(Entry& sum, Mass score, Mass residual) {
  sum.score += score;
  sum.residual += residual;
}
/// Residuals of the last stage are score.
template <class Entry>
SLUICE_HD void add_to(Entry& sum, const Entry& entry, bool last) {
  const Mass residual = entry.residual;
  add_to(sum, entry.score + (last ? residual : 0), last ? 0 : residual);
}

template <class Group, class Workspace>
class FixedTable {
 public:
  using Shared = typename Diffusion<Group, Workspace>::Shared;
  using Entry = typename Workspace::Entry;

  SLUICE_HD FixedTable(const Group& group, Shared& shared, const Workspace& table, const QueryRules& rules)
      : group_(group), shared_(shared), table_(table), rules_(rules) {}

  /// Vertices that are not expanded have lost a part of their worth, so the cut starts anew.
  SLUICE_HD void begin_stage() { is_stage_start_ = true, cut_ = kAnyScore; }

  /// Empties a ball, which must not be full, into the table.
  SLUICE_HD void merge(const Workspace& ball, bool last) {
    ball.reserve_listed(ball.reached() + table_.reached());
    ball.empty_list(0);
    lane_dropped_ = 0;
    for (std::uint32_t i = group_.rank(); i < ball.reached(); i += Group::kSize) {
      const std::uint32_t slot = ball.reached_slot(i);
      auto& entry = ball[slot];
      if (last) settle(entry);
      if (is_candidate(entry))
        ball.append_listed(0, slot);
      else
        entry.score = entry.residual = 0;
    }
    merge_candidates(ball);
  }

  /// Entries with residual for the next stage that were dropped since the last call.
  SLUICE_HD std::uint64_t drain_dropped() {
    const std::uint64_t dropped = dropped_;
    dropped_ = 0;
    return dropped;
  }

 private:
  static constexpr RankCut kAnyScore{1, 0};  ///< accepts any score above 0

  SLUICE_HD static void settle(Entry& entry) {
    entry.score += entry.residual;
    entry.residual = 0;
  }

  /// The entry's score if it is not expanded.
  SLUICE_HD static RankedVertex by_final_score(const Entry& entry) {
    return {entry.score + entry.residual, entry.vertex};
  }

  /// If false, its mass is added to an entry of the table, if any; no other lane has this vertex now.
  SLUICE_HD bool is_candidate(const Entry& entry) {
    const std::uint64_t slot = table_.find(entry.vertex);
    if (slot != table_.kNoSlot) {
      add_to(table_[slot], entry.score, entry.residual);
      return false;
    }
    if (cut_.accepts(by_final_score(entry))) return true;
    lane_dropped_ += entry.residual != 0;
    return false;
  }

  /// The candidates are on the ball's list. Afterwards the ball is empty.
  SLUICE_HD void merge_candidates(const Workspace& ball) {
    group_.sync();
    const bool too_many = is_stage_start_ || table_.reached() + ball.listed(0) > rules_.table;
    group_.sync();  // all lanes have read the sizes
    if (too_many) select_entries(ball);
    if (ball.full() || table_.full()) return;
    const std::uint32_t size = ball.listed(0);
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) {
      const auto& entry = ball[ball.listed_slot(0, i)];
      const bool enters = cut_.accepts(by_final_score(entry));
      lane_dropped_ += !enters && entry.residual != 0;
      const std::uint64_t slot = enters ? table_.slot_of(entry.vertex) : table_.kNoSlot;
      if (slot != table_.kNoSlot) add_to(table_[slot], entry.score, entry.residual);
    }
    group_.sync();
    ball.drain_reached([](auto&) {});
    ball.empty_list(0);
    dropped_ += group_.sum(lane_dropped_);
  }

  /// The table joins the candidates, except vertices that a stage began at and that have no score yet.
  SLUICE_HD void select_entries(const Workspace& ball) {
    table_.drain_reached([&](auto& entry) {
      if (by_final_score(entry).key == 0) return;
      const std::uint64_t slot = ball.slot_of(entry.vertex);
      if (slot == ball.kNoSlot) return;
      add_to(ball[slot], entry.score, entry.residual);
      ball.append_listed(0, static_cast<std::uint32_t>(slot));
    });
    is_stage_start_ = false;
    cut_ = kAnyScore;
    if (ball.full() || ball.listed(0) <= rules_.table) return;
    cut_ = select_first(group_, shared_.bins, ball.listed(0), static_cast<std::uint32_t>(rules_.table),
                        [&](std::uint32_t i) { return by_final_score(ball[ball.listed_slot(0, i)]); });
  }

  Group group_;
  Shared& shared_;
  Workspace table_;
  const QueryRules& rules_;
  RankCut cut_ = kAnyScore;         ///< accepts all of the table, and what may enter it
  bool is_stage_start_ = true;      ///< no ball of the stage is in the table yet
  std::uint32_t lane_dropped_ = 0;  ///< this lane's count of what a ball drops
  std::uint64_t dropped_ = 0;
};

}  // namespace sluice::ppr
