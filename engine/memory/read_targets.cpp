#include "engine/memory/read_targets.hpp"

#include <algorithm>
#include <numeric>

#include "engine/core/host_array.hpp"

namespace sluice {

namespace {

/// Edges at most kGap apart are read together, up to kMaxEdges edges at once.
constexpr EdgeIndex kGap = 16u << 10, kMaxEdges = 1u << 20;

/// The edges that a thread reads at once, so that concurrent threads leave memory for each other.
EdgeIndex edges_at_once() {
  constexpr std::uint64_t kShare = 64;
  const std::uint64_t share = host_budget().available() / kShare / sizeof(Vertex);
  return std::clamp<std::uint64_t>(share, 1, kMaxEdges);
}

/// The permutation that sorts positions; empty if they are sorted.
HostArray<std::uint64_t> order_of(std::span<const EdgeIndex> positions) {
  if (std::ranges::is_sorted(positions)) return {};
  HostArray<std::uint64_t> order(positions.size(), "reading edges");
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order.span(), {}, [&](std::uint64_t i) { return positions[i]; });
  return order;
}

}  // namespace

std::uint64_t read_targets(const Graph& graph, std::span<const EdgeIndex> positions,
                           std::span<Vertex> targets) {
  if (!graph.edge_source) {
    for (std::size_t i = 0; i < positions.size(); ++i) targets[i] = graph.out.targets[positions[i]];
    return 0;
  }
  const HostArray<std::uint64_t> order = order_of(positions);
  const auto index = [&](std::size_t i) { return order.empty() ? i : order[i]; };
  const auto position = [&](std::size_t i) { return positions[index(i)]; };
  const EdgeIndex max_edges = edges_at_once();
  std::uint64_t read = 0;
  for (std::size_t begin = 0, end; begin < positions.size(); begin = end) {
    end = begin + 1;
    while (end < positions.size() && position(end) - position(end - 1) <= kGap &&
           position(end) - position(begin) < max_edges)
      ++end;
    HostArray<Vertex> piece(position(end - 1) - position(begin) + 1, "reading edges");
    graph.edge_source->read_targets(position(begin), piece.span());
    read += piece.bytes();
    for (std::size_t i = begin; i < end; ++i) targets[index(i)] = piece[position(i) - position(begin)];
  }
  return read;
}

}  // namespace sluice
