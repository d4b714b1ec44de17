// What an iteration does to one vertex, source or edge, in the memory of one device: the bodies of executors
// and of the kernels by degree (rows_host.hpp, rows_cuda.cuh).
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/core/macros.hpp"
#include "engine/exec/memory/shared_words.hpp"
#include "engine/pagerank/dynamic/vertex.hpp"
#include "engine/pagerank/dynamic/vertex_list.hpp"

namespace sluice::pagerank {

enum AffectedFlag : std::uint8_t { kMember = 1, kEver = 2, kExpanded = 4 };

/// All that an iteration works on. Arrays of a rank's own vertices are indexed by the ids of the graph, but
/// for the flags.
template <class Share>
struct DynamicView : DynamicRankOptions {
  using Stored = typename Share::Stored;

  RankNorm norm = RankNorm::linf;
  RankVertices<Share> at;
  CsrView out;                    ///< none where the host has it; weights only where ranks are split by them
  const EdgeIndex* out_offsets = nullptr;  ///< of out-edges, wherever these are
  std::uint64_t longest_out = 0;           ///< edges of its longest list
  Stored* sent = nullptr;         ///< what vertices that push a change had sent before
  FixedRank* sums = nullptr;
  /// New ranks that were found while lists were there: of all members on the host, elsewhere of those with a
  /// loop in lists that come and go.
  FixedRank* renewed = nullptr;
  bool renews_all = false;
  VertexList changed;  ///< vertices that offer something else, where other ranks are to receive it
  std::uint8_t* flags = nullptr;
  std::uint64_t first = 0;        ///< the vertex whose flags come first
  std::uint8_t* known = nullptr;  ///< 1 where differences keep the sum up to date; on residuals only
  VertexList ever;                ///< vertices that were ever affected
  RankUpdate update;
  /// Do the GPUs of ranks that all hold the graph share out the sums of members, and also which
  /// out-neighbours become members? Each works on its own vertices then, else on all.
  bool shares = false, shares_marks = false;
  std::uint64_t shared_first = 0, shared_count = ~std::uint64_t{0};

  SLUICE_HD std::uint64_t out_degree(Vertex v) const { return out_offsets[v + 1] - out_offsets[v]; }
  SLUICE_HD std::uint8_t& flags_of(Vertex v) const { return flags[v - first]; }
  /// By what it takes to find the sum.
  SLUICE_HD unsigned class_of(Vertex v) const {
    return split == RankSplit::none || known[v] ? 0 : list_class(at.in_degree(v));
  }
  /// By what it takes to go along its out-edges. Where the host has these, it looks at all sources.
  SLUICE_HD unsigned class_of_source(Vertex v) const {
    return split == RankSplit::in_out && out.offsets != nullptr ? list_class(out_degree(v)) : 0;
  }
  SLUICE_HD bool works_on(Vertex v) const { return v - shared_first < shared_count; }
  /// Edges of its in-list that an iteration reads: where the sum is known, for a loop in it alone.
  SLUICE_HD std::uint64_t reads_of(Vertex v) const {
    return known[v] ? at.loops[v] == Loop::stored : at.in_degree(v);
  }

  /// Makes v a member; `pulls`: its sum is not known any more.
  template <class Lane>
  SLUICE_HD void meet(Vertex v, bool pulls, const VertexList& members, Lane& lane) const {
    if (is_member(v)) return;
    const unsigned before = set_flags(v - first);
    if (before & kMember) return;
    if (!(before & kEver)) count_ever(v, lane);
    if (pulls && method == RankMethod::residual_frontier) known[v] = 0;
    members.append(v, class_of(v), lane);
  }

  /// Whether the next rank of v was found while its list was there.
  SLUICE_HD bool is_renewed(Vertex v) const {
    return renewed != nullptr && (renews_all || (drops_members(method) && at.loops[v] == Loop::stored));
  }
  SLUICE_HD FixedRank next_rank(Vertex v) const {
    return at.renewed(update, v, sums[v], drops_members(method));
  }

