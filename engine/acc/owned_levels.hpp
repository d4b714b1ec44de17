// Aggregations over ranks and in partitions, level by level. A round ends where no rank has a vertex left at
// the level at work: until then each works on without the others.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "engine/acc/level_bins.hpp"
#include "engine/acc/owned_push.hpp"

namespace sluice::acc {

template <AggregationProgram Program>
class OwnedLevels {
  using State = typename Program::State;
  using Bins = LevelBins<Program>;

 public:
  OwnedLevels(const AccGraph& graph, const Program& program)
      : program_(program), crew_(graph.device().threads()), push_(graph, program, crew_), bins_(crew_) {}

  void run(AccStats& stats) {
    start();
    for (std::uint64_t least = 0; refill(least); least = bins_.window() + Bins::kBins) {
      bool refilled = true;
      std::uint64_t last = Bins::kBins;
      Totals totals = agree({});
      for (std::uint64_t bin; (bin = totals.first_bin()) < Bins::kBins; last = bin) {
        at_.level = bins_.window() + bin;
        ++at_.round;
        totals = agree(round(bin));
        stats.add({.level = at_.level,
                   .refilled = std::exchange(refilled, false),
                   .active = totals.active(),
                   .edges = totals.edges()});
        stats.levels += bin != last;
      }
    }
    push_.finish(stats);
  }

  const State* states() const { return push_.states(); }

 private:
  static constexpr std::uint64_t kStatesAtOnce = 1u << 15;

  /// Of all ranks: who waits in each bin, and what a round has come to.
  struct Totals {
    std::array<std::uint64_t, Bins::kBins + 2> sums{};

    std::uint64_t& active() { return sums[Bins::kBins]; }
    std::uint64_t& edges() { return sums[Bins::kBins + 1]; }
    std::uint64_t first_bin() const {
      const auto end = sums.begin() + Bins::kBins;
      return static_cast<std::uint64_t>(std::find_if(sums.begin(), end, [](auto n) { return n > 0; }) -
                                        sums.begin());
    }
  };

  Totals agree(Totals mine) {
    for (std::uint64_t bin = 0; bin < Bins::kBins; ++bin) mine.sums[bin] = bins_.waiting(bin);
    push_.rows().ranks().all_reduce(mine.sums, Reduce::sum, "a round's vertices and edges");
    return mine;
  }

  void start() {
    push_.start();
    const OwnedRows& rows = push_.rows();
    crew_.blocks(rows.last() - rows.first(), kStatesAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                   for (std::uint64_t i = rows.first() + begin; i < rows.first() + end; ++i) {
                     const auto v = static_cast<Vertex>(i);
                     if (level_of(v) != kNoLevel) bins_.note_beyond(bins_.of(thread), v);
                   }
                 });
  }

  /// Puts the window at the lowest level that is not done on any rank, from `least` on. False: nothing is
  /// left.
  bool refill(std::uint64_t least) {
    const auto level = [&](Vertex v) { return level_of(v); };
    std::uint64_t lowest[] = {bins_.lowest_beyond(least, level)};
    // The first wait after lists were made simple, which one rank may have read far longer than another.
    push_.rows().ranks().all_reduce(lowest, Reduce::min, "the lowest level", kUnlimited);
    if (lowest[0] > last_level(program_)) return false;
    bins_.open(lowest[0], level);
    return true;
  }

  std::uint64_t level_of(Vertex v) const { return program_.level(load(push_.states() + v)); }

  Totals round(std::uint64_t bin) {
    // A vertex that has left its bin's level meanwhile was worked on there.
    const auto sends = [&](Vertex u) { return level_of(u) == at_.level; };
    const auto refuse = [](Vertex) { return false; };
    const auto note = [&](Vertex v, State now, unsigned thread) {
      bins_.note(bins_.of(thread), v, program_.level(now));
    };
    Totals mine;
    while (bins_.take(bin)) {
      mine.active() += bins_.front().size();
      mine.edges() += push_.push(bins_.front(), at_, sends, refuse, note);
    }
    push_.exchange(at_, refuse, note, [](Vertex) {});
    return mine;
  }

  Program program_;
  Crew crew_;
  OwnedPush<Program> push_;
  Bins bins_;
  AccRound at_;
};

}  // namespace sluice::acc
