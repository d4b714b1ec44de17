// Aggregations over ranks and in partitions, level by level. A round ends where no rank has a vertex left at
// the level at work: until then each works on without the others. The rounds are the same on both backends;
// what happens in one is `Push`, OwnedLevelPush on the host and ListedPush (listed_push.hpp) on a GPU.
#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include "engine/acc/partitioned/owned_push.hpp"
#include "engine/acc/whole_host/level_bins.hpp"

namespace sluice::acc {

/// A rank's part of the rounds of an aggregation, on the host.
template <AggregationProgram Program>
class OwnedLevelPush {
  using Bins = LevelBins<Program>;

 public:
  using State = typename Program::State;
  /// Levels that are told apart from the lowest that is left on; what lies beyond them waits.
  static constexpr std::uint64_t kBins = Bins::kBins;

  OwnedLevelPush(const AccGraph& graph, const Program& program)
      : program_(program), crew_(graph.device().threads()), push_(graph, program, crew_), bins_(crew_) {}

  const OwnedRows& rows() const { return push_.rows(); }
  const State* states() const { return push_.states(); }

  /// States to begin with. All ranks call it.
  void start() {
    push_.start();
    crew_.blocks(rows().last() - rows().first(), kStatesAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                   for (std::uint64_t i = rows().first() + begin; i < rows().first() + end; ++i) {
                     const auto v = static_cast<Vertex>(i);
                     if (level_of(v) != kNoLevel) bins_.note_beyond(bins_.of(thread), v);
                   }
                 });
  }

  /// The lowest level of own vertices from `least` on, or kNoLevel; all below are done.
  std::uint64_t lowest(std::uint64_t least) {
    return bins_.lowest_beyond(least, [&](Vertex v) { return level_of(v); });
  }
  /// After that: makes `level` the first bin's.
  void open(std::uint64_t level) {
    bins_.open(level, [&](Vertex v) { return level_of(v); });
  }

  /// Vertices of the level at work, which is that bin's, push until none is left here. What they have sent to
  /// other ranks' is in blocks(). `next` is the lowest bin that then waits, here or where that goes.
  RoundWork round(const AccRound& at, std::uint64_t bin) {
    // A vertex that has left its bin's level meanwhile was worked on there.
    const auto sends = [&](Vertex u) { return level_of(u) == at.level; };
    RoundWork work;
    while (bins_.take(bin)) {
      work.active += bins_.front().size();
      work.edges += push_.push(bins_.front(), at, sends, refuse, notes());
    }
    for (std::uint64_t i = 0; i < kBins && work.next == RoundWork::kNothing; ++i)
      if (bins_.waiting(i) > 0) work.next = i;
    blocks_ = push_.pack([&](Vertex v) {
      // Parts of a sum may bring a vertex down to the level at work, bounds to their own.
      const std::uint64_t waits =
          BoundProgram<Program> ? program_.level(push_.states()[v]) - bins_.window() : bin;
      if (waits < kBins) work.next = std::min(work.next, waits);
    });
    return work;
  }
  std::span<const RoundExchange::Block> blocks() const { return blocks_; }

  /// What other ranks have sent in that round.
  void take(std::span<const RoundExchange::Block> received, const AccRound& at) {
    push_.take(received, at, refuse, notes());
  }

  /// Makes all states true on all ranks, and says what that took. All ranks call it.
  void finish(AccStats& stats) { push_.finish(stats); }

 private:
  static constexpr std::uint64_t kStatesAtOnce = 1u << 15;
  static bool refuse(Vertex) { return false; }

  std::uint64_t level_of(Vertex v) const { return program_.level(load(push_.states() + v)); }
  auto notes() {
    return [this](Vertex v, State now, unsigned thread) {
      bins_.note(bins_.of(thread), v, program_.level(now));
    };
  }

  Program program_;
  Crew crew_;
  OwnedPush<Program> push_;
  Bins bins_;
  std::span<const RoundExchange::Block> blocks_;
};

template <class Push>
class OwnedLevels {
 public:
  template <class Program>
  OwnedLevels(const AccGraph& graph, const Program& program)
      : push_(graph, program), last_level_(last_level(program)) {}

  void run(AccStats& stats) {
    push_.start();
    Communicator& ranks = push_.rows().ranks();
    RoundExchange exchange(ranks);
    AccRound at;
    for (std::uint64_t least = 0;; least += Push::kBins) {
      std::uint64_t lowest[] = {push_.lowest(least)};
      ranks.all_reduce(lowest, Reduce::min, "the lowest level");
      if (lowest[0] > last_level_) break;
      push_.open(least = lowest[0]);
      bool refilled = true;
      for (std::uint64_t bin = 0, last = Push::kBins; bin < Push::kBins;) {
        at.level = least + bin;
        ++at.round;
        const RoundWork mine = push_.round(at, bin);
        const RoundWork all = exchange(mine, push_.blocks());
        push_.take(exchange.received(), at);
        // What went to other ranks may have changed nothing there.
        if (all.active > 0) {
          stats.add({.level = at.level,
                     .refilled = std::exchange(refilled, false),
                     .active = all.active,
                     .edges = all.edges});
          stats.levels += std::exchange(last, bin) != bin;
        }
        bin = all.next;
      }
    }
    push_.finish(stats);
  }

  const auto* states() const { return push_.states(); }

 private:
  Push push_;
  std::uint64_t last_level_;
};

}  // namespace sluice::acc
