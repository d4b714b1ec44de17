// Selection without replacement: successive draws, each proportional to bias among the remaining candidates.
//
// Three techniques of one law (C-SAW section IV.B). All draw a first choice in [0, total); if that region
// is taken,
//   repeated   draws again from the whole space;
//   updated    never hits a taken region: it draws from the space without all picks so far;
//   bipartite  draws from the space without the regions that this pick has hit.
// As published, bipartite search rescales the number that hit the taken region, whose image is not the whole
// remaining space. Here the second draw takes fresh bits; every draw is then uniform on a space that contains
// all free regions whole, so that the first free region hit has the right law, and each further hit shrinks
// the space.
//
// First choices of many picks are drawn in parallel; collisions are resolved in the order of picks. The
// result is that of picks made one after the other, for any size of group.
#pragma once

#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/core/planted.hpp"
#include "engine/random/streams.hpp"
#include "engine/random/uniform.hpp"
#include "engine/select/options.hpp"
#include "engine/select/taken.hpp"

namespace sluice {

/// Redraws of one pick after which `repeated` continues as `bipartite`: a region may cover nearly all of the
/// space.
inline constexpr std::uint32_t kMaxRedraws = 1000;

template <class Group, class Candidates, class Draws>
class DistinctPicker {
 public:
  using Index = typename Candidates::Index;

  /// `picks` and `excluded` have room for as many elements as there will be picks, in memory of all lanes.
  SLUICE_HD DistinctPicker(const Group& group, const Candidates& candidates, const Draws& draws,
                           Select technique, const Taken<Index>& taken, Index* picks, Index* excluded)
      : group_(group),
        candidates_(candidates),
        draws_(draws),
        technique_(technique),
        taken_(taken),
        picks_(picks),
        excluded_(excluded),
        total_(candidates.total()) {}

  /// Makes `count` picks; there must be that many candidates of positive bias. Returns false if the redraws
  /// have used up their stream; the picks are then void. Up to 4096 picks never do: each redraws at most
  /// kMaxRedraws times, and then once for each pick before it.
  SLUICE_HD bool pick(std::uint32_t count, PickCounters& counters) {
    std::uint32_t picked = 0;
    while (picked < count && redraws_ <= kMaxWords) {
      const std::uint32_t lanes = count - picked < Group::kSize ? count - picked : Group::kSize;
      technique_ == Select::updated ? pick_updated(picked, lanes, counters)
                                    : pick_in_parallel(picked, lanes, counters);
      picked += lanes;
    }
    for (std::uint32_t i = group_.rank(); i < picked; i += Group::kSize) taken_.clear(picks_[i]);
    group_.sync();
    return redraws_ <= kMaxWords;
  }

 private:
  SLUICE_HD void pick_in_parallel(std::uint32_t base, std::uint32_t lanes, PickCounters& counters) {
    const unsigned rank = group_.rank();
    const bool active = rank < lanes;
    Index choice = ~static_cast<Index>(rank);  // no candidate, and another value in each idle lane
    std::uint64_t point = 0;
    bool clash = false;
    if (active) {
      ++counters.iterations;
      point = uniform_index(draw_at(draws_, Stream::select, base + rank), total_);
      choice = candidates_.find(point);
      clash = base > 0 && taken_.has(choice, base, counters);
    }
    std::uint32_t final_lanes = 0;  // lanes below this have stored their final choice
    while (true) {
      counters.searches += active && rank > final_lanes;
      const bool repeated = group_.equals_lower(choice);
      const std::uint32_t clashes = group_.ballot(active && rank >= final_lanes && (clash || repeated));
      const std::uint32_t first_clash = clashes == 0 ? lanes : group_.first(clashes);
      if (rank >= final_lanes && rank < first_clash) store(base + rank, choice);
      group_.sync();
      if (clashes == 0) return;
      const Index other = redraw(group_.broadcast(choice, first_clash), group_.broadcast(point, first_clash),
                                 base + first_clash, counters);
      if (rank == first_clash) {
        choice = other;
        clash = false;
        store(base + first_clash, choice);
      }
      group_.sync();
      final_lanes = first_clash + 1;
    }
  }

  SLUICE_HD void pick_updated(std::uint32_t base, std::uint32_t lanes, PickCounters& counters) {
    for (std::uint32_t j = base; j < base + lanes; ++j) {
      counters.iterations += group_.rank() == 0;
      std::uint64_t lane_sum = 0;
      for (std::uint32_t i = group_.rank(); i < j; i += Group::kSize)
        lane_sum += candidates_.width(picks_[i]);
      const std::uint64_t remaining_total = total_ - group_.sum(lane_sum);
      const std::uint64_t y = uniform_index(draw_at(draws_, Stream::select, j), remaining_total);
      const Index choice = candidates_.find(skip(y, picks_, j));
      if (group_.rank() == 0) store(j, choice);
      group_.sync();
    }
  }

  /// Draws a candidate that is not among the first `count` picks, after `hit` (at `point`) was found taken.
  SLUICE_HD Index redraw(Index hit, std::uint64_t point, std::uint32_t count, PickCounters& counters) {
    std::uint64_t remaining_total = total_;
    std::uint32_t excluded = 0;
    for (std::uint32_t attempt = 0;; ++attempt) {
      counters.iterations += group_.rank() == 0;
      const bool whole_space = technique_ == Select::repeated && attempt < kMaxRedraws;
      if (!whole_space) {
        if (group_.rank() == 0) excluded_[excluded] = hit;
        ++excluded;
        group_.sync();
        remaining_total -= candidates_.width(hit);
      }
      std::uint64_t y = uniform_index(draw_at(draws_, Stream::redraw, redraws_++), remaining_total);
      if (planted(Fault::published_bipartite)) {
        y = static_cast<std::uint64_t>(static_cast<double>(point) * static_cast<double>(remaining_total) /
                                       static_cast<double>(total_));
      }
      point = whole_space ? y : skip(y, excluded_, excluded);
      const Index choice = candidates_.find(point);
      if (!taken_.group_has(group_, choice, count, counters)) return choice;
      hit = choice;
    }
  }

  /// The y-th point of the space without the `excluded_regions`: the least x with x = y + (their widths up to
  /// x).
  SLUICE_HD std::uint64_t skip(std::uint64_t y, const Index* excluded_regions, std::uint32_t count) const {
    std::uint64_t x = y;
    while (true) {
      std::uint64_t lane_sum = 0;
      for (std::uint32_t i = group_.rank(); i < count; i += Group::kSize) {
        if (candidates_.low(excluded_regions[i]) <= x) lane_sum += candidates_.width(excluded_regions[i]);
      }
      const std::uint64_t next = y + group_.sum(lane_sum);
      if (next == x) return x;
      x = next;
    }
  }

  SLUICE_HD void store(std::uint32_t index, Index choice) {
    picks_[index] = choice;
    taken_.add(choice);
  }

  Group group_;
  Candidates candidates_;
  Draws draws_;
  Select technique_;
  Taken<Index> taken_;
  Index* picks_;
  Index* excluded_;
  std::uint64_t total_;
  std::uint32_t redraws_ = 0;
};

}  // namespace sluice
