#include "engine/samples/kinds/smallest_batch.hpp"

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

/// Edges of an entry, depth by depth.
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
    const auto asked = static_cast<std::uint64_t>(fanout);
    const std::uint64_t drawn = options.replace ? asked : std::min<std::uint64_t>(asked, graph.max_degree);
    sizes.push_back(fanout < 0 ? mean : drawn);
  }
  return sizes;
}

}  // namespace

std::uint64_t smallest_batch_bytes(const ResidentGraph::Impl& graph, const Options& options,
                                   std::uint64_t seeds) {
  constexpr std::uint64_t kFixed = 64u << 10;  // counters, scratch of prefix sums
  constexpr std::uint64_t kEntry =
      16 + 8 + 4 + 64;  // entry, offset, clash, up to four slots of the visited table
  constexpr std::uint64_t kEdge =
      4 + 4 + 4 + 8 + 20;                             // index, target, owner, flag, and the edge as it leaves
  constexpr std::uint64_t kTile = 32, kBitmap = 256;  // picks: more need scratch, and a bitmap
  const std::uint64_t warps = cuda::large_warps(graph.device);  // that have such scratch
  std::uint64_t entries = seeds, bytes = kFixed, largest = 0;
  for (const std::uint64_t each : edges_of_entries(graph, options)) {
    const std::uint64_t edges = std::min(entries * each, graph.view.edges());
    largest = std::max(largest, each);
    bytes += entries * kEntry + edges * (kEdge + kEntry);
    entries = std::min(edges, graph.view.vertices());
  }
  const bool bitmap =
      options.collision == Collision::automatic ? largest >= kBitmap : options.collision != Collision::linear;
  const std::uint64_t words = bitmap ? std::uint64_t{graph.max_degree} / 32 + 1 : 0;
  if (largest > kTile) bytes += warps * (largest * 2 + words) * sizeof(std::uint32_t);
  return bytes;
}

}  // namespace sluice::samples
