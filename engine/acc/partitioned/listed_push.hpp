// A rank's part of the rounds of votes and aggregations on a GPU: what owned_push.hpp does with the host's
// threads, by the bodies of partitioned/round_output.hpp. States, lists and the front stay on the device;
// what leaves for other ranks is written by a kernel to page-locked memory, in blocks as they travel, and
// what comes is read there. Levels are one bin wide: the next one is found by looking through the states of
// own vertices, which a GPU does in no time.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/options.hpp"
#include "engine/acc/partitioned/adjacency.hpp"
#include "engine/acc/partitioned/listed_pull.hpp"
#include "engine/acc/partitioned/round_output.hpp"
#include "engine/acc/vote_direction.hpp"
#include "engine/core/error.hpp"

namespace sluice::acc {

template <AccProgram Program, class Team>
class ListedPush {
 public:
  using State = typename Program::State;
  static constexpr std::uint64_t kBins = 1;

  /// `options` are a vote's.
  ListedPush(const AccGraph& graph, const Program& program, const AccOptions& options = {})
      : device_(graph.device()),
        rows_(*graph.owned()),
        vertices_(graph.vertices()),
        own_(static_cast<unsigned>(rows_.ranks().rank())),
        ranks_(static_cast<unsigned>(rows_.ranks().size())),
        team_(device_, rows_.lists().edges),
        boundaries_(device_, ranks_ + 1, "ranges of ranks"),
        states_(device_, vertices_, "vertex states"),
        marks_(device_, words(), "active vertices"),
        settled_(device_, VoteProgram<Program> ? words() : 0, "settled vertices"),
        lists_(device_, vertices_, "worklists"),
        front_(device_, rows_.lists().vertices, "worklists"),
        counts_(device_, ranks_ + Found::kSums + 1, "counts"),
        found_(counts_.size()),
        blocks_(ranks_),
        all_(vertices_, "results") {
    std::vector<std::uint64_t> boundaries(ranks_ + 1);
    for (unsigned r = 0; r <= ranks_; ++r) boundaries[r] = rows_.boundary(r);
    copy_to_device(device_, boundaries_.data(), boundaries.data(), boundaries_.bytes());
    can_pull_ = VoteProgram<Program> && graph.has_in_edges() && options.direction != AccDirection::push &&
                make_both();
    if (!can_pull_) out_.emplace(device_, rows_, rows_.out(), front_.size());
    unsigned long long* const sums = counts_.data() + ranks_;
    notes_ = {lists_.data(), boundaries_.data(), counts_.data(), sums, sums + Found::kSums};
    view_ = {program,       rows_.first(),   rows_.last(),       out_->offsets(), states_.data(),
             marks_.data(), settled_.data(), boundaries_.data(), ranks_,          own_};
  }

  const OwnedRows& rows() const { return rows_; }
  /// In host memory, once finished.
  const State* states() const { return all_.data(); }

  /// States to begin with; of a vote, who is active in the first round. All ranks call it.
  void start() {
    constexpr bool kSums = SumProgram<Program>;
    const auto states = first_states(rows_, view_.program, vertices_, !kSums, device_.threads());
    copy_to_device(device_, states_.data(), states.data(), states_.bytes());
    team_.fill(marks_.data(), 0, marks_.bytes());
    team_.fill(settled_.data(), 0, settled_.bytes());
    team_.fill(counts_.data(), 0, counts_.bytes());
    if constexpr (VoteProgram<Program>) {
      team_.each(vertices_, notes_, StartVote<Program>{view_});
      if (can_pull_) team_.each(own_rows(), notes_, SettleUnreachable<Program>{view_, in_lists().offsets()});
      read_found();
      take_front();
    }
  }

  bool can_pull() const { return can_pull_; }
  /// Own vertices that are active in the round to come of a vote.
  VoteFront front() const { return {front_size_, front_edges_}; }

  /// Active vertices of a vote push.
  RoundWork push(const AccRound& at) {
    RoundWork work{.active = front_size_};
    push_front(at);
    read_found();
    note(work);
    for (unsigned r = 0; r < ranks_; ++r) work.sent += r == own_ ? 0 : found_[r];
    pack(at);
    if (work.found + work.sent > 0) work.next = 0;
    return work;
  }

