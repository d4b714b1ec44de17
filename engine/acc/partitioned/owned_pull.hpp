// What a round that pulls does on a rank of the host backend: own vertices that are not settled look along
// their in-lists, where these are, for one that is active. Partitions whose vertices are all settled are not
// brought.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/acc/options.hpp"
#include "engine/acc/partitioned/owned_rows.hpp"
#include "engine/acc/program.hpp"
#include "engine/acc/whole_host/host_pull.hpp"
#include "engine/exec/thread_pool.hpp"

namespace sluice::acc {

template <VoteProgram Program>
class OwnedPull {
 public:
  using State = typename Program::State;

  /// `pages` are those of the out-lists, null where these are read in place: in-lists of an undirected graph
  /// are the same, others are brought in partitions of their own. Throws BudgetError where these find no
  /// room.
  OwnedPull(const OwnedRows& rows, const Program& program, Crew& crew, SweepPages* pages)
      : rows_(rows), program_(program), crew_(crew), pages_(pages), edges_(crew.size()) {
    if (rows_.symmetric()) return;
    own_pages_ = rows_.make_pages(rows_.in(), locks_);
    pages_ = own_pages_.get();
  }

  /// Vertices without in-edges are settled: nobody ever sends to them.
  void settle_unreachable(VertexBits& settled) {
    const EdgeIndex* const offsets = rows_.in().in.offsets;
    const std::uint64_t first_word = rows_.first() / kWordBits;
    crew_.blocks(words(rows_.first(), rows_.last()), kWordsAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                   for (std::uint64_t w = first_word + begin; w < first_word + end; ++w) {
                     std::uint64_t unreachable = 0;
                     for_each_bit(settled.missing_of_word(w, rows_.first(), rows_.last()), [&](unsigned bit) {
                       const std::uint64_t row = w * kWordBits + bit - rows_.first();
                       if (offsets[row] == offsets[row + 1]) unreachable |= std::uint64_t{1} << bit;
                     });
                     settled.word(w) |= unreachable;
                   }
                 });
  }

  /// Pulls into own vertices, which are settled once they have a value; calls note(v, thread) for those that
  /// became active. `front` has the bits of all that are active, on any rank. Returns how many edges that
  /// took.
  template <class Note>
  std::uint64_t pull(const AccRound& at, const VertexBits& front, State* states, VertexBits& settled,
                     Note&& note) {
    const auto into = [&](const SweepPage& page) { pull_rows(page, at, front, states, settled, note); };
    if (pages_ == nullptr) {
      const CsrView& in = rows_.in().in;
      into(SweepPage{0, 0, in.vertices, in.targets, in.weights});
    } else {
      waiting_.resize(pages_->size());
      for (std::uint64_t p = 0; p < waiting_.size(); ++p)
        waiting_[p] = settled.missing(rows_.first() + pages_->begin(p), rows_.first() + pages_->end(p));
      pages_->for_each([&](std::uint32_t p) { return waiting_[p]; },
                       [&](std::span<const SweepPage> pages) {
                         for (const SweepPage& page : pages) into(page);
                       });
    }
    std::uint64_t edges = 0;
    for (Mine& mine : edges_) edges += std::exchange(mine.edges, 0);
    return edges;
  }

  /// What partitions of in-lists have cost, where these are others.
  SweepTraffic traffic() const { return own_pages_ != nullptr ? own_pages_->traffic() : SweepTraffic{}; }

 private:
  static constexpr std::uint64_t kWordsAtOnce = 64;
  /// A pull looks at the beginning of a list, which is asked for so many vertices before.
  static constexpr std::uint64_t kListsAhead = 8;

  struct alignas(64) Mine {
    std::uint64_t edges = 0;
  };

  static std::uint64_t words(std::uint64_t begin, std::uint64_t end) {
    return begin < end ? (end - 1) / kWordBits - begin / kWordBits + 1 : 0;
  }

  template <class Note>
  void pull_rows(const SweepPage& page, const AccRound& at, const VertexBits& front, State* states,
                 VertexBits& settled, Note&& note) {
    const std::uint64_t first = rows_.first() + page.begin, last = rows_.first() + page.end;
    const std::uint64_t first_word = first / kWordBits;
    const EdgeIndex* const offsets = rows_.in().in.offsets;
    crew_.blocks(words(first, last), kWordsAtOnce,
                 [&](std::uint64_t begin, std::uint64_t end, unsigned thread) {
                   std::uint64_t edges = 0;
                   for (std::uint64_t w = first_word + begin; w < first_word + end; ++w) {
                     std::uint64_t found = 0;
                     for_each_bit(settled.missing_of_word(w, first, last), [&](unsigned bit) {
                       const std::uint64_t v = w * kWordBits + bit, row = v - rows_.first();
                       if (row + kListsAhead < page.end)
                         __builtin_prefetch(page.sources + offsets[row + kListsAhead]);
                       const InList list{static_cast<Vertex>(v), offsets[row], offsets[row + 1], page.sources,
                                         page.weights};
                       if (!pull_first(program_, at, list, front, states, edges)) return;
                       found |= std::uint64_t{1} << bit;
                       note(list.v, thread);
                     });
                     settled.word(w) |= found;
                   }
                   edges_[thread].edges += edges;
                 });
  }

  const OwnedRows& rows_;
  Program program_;
  Crew& crew_;
  SweepPages* pages_;
  std::vector<Mine> edges_;  ///< [threads]
  std::vector<PageLock> locks_;
  std::unique_ptr<SweepPages> own_pages_;
  std::vector<std::uint64_t> waiting_;  ///< [partitions] vertices that are not settled
};

}  // namespace sluice::acc
