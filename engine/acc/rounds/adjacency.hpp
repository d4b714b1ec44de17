// A rank's own lists in one direction, as an executor traverses them: offsets, places of edges, and the
// choice of the next partitions. All partitions that a round reads in place (memory/schedule/in_place.hpp)
// share one launch before all others, so that copies overlap with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/acc/rounds/bits.hpp"
#include "engine/acc/rounds/rank_part.hpp"
#include "engine/acc/rounds/short_lists.hpp"
#include "engine/core/error.hpp"
#include "engine/exec/memory/buffer.hpp"
#include "engine/memory/sweep_lists.hpp"
#include "engine/traverse/traverser.hpp"

namespace sluice::acc {

/// Sorts the vertices of a worklist by the partition that has their lists. Vertices whose short lists stay on
/// the device come last.
struct ByPartition {
  VertexRange vertices;
  OwnershipView partitions;                ///< ranges of rows
  const EdgeIndex* short_lists = nullptr;  ///< [rows + 1] offsets of short lists, or null
  unsigned short_list_key = 0;             ///< key of vertices with short lists

  SLUICE_HD std::uint64_t row(std::uint64_t i) const { return vertices[i] - vertices.first; }
  SLUICE_HD unsigned key(std::uint64_t i) const {
    const std::uint64_t r = row(i);
    if (short_lists != nullptr && short_lists[r] < short_lists[r + 1]) return short_list_key;
    return partitions.owner(r);
  }
  SLUICE_HD Vertex item(std::uint64_t i) const { return vertices[i]; }
  SLUICE_HD std::uint64_t weight(std::uint64_t i) const {
    return vertices.offsets[row(i) + 1] - vertices.offsets[row(i)];
  }
};

/// Counts the edges of rows for which selects(row), by partition; each call takes kBitsOfWord rows.
template <class Selects>
struct CountEdges {
  Selects selects;
  std::uint64_t rows;
  const EdgeIndex* offsets;
  OwnershipView partitions;    ///< ranges of rows
  unsigned long long* counts;  ///< [partitions]

  template <class Lane>
  SLUICE_HD void operator()(std::uint64_t i, Lane&) const {
    const std::uint64_t begin = i * kBitsOfWord,
                        end = begin + kBitsOfWord < rows ? begin + kBitsOfWord : rows;
    unsigned p = partitions.owner(begin);
    unsigned long long edges = 0;
    for (std::uint64_t row = begin; row < end; ++row) {
      if (!selects(row)) continue;
      if (row >= partitions.begins[p + 1]) {
        if (edges > 0) fetch_add(counts + p, edges);
        p = partitions.owner(row), edges = 0;
      }
      edges += offsets[row + 1] - offsets[row];
    }
    if (edges > 0) fetch_add(counts + p, edges);
  }
};

class Adjacency {
 public:
  /// All other device memory must be allocated before, except worklists of `active` vertices sorted by
  /// partition. Lists take the available memory divided by `shares`. With `many_rounds`, short lists
  /// stay on the device; then call load_short_lists() before the first. Keeps references.
  Adjacency(const Device& device, const RankPart& part, const SweepRows& lists, std::uint64_t active,
            std::uint64_t shares = 1, bool many_rounds = false)
      : device_(device),
        first_(part.first()),
        offsets_(lists.csr.offsets),
        uploaded_offsets_(device, device.is_cuda() ? lists.csr.vertices + 1 : 0, "the graph's offsets") {
    if (device.is_cuda()) {
      copy_to_device(device, uploaded_offsets_.data(), offsets_, uploaded_offsets_.bytes());
      offsets_ = uploaded_offsets_.data();
    }
    {
      const bool paged = part.has_pages(lists);
      if (paged) sorted_ = Buffer<Vertex>(device, active, "worklists");
      // Slots take all remaining GPU memory: reserve what is allocated after them.
      const bool reserves = paged && device.is_cuda();
      const Buffer<std::uint64_t> reserved(device, reserves ? 3 * (part.max_partitions() + 1) : 0,
                                           "partitions");
      const std::uint64_t max_bytes = memory_for_sweep_pages(device) / shares;
      if (paged && many_rounds) short_lists_ = ShortLists::make(device, part, lists, max_bytes);
      try {
        make_lists(part, lists, max_bytes - std::min(max_bytes, short_lists_.bytes()));
      } catch (const BudgetError&) {
        if (!short_lists_.any()) throw;
        short_lists_ = {};
        make_lists(part, lists, max_bytes);
      }
    }
    if (!paged()) return;
    const std::uint64_t keys = partitions() + (short_lists_.any() ? 1 : 0);
    partitions_ = pages().owners();
    counters_ = Buffer<unsigned long long>(device, 3 * keys, "partitions");
    keys_ = {{}, std::vector<std::uint64_t>(keys), counters_.data()};
  }

