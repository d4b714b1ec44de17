// Votes over ranks and in partitions: rounds that push.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "engine/acc/owned_push.hpp"

namespace sluice::acc {

template <VoteProgram Program>
class OwnedVote {
  using State = typename Program::State;
  using List = ChargedVector<Vertex>;

 public:
  OwnedVote(const AccGraph& graph, const Program& program)
      : program_(program),
        crew_(graph.device().threads()),
        settled_(graph.device(), graph.vertices(), "settled vertices"),
        push_(graph, program, crew_),
        vertices_(graph.vertices()),
        next_(crew_.size()) {}

  void run(AccStats& stats) {
    start();
    for (Totals totals = agree(0); totals.active > 0; ++at_.round) {
      AccRoundTrace trace{.active = totals.active};
      totals = agree(round());
      trace.edges = totals.edges;
      stats.add(trace);
    }
    push_.finish(stats);
  }

  const State* states() const { return push_.states(); }

 private:
  static constexpr std::uint64_t kStatesAtOnce = 1u << 16;

  /// Of all ranks.
  struct Totals {
    std::uint64_t active = 0, edges = 0;
  };

  void start() {
    push_.start();
    crew_.blocks(vertices_, kStatesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      for (std::uint64_t i = begin; i < end; ++i) {
        const auto v = static_cast<Vertex>(i);
        if (program_.settled(push_.states()[v])) settled_.add(v);
        if (push_.rows().owns(v) && program_.starts(v)) next_[thread].push_back(v);
      }
    });
    take_next();
  }

  void take_next() {
    front_.clear();
    for (List& next : next_) {
      front_.insert(front_.end(), next.begin(), next.end());
      next.clear();
    }
  }

  /// Returns how many edges it has looked at.
  std::uint64_t round() {
    const auto refuse = [&](Vertex v) { return settled_.test(v); };
    const auto note = [&](Vertex v, State, unsigned thread) { next_[thread].push_back(v); };
    const std::uint64_t edges = push_.push(
        front_, at_, [](Vertex) { return true; }, refuse, note);
    push_.exchange(at_, refuse, note, [&](Vertex v) { settled_.add(v); });
    take_next();
    // Only now: until the round ends, further values may still improve what one has settled.
    crew_.blocks(front_.size(), kStatesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) settled_.add(front_[i]);
    });
    return edges;
  }

  Totals agree(std::uint64_t edges) {
    std::array<std::uint64_t, 2> sums{front_.size(), edges};
    push_.rows().ranks().all_reduce(sums, Reduce::sum, "a round's vertices and edges");
    return {sums[0], sums[1]};
  }

  Program program_;
  Crew crew_;
  VertexBits settled_;
  OwnedPush<Program> push_;
  std::uint64_t vertices_;
  List front_;
  std::vector<List> next_;  ///< [threads]
  AccRound at_{1, 0};
};

}  // namespace sluice::acc