 private:
  /// Others may make it one meanwhile.
  SLUICE_HD bool is_member(Vertex v) const {
#if defined(__CUDA_ARCH__)
    return flags_of(v) & kMember;
#else
    return std::atomic_ref(flags_of(v)).load(std::memory_order_relaxed) & kMember;
#endif
  }
  /// Makes the vertex at `place` a member, and returns the flags before.
  SLUICE_HD unsigned set_flags(std::uint64_t place) const {
#if defined(__CUDA_ARCH__)
    const unsigned shift = place % 4 * 8;
    return atomicOr(reinterpret_cast<unsigned*>(flags) + place / 4, unsigned{kMember | kEver} << shift) >>
           shift;
#else
    return std::atomic_ref(flags[place]).fetch_or(kMember | kEver, std::memory_order_relaxed);
#endif
  }
  template <class Lane>
  SLUICE_HD void count_ever([[maybe_unused]] Vertex v, [[maybe_unused]] Lane& lane) const {
#if defined(__CUDA_ARCH__)
    atomicAdd(ever.sizes, 1ull);
#else
    ever.append(v, 0, lane);
#endif
  }
};

/// What sources do to their out-neighbours: these become members, or of ranks that share out the marks those
/// that this one works on; on residuals members by what they receive; or nothing, where all vertices are to
/// pull.
enum class Spread { marks, shared_marks, pushes, nothing };

/// Ranks exchange marks where so large a part of all edges leads from sources; with fewer each makes all.
inline constexpr std::uint64_t kManyMarks = 64;

/// `pushed` null: nothing has settled yet.
template <class Share>
SLUICE_HD Spread spread_of(const DynamicView<Share>& view, const std::uint64_t* pushed) {
  if (pushed == nullptr) return Spread::marks;
  if (all_are_next(view, *pushed, view.out.edges)) return Spread::nothing;
  if (view.method == RankMethod::residual_frontier) return Spread::pushes;
  return view.shares_marks && *pushed > view.out.edges / kManyMarks ? Spread::shared_marks : Spread::marks;
}

/// What a source pushes along its edges: how its contribution changed.
template <class Share>
struct Difference {
  typename Share::Stored before{}, after{};

  SLUICE_HD Difference(const DynamicView<Share>& view, Vertex source, Spread spread) {
    if (spread == Spread::pushes) before = view.sent[source], after = view.at.shares[source];
  }
  /// Modulo 2^64: a smaller contribution takes away.
  SLUICE_HD FixedRank carried(float weight) const {
    return Share::carried(after, weight) - Share::carried(before, weight);
  }
};

/// Goes along one edge of `lists`. The sum of a vertex that has not pulled yet is not read.
template <class Share, class Lane>
SLUICE_HD void expand_edge(const DynamicView<Share>& view, const CsrView& lists, EdgeIndex edge,
                           Spread spread, const Difference<Share>& difference, const VertexList& next,
                           Lane& lane) {
  const Vertex v = lists.targets[edge];
  const bool pushes = spread == Spread::pushes;
  if (spread == Spread::shared_marks && !view.works_on(v)) return;
  if (pushes) fetch_add(&view.sums[v], difference.carried(Share::kWeighted ? lists.weights[edge] : 1.0f));
  view.meet(v, !pushes, next, lane);
}

/// Goes along every `stride`-th of the edges [edge, end) of a source.
template <class Share, class Lane>
SLUICE_HD void expand_source(const DynamicView<Share>& view, const CsrView& lists, Vertex source,
                             EdgeIndex edge, EdgeIndex end, std::uint64_t stride, Spread spread,
                             const VertexList& next, Lane& lane) {
  const Difference<Share> difference(view, source, spread);
  for (; edge < end; edge += stride) expand_edge(view, lists, edge, spread, difference, next, lane);
}

}  // namespace sluice::pagerank
