// Rounds of an aggregation that pull, on the host, of a graph that one process has whole: a thread takes the
// whole in-list of a vertex whose state may still change (pulled_values.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/rounds/pulled_values.hpp"
#include "engine/acc/vote_direction.hpp"
#include "engine/exec/executor.hpp"
#include "engine/exec/memory/buffer.hpp"

namespace sluice::acc {

template <class View, class E>
class LevelPulls {
 public:
  LevelPulls(const AccGraph& graph, AccDirection asked)
      : in_(graph.in()),
        marks_(graph.device(), words_of(0, in_.vertices), "active vertices"),
        asked_(asked),
        left_(in_.edges) {}

  /// Makes the round in which `front` is active, if it is to pull. (Bins hold a vertex more than once, and
  /// hold some that have left the level.)
  bool round(E& executor, const LaneOutput& output, const View& view, const AccRound& at,
             std::span<const Vertex> front) {
    pulled_ = asked_ == AccDirection::pull || chooses(executor, *output.sums, view, at, front);
    if (pulled_) pull(executor, output, view, at, front);
    return pulled_;
  }
  /// Did the last one?
  bool pulled() const { return pulled_; }

 private:
  using Program = typename View::Program;
  using State = typename Program::State;
  struct Edges {
    std::uint64_t count = 0;
  };

  static constexpr std::uint64_t kStatesAtOnce = 1u << 12, kListsAtOnce = 256;

  /// The sum of of(i) for every i below `count`.
  template <class Of>
  static std::uint64_t sum(E& executor, std::uint64_t count, const Of& of) {
    Edges all;
    executor.reduce(
        count, LaneOutput{}, all, [of](std::uint64_t i, Edges& part, auto&) { part.count += of(i); },
        [](Edges& to, const Edges& part) { to.count += part.count; }, kStatesAtOnce);
    return all.count;
  }

  /// Is a pull less work? It looks at every state as well. `looked_at`: edges so far.
  bool chooses(E& executor, std::uint64_t looked_at, const View& view, const AccRound& at,
               std::span<const Vertex> front) {
    left_ -= std::min(left_, pulled_ ? front_edges_ : looked_at - looked_at_);
    looked_at_ = looked_at;
    front_edges_ = sum(executor, front.size(), [=](std::uint64_t i) {
      return view.level(front[i]) == at.level ? view.degree(front[i]) : 0;
    });
    const std::uint64_t sends = Program::kRepeats ? 0 : std::min(left_, front_edges_);
    if (!less_to_pull(front_edges_, left_ - sends + view.last)) return false;
    if constexpr (!Program::kRepeats) return true;
    // So many edges have been pushed since the last look that this one costs little beside them.
    left_ = sum(executor, view.last, [=, offsets = in_.offsets](std::uint64_t v) {
      return may_change(view.program, load(view.states + v), at) ? offsets[v + 1] - offsets[v] : 0;
    });
    return less_to_pull(front_edges_, left_ + view.last);
  }

  void pull(E& executor, const LaneOutput& output, const View& view, const AccRound& at,
            std::span<const Vertex> front) {
    executor.fill(marks_.data(), 0, marks_.bytes());
    executor.for_each(front.size(), output, [=, marks = marks_.data()](std::uint64_t i, auto&) {
      if (view.level(front[i]) == at.level) take_bit(marks, front[i]);
    });
    const auto take = [=, in = in_, marks = marks_.data()](std::uint64_t i, auto& lane) {
      const State before = load(view.states + i);
      if (!may_change(view.program, before, at)) return;
      const PulledValues<Program> values{view.program, at, in, view.states, marks};
      const auto v = static_cast<Vertex>(i);
      unsigned long long edges = 0;
      const State total = values.collect(v, before, in.offsets[i], in.offsets[i + 1], edges);
      lane.add(0, edges);
      view.note(v, values.put(view.states + i, before, total), at, lane);
    };
    executor.for_each(view.last, output, take, kListsAtOnce);
  }

  CsrView in_;
  Buffer<std::uint32_t> marks_;  ///< bits of the vertices that send
  AccDirection asked_;
  bool pulled_ = false;
  /// Edges of vertices that have not sent, at least. One sends at a single level, and does not change beyond
  /// it; bounds of the level at work may send again.
  std::uint64_t left_;
  std::uint64_t front_edges_ = 0, looked_at_ = 0;  ///< when the last round began
};

}  // namespace sluice::acc
