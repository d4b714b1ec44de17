// Votes over ranks and in partitions: rounds that push or pull (vote_direction.hpp). The rounds are the same
// on both backends; what happens in one is `Rounds`, OwnedVoteRounds on the host and ListedPush
// (listed_push.hpp) on a GPU.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/acc/partitioned/owned_pull.hpp"
#include "engine/acc/partitioned/owned_push.hpp"
#include "engine/acc/vote_direction.hpp"
#include "engine/core/error.hpp"

namespace sluice::acc {

/// A rank's part of the rounds of a vote, on the host.
template <VoteProgram Program>
class OwnedVoteRounds {
 public:
  using State = typename Program::State;

  OwnedVoteRounds(const AccGraph& graph, const Program& program, const AccOptions& options)
      : program_(program),
        crew_(graph.device().threads()),
        settled_(graph.device(), graph.vertices(), "settled vertices"),
        vertices_(graph.vertices()),
        next_(crew_.size()) {
    if (!make_both(graph, options)) push_.emplace(graph, program_, crew_);
  }

  const OwnedRows& rows() const { return push_->rows(); }
  const State* states() const { return push_->states(); }
  bool can_pull() const { return pull_.has_value(); }
  /// Own vertices that are active in the round to come.
  VoteFront front() const { return {front_.size(), front_edges_}; }

  /// States to begin with, and who is active in the first round. All ranks call it.
  void start() {
    push_->start();
    crew_.blocks(vertices_, kStatesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
      for (std::uint64_t i = begin; i < end; ++i) {
        const auto v = static_cast<Vertex>(i);
        if (program_.settled(states()[v])) settled_.add(v);
        if (rows().owns(v) && program_.starts(v)) note(v, thread);
      }
    });
    if (pull_) pull_->settle_unreachable(settled_);
    take_next();
  }

  /// Active vertices push. What they have sent to other ranks' is in blocks().
  RoundWork push(const AccRound& at) {
    RoundWork work{.active = front_.size()};
    work.edges = push_->push(
        front_, at, [](Vertex) { return true; }, [&](Vertex v) { return settled_.test(v); },
        [&](Vertex v, State, unsigned thread) { note(v, thread); });
    blocks_ = push_->pack([&](Vertex v) { settled_.add(v), ++work.sent; });
    return noted(work);
  }

  /// Vertices that are not settled pull; nothing is sent but who is active.
  RoundWork pull(const AccRound& at) {
    RoundWork work{.active = front_.size()};
    VertexBits& front = push_->spare_bits();
    over_front([&](Vertex v) { front.add(v); });
    if (rows().ranks().size() > 1) {
      rows().share_bits(&front.word(0), "active vertices");
      if (at.round > 1) settle_others(front);
    }
    work.edges = pull_->pull(at, front, push_->states(), settled_,
                             [&](Vertex v, unsigned thread) { note(v, thread); });
    front.clear();
    blocks_ = push_->pack([](Vertex) {});
    return noted(work);
  }
  std::span<const RoundExchange::Block> blocks() const { return blocks_; }

  /// What other ranks have sent in that round, after which it ends.
  void take(std::span<const RoundExchange::Block> received, const AccRound& at) {
    push_->take(
        received, at, [&](Vertex v) { return settled_.test(v); },
        [&](Vertex v, State, unsigned thread) { note(v, thread); });
    take_next();
    // Only now: until the round ends, further values may still improve what one has settled.
    over_front([&](Vertex v) { settled_.add(v); });
  }

  /// Makes all states true on all ranks, and says what that took. All ranks call it.
  void finish(AccStats& stats) {
    push_->finish(stats);
    if (pull_) stats.add_more_traffic(pull_->traffic());
  }

 private:
  static constexpr std::uint64_t kStatesAtOnce = 1u << 16;
  static constexpr std::uint64_t kWordsAtOnce = 1u << 12;

  struct alignas(64) Next {
    ChargedVector<Vertex> list;
    std::uint64_t edges = 0;
  };

  /// For pushes and pulls. False: the graph has no in-lists, pulls are not asked for, or there is no room for
  /// slots of both directions.
  bool make_both(const AccGraph& graph, const AccOptions& options) {
    const OwnedRows& rows = *graph.owned();
    if (!graph.has_in_edges() || options.direction == AccDirection::push) return false;
    if (rows.has_pages(rows.in()) && !rows.has_pages(rows.out())) return false;
    try {
      push_.emplace(graph, program_, crew_, rows.symmetric() ? 1u : 2u);
      pull_.emplace(rows, program_, crew_, push_->pages());
      return true;
    } catch (const BudgetError&) {
      if (rows.symmetric()) throw;
      push_.reset();
      return false;
    }
  }

  void note(Vertex v, unsigned thread) {
    next_[thread].list.push_back(v);
    next_[thread].edges += rows().degree(v);
  }

  /// A round's letter, from what was noted so far.
  RoundWork noted(RoundWork work) const {
    for (const Next& next : next_) work.found += next.list.size(), work.found_edges += next.edges;
    if (work.found + work.sent > 0) work.next = 0;
    return work;
  }

  void take_next() {
    front_.clear();
    front_edges_ = 0;
    for (Next& next : next_) {
      front_.insert(front_.end(), next.list.begin(), next.list.end());
      front_edges_ += std::exchange(next.edges, 0);
      next.list.clear();
    }
  }

  template <class Use>
  void over_front(Use&& use) {
    crew_.blocks(front_.size(), kStatesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = begin; i < end; ++i) use(front_[i]);
    });
  }

  /// Nothing needs to be sent any more to who is active on another rank.
  void settle_others(const VertexBits& front) {
    crew_.blocks(front.words(), kWordsAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t w = begin; w < end; ++w) settled_.word(w) |= front.word(w);
    });
  }

  Program program_;
  Crew crew_;
  VertexBits settled_;
  std::optional<OwnedPush<Program>> push_;
  std::optional<OwnedPull<Program>> pull_;
  std::uint64_t vertices_;
  ChargedVector<Vertex> front_;
  std::uint64_t front_edges_ = 0;
  std::vector<Next> next_;  ///< [threads]
  std::span<const RoundExchange::Block> blocks_;
};

template <class Rounds>
class OwnedVote {
 public:
  template <class Program>
  OwnedVote(const AccGraph& graph, const Program& program, const AccOptions& options)
      : graph_(graph), options_(options), rounds_(graph, program, options) {}

  void run(AccStats& stats) {
    rounds_.start();
    const OwnedRows& rows = rounds_.rows();
    VoteDirection direction(rows, options_.direction, rounds_.can_pull(), graph_.vertices(), graph_.edges(),
                            rounds_.front());
    RoundExchange exchange(rows.ranks());
    AccRound at{1, 0};
    for (RoundWork all{.next = 0}; all.next != RoundWork::kNothing; ++at.round) {
      const bool pulls = direction.pulls();
      const RoundWork mine = pulls ? rounds_.pull(at) : rounds_.push(at);
      all = exchange(mine, rounds_.blocks());
      rounds_.take(exchange.received(), at);
      direction.choose(all, rounds_.front());
      // What went to other ranks may have found all vertices settled there.
      if (all.active > 0) stats.add({.pull = pulls, .active = all.active, .edges = all.edges});
    }
    rounds_.finish(stats);
  }

  const auto* states() const { return rounds_.states(); }

 private:
  const AccGraph& graph_;
  AccOptions options_;
  Rounds rounds_;
};

}  // namespace sluice::acc
