// The kernels around the iterations: divisors of changed sources, ranks of a graph that grew, and who is
// affected at first.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "engine/pagerank/dynamic/backend.hpp"
#include "engine/pagerank/dynamic/kernels.cuh"
#include "partition/update.hpp"

namespace sluice::pagerank {

// ---- kernels

/// Calls body(i) for every i below `count`, spread over all threads of the grid.
template <class Body>
__device__ void for_each_thread(std::uint64_t count, Body&& body) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kListBlock + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * kListBlock) {
    body(i);
  }
}

template <class Share>
__global__ void __launch_bounds__(kListBlock)
    learn_sources_kernel(DynamicView<Share> view, std::uint64_t vertices, Dangling dangling) {
  for_each_thread(vertices,
                  [&](std::uint64_t v) { view.at.learn_source(view.out, static_cast<Vertex>(v), dangling); });
}

template <class Share>
__global__ void __launch_bounds__(kListBlock) offer_kernel(DynamicView<Share> view, std::uint64_t count) {
  for_each_thread(count, [&](std::uint64_t i) { view.at.share(static_cast<Vertex>(view.first + i)); });
}

template <class Share>
__global__ void __launch_bounds__(kListBlock)
    grow_ranks_kernel(DynamicView<Share> view, const FixedRank* old, RankGrowth growth, std::uint64_t first,
                      std::uint64_t count, FixedRank* total) {
  FixedRank sum = 0;
  for_each_thread(count, [&](std::uint64_t i) {
    const std::uint64_t v = first + i;
    view.at.ranks[v] = growth(old, v);
    view.at.share(static_cast<Vertex>(v));
    sum += view.at.ranks[v];
  });
  sum = add_lanes<32>(sum);
  if (threadIdx.x % 32 == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(sum));
}

/// Whether change i is the first of its source.
__device__ inline bool opens_source(const EdgeChange* changes, std::uint64_t i) {
  return i == 0 || changes[i - 1].source != changes[i].source;
}

/// Changed sources offer what they have now.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    adopt_changes_kernel(DynamicView<Share> view, const EdgeChange* changes, std::uint64_t count,
                         Dangling dangling) {
  for_each_thread(count, [&](std::uint64_t i) {
    if (!opens_source(changes, i)) return;
    view.at.learn_source(view.out, changes[i].source, dangling);
    view.at.share(changes[i].source);
  });
}

/// Targets of deletions, and sources whose own loop carries a part that depends on their degree; all changed
/// sources are listed.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    mark_changes_kernel(DynamicView<Share> view, const EdgeChange* changes, std::uint64_t count,
                        VertexList members, VertexList sources) {
  for_each_thread(count, [&](std::uint64_t i) {
    const EdgeChange change = changes[i];
    if (change.removed > 0) view.meet(change.target, true, members);
    if (!opens_source(changes, i)) return;
    if (view.at.loops[change.source] == Loop::added) view.meet(change.source, true, members);
    sources.append(change.source, view.class_of_source(change.source));
  });
}

template <class Share>
__global__ void __launch_bounds__(kListBlock)
    mark_range_kernel(DynamicView<Share> view, std::uint64_t first, std::uint64_t last, VertexList members) {
  for_each_thread(last - first,
                  [&](std::uint64_t i) { view.meet(static_cast<Vertex>(first + i), true, members); });
}

/// Members of another list, whose sums are up to date where they are known.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    mark_list_kernel(DynamicView<Share> view, VertexList list, ListSizes sizes, std::uint64_t count,
                     VertexList members) {
  for_each_thread(count, [&](std::uint64_t i) { view.meet(list.at(sizes, i), false, members); });
}

/// Entries [from, to) of a class become sources.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    list_sources_kernel(DynamicView<Share> view, VertexList members, unsigned of_class, std::uint64_t from,
                        std::uint64_t to, VertexList sources) {
  for_each_thread(to - from, [&](std::uint64_t i) {
    const Vertex v = members.at(of_class, from + i);
    sources.append(v, view.class_of_source(v));
  });
}

/// All flagged vertices, about in order of id.
template <class Share>
__global__ void __launch_bounds__(kListBlock)
    list_members_kernel(DynamicView<Share> view, std::uint64_t vertices, VertexList members) {
  for_each_thread(vertices, [&](std::uint64_t i) {
    const auto v = static_cast<Vertex>(view.first + i);
    if (view.flags[i] & kMember) members.append(v, view.class_of(v));
  });
}

// ---- launchers

/// Launches a kernel of this file for `count` entries, if there are any.
template <class... Parameters, class... Arguments>
void launch_over(std::uint64_t count, const cuda::Stream& stream, void (*kernel)(Parameters...),
                 Arguments&&... arguments) {
  if (count == 0) return;
  kernel<<<list_grid(count), kListBlock, 0, stream.get()>>>(Parameters(arguments)...);
  cuda::check_launch("a kernel of dynamic PageRank");
}

}  // namespace sluice::pagerank
