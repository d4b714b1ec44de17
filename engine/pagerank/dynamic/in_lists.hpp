// The in-edges of affected vertices: all in memory, or brought in partitions. Only affected vertices read
// their lists, so a partition without any is not brought. Members (affected vertices) are sorted by
// partition, and by class within, so that each is handled while its list is present.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/bits.hpp"
#include "engine/exec/memory/copy_lane.hpp"
#include "engine/memory/sweep_pages.hpp"
#include "engine/pagerank/dynamic/rank_state.hpp"

namespace sluice::pagerank {

/// Sorts members by partition and class; weights are the edges that are read of each.
template <class Share>
struct MembersByPartition {
  DynamicView<Share> view;
  VertexList members;
  ListSizes sizes;
  OwnershipView ranges;

  SLUICE_HD Vertex item(std::uint64_t i) const { return members.at(sizes, i); }
  SLUICE_HD unsigned key(std::uint64_t i) const {
    const Vertex v = item(i);
    return ranges.owner(v - view.first) * kListClasses + view.class_of(v);
  }
  SLUICE_HD std::uint64_t weight(std::uint64_t i) const { return view.edges_read(item(i)); }
};

/// Finds vertices that are no members and have an in-neighbour whose bit in `bits` is set.
template <class Share>
struct FindByInList {
  DynamicView<Share> view;  ///< with the lists that are present
  const std::uint32_t* bits;
  std::uint8_t* found;  ///< [own_rows]
  std::uint64_t begin;  ///< the first row, among own ones

  template <class Group, class Counters>
  SLUICE_HD bool operator()(const Group& group, std::uint64_t i, Counters&) const {
    const std::uint64_t row = begin + i;
    if (view.flags[row] & kMember) return true;
    const CsrView& in = view.vertices.in;
    const EdgeIndex last = in.offsets[view.first + row + 1];
    for (EdgeIndex base = in.offsets[view.first + row]; base < last; base += Group::kSize) {
      const EdgeIndex edge = base + group.rank();
      if (group.ballot(edge < last && is_marked(bits, in.targets[edge])) == 0) continue;
      if (group.rank() == 0) found[row] = 1;
      break;
    }
    return true;
  }
};

class InLists {
 public:
  /// For the vertices [first, last). Slots take the device memory that is left; a GPU always has slots. Keeps
  /// references. Throws BudgetError if two partitions do not fit.
  InLists(const Device& device, const Graph& graph, bool weighted, std::uint64_t first, std::uint64_t last,
          const PagingOptions& paging);

  /// Whether lists come in partitions, and may be present only while they are gathered.
  bool is_paged() const { return pages_ != nullptr; }
  /// Whether lists stay where the executor reads them, once they were brought.
  bool are_resident() const { return pages_ == nullptr || pages_->all_fit(); }
  /// Traffic of the lists; and how many partitions were needed in some iteration.
  Traffic traffic() const { return pages_ ? pages_->traffic() : Traffic{}; }
  std::uint64_t partitions_read() const {
    return pages_ ? static_cast<std::uint64_t>(std::count(was_read_.begin(), was_read_.end(), 1)) : 1;
  }

  /// Finds the sums of members that are not known. If the method computes ranks in closed form, it also finds
  /// the next ranks of members with a stored self-loop.
  template <class State, class Share>
  void gather(const State& state, const DynamicView<Share>& view) {
    const VertexList members = state.members(state.current());
    if (!pages_) return gather_members(state, view, members, state.sizes);
    Vertex* const sorted = state.members(1 - state.current()).short_rows;  // a list that is not in use now
    state.executor.sort_by_key(MembersByPartition<Share>{view, members, state.sizes, pages_->owners()},
                               state.affected(), sorted, keys_);
    for (std::size_t p = 0; p < waiting_.size(); ++p) {
      waiting_[p] = 0;
      for (unsigned c = 0; c < kListClasses; ++c) waiting_[p] += keys_.weights[p * kListClasses + c];
    }
    gather_unread(state, view, sorted);
    pages_->for_each([&](std::uint32_t p) { return waiting_[p]; },
                     [&](std::span<const SweepPage> pages) {
                       for (const SweepPage& page : pages) gather_page(state, view, sorted, page);
                       state.executor.wait("partitions of in-edges");
                     });
  }

  /// Sets `found`, [own_rows], to 1 for vertices that are no members and have an in-neighbour whose bit in
  /// `bits` is set. Brings all lists, but reads few edges of most if many bits are set.
  template <class State>
  void find_by_bits(const State& state, const std::uint32_t* bits, std::uint8_t* found) {
    auto view = state.view();
    const auto find = [&](std::uint64_t begin, std::uint64_t end) {
      state.executor.template for_each_group<NoCounters>(end - begin, Groups::warps,
                                                         FindByInList{view, bits, found, begin});
    };
    if (!pages_) {
      find(0, state.own_rows);
    } else {
      pages_->for_each([&](std::uint32_t p) { return pages_->edges(p); },
                       [&](std::span<const SweepPage> pages) {
                         for (const SweepPage& page : pages) {
                           view.vertices.in.targets = page.sources;
                           was_read_[page.partition] = 1;
                           find(page.begin, page.end);
                         }
                         state.executor.wait("partitions of in-edges");
                       });
    }
  }

 private:
  const std::uint64_t* begins_of(std::size_t partition) const {
    return keys_.begins.data() + partition * kListClasses;
  }

  /// Handles members of partitions that are not brought: their lists are empty or not read.
  template <class State, class Share>
  void gather_unread(const State& state, const DynamicView<Share>& view, Vertex* sorted) const {
    for (std::size_t p = 0, end; p < waiting_.size(); p = end + 1) {
      for (end = p; end < waiting_.size() && waiting_[end] == 0;) ++end;
      const std::uint64_t begin = *begins_of(p), count = *begins_of(end) - begin;
      if (count > 0) gather_members(state, view, {sorted + begin, nullptr, count, 0}, ListSizes{{count}});
    }
  }

  template <class State, class Share>
  void gather_page(const State& state, DynamicView<Share> view, Vertex* sorted, const SweepPage& page) {
    const std::uint64_t* const begins = begins_of(page.partition);
    const VertexList members{sorted + begins[0], sorted + begins[2], begins[2] - begins[0],
                             begins[4] - begins[2]};
    ListSizes sizes;
    for (unsigned c = 0; c < kListClasses; ++c) sizes.count[c] = begins[c + 1] - begins[c];
    view.vertices.in.targets = page.sources, view.vertices.in.weights = page.weights;
    was_read_[page.partition] = 1;
    gather_members(state, view, members, sizes);
    state.precompute_loops(view, members, sizes);
  }

  std::vector<PageLock> locks_;  // outlive the pages that read them
  std::unique_ptr<SweepPages> pages_;
  std::vector<std::uint8_t> was_read_;  ///< [partitions] 1 if some iteration needed it
  std::vector<std::uint64_t> waiting_;  ///< [partitions] edges to be read
  Buffer<unsigned long long> counters_;
  KeyCounts keys_;
};

}  // namespace sluice::pagerank
