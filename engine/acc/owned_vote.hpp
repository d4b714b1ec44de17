// Votes over ranks and in partitions: rounds that push. The rounds are the same on both backends; what
// happens in one is `Push`, OwnedVotePush on the host and ListedPush (listed_push.hpp) on a GPU.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "engine/acc/owned_push.hpp"

namespace sluice::acc {

/// A rank's part of the rounds of a vote, on the host.
template <VoteProgram Program>
class OwnedVotePush {
  using List = ChargedVector<Vertex>;

 public:
  using State = typename Program::State;

  OwnedVotePush(const AccGraph& graph, const Program& program)
      : program_(program),
        crew_(graph.device().threads()),
        settled_(graph.device(), graph.vertices(), "settled vertices"),
        push_(graph, program, crew_),
        vertices_(graph.vertices()),
        next_(crew_.size()) {}

  const OwnedRows& rows() const { return push_.rows(); }
  const State* states() const { return push_.states(); }

  /// States to begin with, and who is active in the first round. All ranks call it.
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

  /// Active vertices push. What they have sent to other ranks' is in blocks().
  RoundWork round(const AccRound& at) {
    RoundWork work{.active = front_.size()};
    work.edges = push_.push(
        front_, at, [](Vertex) { return true; }, [&](Vertex v) { return settled_.test(v); },
        [&](Vertex v, State, unsigned thread) { next_[thread].push_back(v); });
    bool goes_on = false;
    for (const List& next : next_) goes_on = goes_on || !next.empty();
    blocks_ = push_.pack([&](Vertex v) { settled_.add(v), goes_on = true; });
    if (goes_on) work.next = 0;
    return work;
  }
  std::span<const RoundExchange::Block> blocks() const { return blocks_; }

  /// What other ranks have sent in that round, after which it ends.
  void take(std::span<const RoundExchange::Block> received, const AccRound& at) {
    push_.take(
        received, at, [&](Vertex v) { return settled_.test(v); },
        [&](Vertex v, State, unsigned thread) { next_[thread].push_back(v); });
    take_next();
    // Only now: until the round ends, further values may still improve what one has settled.
    crew_.blocks(front_.size(), kStatesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) settled_.add(front_[i]);
    });
  }

  /// Makes all states true on all ranks, and says what that took. All ranks call it.
  void finish(AccStats& stats) { push_.finish(stats); }

 private:
  static constexpr std::uint64_t kStatesAtOnce = 1u << 16;

  void take_next() {
    front_.clear();
    for (List& next : next_) {
      front_.insert(front_.end(), next.begin(), next.end());
      next.clear();
    }
  }

  Program program_;
  Crew crew_;
  VertexBits settled_;
  OwnedPush<Program> push_;
  std::uint64_t vertices_;
  List front_;
  std::vector<List> next_;  ///< [threads]
  std::span<const RoundExchange::Block> blocks_;
};

template <class Push>
class OwnedVote {
 public:
  template <class Program>
  OwnedVote(const AccGraph& graph, const Program& program) : push_(graph, program) {}

  void run(AccStats& stats) {
    push_.start();
    RoundExchange exchange(push_.rows().ranks());
    AccRound at{1, 0};
    for (RoundWork all{.next = 0}; all.next != RoundWork::kNothing; ++at.round) {
      const RoundWork mine = push_.round(at);
      all = exchange(mine, push_.blocks());
      push_.take(exchange.received(), at);
      // What went to other ranks may have found all vertices settled there.
      if (all.active > 0) stats.add({.active = all.active, .edges = all.edges});
    }
    push_.finish(stats);
  }

  const auto* states() const { return push_.states(); }

 private:
  Push push_;
};

}  // namespace sluice::acc
