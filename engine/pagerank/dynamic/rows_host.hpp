// An iteration over affected vertices on the host (rank_view.hpp): a thread takes some rows at a time.
// Launches alone are this file's; their counterparts on a GPU, by lists of rows by degree, are
// rows_cuda.cuh's.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "engine/core/search.hpp"
#include "engine/pagerank/dynamic/rank_state.hpp"
#include "engine/pagerank/dynamic/settle.hpp"

namespace sluice::pagerank {

/// Rows, and sources, that one thread works on at a time; fewer are not worth a thread's start.
inline constexpr std::uint64_t kRowsAtOnce = 1024, kSourcesAtOnce = 512;

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

/// The new ranks of all members, whose lists are there but where their sum is known. They are found at once,
/// while the next lists are on their way from memory; only residuals keep sums.
template <class Share>
void gather_members(const RankState<Share, HostExecutor>& state, const DynamicView<Share>& view,
                    const VertexList& members, const ListSizes& sizes) {
  const bool keeps = state.residual(), closed = state.drops();
  state.executor.for_each(
      sizes.count[0], state.output(),
      [=](std::uint64_t i, HostLane&) {
        const Vertex v = members.few[i];
        const bool known = keeps && view.known[v];
        const FixedRank sum = known ? view.sums[v] : view.at.gather(v);
        if (keeps) view.sums[v] = sum;
        view.renewed[v] = view.at.renewed(view.update, v, sum, closed);
      },
      kRowsAtOnce);
}

/// Renews all members; those that stay go to the next list.
template <class Share>
void settle_members(const RankState<Share, HostExecutor>& state, const DynamicView<Share>& view) {
  Settled& settled = state.counters()->settled = {};
  const VertexList members = state.members(state.now());
  const VertexList next = state.members(state.next()), sources = state.sources();
  state.executor.reduce(
      state.affected(), state.output(), settled,
      [=](std::uint64_t i, Settled& done, HostLane& lane) {
        settle_member(view, members.few[i], next, sources, done, lane);
      },
      [norm = view.norm](Settled& total, const Settled& part) { total.join(part, norm); }, kRowsAtOnce);
}

/// Puts all members on `to`, which is empty, in order of id.
template <class Share>
void list_members(const RankState<Share, HostExecutor>& state, const VertexList& to) {
  const auto view = state.view();
  state.over(state.own, [=](std::uint64_t i, HostLane& lane) {
    const auto v = static_cast<Vertex>(view.first + i);
    if (view.flags[i] & kMember) to.append(v, view.class_of(v), lane);
  });
}

/// Out-neighbours of `sources` in the state's range become members of `next`.
template <class Share>
void expand_sources(const RankState<Share, HostExecutor>& state, const CsrView& out,
                    std::span<const Vertex> sources, Spread spread, const VertexList& next) {
  const DynamicView<Share> view = state.view();
  const std::uint64_t begin = state.first, end = state.first + state.own;
  state.executor.for_each(
      sources.size(), state.output(),
      [=](std::uint64_t i, HostLane& lane) {
        const auto [first, last] = edges_into(out, sources[i], begin, end);
        expand_source(view, out, sources[i], first, last, 1, spread, next, lane);
      },
      kSourcesAtOnce);
}

}  // namespace sluice::pagerank
