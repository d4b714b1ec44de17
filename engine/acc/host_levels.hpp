// Aggregations on the host, level by level. Threads note the vertices that a round has made active in bins,
// one a level (the online filter; GAPBS's delta-stepping is the model). Bins cover a window of levels; what
// lies beyond it waits in one more, whose vertices are sorted into bins by their states once the window is
// worked off.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/program.hpp"
#include "engine/core/charged_vector.hpp"
#include "engine/exec/crew.hpp"

namespace sluice::acc {

template <AggregationProgram Program>
class HostLevels {
  using State = typename Program::State;
  using List = ChargedVector<Vertex>;

 public:
  HostLevels(const AccGraph& graph, const Program& program)
      : graph_(graph),
        program_(program),
        crew_(graph.device().threads()),
        states_(graph.device(), graph.vertices(), "vertex states"),
        mine_(crew_.size()) {}

  void run(AccStats& stats) {
    start();
    while (refill()) {
      bool refilled = true;
      for (std::uint64_t bin = 0; bin < kBins; ++bin) {
        at_.level = window_ + bin;
        bool worked = false;
        while (take_bin(bin)) {
          worked = true;
          AccRoundTrace trace{.level = at_.level, .refilled = std::exchange(refilled, false)};
          trace.active = front_size_;
          ++at_.round;
          trace.edges = round(bin);
          stats.add(trace);
        }
        stats.levels += worked;
      }
      window_ += kBins;
    }
  }

  const State* states() const { return states_.data(); }

 private:
  /// A program that sends once notes nobody but for the level at work: all others wait beyond the window.
  static constexpr std::uint64_t kBins = Program::kRepeats ? 64 : 1;
  static constexpr std::uint64_t kVerticesAtOnce = 64;
  static constexpr std::uint64_t kStatesAtOnce = 1u << 15;
  /// So few vertices of the level at work does a thread work off by itself, without waiting for the others.
  static constexpr std::size_t kFused = 1000;

  struct alignas(64) Mine {
    std::array<List, kBins + 1> bins;  ///< the last: beyond the window
    List fused;
    std::uint64_t edges = 0, lowest = 0;
  };

  void start() {
    crew_.blocks(graph_.vertices(), kStatesAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                   const EdgeIndex* offsets = graph_.out().offsets;
                   for (std::uint64_t i = begin; i < end; ++i) {
                     const auto v = static_cast<Vertex>(i);
                     states_.data()[v] = program_.init(v, offsets[i + 1] - offsets[i]);
                     if (level_of(v) != kNoLevel) mine_[thread].bins[kBins].push_back(v);
                   }
                 });
  }

  /// Puts the window at the lowest level that is not done, and fills its bins. False: nothing is left.
  bool refill() {
    take_bin(kBins);
    const std::uint64_t least = window_;
    for (Mine& mine : mine_) mine.lowest = kNoLevel;
    crew_.blocks(front_size_, kStatesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      std::uint64_t lowest = mine_[thread].lowest;
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t level = level_of(front_[i]);
        if (level >= least) lowest = std::min(lowest, level);
      }
      mine_[thread].lowest = lowest;
    });
    window_ = kNoLevel;
    for (const Mine& mine : mine_) window_ = std::min(window_, mine.lowest);
    if (window_ > last_level(program_)) return false;
    crew_.blocks(front_size_, kStatesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      for (std::uint64_t i = begin; i < end; ++i) {
        if (level_of(front_[i]) >= least) note(mine_[thread], front_[i], level_of(front_[i]));
      }
    });
    return true;
  }

  std::uint64_t level_of(Vertex v) const { return program_.level(states_.data()[v]); }

  void note(Mine& mine, Vertex v, std::uint64_t level) const {
    mine.bins[std::min<std::uint64_t>(level - window_, kBins)].push_back(v);
  }

  /// Makes one list of all threads' bins.
  bool take_bin(std::uint64_t bin) {
    front_size_ = 0;
    for (const Mine& mine : mine_) front_size_ += mine.bins[bin].size();
    if (front_.size() < front_size_) front_.resize(std::max(front_size_, 2 * front_.size()));
    std::size_t at = 0;
    for (Mine& mine : mine_) {
      std::copy(mine.bins[bin].begin(), mine.bins[bin].end(),
                front_.begin() + static_cast<std::ptrdiff_t>(at));
      at += mine.bins[bin].size();
      mine.bins[bin].clear();
    }
    return front_size_ > 0;
  }

  std::uint64_t round(std::uint64_t bin) {
    crew_.blocks(front_size_, kVerticesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      Mine& mine = mine_[thread];
      for (std::uint64_t i = begin; i < end; ++i) send(front_[i], mine);
      fuse(mine, bin);
    });
    std::uint64_t edges = 0;
    for (Mine& mine : mine_) edges += std::exchange(mine.edges, 0);
    return edges;
  }

  void fuse(Mine& mine, std::uint64_t bin) {
    while (!mine.bins[bin].empty() && mine.bins[bin].size() < kFused) {
      mine.fused.swap(mine.bins[bin]);
      for (const Vertex u : mine.fused) send(u, mine);
      mine.fused.clear();
    }
  }

  /// A vertex that has left its bin's level meanwhile was worked on there.
  void send(Vertex u, Mine& mine) {
    if (program_.level(load(states_.data() + u)) != at_.level) return;
    const CsrView& out = graph_.out();
    const EdgeIndex end = out.offsets[u + 1];
    mine.edges += end - out.offsets[u];
    for (EdgeIndex e = out.offsets[u]; e < end; ++e) {
      const Vertex v = out.targets[e];
      const State value = program_.compute({u, v, e, at_, states_.data(), out.weights});
      const auto is = combine_into(program_, states_.data() + v, value, at_);
      if (is.active) note(mine, v, program_.level(is.now));
    }
  }

  const AccGraph& graph_;
  Program program_;
  Crew crew_;
  Buffer<State> states_;
  List front_;
  std::size_t front_size_ = 0;
  std::vector<Mine> mine_;  ///< [threads]
  AccRound at_;
  std::uint64_t window_ = 0;  ///< the first bin's level; all below are done
};

}  // namespace sluice::acc
