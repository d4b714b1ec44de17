// The operations of an iteration on one vertex, source or edge, in the memory of one device. Executors run
// them, and kernels by degree class (rows_host.hpp, rows_cuda.cuh).
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/exec/memory/shared_words.hpp"
#include "engine/pagerank/dynamic/vertex.hpp"
#include "engine/pagerank/dynamic/vertex_list.hpp"

namespace sluice::pagerank {

/// Flags of a vertex: affected now (a member), ever affected by the batch, out-neighbours affected.
enum AffectedFlag : std::uint8_t { kMember = 1, kEver = 2, kExpanded = 4 };

/// The state that an iteration reads and writes. Arrays of own vertices are indexed by vertex id, except
/// flags.
template <class Share>
struct DynamicView : DynamicRankOptions {
  using Stored = typename Share::Stored;

  RankNorm norm = RankNorm::linf;
  RankVertices<Share> vertices;
  CsrView out;  ///< empty if only the host has it; weights only for a WeightedShare
  const EdgeIndex* out_offsets = nullptr;  ///< also if only the host has the out-edges
  std::uint64_t max_out_degree = 0;        ///< edges of the longest out-list
  Stored* old_shares = nullptr;            ///< previous contribution of vertices that push a change
  FixedRank* sums = nullptr;
  /// Next ranks computed while lists were present: of all members on the host; on a GPU with in-lists in
  /// partitions, of members with a stored self-loop.
  FixedRank* precomputed = nullptr;
  bool precomputes_all = false;
  VertexList changed;  ///< vertices whose contribution changed, if other ranks receive it
  std::uint8_t* flags = nullptr;
  std::uint64_t first = 0;        ///< the vertex of flags[0]
  std::uint8_t* sum_known = nullptr;  ///< 1 if differences keep the sum up to date (residuals)
  VertexList ever_affected;           ///< vertices that were ever affected
  RankUpdate update;
  /// Whether the GPUs of ranks that all hold the graph divide the sums of members, and also the marking of
  /// out-neighbours. Each then handles its own vertices, else all.
  bool divides_sums = false, divides_marks = false;
  std::uint64_t handled_first = 0, handled_count = ~std::uint64_t{0};

  SLUICE_HD std::uint64_t out_degree(Vertex v) const { return out_offsets[v + 1] - out_offsets[v]; }
  SLUICE_HD std::uint8_t& flags_of(Vertex v) const { return flags[v - first]; }
  /// Degree class for finding the sum of v.
  SLUICE_HD unsigned class_of(Vertex v) const {
    return split == RankSplit::none || sum_known[v] ? 0 : list_class(vertices.in_degree(v));
  }
  /// Degree class for traversing the out-edges of v; 0 if only the host has them.
  SLUICE_HD unsigned class_of_source(Vertex v) const {
    return split == RankSplit::in_out && out.offsets != nullptr ? list_class(out_degree(v)) : 0;
  }
  SLUICE_HD bool handles(Vertex v) const { return v - handled_first < handled_count; }
  /// Edges of its in-list that an iteration reads; if the sum is known, only for a stored self-loop.
  SLUICE_HD std::uint64_t edges_read(Vertex v) const {
    return sum_known[v] ? vertices.loops[v] == Loop::stored : vertices.in_degree(v);
  }

  /// Makes v a member; `pulls`: its sum is no longer known.
  template <class Lane>
  SLUICE_HD void add_member(Vertex v, bool pulls, const VertexList& members, Lane& lane) const {
    if (is_member(v)) return;
    const unsigned before = set_flags(v - first);
    if (before & kMember) return;
    if (!(before & kEver)) count_ever_affected(v, lane);
    if (pulls && method == RankMethod::residual_frontier) sum_known[v] = 0;
    members.append(v, class_of(v), lane);
  }

  /// Whether the next rank of v was computed while its list was present.
  SLUICE_HD bool is_precomputed(Vertex v) const {
    return precomputed != nullptr &&
           (precomputes_all || (drops_members(method) && vertices.loops[v] == Loop::stored));
  }
  SLUICE_HD FixedRank next_rank(Vertex v) const {
    return vertices.next_rank(update, v, sums[v], drops_members(method));
  }