  /// Vertices of a vote that are not settled pull; nothing is sent but who is active.
  RoundWork pull(const AccRound& at) {
    RoundWork work{.active = front_size_};
    mark_front();
    const std::uint64_t first = rows_.first(), last = rows_.last();
    const std::uint64_t words = first < last ? (last - 1) / kBitsOfWord - first / kBitsOfWord + 1 : 0;
    in_lists().over_wanted(
        team_,
        [&](const std::uint64_t* begins, unsigned partitions, unsigned long long* counts) {
          team_.each(words, notes_, CountUnsettled<Program>{view_, begins, partitions, counts});
        },
        [&](const SweepPage& page) {
          team_.over_first({page.begin, page.end, in_lists().offsets()}, notes_,
                           PullEdges<Program>{view_, at, page.sources, page.weights});
        });
    team_.fill(marks_.data(), 0, marks_.bytes());
    read_found();
    note(work);
    std::fill(blocks_.begin(), blocks_.end(), RoundExchange::Block{});
    if (work.found > 0) work.next = 0;
    return work;
  }

  /// Those of the level at work push until none is left here.
  RoundWork round(const AccRound& at, std::uint64_t) {
    RoundWork work;
    while (front_size_ > 0) {
      work.active += front_size_;
      push_front(at);
      read_found();
      take_front();
    }
    work.edges = new_edges();
    if (pack(at) && found_[at_lowest()] == at.level) work.next = 0;
    return work;
  }
  std::span<const RoundExchange::Block> blocks() const { return blocks_; }

  /// What other ranks have sent in that round; then it ends.
  void take(std::span<const RoundExchange::Block> received, const AccRound& at) {
    std::uint64_t bytes = 0;
    for (const auto& block : received) bytes += block.size();
    inbox_.reserve(device_, bytes / kWord, "what comes from other ranks");
    auto* to = reinterpret_cast<std::byte*>(inbox_.data());
    for (const auto& block : received) {
      std::memcpy(to, block.data(), block.size());
      const std::uint64_t count = Block::count(block.size());
      team_.each(count, notes_, TakeEntries<Program>{view_, at, Block::at(to, count)});
      to += block.size();
    }
    if (bytes > 0) read_found();
    take_front();
  }

  /// The lowest level of own vertices from `least` on, or kNoLevel; all below are done.
  std::uint64_t lowest(std::uint64_t least) {
    clear_lowest();
    team_.each(own_rows(), notes_, LowestLevel<Program>{view_, least});
    read_found();
    return found_[at_lowest()];
  }
  void open(std::uint64_t level) {
    team_.each(own_rows(), notes_, OpenLevel<Program>{view_, level});
    read_found();
    take_front();
  }

  /// Makes all states true on all ranks, in host memory, and says what that took. All ranks call it.
  void finish(AccStats& stats) {
    team_.wait("the last round");
    const std::uint64_t first = rows_.first();
    copy_to_host(device_, all_.data() + first, states_.data() + first, own_rows() * sizeof(State));
    rows_.share(all_.data(), "the results");
    out_->place().add_traffic(stats);
    if (in_) in_->place().add_more_traffic(stats);
    stats.kernel_launches = team_.launches();
  }

 private:
  using Block = EntryBlock<State>;
  static constexpr std::uint64_t kWord = sizeof(std::uint64_t);

  std::uint64_t words() const { return (vertices_ + kBitsOfWord - 1) / kBitsOfWord; }
  std::uint64_t own_rows() const { return rows_.last() - rows_.first(); }
  /// Where found_ has the edges that were looked at, of a vote those of vertices that were listed, and the
  /// lowest value.
  std::size_t at_edges() const { return ranks_; }
  std::size_t at_listed_edges() const { return ranks_ + 1; }
  std::size_t at_lowest() const { return ranks_ + Found::kSums; }

  /// For pushes and pulls. False: there is no room for the lists in both directions, nor for bits that
  /// travel.
  bool make_both() {
    try {
      if (ranks_ > 1) outbox_.reserve(device_, (words() + 1) / 2, "active vertices");
      out_.emplace(device_, rows_, rows_.out(), front_.size(), rows_.symmetric() ? 1u : 2u);
      if (rows_.symmetric()) return true;
      // Where out-lists are read in place, and these cannot be, pushes are less work.
      if (out_->paged() || !rows_.has_pages(rows_.in())) {
        in_.emplace(device_, rows_, rows_.in(), 0);
        return true;
      }
    } catch (const BudgetError&) {
    }
    in_.reset();
    out_.reset();
    outbox_ = {};
    return false;
  }
  ListedLists& in_lists() { return in_ ? *in_ : *out_; }

