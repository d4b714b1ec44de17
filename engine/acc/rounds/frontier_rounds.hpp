// Rounds of votes and aggregations, for a whole graph or a rank's part, in the executor's memory. The host
// keeps vertices in bins by level. A GPU has a single bin: it finds the next level faster by reading the
// states of own vertices.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/rounds/entry_exchange.hpp"
#include "engine/acc/rounds/lane_counts.hpp"
#include "engine/acc/rounds/level_pulls.hpp"
#include "engine/acc/rounds/marked_list.hpp"
#include "engine/acc/rounds/own_lists.hpp"
#include "engine/acc/rounds/pull_bodies.hpp"
#include "engine/acc/rounds/push_bodies.hpp"
#include "engine/acc/rounds/vertex_states.hpp"
#include "engine/acc/vote_direction.hpp"
#include "engine/exchange/agreement.hpp"
#include "engine/memory/device_ownership.hpp"
#include "engine/traverse/level_bins.hpp"
#include "engine/traverse/traverser.hpp"

namespace sluice::acc {

template <AccProgram Program, Traverser E, Residency R>
class FrontierRounds {
 public:
  using State = typename Program::State;

  /// Keeps references.
  FrontierRounds(const AccGraph& graph, const Program& program, const AccOptions& options)
      : device_(graph.device()),
        part_(graph.rank_part()),
        own_rank_(static_cast<unsigned>(part_.ranks().rank())),
        ranks_(static_cast<unsigned>(part_.ranks().size())),
        may_pull_((VoteProgram<Program> || kPullsLevels) && may_pull(graph, options)),
        filter_(options.filter),
        executor_(device_, part_.lists().edges),
        owners_(device_, part_.owners(), "ranges of ranks"),
        states_(device_, part_, executor_, graph.vertices()),
        marks_(device_, kBinned && R::kComplete ? 0 : words(), "active vertices"),
        next_marks_(device_, kBitmap || (may_pull_ && (kPullsLevels || always_ballots())) ? words() : 0,
                    "active vertices"),
        settled_(device_, VoteProgram<Program> ? words() : 0, "settled vertices"),
        lists_(device_, kBinned && ranks_ == 1 ? 0 : graph.vertices(), "worklists"),
        frontier_(device_, kBinned ? 0 : own_rows(), "worklists"),
        counts_(device_, executor_, ranks_),
        marked_(device_, executor_, own_words(), kBitmap || (kBallots && filter_ != AccFilter::online)) {
    if constexpr (!R::kComplete) entries_.emplace(device_, part_);
    own_lists_.emplace(device_, part_, executor_, owners_.view(), may_pull_, AggregationProgram<Program>);
    output_ = counts_.output(lists_.data(), owners_.view().begins);
    view_ = {program,        part_.first(),   part_.last(),    own_lists_->out().offsets(),
             states_.data(), marks_.data(),   settled_.data(), owners_.view(),
             own_rank_,      always_ballots()};
    if constexpr (kBinned) executor_.levels().resize(kLevelBins<Program>);
    if constexpr (kPullsLevels)
      if (own_lists_->has_in_lists())
        level_pulls_.emplace(graph, options.direction, executor_, counts_, *own_lists_, next_marks_.data());
  }

  const RankPart& part() const { return part_; }
  const State* states() const { return states_.data(); }  ///< in the executor's memory

  /// Sets initial states, and for a vote the vertices active in the first round. All ranks call it.
  void start() {
    if constexpr (!R::kComplete)
      states_.begin(own_lists_->out().offsets(), view_.program, !SumProgram<Program>);
    executor_.fill(marks_.data(), 0, marks_.bytes());
    executor_.fill(settled_.data(), 0, settled_.bytes());
    counts_.clear();
    if constexpr (kBinned) executor_.for_each(own_rows(), output_, StartLevels<View>{view_});
    // Rounds of an aggregation pull on all ranks, or on none.
    if (kPullsLevels && may_pull_ &&
        any_left(&part_.ranks(), level_pulls_ ? 0 : 1, "whether rounds can pull"))
      level_pulls_.reset();
    if constexpr (VoteProgram<Program>) {
      executor_.for_each(states_.size(), output_, StartVote<View>{view_});
      if (own_lists_->has_in_lists())
        executor_.for_each(own_rows(), output_, SettleUnreachable<View>{view_, own_lists_->in().offsets()});
      if (view_.ballot) marked_.list(view_, output_);
      counts_.read();
      load_frontier();
    }
  }

