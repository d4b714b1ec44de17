// One query answered by a group of threads in a room of its own: the methods of solver.hpp, to the same bits.
// Rounds are those of diffusion.hpp, but the mass that waits lies in one place: first all of a round's
// vertices take theirs out, then it is spread. An addition that brings a vertex up to the bar puts it on the
// next round's list; sums only grow meanwhile, so exactly one does. Edges of a round are shared out evenly,
// however long the lists are (a prefix sum over the lists, and a binary search for each edge).
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/core/search.hpp"
#include "engine/ppr/group_room.hpp"
#include "engine/ppr/mass.hpp"
#include "engine/ppr/methods/group_select.hpp"
#include "engine/ppr/query_rules.hpp"
#include "engine/ppr/seeds.hpp"

namespace sluice::ppr {

template <class Group>
class GroupQuery {
 public:
  /// What lanes share; on a GPU in shared memory.
  struct Shared {
    RoomCounts counts;
    union {
      struct {
        std::uint64_t ends[Group::kSize], begins[Group::kSize];
        std::uint64_t shares[Group::kSize];  ///< of each edge: mass, or a double per weight
      } chunk;
      SelectRoom select;
    };
    RankedVertex ranked[kSortedHere];
  };

  /// The room is as clear() leaves it.
  SLUICE_HD GroupQuery(const Group& group, Shared& shared, const RoomView& room, const QueryRules& rules,
                       const SeedsView& seeds, Instance query)
      : group_(group),
        shared_(shared),
        room_(group, shared.counts, room),
        rules_(rules),
        seeds_(seeds),
        query_(query) {}

  /// All lanes get the same figures.
  SLUICE_HD GroupFigures solve() {
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
    GroupFigures figures;
    figures.held = held_;
    figures.edges = group_.sum(edges_);
    figures.reached = room_.reached();
    figures.abandoned = room_.stopped();
    figures.lacking = room_.lacking();
    Mass scored = 0;
    room_.for_each_reached([&](RoomEntry& entry) { scored += entry.score; });
    figures.scored = group_.sum(scored);
    return figures;
  }

  /// As QuerySolver::write_top().
  SLUICE_HD void write_top(Vertex* vertices, double* scores) { write_top_of(room_, vertices, scores); }

  /// The same of what `room` has, which is this one or takes no more.
  SLUICE_HD void write_top_of(const GroupRoom<Group>& room, Vertex* vertices, double* scores) {
    std::uint32_t present = 0;
    room.for_each_reached([&](RoomEntry& entry) { present += entry.score != 0; });
    present = group_.sum(present);
    const std::uint32_t found = present < rules_.top ? present : rules_.top;
    const auto at = [&](std::uint32_t i) { return ranked_of(room[room.reached_slot(i)]); };
    RankCut cut;  // takes all
    if (found < present) cut = select_first(group_, shared_.select, room.reached(), found, at);
    RankedVertex* const list = rules_.top <= kSortedHere ? shared_.ranked : room_.ranked();
    room_.empty_list(0);
    for (std::uint32_t i = group_.rank(); i < room.reached(); i += Group::kSize) {
      const RankedVertex v = at(i);
      if (v.key != 0 && cut.takes(v)) list[add_shared(&shared_.counts.listed[0], 1u)] = v;
    }
    group_.sync();
    sort_ranked(group_, list, found);
    for (std::uint32_t i = group_.rank(); i < rules_.top; i += Group::kSize) {
      vertices[i] = i < found ? list[i].vertex : kNoVertex;
      scores[i] = i < found ? score_of(list[i]) : 0.0;
    }
  }

  /// Empties the room for the next query.
  SLUICE_HD void clear() { room_.clear(); }

  // ---- a ball of its own: what one_by_one.hpp does with a Diffusion

  SLUICE_HD GroupRoom<Group>& room() { return room_; }
  SLUICE_HD SelectRoom& selecting() const { return shared_.select; }
  /// Over all rounds.
  SLUICE_HD std::uint64_t edges() const { return group_.sum(edges_); }

