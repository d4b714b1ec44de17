// One query in stages by a group of threads, next-stage vertices one by one: what one_by_one.hpp does, to the
// same bits. The query has two rooms: one for the ball at work, which is empty between balls, and one for the
// sums over balls, the table. Balls follow each other in the order of their mass, so that a table of fixed
// size drops the same scores.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/ppr/methods/group_query.hpp"

namespace sluice::ppr {

template <class Group>
class GroupOneByOne {
 public:
  /// What lanes share; on a GPU in shared memory.
  struct Shared {
    typename GroupQuery<Group>::Shared ball;
    RoomCounts counts;
    std::uint32_t placed;
  };

  /// Both rooms are as clear() leaves them.
  SLUICE_HD GroupOneByOne(const Group& group, Shared& shared, const RoomView& room, const QueryRules& rules,
                          const SeedsView& seeds, Instance query)
      : group_(group),
        shared_(shared),
        ball_(group, shared.ball, room, rules, seeds, query),
        table_(group, shared.counts, RoomShape::move(room, room.second)),
        returning_(room.by_step()),
        rules_(rules) {}

  /// All lanes get the same figures.
  SLUICE_HD GroupFigures solve() {
    ball_.begin(0);
    for (std::uint32_t step = 0; step < rules_.stages[0] && ball_.goes_on(); ++step) ball_.round(0);
    take_ball(rules_.stage_count == 1);
    for (std::uint32_t stage = 1; stage < rules_.stage_count && !stopped(); ++stage)
      go_on(choose(), rules_.stages[stage], stage + 1 == rules_.stage_count);
    GroupFigures figures;
    figures.held = held_;
    figures.edges = ball_.edges();
    figures.reached = table_.reached();
    figures.abandoned = stopped();
    figures.lacking = lacking_ + ball_.room().lacking();
    Mass scored = 0;
    table_.for_each_reached([&](RoomEntry& entry) { scored += entry.score; });
    figures.scored = group_.sum(scored);
    return figures;
  }

  /// As QuerySolver::write_top().
  SLUICE_HD void write_top(Vertex* vertices, double* scores) { ball_.write_top_of(table_, vertices, scores); }

  /// Empties the rooms for the next query.
  SLUICE_HD void clear() {
    ball_.clear();
    table_.clear();
  }

 private:
  /// Where a barrier lies behind the last change of either room: all lanes agree.
  SLUICE_HD bool full() { return ball_.room().full() || table_.full(); }
  SLUICE_HD bool stopped() { return full() || lacking_ != 0 || ball_.room().lacking() != 0; }

  /// From each of the vertices chosen, by falling mass; then once from the seeds, with what came to vertices
  /// without out-edges in each step.
  SLUICE_HD void go_on(std::uint32_t chosen, std::uint32_t steps, bool last) {
    for (std::uint32_t step = group_.rank(); step < steps; step += Group::kSize) returning_[step] = 0;
    group_.sync();
    for (std::uint32_t i = 0; i < chosen && !full(); ++i) {
      const RankedVertex from = table_.ranked()[i];
      ball_.begin_at(from.vertex, from.key);
      for (std::uint32_t step = 0; step < steps && ball_.goes_on(); ++step) {
        const Mass mass = ball_.round_without_return();
        if (group_.rank() == 0) returning_[step] += mass;
      }
      ball_.room().lacking() != 0 ? drop_ball() : take_ball(last);
    }
    if (stopped()) return;
    std::uint32_t any = 0;
    for (std::uint32_t step = group_.rank(); step < steps; step += Group::kSize) any += returning_[step] != 0;
    if (group_.sum(any) == 0) return;
    ball_.begin_empty();
    for (std::uint32_t step = 0; step < steps && !stopped(); ++step) {
      const Mass joining = returning_[step];
      if (joining != 0 || ball_.goes_on()) ball_.round(0, joining);
    }
    take_ball(last);
  }

  /// A ball that lacks lists. The others go on, so that what they lack is brought with it.
  SLUICE_HD void drop_ball() {
    lacking_ += ball_.room().lacking();
    ball_.room().clear();
    ball_.room().forget();
  }

  /// Empties the ball into the table. What the last stage leaves waiting is score.
  SLUICE_HD void take_ball(bool last) {
    if (full() || ball_.room().lacking() != 0) return;
    group_.sync();  // all lanes have seen that neither room is full
    ball_.room().for_each_reached([&](RoomEntry& entry) {
      const std::uint64_t slot = table_.slot_of(entry.vertex);
      const Mass waiting = read_shared(&entry.waiting);
      if (slot != table_.kNoSlot) add_to(slot, entry.score + (last ? waiting : 0), last ? 0 : waiting);
      entry = RoomEntry{};
    });
    ball_.room().forget();
    if (rules_.table != 0 && !full() && table_.reached() > rules_.table) trim();
  }

