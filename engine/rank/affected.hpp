// The affected vertices as a list without repeats: what a dynamic method works on in an iteration.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/core/types.hpp"
#include "engine/exec/threads.hpp"
#include "partition/graph.hpp"
#include "partition/plan.hpp"

namespace sluice {

/// A set of vertices that grows along out-edges and loses members. Adding and dropping cost what is added and
/// what stays; nothing is done for all vertices but once, when the set is made. The order of the list depends
/// on threads, the set does not.
class AffectedSet {
 public:
  AffectedSet(std::uint64_t vertices, unsigned threads);

  std::span<const Vertex> list() const { return list_; }
  std::uint64_t size() const { return list_.size(); }
  /// Vertices that were ever in the set since it was cleared.
  std::uint64_t ever() const { return ever_.size(); }

  void add(Vertex v);
  void add_all();
  /// Adds the out-neighbours of all `sources`.
  void add_neighbours(const CsrView& out, std::span<const Vertex> sources);
  /// The same, and calls visit(i, edge) for every out-edge of sources[i], from several threads.
  template <class Visit>
  void add_neighbours(const CsrView& out, std::span<const Vertex> sources, Visit&& visit) {
    if (!grow(out, sources, visit).empty()) sort_if_many();
  }
  /// Adds all that can be reached from the set.
  void add_reachable(const CsrView& out);
  /// Whether this is the first time since the set was cleared that `v` asks; threads ask for different ones.
  bool first_expansion(Vertex v) {
    if (flags_[v] & kExpanded) return false;
    flags_[v] |= kExpanded;
    return true;
  }
  /// Puts the members of each of the plan's partitions side by side, in the order of partitions. Returns
  /// where each begins in the list, and where the last ends.
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
  void meet(Vertex v, Found& found);
  std::vector<Vertex> append(const std::vector<Found>& found);
  /// Adds the out-neighbours; returns those that were no members.
  template <class Visit>
  std::vector<Vertex> grow(const CsrView& out, std::span<const Vertex> sources, Visit&& visit) {
    std::vector<Found> found((sources.size() + kSources - 1) / kSources);
    parallel_blocks(threads_, sources.size(), kSources,
                    [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                      for (std::uint64_t i = begin; i < end; ++i) {
                        const EdgeIndex last = out.offsets[sources[i] + 1];
                        for (EdgeIndex e = out.offsets[sources[i]]; e < last; ++e) {
                          visit(i, e);
                          meet(out.targets[e], found[begin / kSources]);
                        }
                      }
                    });
    return append(found);
  }
  void sort_if_many();

  unsigned threads_;
  HostArray<std::uint8_t> flags_;
  std::vector<Vertex> list_, ever_;
};

}  // namespace sluice