  /// For the lists of a whole graph, in memory that the executor reads.
  Adjacency(const Device& device, const CsrView& lists)
      : device_(device), first_(0), offsets_(lists.offsets) {
    lists_.emplace(lists);
  }

  const EdgeIndex* offsets() const { return offsets_; }
  const SweepLists& lists() const { return *lists_; }
  void add_traffic(AccStats& stats) const {
    stats.add_traffic(lists_->traffic());
    stats.host_to_device_bytes += short_lists_.bytes();
  }
  bool paged() const { return lists_->pages() != nullptr; }
  std::uint64_t partitions() const { return pages().size(); }

  /// Does the planned run work without `other_lists`, the lists of the other direction? A plan counts beyond
  /// the ceiling, so an attempt to allocate them would not fail.
  bool plans_without(const CsrView& other_lists) const {
    const std::uint64_t bytes = (other_lists.vertices + 1) * sizeof(EdgeIndex) +
                                edge_bytes(other_lists.edges, other_lists.weights != nullptr);
    return device_.is_planning() && (paged() || (device_.is_cuda() && bytes > device_.memory().available()));
  }

  template <Executor E>
  void load_short_lists(E& executor) {
    if (!short_lists_.any() || device_.is_planning()) return;
    short_lists_.gather(executor, offsets_, pages().in_place({0, static_cast<std::uint32_t>(partitions())}));
    executor.wait("short lists");
  }

  /// Calls use(vertices, page) for a worklist, in parts whose lists are on the device or read in place. A
  /// worklist longer than sorted_ visits the partitions several times.
  template <Executor E, class Use>
  void visit_vertices(E& executor, const Vertex* vertices, std::uint64_t count, Use&& use) {
    if (count == 0) return;
    const VertexRange all{vertices, 0, count, first_, offsets_};
    if (!paged()) return use(all, lists_->whole());
    if (const std::uint64_t max_count = sorted_.size();
        max_count > 0 && count > max_count) {  // bins may hold a vertex twice
      visit_vertices(executor, vertices, max_count, use);
      return visit_vertices(executor, vertices + max_count, count - max_count, use);
    }
    std::vector<bool> in_place;
    InPlaceFirst places;
    const auto items_of = [&](std::uint64_t p) { return keys_.begins[p + 1] - keys_.begins[p]; };
    const auto short_list_key = static_cast<unsigned>(partitions());
    const ByPartition by_partition{all, partitions_, short_lists_.any() ? short_lists_.offsets() : nullptr,
                                   short_list_key};
    std::uint64_t with_short_lists = 0;
    executor.sort_by_key(by_partition, count, sorted_.data(), keys_, [&](const KeyCounts&) {
      in_place = pages().choose_in_place(demands([&](std::uint64_t p) {
        return ListDemand{items_of(p), keys_.weights[p]};
      }));
      if (short_lists_.any()) in_place.push_back(false), with_short_lists = items_of(short_list_key);
      places = InPlaceFirst(keys_.begins, in_place);
      if (count <= kMaxUnsorted && places.count + with_short_lists == count) {  // short lists in place, too
        places.count = count, with_short_lists = 0;
        places.begins.clear();
      }
      return places.begins;
    });
    const auto use_part = [&](std::uint64_t begin, std::uint64_t size, const SweepPage& page) {
      const Vertex* const list = places.begins.empty() ? vertices : sorted_.data();
      use(VertexRange{list + begin, 0, size, first_, offsets_, page.mapped()}, page);
    };
    if (places.count > 0) use_part(0, places.count, pages().in_place({0, short_list_key}));
    if (with_short_lists > 0) {
      const Vertex* const list = sorted_.data() + places.begins[short_list_key];
      use(VertexRange{list, 0, with_short_lists, first_, short_lists_.offsets()}, short_lists_.page());
    }
    load_partitions(executor, keys_.weights, in_place, [&](const SweepPage& page) {
      use_part(places.begins[page.partition], items_of(page.partition), page);
    });
  }

