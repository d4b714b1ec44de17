// The affected vertices as a list without repeats: what a dynamic method works on in an iteration. Of several
// ranks of a job each has those of its own range.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/core/search.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/threads.hpp"
#include "partition/graph.hpp"
#include "partition/list_reader.hpp"
#include "partition/plan.hpp"

namespace sluice::pagerank {

/// The out-edges of v that lead to vertices [first, last): lists ascend, so they lie side by side.
inline std::pair<EdgeIndex, EdgeIndex> edges_into(const CsrView& out, Vertex v, std::uint64_t first,
                                                  std::uint64_t last) {
  const EdgeIndex begin = out.offsets[v], end = out.offsets[v + 1];
  const auto below = [&](std::uint64_t bound) {
    if (bound >= out.vertices) return end;
    return begin + count_below(out.targets + begin, end - begin, static_cast<Vertex>(bound));
  };
  return {first == 0 ? begin : below(first), below(last)};
}

/// A set of vertices that grows along out-edges and loses members. Adding and dropping cost what is added and
/// what stays; nothing is done for all vertices but once, when the set is made. The order of the list depends
/// on threads, the set does not.
class AffectedSet {
 public:
  /// Of the vertices [first, last).
  AffectedSet(std::uint64_t first, std::uint64_t last, unsigned threads);

  std::span<const Vertex> list() const { return list_; }
  std::uint64_t size() const { return list_.size(); }
  /// Vertices that were ever in the set since it was cleared.
  std::uint64_t ever() const { return ever_.size(); }

  /// Vertices out of the range are left to other ranks.
  void add(Vertex v);
  void add_all();
  /// Adds the out-neighbours of all `sources`, which need not be in the range, behind the other members. They
  /// ascend where `out` is in a file. Calls visit(lists, i, edge) for every edge of sources[i] into the
  /// range, which is in `lists`, from several threads.
  template <class Visit>
  void add_neighbours(const ListReader& out, std::span<const Vertex> sources, Visit&& visit) {
    out.for_each(sources, [&](const CsrView& lists, std::size_t begin, std::size_t end) {
      grow(lists, sources, begin, end, visit);
    });
  }
  void add_neighbours(const ListReader& out, std::span<const Vertex> sources) {
    add_neighbours(out, sources, [](const CsrView&, std::size_t, EdgeIndex) {});
  }
  /// Puts many members in order of id, so that neighbouring state is read together.
  void sort_if_many();
  /// Whether this is the first time since the set was cleared that `v` asks; threads ask for different ones.
  bool first_expansion(Vertex v) {
    std::uint8_t& flags = flags_[v - first_];
    if (flags & kExpanded) return false;
    flags |= kExpanded;
    return true;
  }
  /// Puts the members of each of the plan's partitions, which cut the range, side by side, in the order of
  /// partitions. Returns where each begins in the list, and where the last ends.
  std::vector<std::uint64_t> group(const PartitionPlan& plan);
  /// Keeps the members i for which stays[i] is not 0, in the order of the list.
  void keep(std::span<const std::uint8_t> stays);
  void drop_all();
  void clear();

 private:
  enum Flag : std::uint8_t { kMember = 1, kEver = 2, kExpanded = 4 };

  /// Sources whose lists one thread walks at a time; fewer are not worth a thread's start.
  static constexpr std::uint64_t kSources = 512;

  struct Found {
    std::vector<Vertex> fresh, first;  // no members; never members before
  };
  void meet(Vertex v, Found& found) {
    std::atomic_ref flag(flags_[v - first_]);
    if (flag.load(std::memory_order_relaxed) & kMember) return;
    const std::uint8_t before = flag.fetch_or(kMember | kEver, std::memory_order_relaxed);
    if (before & kMember) return;
    found.fresh.push_back(v);
    if (!(before & kEver)) found.first.push_back(v);
  }
  void append(const std::vector<Found>& found);
  /// Adds the out-neighbours of sources [from, until).
  template <class Visit>
  void grow(const CsrView& lists, std::span<const Vertex> sources, std::size_t from, std::size_t until,
            Visit&& visit) {
    std::vector<Found> found((until - from + kSources - 1) / kSources);
    parallel_blocks(threads_, until - from, kSources, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t i = from + begin; i < from + end; ++i) {
        const auto [first, last] = edges_into(lists, sources[i], first_, first_ + flags_.size());
        for (EdgeIndex e = first; e < last; ++e) {
          visit(lists, i, e);
          meet(lists.targets[e], found[begin / kSources]);
        }
      }
    });
    append(found);
  }
  std::uint64_t first_;
  unsigned threads_;
  HostArray<std::uint8_t> flags_;  ///< of the range
  std::vector<Vertex> list_, ever_;
};

}  // namespace sluice::pagerank
