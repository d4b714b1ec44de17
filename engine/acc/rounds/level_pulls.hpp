// Rounds of an aggregation that pull: own vertices whose states may still change read their in-lists for
// active vertices of any rank (pulled_values.hpp). Ranks exchange the bits of active vertices and, if needed,
// their states. All ranks choose the same direction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/rounds/lane_counts.hpp"
#include "engine/acc/rounds/own_lists.hpp"
#include "engine/acc/rounds/pull_bodies.hpp"
#include "engine/acc/rounds/pulled_values.hpp"
#include "engine/acc/vote_direction.hpp"
#include "engine/exchange/router.hpp"
#include "engine/traverse/traverser.hpp"

namespace sluice::acc {

/// Sums the edges of the frontier's sending vertices in sums[1].
template <class View>
struct CountSenderEdges {
  View view;
  AccRound at;
  const Vertex* frontier;

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane& lane) const {
    if (view.sends(frontier[i], at)) lane.add(1, view.degree(frontier[i]));
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

/// Sums the in-edges of such rows in sums[1].
template <class View>
struct CountRemainingEdges {
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
    view.list_if_active(this->vertex(row), this->apply(row, before, total), this->at, lane);
  }
};

template <class View, Traverser E>
class LevelPulls {
 public:
  /// `lists` must have both directions; `senders` has a bit for every vertex. Keeps references.
  LevelPulls(const AccGraph& graph, AccDirection requested, E& executor, LaneCounts<E>& counts,
             OwnLists<E>& lists, std::uint32_t* senders)
      : part_(graph.rank_part()),
        executor_(executor),
        counts_(counts),
        in_(lists.in()),
        shared_bits_(lists.shared_bits()),
        host_router_(part_.ranks(), part_.owners()),
        senders_(senders),
        vertices_(graph.vertices()),
        requested_(requested),
        remaining_edges_(graph.edges()) {}

  /// Does the round pull, if own vertices `frontier` are active? All ranks call it.
  bool should_pull(const View& view, const LaneOutput& output, const AccRound& at,
                   std::span<const Vertex> frontier) {
    return pulled_ = requested_ == AccDirection::pull || prefers_pull(view, output, at, frontier);
  }
  /// Did the last round pull?
  bool pulled() const { return pulled_; }
  /// Ends a round in which all ranks together read `edges`.
  void end_round(std::uint64_t edges) { edges_read_ = edges; }

  /// Runs a round that pulls. All ranks call it.
  void pull(const View& view, const LaneOutput& output, const AccRound& at,
            std::span<const Vertex> frontier) {
    executor_.fill(senders_, 0, words_of(0, vertices_) * sizeof *senders_);
    executor_.for_each(frontier.size(), output, MarkSenders<View>{view, at, frontier.data(), senders_});
    if (shared_bits_ != nullptr) share_senders(view, frontier);
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
    if (shared_bits_ != nullptr && kSharesStates && SumProgram<Program>) clear_remote_states(view);
  }

 private:
  using Program = typename View::Program;
  using State = typename Program::State;
  static constexpr bool kSharesStates = kReadsState<Program>;

  /// Is a pull less work? It also reads every state.
  bool prefers_pull(const View& view, const LaneOutput& output, const AccRound& at,
                    std::span<const Vertex> frontier) {
    remaining_edges_ -= std::min(remaining_edges_, pulled_ ? frontier_edges_ : edges_read_);
    executor_.for_each(frontier.size(), output, CountSenderEdges<View>{view, at, frontier.data()});
    frontier_edges_ = sum_over_ranks("edges of active vertices");
    const std::uint64_t already_sent = Program::kRepeats ? 0 : std::min(remaining_edges_, frontier_edges_);
    if (!pull_is_cheaper(frontier_edges_, remaining_edges_ - already_sent, vertices_)) return false;
    if constexpr (!Program::kRepeats) return true;
    // So many edges were pushed since the last count that this count is cheap beside them.
    executor_.for_each(view.last - view.first, output, CountRemainingEdges<View>{{view, at}, in_.offsets()});
    remaining_edges_ = sum_over_ranks("edges that lead to vertices");
    return pull_is_cheaper(frontier_edges_, remaining_edges_, vertices_);
  }
  /// Returns the lanes' second sum, added over ranks.
  std::uint64_t sum_over_ranks(const char* label) {
    counts_.read();
    return part_.router().sum(counts_.consume(1), label);
  }

  /// Exchanges the bits of active vertices, and their states if compute() reads them. A bound that this rank
  /// has sent is never below the vertex's state.
  void share_senders(const View& view, std::span<const Vertex> frontier) {
    shared_bits_->share(senders_);
    if constexpr (!kSharesStates) return;
    constexpr const char* kLabel = "states of active vertices";
    if constexpr (E::kBinsByLevel) {
      host_router_.share_changed(view.states, frontier, kLabel);
    } else {
      executor_.wait(kLabel);
      part_.router().share(view.states, kLabel, 1, executor_.stream());
    }
  }
  /// A rank's copies of remote states hold sums not yet sent: here, zero.
  void clear_remote_states(const View& view) {
    executor_.fill(view.states, 0, view.first * sizeof(State));
    executor_.fill(view.states + view.last, 0, (vertices_ - view.last) * sizeof(State));
  }

  const RankPart& part_;
  E& executor_;
  LaneCounts<E>& counts_;
  Adjacency& in_;
  SharedBits<E>* shared_bits_;
  Router host_router_;      ///< for states in host memory
  std::uint32_t* senders_;  ///< bits of active vertices
  std::uint64_t vertices_;
  AccDirection requested_;
  bool pulled_ = false;
  /// Lower bound of the edges of vertices that have not sent. Parts of a sum are sent once, after which the
  /// state is final; vertices with bounds at the current level may send again.
  std::uint64_t remaining_edges_;
  std::uint64_t frontier_edges_ = 0, edges_read_ = 0;  ///< of the last round
};

}  // namespace sluice::acc