 private:
  /// Other threads may make it a member meanwhile.
  SLUICE_HD bool is_member(Vertex v) const {
#if defined(__CUDA_ARCH__)
    return flags_of(v) & kMember;
#else
    return std::atomic_ref(flags_of(v)).load(std::memory_order_relaxed) & kMember;
#endif
  }
  /// Makes the vertex at `index` a member, and returns the flags before.
  SLUICE_HD unsigned set_flags(std::uint64_t index) const {
#if defined(__CUDA_ARCH__)
    const unsigned shift = index % 4 * 8;
    return atomicOr(reinterpret_cast<unsigned*>(flags) + index / 4, unsigned{kMember | kEver} << shift) >>
           shift;
#else
    return std::atomic_ref(flags[index]).fetch_or(kMember | kEver, std::memory_order_relaxed);
#endif
  }
  template <class Lane>
  SLUICE_HD void count_ever_affected([[maybe_unused]] Vertex v, [[maybe_unused]] Lane& lane) const {
#if defined(__CUDA_ARCH__)
    atomicAdd(ever_affected.sizes, 1ull);
#else
    ever_affected.append(v, 0, lane);
#endif
  }
};

/// What sources do to their out-neighbours: mark them as members; mark only those that this rank handles;
/// push differences, which makes them members (residuals); or nothing, if all vertices are to pull.
enum class Spread { marks, divided_marks, pushes, nothing };

/// Ranks divide and exchange marks if more than one in so many edges leads from sources; else each makes all.
inline constexpr std::uint64_t kManyMarks = 64;

/// `pushed` is null before the first iteration.
template <class Share>
SLUICE_HD Spread spread_of(const DynamicView<Share>& view, const std::uint64_t* pushed) {
  if (pushed == nullptr) return Spread::marks;
  if (all_pull_next(view, *pushed, view.out.edges)) return Spread::nothing;
  if (view.method == RankMethod::residual_frontier) return Spread::pushes;
  return view.divides_marks && *pushed > view.out.edges / kManyMarks ? Spread::divided_marks : Spread::marks;
}

/// The change of a source's contribution, which it pushes along its edges.
template <class Share>
struct Difference {
  typename Share::Stored before{}, after{};

  SLUICE_HD Difference(const DynamicView<Share>& view, Vertex source, Spread spread) {
    if (spread == Spread::pushes) before = view.old_shares[source], after = view.vertices.shares[source];
  }
  /// Modulo 2^64, since a contribution may shrink.
  SLUICE_HD FixedRank edge_contribution(float weight) const {
    return Share::edge_contribution(after, weight) - Share::edge_contribution(before, weight);
  }
};

/// Traverses one edge of `lists`. A push to a vertex that has not pulled has no effect: its sum is not read.
template <class Share, class Lane>
SLUICE_HD void expand_edge(const DynamicView<Share>& view, const CsrView& lists, EdgeIndex edge,
                           Spread spread, const Difference<Share>& difference, const VertexList& next,
                           Lane& lane) {
  const Vertex v = lists.targets[edge];
  const bool pushes = spread == Spread::pushes;
  if (spread == Spread::divided_marks && !view.handles(v)) return;
  if (pushes)
    fetch_add(&view.sums[v], difference.edge_contribution(Share::kWeighted ? lists.weights[edge] : 1.0f));
  view.add_member(v, !pushes, next, lane);
}

/// Traverses every `stride`-th of the edges [edge, end) of a source.
template <class Share, class Lane>
SLUICE_HD void expand_source(const DynamicView<Share>& view, const CsrView& lists, Vertex source,
                             EdgeIndex edge, EdgeIndex end, std::uint64_t stride, Spread spread,
                             const VertexList& next, Lane& lane) {
  const Difference<Share> difference(view, source, spread);
  for (; edge < end; edge += stride) expand_edge(view, lists, edge, spread, difference, next, lane);
}

}  // namespace sluice::pagerank
