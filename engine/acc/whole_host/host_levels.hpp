// Aggregations on the host, level by level. Threads note the vertices that a round has made active in bins by
// level (exec/level_bins.hpp).
#pragma once

#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/program.hpp"
#include "engine/exec/level_bins.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice::acc {

template <AggregationProgram Program>
class HostLevels {
  using State = typename Program::State;
  using Bins = LevelBins;

 public:
  HostLevels(const AccGraph& graph, const Program& program)
      : graph_(graph),
        program_(program),
        pool_(graph.device().threads()),
        states_(graph.device(), graph.vertices(), "vertex states"),
        bins_(pool_, kLevelBins<Program>),
        mine_(pool_.size()) {}

  void run(AccStats& stats) {
    start();
    for (std::uint64_t least = 0; refill(least); least = bins_.window() + bins_.size()) {
      bool refilled = true;
      for (std::uint64_t bin = 0; bin < bins_.size(); ++bin) {
        at_.level = bins_.window() + bin;
        bool worked = false;
        while (bins_.take(bin)) {
          worked = true;
          AccRoundTrace trace{.level = at_.level, .refilled = std::exchange(refilled, false)};
          trace.active = bins_.front().size();
          ++at_.round;
          trace.edges = round(bin);
          stats.add(trace);
        }
        stats.levels += worked;
      }
    }
  }

  const State* states() const { return states_.data(); }

 private:
  static constexpr std::uint64_t kVerticesAtOnce = 64;
  static constexpr std::uint64_t kStatesAtOnce = 1u << 15;
  /// So few vertices of the level at work does a thread work off by itself, without waiting for the others.
  static constexpr std::size_t kFused = 1000;
  /// So far ahead are lists, and states of targets, asked for: what a core can wait for at a time.
  static constexpr std::size_t kListsAhead = 8, kStatesAhead = 32;

  struct alignas(64) Mine {
    Bins::List fused;
    std::uint64_t edges = 0;
  };

  void start() {
    pool_.blocks(graph_.vertices(), kStatesAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                   const EdgeIndex* offsets = graph_.out().offsets;
                   for (std::uint64_t i = begin; i < end; ++i) {
                     const auto v = static_cast<Vertex>(i);
                     states_.data()[v] = program_.init(v, offsets[i + 1] - offsets[i]);
                     if (level_of(v) != kNoLevel) bins_.note_beyond(bins_.of(thread), v);
                   }
                 });
  }

  /// Puts the window at the lowest level that is not done, from `least` on. False: nothing is left.
  bool refill(std::uint64_t least) {
    const auto level = [&](Vertex v) { return level_of(v); };
    const std::uint64_t lowest = bins_.lowest_beyond(least, level);
    if (lowest > last_level(program_)) return false;
    bins_.open(lowest, level);
    return true;
  }

  std::uint64_t level_of(Vertex v) const { return program_.level(states_.data()[v]); }

  std::uint64_t round(std::uint64_t bin) {
    const std::span<const Vertex> front = bins_.front();
    pool_.blocks(front.size(), kVerticesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      Mine& mine = mine_[thread];
      auto& noted = bins_.of(thread);
      send_all(front.subspan(begin, end - begin), mine, noted);
      fuse(mine, noted, noted.levels[bin]);
    });
    std::uint64_t edges = 0;
    for (Mine& mine : mine_) edges += std::exchange(mine.edges, 0);
    return edges;
  }

  void fuse(Mine& mine, Bins::ThreadBins& noted, Bins::List& bin) {
    while (!bin.empty() && bin.size() < kFused) {
      mine.fused.swap(bin);
      send_all(mine.fused, mine, noted);
      mine.fused.clear();
    }
  }

  /// Lists lie anywhere, so that each is asked for while those before it are worked on.
  void send_all(std::span<const Vertex> vertices, Mine& mine, Bins::ThreadBins& noted) {
    const CsrView& out = graph_.out();
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      if (i + 2 * kListsAhead < vertices.size())
        __builtin_prefetch(out.offsets + vertices[i + 2 * kListsAhead]);
      if (i + kListsAhead < vertices.size()) {
        const EdgeIndex first = out.offsets[vertices[i + kListsAhead]];
        __builtin_prefetch(out.targets + first);
        if (out.weights != nullptr) __builtin_prefetch(out.weights + first);
      }
      send(vertices[i], mine, noted);
    }
  }

  /// A vertex that has left its bin's level meanwhile was worked on there.
  void send(Vertex u, Mine& mine, Bins::ThreadBins& noted) {
    if (program_.level(load(states_.data() + u)) != at_.level) return;
    const CsrView& out = graph_.out();
    const EdgeIndex end = out.offsets[u + 1];
    mine.edges += end - out.offsets[u];
    for (EdgeIndex e = out.offsets[u]; e < end; ++e) {
      const Vertex v = out.targets[e];
      if (e + kStatesAhead < end) __builtin_prefetch(states_.data() + out.targets[e + kStatesAhead]);
      const State value = program_.compute({u, v, e, at_, states_.data(), out.weights});
      const auto is = combine_into(program_, states_.data() + v, value, at_);
      if (is.active) bins_.note(noted, v, program_.level(is.now));
    }
  }

  const AccGraph& graph_;
  Program program_;
  ThreadPool pool_;
  Buffer<State> states_;
  Bins bins_;
  std::vector<Mine> mine_;  ///< [threads]
  AccRound at_;
};

}  // namespace sluice::acc
