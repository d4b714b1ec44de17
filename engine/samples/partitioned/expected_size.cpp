#include "engine/samples/partitioned/expected_size.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/samples/level.hpp"

namespace sluice::samples {

namespace {

std::uint64_t mean_degree(const GraphView& graph) {
  const std::uint64_t n = std::max<std::uint64_t>(graph.vertices(), 1);
  return (graph.edges() + n - 1) / n;
}

/// Expected edges of one entry, by depth.
std::vector<std::uint64_t> edges_of_entries(const ResidentGraph::Impl& graph, const Options& options) {
  const std::uint64_t mean = mean_degree(graph.view);
  if (options.kind == Kind::snowball) return std::vector(options.depth, mean);
  if (options.kind == Kind::forest_fire) {
    const double burnt = std::ceil(options.probability / (1 - options.probability));
    return std::vector(options.depth,
                       burnt < static_cast<double>(mean) ? static_cast<std::uint64_t>(burnt) : mean);
  }
  std::vector<std::uint64_t> sizes;
  for (const std::int64_t fanout : options.fanout) {
    const auto requested = static_cast<std::uint64_t>(fanout);
    const std::uint64_t drawn =
        options.replace ? requested : std::min<std::uint64_t>(requested, graph.max_degree);
    sizes.push_back(fanout < 0 ? mean : drawn);
  }
  return sizes;
}

}  // namespace

ExpectedSample expected_sample(const Graph& graph, const Options& options, std::uint64_t seeds,
                               std::uint32_t depths) {
  constexpr double kMaxSize = 1e15;  // more than any memory
  const bool neighbor = options.kind == Kind::neighbor;
  const auto vertices = static_cast<double>(std::max<std::uint64_t>(graph.vertices(), 1));
  const double degree = static_cast<double>(graph.edges()) / vertices;
  double entries = static_cast<double>(std::max<std::uint64_t>(seeds, 1));
  ExpectedSample sum;
  for (std::uint32_t depth = 0; depth < depths && sum.edges < kMaxSize; ++depth) {
    double edges_per_entry = degree;
    if (neighbor && depth < options.fanout.size() && options.fanout[depth] >= 0) {
      const auto fanout = static_cast<double>(options.fanout[depth]);
      edges_per_entry = options.replace ? fanout : std::min(degree, fanout);
    }
    const double edges = entries * edges_per_entry;
    sum.entries += entries, sum.edges += edges;
    entries = options.revisit ? edges : std::min(edges, vertices);
  }
  return {std::min(sum.entries, kMaxSize), std::min(sum.edges, kMaxSize)};
}

std::uint64_t smallest_batch_bytes(const ResidentGraph::Impl& graph, const Options& options,
                                   std::uint64_t seeds) {
  constexpr std::uint64_t kFixed = 64u << 10;  // counters, prefix-sum scratch
  constexpr std::uint64_t kEntry =
      16 + 8 + 4 + 64;  // entry, offset, clash, up to four slots of the visited table
  constexpr std::uint64_t kEdge = 4 + 4 + 4 + 8 + 20;  // index, target, owner, flag, and the edge as a result
  const std::uint64_t warps = cuda::large_warps(graph.device);  // warps with scratch
  std::uint64_t entries = seeds, bytes = kFixed, largest = 0;
  for (const std::uint64_t edges_per_entry : edges_of_entries(graph, options)) {
    const std::uint64_t edges = std::min(entries * edges_per_entry, graph.view.edges());
    largest = std::max(largest, edges_per_entry);
    bytes += entries * kEntry + edges * (kEdge + kEntry);
    entries = std::min(edges, graph.view.vertices());
  }
  const bool bitmap = options.collision == Collision::automatic ? largest >= cuda::kMinBitmapPicks
                                                                : options.collision != Collision::linear;
  const std::uint64_t words = bitmap ? std::uint64_t{graph.max_degree} / 32 + 1 : 0;
  if (largest > cuda::kTilePicks) bytes += warps * (largest * 2 + words) * sizeof(std::uint32_t);
  return bytes;
}

}  // namespace sluice::samples