  bool can_pull() const { return own_lists_->has_in_lists(); }
  /// Own vertices that are active in a vote's next round.
  FrontierSize frontier() const { return {frontier_size_, frontier_edges_}; }

  /// A vote's round in which active vertices push.
  RoundWork push(const AccRound& at) {
    if constexpr (kBitmap) frontier_to_list();
    RoundWork work{.active = frontier_size_};
    push_frontier(at);
    counts_.read();
    add_counts(work);
    if constexpr (!R::kComplete) {
      for (unsigned r = 0; r < ranks_; ++r) work.sent += r == own_rank_ ? 0 : counts_.listed(r);
      pack();
    }
    if (work.found + work.sent > 0) work.next = 0;
    return work;
  }

  /// A vote's round in which unsettled vertices pull; ranks exchange only the bits of active vertices.
  RoundWork pull(const AccRound& at) {
    RoundWork work{.active = frontier_size_};
    view_.ballot = always_ballots();
    // Makes marks_ the bits of all active vertices, on any rank.
    if (!is_bitmap_)
      executor_.for_each(frontier_size_, output_,
                         MarkSenders<View>{view_, at, active_.data(), marks_.data()});
    executor_.fill(next_marks_.data(), 0, next_marks_.bytes());
    if (!R::kComplete && ranks_ > 1) {
      own_lists_->shared_bits()->share(marks_.data());
      executor_.for_each(words(), output_, SettleMarked{marks_.data(), settled_.data()});
    }
    const auto unsettled = [&](const OwnershipView& partitions, unsigned long long* counts) {
      return CountUnsettled<View>{view_, partitions, counts};
    };
    own_lists_->in().visit_rows(executor_, own_words(), unsettled, [&](const SweepPage& page) {
      executor_.first_edge({page.begin, page.end, own_lists_->in().offsets()}, output_,
                           PullEdges<View>{view_, at, page.sources, page.weights, next_marks_.data()});
    });
    if (kBitmap || always_ballots()) {
      std::swap(marks_, next_marks_);
      view_.marks = marks_.data();
      is_bitmap_ = kBitmap;
    } else {
      executor_.fill(marks_.data(), 0, marks_.bytes());
    }
    if (view_.ballot) marked_.list(view_, output_);
    counts_.read();
    add_counts(work);
    if constexpr (!R::kComplete) entries_->clear();
    if (work.found > 0) work.next = 0;
    return work;
  }

  /// The number of levels that have bins of their own.
  std::uint64_t bins() const { return kBinned ? kLevelBins<Program> : 1; }
  /// The lowest level of an own vertex that is at least `min_level`, or kNoLevel; lower levels are done.
  std::uint64_t lowest(std::uint64_t min_level) {
    if constexpr (kBinned) {
      return executor_.levels().lowest_beyond(min_level, [&](Vertex v) { return view_.level(v); });
    } else {
      counts_.clear_lowest();
      executor_.for_each(own_rows(), output_, LowestLevel<View>{view_, {nullptr, part_.first()}, min_level});
      counts_.read();
      return counts_.lowest();
    }
  }
  /// Called after lowest(): makes `level` the level of the first bin.
  void open_level(std::uint64_t level) {
    if constexpr (kBinned) {
      executor_.levels().move_window(level, [&](Vertex v) { return view_.level(v); });
    } else {
      view_.ballot = always_ballots();
      executor_.for_each(own_rows(), output_, OpenLevel<View>{view_, level});
      if (view_.ballot) marked_.list(view_, output_);
    }
  }

  /// Vertices of the current level, in that bin, send. A rank pushes until it has none left, unless the graph
  /// is whole or one process chooses directions: then once. `next` is the lowest bin that then has vertices,
  /// on this rank or where its entries go. All ranks call it.
  RoundWork round(const AccRound& at, std::uint64_t bin) {
    RoundWork work;
    const bool once = R::kComplete || (level_pulls_ && ranks_ == 1);
    bool any = load_level(bin);
    if (level_pulls_ && level_pulls_->should_pull(view_, output_, at, active_)) {
      work.active = active_.size();
      view_.ballot = always_ballots(), any = false;
      level_pulls_->pull(view_, output_, at, active_);
      if (view_.ballot) marked_.list(view_, output_);
    }
    for (; any; any = !once && load_level(bin)) {
      work.active += active_.size();
      push_frontier(at, bin);
    }
    if (kBinned || level_pulls_) counts_.read();
    work.edges = counts_.consume(kEdges);
    work.next = first_bin(bin);
    if constexpr (!R::kComplete) {
      if (const std::uint64_t level = pack(at.level); level != kNoLevel) {
        const std::uint64_t lowest = level - first_level(at);
        if (lowest < bins()) work.next = std::min(work.next, lowest);
      }
    }
    return work;
  }

