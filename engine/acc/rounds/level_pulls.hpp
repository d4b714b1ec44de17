// Rounds of an aggregation that pull: own vertices whose states may still change look for active ones, of any
// rank, in their in-lists (pulled_values.hpp). Ranks exchange the bits of these, and the states that they
// send. All of them come to the same direction.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/rounds/lane_counts.hpp"
#include "engine/acc/rounds/own_lists.hpp"
#include "engine/acc/rounds/pulled_values.hpp"
#include "engine/acc/vote_direction.hpp"
#include "engine/exchange/router.hpp"
#include "engine/traverse/traverser.hpp"

namespace sluice::acc {

/// Active vertices of the level at work, which bins may hold more than once, and hold some that have left it.
template <class View>
struct LevelFront {
  View view;
  AccRound at;
  const Vertex* front;

  SLUICE_HD bool sends(std::uint64_t i) const { return view.level(front[i]) == at.level; }
};

template <class View>
struct MarkSenders : LevelFront<View> {
  std::uint32_t* senders;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    if (this->sends(i)) take_bit(senders, this->front[i]);
  }
};

/// sums[1] is of their edges.
template <class View>
struct CountSent : LevelFront<View> {
  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    if (this->sends(i)) lane.add(1, this->view.degree(this->front[i]));
  }
};

/// May the state of a row's vertex change?
template <class View>
struct MayChange {
  View view;
  AccRound at;

  SLUICE_HD bool operator()(std::uint64_t row) const {
    return may_change(view.program, load(view.states + view.first + row), at);
  }
};

/// Of such rows, sums[1] is of edges.
template <class View>
struct CountLeft {
  MayChange<View> changes;
  const EdgeIndex* in_offsets;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t row, Lane& lane) const {
    if (changes(row)) lane.add(1, in_offsets[row + 1] - in_offsets[row]);
  }
};

template <class View>
struct PullRows : PulledValues<typename View::Program> {
  using State = typename View::State;

  View view;

  template <class Lane>
  SLUICE_HD void end(std::uint64_t row, State before, State total, Lane& lane) const {
    view.note(this->vertex(row), this->put(row, before, total), this->at, lane);
  }
};

template <class View, Traverser E>
class LevelPulls {
 public:
  /// Of `lists` in both directions; `senders` has a bit for every vertex. Keeps references.
  LevelPulls(const AccGraph& graph, AccDirection asked, E& executor, LaneCounts<E>& counts,
             OwnLists<E>& lists, std::uint32_t* senders)
      : rows_(graph.rank_part()),
        executor_(executor),
        counts_(counts),
        in_(lists.in()),
        bits_(lists.bits()),
        by_hosts_(rows_.ranks(), rows_.owners()),
        senders_(senders),
        vertices_(graph.vertices()),
        asked_(asked),
        left_(graph.edges()) {}

  /// Does the round in which own vertices `front` are active pull? All ranks call it.
  bool chooses(const View& view, const LaneOutput& output, const AccRound& at,
               std::span<const Vertex> front) {
    return pulled_ = asked_ == AccDirection::pull || less_to_read(view, output, at, front);
  }
  /// Did the last one?
  bool pulled() const { return pulled_; }
  /// All ranks have looked at so many edges in a round.
  void ended(std::uint64_t edges) { looked_at_ = edges; }

  /// Makes it. All ranks call it.
  void pull(const View& view, const LaneOutput& output, const AccRound& at, std::span<const Vertex> front) {
    executor_.fill(senders_, 0, words_of(0, vertices_) * sizeof *senders_);
    executor_.for_each(front.size(), output, MarkSenders<View>{{view, at, front.data()}, senders_});
    if (bits_ != nullptr) share_senders(view, front);
    const auto pull_rows = [&](const SweepPage& page) {
      executor_.reduce_rows(
          {page.begin, page.end, in_.offsets()}, output,
          PullRows<View>{{view.program, at, view.states, senders_, view.first, page.sources, page.weights},
                         view});
    };
    if (in_.paged()) {
      in_.visit_edges(executor_,
                      in_.count_edges(executor_, view.last - view.first, MayChange<View>{view, at}),
                      pull_rows, false);
    } else {
      pull_rows(in_.lists().whole());
    }
    if (bits_ != nullptr && kShares && SumProgram<Program>) forget_others(view);
  }

 private:
  using Program = typename View::Program;
  using State = typename Program::State;
  static constexpr bool kShares = kReadsState<Program>;

  /// Is a pull less work? It looks at every state as well.
  bool less_to_read(const View& view, const LaneOutput& output, const AccRound& at,
                    std::span<const Vertex> front) {
    left_ -= std::min(left_, pulled_ ? front_edges_ : looked_at_);
    executor_.for_each(front.size(), output, CountSent<View>{{view, at, front.data()}});
    front_edges_ = counted("edges of active vertices");
    const std::uint64_t sends = Program::kRepeats ? 0 : std::min(left_, front_edges_);
    if (!less_to_pull(front_edges_, left_ - sends, vertices_)) return false;
    if constexpr (!Program::kRepeats) return true;
    // So many edges have been pushed since the last look that this one costs little beside them.
    executor_.for_each(view.last - view.first, output, CountLeft<View>{{view, at}, in_.offsets()});
    left_ = counted("edges that lead to vertices");
    return less_to_pull(front_edges_, left_, vertices_);
  }
  /// The second sum of lanes, over ranks.
  std::uint64_t counted(const char* label) {
    counts_.read();
    std::array<std::uint64_t, 1> sum{counts_.take(1)};
    rows_.ranks().all_reduce(sum, Reduce::sum, label);
    return sum[0];
  }

  /// Makes the bits those of all ranks' active vertices, and their states true. A bound that this rank has
  /// sent is never below its vertex's state.
  void share_senders(const View& view, std::span<const Vertex> front) {
    bits_->share(senders_);
    if constexpr (!kShares) return;
    constexpr const char* kLabel = "states of active vertices";
    if constexpr (E::kBinsByLevel) {
      by_hosts_.share_changed(view.states, front, kLabel);
    } else {
      executor_.wait(kLabel);
      rows_.router().share(view.states, kLabel, 1, executor_.stream());
    }
  }
  /// What a rank has of others' states is the sum of what has not been sent: nothing.
  void forget_others(const View& view) {
    executor_.fill(view.states, 0, view.first * sizeof(State));
    executor_.fill(view.states + view.last, 0, (vertices_ - view.last) * sizeof(State));
  }

  const RankPart& rows_;
  E& executor_;
  LaneCounts<E>& counts_;
  Adjacency& in_;
  SharedBits<E>* bits_;
  Router by_hosts_;         ///< of states in host memory
  std::uint32_t* senders_;  ///< bits
  std::uint64_t vertices_;
  AccDirection asked_;
  bool pulled_ = false;
  /// Edges of vertices that have not sent, at least. One sends at a single level, and does not change beyond
  /// it; bounds of the level at work may send again.
  std::uint64_t left_;
  std::uint64_t front_edges_ = 0, looked_at_ = 0;  ///< of the last round
};

}  // namespace sluice::acc
