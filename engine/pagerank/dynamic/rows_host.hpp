// An iteration over affected vertices on the host (rank_view.hpp): a thread takes some rows at a time. This
// file has only the launches; rows_cuda.cuh has those of a GPU, for lists by degree class.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "engine/core/search.hpp"
#include "engine/pagerank/dynamic/rank_state.hpp"
#include "engine/pagerank/dynamic/settle.hpp"

namespace sluice::pagerank {

/// Rows, and sources, that a thread takes at a time; fewer are not worth the start of a thread.
inline constexpr std::uint64_t kRowsAtOnce = 1024, kSourcesAtOnce = 512;

/// The out-edges of v that lead to vertices [first, last). They are adjacent, since lists ascend.
inline std::pair<EdgeIndex, EdgeIndex> edges_into(const CsrView& out, Vertex v, std::uint64_t first,
                                                  std::uint64_t last) {
  const EdgeIndex begin = out.offsets[v], end = out.offsets[v + 1];
  const auto below = [&](std::uint64_t bound) {
    if (bound >= out.vertices) return end;
    return begin + count_below(out.targets + begin, end - begin, static_cast<Vertex>(bound));
  };
  return {first == 0 ? begin : below(first), below(last)};
}

/// Computes the next ranks of all members, whose lists are present unless their sums are known. Each rank is
/// computed right after its sum, while the next lists are read from memory; only residuals keep sums.
template <class Share>
void gather_members(const RankState<Share, HostExecutor>& state, const DynamicView<Share>& view,
                    const VertexList& members, const ListSizes& sizes) {
  const bool keeps = state.residual(), closed = state.drops();
  state.executor.for_each(
      sizes.count[0], state.output(),
      [=](std::uint64_t i, HostLane&) {
        const Vertex v = members.short_rows[i];
        const bool known = keeps && view.sum_known[v];
        const FixedRank sum = known ? view.sums[v] : view.vertices.gather(v);
        if (keeps) view.sums[v] = sum;
        view.precomputed[v] = view.vertices.next_rank(view.update, v, sum, closed);
      },
      kRowsAtOnce);
}

/// Updates all members; those that stay are appended to the next list.
template <class Share>
void settle_members(const RankState<Share, HostExecutor>& state, const DynamicView<Share>& view) {
  IterationTotals& totals = state.counters()->totals = {};
  const VertexList members = state.members(state.current());
  const VertexList next = state.members(state.next()), sources = state.sources();
  state.executor.reduce(
      state.affected(), state.output(), totals,
      [=](std::uint64_t i, IterationTotals& done, HostLane& lane) {
        settle_member(view, members.short_rows[i], next, sources, done, lane);
      },
      [norm = view.norm](IterationTotals& total, const IterationTotals& part) { total.join(part, norm); },
      kRowsAtOnce);
}

/// Appends all members to `to`, which is empty, in order of id.
template <class Share>
void list_members(const RankState<Share, HostExecutor>& state, const VertexList& to) {
  const auto view = state.view();
  state.for_each(state.own_rows, [=](std::uint64_t i, HostLane& lane) {
    const auto v = static_cast<Vertex>(view.first + i);
    if (view.flags[i] & kMember) to.append(v, view.class_of(v), lane);
  });
}

/// Makes out-neighbours of `sources` in the state's range members, and appends them to `next`.
template <class Share>
void expand_sources(const RankState<Share, HostExecutor>& state, const CsrView& out,
                    std::span<const Vertex> sources, Spread spread, const VertexList& next) {
  const DynamicView<Share> view = state.view();
  const std::uint64_t begin = state.first, end = state.first + state.own_rows;
  state.executor.for_each(
      sources.size(), state.output(),
      [=](std::uint64_t i, HostLane& lane) {
        const auto [first, last] = edges_into(out, sources[i], begin, end);
        expand_source(view, out, sources[i], first, last, 1, spread, next, lane);
      },
      kSourcesAtOnce);
}

}  // namespace sluice::pagerank