  /// Counts the demand of each partition. body(partitions, counters) returns a body for `count` items, which
  /// adds to the counters, initially 0; `partitions` are ranges of rows.
  template <Executor E, class MakeBody>
  const std::vector<std::uint64_t>& count(E& executor, std::uint64_t count, MakeBody&& body) {
    executor.fill(counters_.data(), 0, counters_.bytes());
    executor.for_each(count, {}, body(partitions_, counters_.data()));
    executor.read(keys_.weights.data(), counters_.data(), partitions(), "counting by partition");
    return keys_.weights;
  }

  /// Counts the edges of rows for which selects(row), by partition.
  template <Executor E, class Selects>
  const std::vector<std::uint64_t>& count_edges(E& executor, std::uint64_t rows, const Selects& selects) {
    return count(executor, words_of(0, rows),
                 [&](const OwnershipView& partitions, unsigned long long* counts) {
                   return CountEdges<Selects>{selects, rows, offsets_, partitions, counts};
                 });
  }

  /// Calls use(page) for the partitions that have edges to read, waiting[p] in each. `single_use`: no other
  /// round reads them.
  template <Executor E, class Use>
  void visit_edges(E& executor, const std::vector<std::uint64_t>& waiting, Use&& use,
                   bool single_use = true) {
    visit(executor, waiting, single_use, use, [&](std::uint64_t p) {
      return ListDemand{std::min(waiting[p], pages().end(p) - pages().begin(p)), waiting[p]};
    });
  }
  /// As visit_edges(), for the rows that count(`items`, body) counts; each reads only a few of its edges.
  template <Executor E, class MakeBody, class Use>
  void visit_rows(E& executor, std::uint64_t items, MakeBody&& body, Use&& use) {
    if (!paged()) return use(lists_->whole());
    const std::vector<std::uint64_t>& waiting = count(executor, items, body);
    visit(executor, waiting, false, use, [&](std::uint64_t p) {
      return ListDemand{waiting[p], std::min(waiting[p] * kEdgesPerRow, pages().edges(p))};
    });
  }

 private:
  /// A worklist that is read in place and has at most this many vertices is not sorted.
  static constexpr std::uint64_t kMaxUnsorted = 1024;
  /// Estimated number of edges that a row reads: most find a hit within one memory sector.
  static constexpr std::uint64_t kEdgesPerRow = 8;

  /// Makes the partitions in at most `max_bytes` bytes; short lists use some of the slots that the user asked
  /// for.
  void make_lists(const RankPart& part, const SweepRows& lists, std::uint64_t max_bytes) {
    std::vector<PageLock> locks;
    auto pages = part.make_pages(lists, locks, max_bytes, short_lists_.bytes());
    const bool weighted = lists.file != nullptr ? part.weighted() : lists.csr.weights != nullptr;
    lists_.emplace(device_, lists, weighted, "the graph's edges", std::move(pages), std::move(locks));
  }
  SweepPages& pages() const { return *lists_->pages(); }

  template <class DemandOf>
  std::vector<ListDemand> demands(DemandOf&& demand_of) const {
    std::vector<ListDemand> all(partitions());
    for (std::uint64_t p = 0; p < all.size(); ++p) all[p] = demand_of(p);
    return all;
  }

  template <Executor E, class Use, class DemandOf>
  void visit(E& executor, const std::vector<std::uint64_t>& waiting, bool single_use, Use&& use,
             DemandOf&& demand_of) {
    const std::vector<bool> in_place = pages().choose_in_place(demands(demand_of), single_use);
    for (const PartitionRun run : runs_of(in_place)) use(pages().in_place(run));
    load_partitions(executor, waiting, in_place, use);
  }

  /// Calls use(page) for the partitions that are not read in place.
  template <Executor E, class Use>
  void load_partitions(E& executor, const std::vector<std::uint64_t>& waiting,
                       const std::vector<bool>& in_place, Use&& use) {
    pages().for_each([&](std::uint32_t p) { return in_place[p] ? 0 : waiting[p]; },
                     [&](std::span<const SweepPage> present) {
                       for (const SweepPage& page : present) use(page);
                       executor.wait("partitions of lists");
                     });
  }

  const Device& device_;
  std::uint64_t first_;
  const EdgeIndex* offsets_;
  Buffer<EdgeIndex> uploaded_offsets_;
  Buffer<Vertex> sorted_;  ///< [active] a worklist sorted by partition
  ShortLists short_lists_;
  std::optional<SweepLists> lists_;
  OwnershipView partitions_;  ///< ranges of rows
  Buffer<unsigned long long> counters_;
  KeyCounts keys_;
};

}  // namespace sluice::acc