  /// All mass waits at the seeds.
  SLUICE_HD void begin(Mass least) {
    Mass given = 0;
    now_ = 1;  // lists are filled for the round after this one
    give_to_seeds(kWholeMass, least, given);
    under_way_ = group_.sum(given);
    now_ = 0;
  }
  /// In a room that is empty: at one vertex, or nowhere.
  SLUICE_HD void begin_at(Vertex vertex, Mass mass) {
    Mass given = 0;
    now_ = 1;
    if (group_.rank() == 0) give(vertex, mass, 0, given);
    group_.sync();
    now_ = 0;
  }
  SLUICE_HD void begin_empty() { now_ = 0; }

  /// Whether a vertex is on the list; all lanes agree, for a barrier lies behind its last change.
  SLUICE_HD bool goes_on() const { return !room_.stopped() && room_.listed(now_) != 0; }

  /// Splits the mass of all vertices on the list; those where at least `least` waits for each edge then are
  /// the next list. `joining` returns with what comes back in this round.
  SLUICE_HD void round(Mass least, Mass joining = 0) {
    Mass given = 0;
    const Mass returning = split_listed(least, given) + joining;
    if (returning != 0) give_back(returning, least, given);
    under_way_ += group_.sum(given);
    next_list();
  }
  /// The same, but mass of vertices without out-edges leaves: it is the result.
  SLUICE_HD Mass round_without_return() {
    Mass given = 0;
    const Mass returning = split_listed(0, given);
    next_list();
    return returning;
  }

 private:
  // ---- methods, as in solver.cpp

  SLUICE_HD void diffuse() {
    begin(0);
    if (rules_.length != 0) {
      for (std::uint32_t depth = 0; depth < rules_.length && goes_on(); ++depth) round(0);
      return settle([](Mass mass) { return mass; });
    }
    while (under_way_ > rules_.enough && goes_on()) round(0);
  }

  SLUICE_HD void diffuse_in_stages() {
    begin(0);
    for (std::uint32_t stage = 0; stage < rules_.stage_count; ++stage) {
      if (stage > 0) choose();
      for (std::uint32_t step = 0; step < rules_.stages[stage] && goes_on(); ++step) round(0);
    }
    settle([](Mass mass) { return mass; });
  }

  SLUICE_HD void push() {
    const Mass enough = rules_.least != 0 ? 0 : rules_.enough;
    Mass least = rules_.least != 0 ? rules_.least : kFirstBar;
    begin(least);
    while (true) {
      while (under_way_ > enough && goes_on()) round(least);
      if (rules_.least != 0 || under_way_ <= enough || room_.stopped()) break;
      least /= kBarStep;
      list_waiting(least);
    }
    settle([this](Mass mass) { return rules_.continuation.kept(mass); });
  }

  /// As walks.hpp: a lane a walk.
  SLUICE_HD void walk() {
    for (std::uint32_t walk = group_.rank(); walk < rules_.walks; walk += Group::kSize) {
      WalkAt at = rules_.walk.begin(seeds_, query_, walk);
      if (!rules_.walk.go(rules_.graph, PlacedLists{rules_}, seeds_, query_, walk, at, edges_)) {
        want(at.vertex);
        continue;
      }
      const std::uint64_t slot = room_.slot_of(at.vertex);
      if (slot == room_.kNoSlot) break;
      add_shared(&room_[slot].score, Mass{1});
    }
    group_.sync();
    room_.for_each_reached(
        [this](RoomEntry& entry) { entry.score = walk_score(read_shared(&entry.score), rules_.walks); });
    group_.sync();
  }

  // ---- rounds

  /// Returns what vertices without out-edges had; all lanes get it.
  SLUICE_HD Mass split_listed(Mass least, Mass& given) {
    const std::uint32_t size = room_.listed(now_);
    Mass taken = 0, returning = 0;
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) taken += take(listed(i));
    under_way_ -= group_.sum(taken);
    for (std::uint32_t first = 0; first < size; first += Group::kSize)
      spread(first, size, least, given, returning);
    return group_.sum(returning);
  }

