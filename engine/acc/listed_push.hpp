// A rank's part of the rounds of votes and aggregations on a GPU: what owned_push.hpp does with the host's
// threads, by the bodies of listed.hpp. States, lists and the front stay on the device; what leaves for other
// ranks is written by a kernel to page-locked memory, in blocks as they travel, and what comes is read there.
// Levels are one bin wide: the next one is found by looking through the states of own vertices, which a GPU
// does in no time.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/acc/acc_graph.hpp"
#include "engine/acc/listed.hpp"
#include "engine/acc/listed_place.hpp"
#include "engine/acc/options.hpp"

namespace sluice::acc {

template <AccProgram Program, class Team>
class ListedPush {
 public:
  using State = typename Program::State;
  static constexpr std::uint64_t kBins = 1;

  ListedPush(const AccGraph& graph, const Program& program)
      : device_(graph.device()),
        rows_(*graph.owned()),
        vertices_(graph.vertices()),
        own_(static_cast<unsigned>(rows_.ranks().rank())),
        ranks_(static_cast<unsigned>(rows_.ranks().size())),
        team_(device_, rows_.lists().edges),
        offsets_(device_, rows_.lists().vertices + 1, "the graph's offsets"),
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
    place_lists();
    unsigned long long* const sums = counts_.data() + ranks_;
    notes_ = {lists_.data(), boundaries_.data(), counts_.data(), sums, sums + Found::kSums};
    view_ = {program,       rows_.first(),   rows_.last(),       offsets_.data(), states_.data(),
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
      read_found();
      take_front();
    }
  }

  /// Active vertices of a vote push.
  RoundWork round(const AccRound& at) {
    RoundWork work{.active = front_size_};
    push(at);
    read_found();
    work.edges = new_edges();
    const bool packed = pack(at);
    if (packed || found_[own_] > 0) work.next = 0;
    return work;
  }