  /// Did the last round pull?
  bool pulled() const { return level_pulls_ && level_pulls_->pulled(); }
  /// Were this rank's next worklists found by a ballot of marks?
  bool balloted() const { return view_.ballot; }

  /// Ends a round in which this rank did `local`: sends entries to their owners. Returns the work of all
  /// ranks. All ranks call it.
  RoundWork end_round(const RoundWork& local, const AccRound& at) {
    RoundWork total = local;
    if constexpr (!R::kComplete) {
      total = entries_->exchange(local);
      View listing = view_;
      listing.ballot = always_ballots();  // else marked own vertices are already listed
      entries_->receive(
          total.max_overflow, executor_.stream(),
          [&](std::size_t rank, std::uint64_t begin, const Entries& block, std::uint64_t count) {
            executor_.for_each(count, output_, PackEntries<View>{view_, listed_for(rank) + begin, block});
          },
          [&](const Entries& block, std::uint64_t count) {
            executor_.for_each(count, output_, ReceiveEntries<View>{listing, at, block});
          });
      const bool received = entries_->any_received();
      // The ballot also lists vertices listed before, so their edges must not count twice.
      if (received && always_ballots()) counts_.consume(kNextEdges), marked_.list(view_, output_);
      if (VoteProgram<Program> && received) counts_.read();
    }
    if constexpr (VoteProgram<Program>) load_frontier();
    if (level_pulls_) level_pulls_->end_round(total.edges);
    return total;
  }

  /// Sends every state from its owner to all ranks. All ranks call it.
  void finish(AccStats& stats) {
    executor_.wait("the last round");
    states_.share("the results");
    count(stats);
  }

  /// Charges the most memory that rounds allocate: on the host, an aggregation's bins.
  void plan(AccStats& stats) const {
    const std::uint64_t entries = level_pulls_ && ranks_ > 1 ? states_.size() * sizeof(State) : 0;
    if (kBinned)
      host_budget().charge_and_release(own_rows() * kBinCapacityFactor * sizeof(Vertex) + entries, "rounds");
    count(stats);
  }

 private:
  void count(AccStats& stats) const {
    own_lists_->add_traffic(stats);
    stats.kernel_launches = executor_.launches();
  }

  using Entries = EntryBlock<State>;
  using View = FrontierView<Program, R>;
  /// Bins may hold a vertex more than once, and grow by doubling.
  static constexpr std::uint64_t kBinCapacityFactor = 4;
  static constexpr bool kBinned = AggregationProgram<Program> && E::kBinsByLevel;
  /// Sums of lanes: edges read, and for a vote the edges of listed vertices.
  static constexpr unsigned kEdges = 0, kNextEdges = 1;
  /// Pulls write the next frontier as bits.
  static constexpr bool kBitmap = VoteProgram<Program> && E::kPullsIntoBits;
  static constexpr bool kBallots = !E::kPullsIntoBits && !R::kComplete;
  static constexpr bool kPullsLevels = PullableProgram<Program>;
  /// Is every worklist made by a ballot? Else lanes list vertices from pulls, next levels and other ranks: a
  /// ballot is four launches, and the host waits for one.
  bool always_ballots() const { return kBallots && filter_ == AccFilter::ballot; }

  std::uint64_t words() const { return words_of(0, states_.size()); }
  std::uint64_t own_rows() const { return part_.last() - part_.first(); }
  /// Number of words with bits of own vertices.
  std::uint64_t own_words() const { return words_of(part_.first(), part_.last()); }

  /// Makes own vertices that were listed or pulled, as of the last read, the next frontier.
  void load_frontier() {
    frontier_size_ = counts_.listed(own_rank_);
    active_ = {};
    frontier_edges_ = counts_.consume(kNextEdges);
    if (frontier_size_ == 0) return;
    if (!is_bitmap_) load_list();
    counts_.clear_list(own_rank_);
  }

  void load_list() {
    const Vertex* listed = lists_.data() + part_.first();
    if constexpr (R::kComplete) {
      std::swap(lists_, frontier_);
      output_.lists = lists_.data();
    }
    active_ = {frontier_.data(), frontier_size_};
    executor_.for_each(frontier_size_, output_, LoadFrontier<View>{view_, listed, frontier_.data()});
  }