  SLUICE_HD Mass take(RoomEntry& entry) {
    const Mass mass = read_shared(&entry.waiting);
    entry.waiting = 0;
    entry.score += rules_.continuation.kept(mass);
    entry.moving = rules_.continuation.followed(mass);
    return mass;
  }

  /// Spreads the mass of as many vertices as there are lanes, an edge a lane.
  SLUICE_HD void spread(std::uint32_t first, std::uint32_t size, Mass least, Mass& given, Mass& returning) {
    const std::uint32_t i = first + group_.rank();
    auto& chunk = shared_.chunk;
    std::uint64_t degree = 0;
    if (i < size) {
      const RoomEntry& entry = listed(i);
      const EdgeIndex* const offsets = rules_.graph.offsets + entry.vertex;
      degree = offsets[1] - offsets[0];
      const EdgeIndex place = rules_.place_of(entry.vertex);
      chunk.begins[group_.rank()] = place;
      // A share of no mass wants no list.
      if (place == kNoPlace && degree != 0 && (rules_.totals != nullptr || entry.moving >= degree)) {
        want(entry.vertex);
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
    chunk.ends[group_.rank()] = group_.inclusive_scan(degree);
    group_.sync();
    const std::uint64_t all = chunk.ends[Group::kSize - 1];
    for (std::uint64_t at = group_.rank(); at < all; at += Group::kSize) {
      const std::uint64_t row = count_below(chunk.ends, Group::kSize, at + 1);
      const EdgeIndex edge = chunk.begins[row] + at - (row == 0 ? 0 : chunk.ends[row - 1]);
      const Mass mass = carried(chunk.shares[row], edge);
      if (mass != 0) give(rules_.graph.targets[edge], mass, least, given);
    }
    group_.sync();
  }

  /// The query is given up at the end of its round, once all that the round lacks is noted.
  SLUICE_HD void want(Vertex vertex) {
    rules_.want(vertex);
    room_.lack();
  }

  SLUICE_HD std::uint64_t share_of_edge(const RoomEntry& entry, std::uint64_t degree) const {
    if (rules_.totals == nullptr) return entry.moving / degree;
    return bits_of(mass_per_weight(entry.moving, rules_.totals[entry.vertex]));
  }

  SLUICE_HD Mass carried(std::uint64_t share, EdgeIndex edge) const {
    if (rules_.totals == nullptr) return share;
    return weighted_share(double_of(share), static_cast<double>(rules_.graph.weights[edge]));
  }

  SLUICE_HD void give_to_seeds(Mass mass, Mass least, Mass& given) {
    for (std::uint32_t i = group_.rank(); i < seeds_.count; i += Group::kSize)
      give(seeds_.seeds[i].vertex, seeds_.share(i, mass), least, given);
  }

  /// What vertices without out-edges had.
  SLUICE_HD void give_back(Mass mass, Mass least, Mass& given) {
    if (rules_.dangling == Dangling::seed) return give_to_seeds(mass, least, given);
    const std::uint64_t vertices = rules_.graph.vertices;
    const Mass share = mass / vertices;
    if (share == 0 || !room_.takes(vertices)) return;
    for (std::uint64_t v = group_.rank(); v < vertices; v += Group::kSize)
      give(static_cast<Vertex>(v), share, least, given);
  }

  SLUICE_HD void give(Vertex vertex, Mass mass, Mass least, Mass& given) {
    const std::uint64_t slot = room_.slot_of(vertex);
    if (slot == room_.kNoSlot) return;
    given += mass;
    const Mass before = add_shared(&room_[slot].waiting, mass);
    if (is_due(vertex, before + mass, least) && !is_due(vertex, before, least)) room_.list(now_ ^ 1, slot);
  }

  /// Does a vertex where so much waits go on?
  SLUICE_HD bool is_due(Vertex vertex, Mass mass, Mass least) const {
    if (mass < least || mass == 0) return false;
    if (least == 0) return true;
    const EdgeIndex* const offsets = rules_.graph.offsets + vertex;
    return reaches(mass, least, offsets[1] - offsets[0]);
  }

  // ---- lists

  SLUICE_HD RoomEntry& listed(std::uint32_t i) const { return room_[room_.listed_slot(now_, i)]; }

  SLUICE_HD void next_list() {
    room_.empty_list(now_);
    now_ ^= 1;
  }

  /// The list of this round, which is empty, from all that waits, under another bar.
  SLUICE_HD void list_waiting(Mass least) {
    group_.sync();  // all lanes have seen that it is empty
    const std::uint32_t size = room_.reached();
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) {
      const std::uint32_t slot = room_.reached_slot(i);
      const RoomEntry& entry = room_[slot];
      if (is_due(entry.vertex, read_shared(&entry.waiting), least)) room_.list(now_, slot);
    }
    group_.sync();
  }

  // ---- the next stage, as in next_stage.cpp

  SLUICE_HD void choose() {
    const std::uint32_t size = room_.listed(now_);
    if (room_.stopped() || size == 0) return;
    if (rules_.least != 0) {
      const Mass least = rules_.least;
      return keep_listed([least](const RankedVertex& v) { return v.key >= least; });
    }
    const auto chosen = static_cast<std::uint64_t>(std::ceil(rules_.expand * static_cast<double>(size)));
    if (chosen >= size) return;
    if (chosen == 0) return keep_listed([](const RankedVertex&) { return false; });
    const RankCut cut = select_first(group_, shared_.select, size, static_cast<std::uint32_t>(chosen),
                                     [&](std::uint32_t i) { return waiting_of(listed(i)); });
    keep_listed([cut](const RankedVertex& v) { return cut.takes(v); });
  }

  template <class Stays>
  SLUICE_HD void keep_listed(Stays&& stays) {
    const std::uint32_t size = room_.listed(now_);
    Mass held = 0;
    for (std::uint32_t i = group_.rank(); i < size; i += Group::kSize) {
      RoomEntry& entry = listed(i);
      if (stays(waiting_of(entry))) {
        room_.list(now_ ^ 1, room_.listed_slot(now_, i));
        continue;
      }
      const Mass mass = entry.waiting;
      entry.waiting = 0;
      const bool all = rules_.unexpanded == Unexpanded::residual;
      entry.score += all ? mass : rules_.continuation.kept(mass);
      held += all ? mass : 0;
    }
    held_ += group_.sum(held);
    next_list();
  }

  // ---- scores

  /// What waits becomes score where it is, or a part of it.
  template <class Part>
  SLUICE_HD void settle(Part&& part) {
    room_.for_each_reached([&](RoomEntry& entry) {
      const Mass mass = read_shared(&entry.waiting);
      entry.waiting = 0;
      if (mass != 0) entry.score += part(mass);
    });
    group_.sync();
  }

  SLUICE_HD static RankedVertex waiting_of(const RoomEntry& entry) {
    return {read_shared(&entry.waiting), entry.vertex};
  }
  /// Positive doubles are ordered as their bits are.
  SLUICE_HD static RankedVertex ranked_of(const RoomEntry& entry) {
    return {bits_of(from_mass(entry.score)), entry.vertex};
  }
  SLUICE_HD static double score_of(const RankedVertex& v) { return double_of(v.key); }

  Group group_;
  Shared& shared_;
  GroupRoom<Group> room_;
  const QueryRules& rules_;
  SeedsView seeds_;
  Instance query_;
  unsigned now_ = 0;
  // The same in all lanes but for the edges, which each counts for itself.
  Mass under_way_ = 0, held_ = 0;
  std::uint64_t edges_ = 0;
};

}  // namespace sluice::ppr