  /// No other lane has this vertex now.
  SLUICE_HD void add_to(std::uint64_t slot, Mass score, Mass waiting) {
    RoomEntry& sum = table_[slot];
    sum.score += score;
    sum.waiting += waiting;
  }

  /// Half of the table stays, the larger scores; what waits for the next stage stays in any case. Those that
  /// stay lie in the ball's room, which is empty, while the table is made anew.
  SLUICE_HD void trim() {
    const std::uint32_t size = table_.reached();
    std::uint32_t waiting = 0;
    table_.for_each_reached([&](RoomEntry& entry) { waiting += entry.waiting != 0; });
    waiting = group_.sum(waiting);
    const std::uint64_t half = rules_.table / 2, kept = waiting > half ? waiting : half;
    if (kept >= size) return;
    const RankCut cut =
        select_first(group_, ball_.selecting(), size, static_cast<std::uint32_t>(kept),
                     [&](std::uint32_t i) { return by_need(table_[table_.reached_slot(i)]); });
    place_from(0);
    GroupRoom<Group>& aside = ball_.room();
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) {
      RoomEntry& entry = table_[table_.reached_slot(i)];
      if (cut.takes(by_need(entry))) aside[add_shared(&shared_.placed, 1u)] = entry;
      entry = RoomEntry{};
    }
    table_.forget();
    for (std::uint32_t i = group_.rank(); i < kept; i += Group::kSize) {
      const std::uint64_t slot = table_.slot_of(aside[i].vertex);
      if (slot != table_.kNoSlot) add_to(slot, aside[i].score, aside[i].waiting);
      aside[i] = RoomEntry{};
    }
    group_.sync();
  }

  /// No score comes to all bits.
  SLUICE_HD static RankedVertex by_need(const RoomEntry& entry) {
    return {entry.waiting != 0 ? ~std::uint64_t{0} : entry.score, entry.vertex};
  }

  /// As NextStage::choose(): those that go on, in order, where the table's room has ranked vertices. The
  /// others keep what waits there, or a part of it, as score.
  SLUICE_HD std::uint32_t choose() {
    table_.empty_list(0);
    for (std::uint32_t i = group_.rank(); i < table_.reached(); i += Group::kSize) {
      const std::uint32_t slot = table_.reached_slot(i);
      if (table_[slot].waiting != 0) table_.list(0, slot);
    }
    group_.sync();
    const std::uint32_t size = table_.listed(0);
    const auto at = [&](std::uint32_t i) {
      const RoomEntry& entry = table_[table_.listed_slot(0, i)];
      return RankedVertex{entry.waiting, entry.vertex};
    };
    if (rules_.least != 0)
      return take_out(size, at, [&](const RankedVertex& v) { return v.key >= rules_.least; });
    const auto chosen = static_cast<std::uint64_t>(std::ceil(rules_.expand * static_cast<double>(size)));
    if (chosen >= size) return take_out(size, at, [](const RankedVertex&) { return true; });
    if (chosen == 0) return take_out(size, at, [](const RankedVertex&) { return false; });
    const RankCut cut = select_first(group_, ball_.selecting(), size, static_cast<std::uint32_t>(chosen), at);
    return take_out(size, at, [&](const RankedVertex& v) { return cut.takes(v); });
  }

  template <class At, class GoesOn>
  SLUICE_HD std::uint32_t take_out(std::uint32_t size, const At& at, const GoesOn& goes_on) {
    place_from(0);
    Mass held = 0;
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) {
      const RankedVertex v = at(i);
      RoomEntry& entry = table_[table_.listed_slot(0, i)];
      entry.waiting = 0;
      if (goes_on(v)) {
        table_.ranked()[add_shared(&shared_.placed, 1u)] = v;
        continue;
      }
      const bool all = rules_.unexpanded == Unexpanded::residual;
      entry.score += all ? v.key : rules_.continuation.kept(v.key);
      held += all ? v.key : 0;
    }
    held_ += group_.sum(held);
    const std::uint32_t chosen = shared_.placed;
    sort_ranked(group_, table_.ranked(), chosen);
    return chosen;
  }

  SLUICE_HD void place_from(std::uint32_t place) {
    group_.sync();
    if (group_.rank() == 0) shared_.placed = place;
    group_.sync();
  }

  Group group_;
  Shared& shared_;
  GroupQuery<Group> ball_;
  GroupRoom<Group> table_;
  Mass* returning_;  ///< [steps], of vertices without out-edges
  const QueryRules& rules_;
  // The same in all lanes.
  Mass held_ = 0;
  std::uint32_t lacking_ = 0;  ///< in balls before this one
};

}  // namespace sluice::ppr