  void read_found() { team_.read(found_.data(), counts_.data(), found_.size(), "a round's kernels"); }
  std::uint64_t new_edges() { return found_[at_edges()] - std::exchange(edges_before_, found_[at_edges()]); }
  void clear_lowest() { team_.fill(counts_.data() + at_lowest(), 0xff, sizeof(std::uint64_t)); }

  /// Own vertices that were found, as was read last, are the next front.
  void take_front() {
    front_size_ = found_[own_];
    front_edges_ = found_[at_listed_edges()] - std::exchange(listed_edges_before_, found_[at_listed_edges()]);
    if (front_size_ == 0) return;
    const Vertex* const listed = lists_.data() + rows_.first();
    team_.each(front_size_, notes_, TakeFront<Program>{view_, listed, front_.data()});
    team_.fill(counts_.data() + own_, 0, sizeof(std::uint64_t));
    found_[own_] = 0;
  }

  /// What a vote's round has found, as was read last.
  void note(RoundWork& work) {
    work.edges = new_edges();
    work.found = found_[own_];
    work.found_edges = found_[at_listed_edges()] - listed_edges_before_;
  }

  void push_front(const AccRound& at) {
    out_->over_listed(team_, notes_, front_.data(), front_size_, rows_.first(),
                      [&](const Vertex* vertices, std::uint64_t count, const SweepPage& page) {
                        team_.over_lists({vertices, 0, count, rows_.first(), out_->offsets()}, notes_,
                                         PushEdges<Program>{view_, at, page.sources, page.weights});
                      });
  }

  /// Makes marks_ the bits of all vertices that are active, on any rank.
  void mark_front() {
    team_.each(front_size_, notes_, MarkFront{front_.data(), marks_.data()});
    if (ranks_ == 1) return;
    auto* const bits = reinterpret_cast<std::uint32_t*>(outbox_.data());
    std::fill_n(bits, words(), 0u);
    team_.wait("active vertices");
    if (own_rows() > 0) {
      const std::uint64_t begin = rows_.first() / kBitsOfWord, end = (rows_.last() - 1) / kBitsOfWord + 1;
      copy_to_host(device_, bits + begin, marks_.data() + begin, (end - begin) * sizeof(std::uint32_t));
    }
    rows_.share_bits(bits, "active vertices");
    copy_to_device(device_, marks_.data(), bits, marks_.bytes());
    team_.each(words(), notes_, SettleMarked{marks_.data(), settled_.data()});
  }

  /// Makes blocks of what other ranks' vertices were sent. False: nothing.
  bool pack(const AccRound& at) {
    std::uint64_t bytes = 0;
    for (unsigned r = 0; r < ranks_; ++r) bytes += r == own_ ? 0 : Block::bytes(found_[r]);
    std::fill(blocks_.begin(), blocks_.end(), RoundExchange::Block{});
    if (bytes == 0) return false;
    outbox_.reserve(device_, bytes / kWord, "what goes to other ranks");
    clear_lowest();
    auto* to = reinterpret_cast<std::byte*>(outbox_.data());
    for (unsigned r = 0; r < ranks_; ++r) {
      if (r == own_ || found_[r] == 0) continue;
      blocks_[r] = {to, Block::bytes(found_[r])};
      std::memset(to + blocks_[r].size() - kWord, 0, kWord);  // its end may hold no entry
      const Vertex* const vertices = lists_.data() + rows_.boundary(r);
      team_.each(found_[r], notes_, PackEntries<Program>{view_, at, vertices, Block::at(to, found_[r])});
      team_.fill(counts_.data() + r, 0, sizeof(std::uint64_t));
      to += blocks_[r].size();
    }
    read_found();
    return true;
  }

  const Device& device_;
  const OwnedRows& rows_;
  std::uint64_t vertices_;
  unsigned own_, ranks_;
  Team team_;
  Buffer<std::uint64_t> boundaries_;
  Buffer<State> states_;
  Buffer<std::uint32_t> marks_, settled_;
  Buffer<Vertex> lists_, front_;
  Buffer<unsigned long long> counts_;  ///< as Found has them, one after the other
  std::vector<std::uint64_t> found_;   ///< the same as the host has last read them
  std::vector<RoundExchange::Block> blocks_;
  Staging<std::uint64_t> outbox_, inbox_;
  std::optional<ListedLists> out_, in_;  ///< in-lists, where they are others
  bool can_pull_ = false;
  Found notes_;
  ListedView<Program> view_;
  std::uint64_t front_size_ = 0, front_edges_ = 0, edges_before_ = 0, listed_edges_before_ = 0;
  HostArray<State> all_;
};

}  // namespace sluice::acc
