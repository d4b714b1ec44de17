// The score table of a query with a hard limit (TableLimit). At every moment it holds the best vertices that
// the balls reached: those that would score most if they were not expanded. Its entries grow in place. Other
// vertices are candidates if they rank before the last dropped entry (bar_). Worth only grows within a stage,
// so that no other vertex can enter.
#pragma once

#include <cstdint>

#include "engine/ppr/methods/diffusion.hpp"
#include "engine/ppr/methods/group_select.hpp"
#include "engine/ppr/query_rules.hpp"

namespace sluice::ppr {

/// No other lane updates this vertex at the same time.
template <class Entry>
SLUICE_HD void add_to(Entry& sum, Mass score, Mass waiting) {
  sum.score += score;
  sum.waiting += waiting;
}
/// Residuals of the last stage are score.
template <class Entry>
SLUICE_HD void add_to(Entry& sum, const Entry& more, bool last) {
  const Mass waiting = more.waiting;
  add_to(sum, more.score + (last ? waiting : 0), last ? 0 : waiting);
}

template <class Group, class Workspace>
class FixedTable {
 public:
  using Shared = typename Diffusion<Group, Workspace>::Shared;
  using Entry = typename Workspace::Entry;

  SLUICE_HD FixedTable(const Group& group, Shared& shared, const Workspace& table, const QueryRules& rules)
      : group_(group), shared_(shared), table_(table), rules_(rules) {}

  /// Vertices that are not expanded have lost a part of their worth, so the bar starts anew.
  SLUICE_HD void begin_stage() { begins_stage_ = true, bar_ = kAnything; }

  /// Empties a ball, which must not be full, into the table.
  SLUICE_HD void take(const Workspace& ball, bool last) {
    ball.expect_listed(ball.reached() + table_.reached());
    ball.empty_list(0);
    left_out_ = 0;
    for (std::uint32_t i = group_.rank(); i < ball.reached(); i += Group::kSize) {
      const std::uint32_t slot = ball.reached_slot(i);
      auto& entry = ball[slot];
      if (last) settle(entry);
      if (is_candidate(entry))
        ball.list(0, slot);
      else
        entry.score = entry.waiting = 0;
    }
    take_candidates(ball);
  }

  /// Entries with residual for the next stage that were dropped since the last call.
  SLUICE_HD std::uint64_t take_dropped() {
    const std::uint64_t dropped = dropped_;
    dropped_ = 0;
    return dropped;
  }

 private:
  static constexpr RankCut kAnything{1, 0};  ///< takes all with any worth

  SLUICE_HD static void settle(Entry& entry) {
    entry.score += entry.waiting;
    entry.waiting = 0;
  }

  /// The entry's score if it is not expanded.
  SLUICE_HD static RankedVertex by_worth(const Entry& entry) {
    return {entry.score + entry.waiting, entry.vertex};
  }

  /// If false, its mass is added to an entry of the table, if any; no other lane has this vertex now.
  SLUICE_HD bool is_candidate(const Entry& entry) {
    const std::uint64_t slot = table_.find(entry.vertex);
    if (slot != table_.kNoSlot) {
      add_to(table_[slot], entry.score, entry.waiting);
      return false;
    }
    if (bar_.takes(by_worth(entry))) return true;
    left_out_ += entry.waiting != 0;
    return false;
  }

  /// The candidates are on the ball's list. Afterwards the ball is empty.
  SLUICE_HD void take_candidates(const Workspace& ball) {
    group_.sync();
    const bool too_many = begins_stage_ || table_.reached() + ball.listed(0) > rules_.table;
    group_.sync();  // all lanes have read the sizes
    if (too_many) choose_first(ball);
    if (ball.full() || table_.full()) return;
    const std::uint32_t size = ball.listed(0);
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) {
      const auto& entry = ball[ball.listed_slot(0, i)];
      const bool stays = bar_.takes(by_worth(entry));
      left_out_ += !stays && entry.waiting != 0;
      const std::uint64_t slot = stays ? table_.slot_of(entry.vertex) : table_.kNoSlot;
      if (slot != table_.kNoSlot) add_to(table_[slot], entry.score, entry.waiting);
    }
    group_.sync();
    ball.take_reached([](auto&) {});
    ball.empty_list(0);
    dropped_ += group_.sum(left_out_);
  }

  /// The table joins the candidates, except vertices that a stage began at and that have no score yet.
  SLUICE_HD void choose_first(const Workspace& ball) {
    table_.take_reached([&](auto& entry) {
      if (by_worth(entry).key == 0) return;
      const std::uint64_t slot = ball.slot_of(entry.vertex);
      if (slot == ball.kNoSlot) return;
      add_to(ball[slot], entry.score, entry.waiting);
      ball.list(0, static_cast<std::uint32_t>(slot));
    });
    begins_stage_ = false;
    bar_ = kAnything;
    if (ball.full() || ball.listed(0) <= rules_.table) return;
    bar_ = select_first(group_, shared_.select, ball.listed(0), static_cast<std::uint32_t>(rules_.table),
                        [&](std::uint32_t i) { return by_worth(ball[ball.listed_slot(0, i)]); });
  }

  Group group_;
  Shared& shared_;
  Workspace table_;
  const QueryRules& rules_;
  RankCut bar_ = kAnything;     ///< takes all of the table, and what may enter it
  bool begins_stage_ = true;    ///< no ball of the stage is in the table yet
  std::uint32_t left_out_ = 0;  ///< this lane's count of what a ball drops
  std::uint64_t dropped_ = 0;
};

}  // namespace sluice::ppr