  /// Those of the level at work push until none is left here.
  RoundWork round(const AccRound& at, std::uint64_t) {
    RoundWork work;
    while (front_size_ > 0) {
      work.active += front_size_;
      push(at);
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
    team_.each(rows_.last() - rows_.first(), notes_, LowestLevel<Program>{view_, least});
    read_found();
    return found_[at_lowest()];
  }
  void open(std::uint64_t level) {
    team_.each(rows_.last() - rows_.first(), notes_, OpenLevel<Program>{view_, level});
    read_found();
    take_front();
  }

  /// Makes all states true on all ranks, in host memory, and says what that took. All ranks call it.
  void finish(AccStats& stats) {
    team_.wait("the last round");
    const std::uint64_t first = rows_.first();
    copy_to_host(device_, all_.data() + first, states_.data() + first,
                 (rows_.last() - first) * sizeof(State));
    rows_.share(all_.data(), "the results");
    place_->add_traffic(stats);
    stats.kernel_launches = team_.launches();
  }

 private:
  using Block = EntryBlock<State>;
  static constexpr std::uint64_t kWord = sizeof(std::uint64_t);

  std::uint64_t words() const { return (vertices_ + kBitsOfWord - 1) / kBitsOfWord; }
  /// Where found_ has the edges that were looked at, and the lowest value.
  std::size_t at_edges() const { return ranks_; }
  std::size_t at_lowest() const { return ranks_ + Found::kSums; }

  void place_lists() {
    std::vector<std::uint64_t> boundaries(ranks_ + 1);
    for (unsigned r = 0; r <= ranks_; ++r) boundaries[r] = rows_.boundary(r);
    copy_to_device(device_, boundaries_.data(), boundaries.data(), boundaries_.bytes());
    copy_to_device(device_, offsets_.data(), rows_.lists().offsets, offsets_.bytes());
    {
      const bool paged = rows_.has_pages(rows_.out());
      if (paged) sorted_ = Buffer<Vertex>(device_, front_.size(), "worklists");
      // Slots take what is left: keep room for what is known once they are there.
      const Buffer<std::uint64_t> kept(device_, paged ? 4 * rows_.most_partitions() + 1 : 0, "partitions");
      place_.emplace(device_, rows_, rows_.out());
    }
    if (place_->pages() == nullptr) return;
    const std::vector<std::uint64_t> begins = place_->boundaries();
    parts_ = static_cast<unsigned>(begins.size() - 1);
    begins_ = Buffer<std::uint64_t>(device_, begins.size(), "partitions");
    copy_to_device(device_, begins_.data(), begins.data(), begins_.bytes());
    waiting_ = Buffer<unsigned long long>(device_, 2 * std::uint64_t{parts_}, "partitions");
    places_ = Buffer<unsigned long long>(device_, parts_, "partitions");
  }

  void read_found() { team_.read(found_.data(), counts_.data(), found_.size(), "a round's kernels"); }
  std::uint64_t new_edges() { return found_[at_edges()] - std::exchange(edges_before_, found_[at_edges()]); }
  void clear_lowest() { team_.fill(counts_.data() + at_lowest(), 0xff, sizeof(std::uint64_t)); }

  /// Own vertices that were found, as was read last, are the next front.
  void take_front() {
    front_size_ = found_[own_];
    if (front_size_ == 0) return;
    const Vertex* const listed = lists_.data() + rows_.first();
    team_.each(front_size_, notes_, TakeFront<Program>{view_, listed, front_.data()});
    team_.fill(counts_.data() + own_, 0, sizeof(std::uint64_t));
    found_[own_] = 0;
  }

  ListedVertices listed(const Vertex* vertices, std::uint64_t count) const {
    return {vertices, 0, count, rows_.first(), offsets_.data()};
  }

  void push(const AccRound& at) {
    if (front_size_ == 0) return;
    const auto from = [&](const Vertex* vertices, std::uint64_t count, const SweepPage& page) {
      team_.over_lists(listed(vertices, count), notes_,
                       PushEdges<Program>{view_, at, page.sources, page.weights});
    };
    if (place_->pages() == nullptr) return from(front_.data(), front_size_, place_->whole());
    const std::vector<std::uint64_t> waiting = sort_by_partition();
    std::vector<std::uint64_t> begins(parts_ + 1);
    for (unsigned p = 0; p < parts_; ++p) begins[p + 1] = begins[p] + waiting[p];
    place_->pages()->for_each([&](std::uint32_t p) { return waiting[parts_ + p]; },
                              [&](std::span<const SweepPage> pages) {
                                for (const SweepPage& page : pages)
                                  from(sorted_.data() + begins[page.partition], waiting[page.partition],
                                       page);
                                team_.wait("partitions of lists");
                              });
  }

  /// Returns how many vertices of the front each partition has, and how many edges they.
  std::vector<std::uint64_t> sort_by_partition() {
    const ListedVertices front = listed(front_.data(), front_size_);
    std::vector<std::uint64_t> waiting(waiting_.size());
    team_.fill(waiting_.data(), 0, waiting_.bytes());
    team_.each(front_size_, notes_, CountInPartitions{front, begins_.data(), parts_, waiting_.data()});
    team_.read(waiting.data(), waiting_.data(), waiting.size(), "counting by partition");
    std::vector<std::uint64_t> places(parts_);
    for (unsigned p = 1; p < parts_; ++p) places[p] = places[p - 1] + waiting[p - 1];
    copy_to_device(device_, places_.data(), places.data(), places_.bytes());
    team_.each(front_size_, notes_,
               SortByPartition{front, begins_.data(), parts_, places_.data(), sorted_.data()});
    return waiting;
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
  Buffer<EdgeIndex> offsets_;
  Buffer<std::uint64_t> boundaries_;
  Buffer<State> states_;
  Buffer<std::uint32_t> marks_, settled_;
  Buffer<Vertex> lists_, front_, sorted_;
  Buffer<unsigned long long> counts_;  ///< as Found has them, one after the other
  std::vector<std::uint64_t> found_;   ///< the same as the host has last read them
  std::vector<RoundExchange::Block> blocks_;
  Staging<std::uint64_t> outbox_, inbox_;
  unsigned parts_ = 0;
  Buffer<std::uint64_t> begins_;                 ///< [parts + 1] rows
  Buffer<unsigned long long> waiting_, places_;  ///< [2 * parts], [parts]
  std::optional<ListedPlace> place_;
  Found notes_;
  ListedView<Program> view_;
  std::uint64_t front_size_ = 0, edges_before_ = 0;
  HostArray<State> all_;
};

}  // namespace sluice::acc