  /// Converts a frontier of bits into a list.
  void frontier_to_list() {
    if (!std::exchange(is_bitmap_, false)) return;
    marked_.list(view_, output_);
    executor_.fill(marks_.data(), 0, marks_.bytes());
    counts_.read();
    const std::uint64_t edges = frontier_edges_;  // counted when they were pulled
    load_frontier();
    frontier_edges_ = edges;
  }

  /// Makes vertices of the current level the frontier. Returns false if none is left.
  bool load_level(std::uint64_t bin) {
    if constexpr (kBinned) {
      executor_.levels().collect(bin);
      active_ = executor_.levels().front();
    } else {
      counts_.read();
      load_frontier();
    }
    return !active_.empty();
  }
  /// The level of the first bin; and the first bin, from `begin` on, that has vertices.
  std::uint64_t first_level(const AccRound& at) {
    if constexpr (kBinned) return executor_.levels().window();
    return at.level;
  }
  std::uint64_t first_bin(std::uint64_t begin) {
    if constexpr (kBinned) {
      for (std::uint64_t bin = begin; bin < bins(); ++bin)
        if (executor_.levels().pending(bin) > 0) return bin;
    } else if (counts_.listed(own_rank_) > 0) {
      return begin;
    }
    return RoundWork::kNoBin;
  }

  /// Adds the counts of a vote's round, as of the last read.
  void add_counts(RoundWork& work) {
    work.edges = counts_.consume(kEdges);
    work.found = counts_.listed(own_rank_);
    work.found_edges = counts_.growth(kNextEdges);
  }

  /// Threads may fuse rounds of a bin only if lists are not paged. Lanes of a GPU either list activated
  /// vertices (online), or only mark them, and then the marks of all own vertices are scanned (ballot).
  void push_frontier(const AccRound& at, [[maybe_unused]] std::uint64_t bin = 0) {
    if constexpr (kBallots) view_.ballot = should_ballot(filter_, frontier_size_, own_rows());
    own_lists_->out().visit_vertices(
        executor_, active_.data(), active_.size(), [&](const VertexRange& vertices, const SweepPage& page) {
          const PushEdges<View> body{view_, at, page.sources, page.weights};
          if constexpr (kBinned) {
            executor_.for_each_edge(vertices, output_, body,
                                    own_lists_->out().paged() ? LevelBins::kNone : bin);
          } else if constexpr (kBitmap) {
            executor_.for_each_edge(vertices, output_, body, LevelBins::kNone, frontier_edges_);
          } else {
            executor_.for_each_edge(vertices, output_, body);
          }
        });
    if (view_.ballot) marked_.list(view_, output_);
  }

  /// Reached vertices of another rank.
  const Vertex* listed_for(std::size_t rank) const { return lists_.data() + part_.owners().begin(rank); }

  /// Packs the entries for other ranks' vertices. Returns the lowest level that they may activate: for bounds
  /// the lowest of theirs, else the current level; kNoLevel if there are none.
  std::uint64_t pack(std::uint64_t level = 0) {
    constexpr bool kBounds = BoundProgram<Program>;
    entries_->clear();
    if (kBounds) counts_.clear_lowest();
    bool any = false;
    for (unsigned r = 0; r < ranks_; ++r) {
      const std::uint64_t count = counts_.listed(r);
      if (r == own_rank_ || count == 0) continue;
      any = true;
      if constexpr (kBounds) executor_.for_each(count, output_, LowestLevel<View>{view_, {listed_for(r)}, 0});
      if (const auto block = entries_->reserve(r, count))
        executor_.for_each(count, output_, PackEntries<View>{view_, listed_for(r), *block});
      counts_.clear_list(r);
    }
    if (!any) return kNoLevel;
    counts_.read();
    return kBounds ? counts_.lowest() : level;
  }

  const Device& device_;
  const RankPart& part_;
  unsigned own_rank_, ranks_;
  bool may_pull_;
  AccFilter filter_;
  E executor_;
  DeviceOwnership owners_;
  VertexStates<State, E> states_;
  Buffer<std::uint32_t> marks_, next_marks_, settled_;
  Buffer<Vertex> lists_, frontier_;
  LaneCounts<E> counts_;
  MarkedList<E> marked_;
  std::optional<EntryExchange<State>> entries_;
  std::optional<OwnLists<E>> own_lists_;
  std::optional<LevelPulls<View, E>> level_pulls_;  ///< for aggregations that may pull
  LaneOutput output_;
  View view_;
  std::span<const Vertex> active_;  ///< the frontier, if it is a list
  bool is_bitmap_ = false;          ///< the frontier is marks_
  std::uint64_t frontier_size_ = 0, frontier_edges_ = 0;
};

}  // namespace sluice::acc
