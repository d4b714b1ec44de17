#include "apps/report/graph_figures.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "engine/core/host_array.hpp"
#include "engine/exec/threads.hpp"

namespace sluice::apps {

DegreeFigures degree_figures(std::span<const EdgeIndex> offsets) {
  DegreeFigures figures;
  const std::uint64_t n = offsets.size() - 1;
  if (n == 0) return figures;
  HostArray<EdgeIndex> degrees(n, "degrees");
  for (std::uint64_t v = 0; v < n; ++v) degrees[v] = offsets[v + 1] - offsets[v];
  figures.dead_ends = static_cast<std::uint64_t>(std::count(degrees.begin(), degrees.end(), EdgeIndex{0}));
  figures.mean = static_cast<double>(offsets[n]) / static_cast<double>(n);
  EdgeIndex* const middle = degrees.begin() + n / 2;
  std::nth_element(degrees.begin(), middle, degrees.end());
  const EdgeIndex below = n % 2 == 1 ? *middle : *std::max_element(degrees.begin(), middle);
  figures.median = (static_cast<double>(*middle) + static_cast<double>(below)) / 2;
  figures.least = *std::min_element(degrees.begin(), degrees.end());
  figures.most = *std::max_element(degrees.begin(), degrees.end());
  return figures;
}

EdgeFigures edge_figures(const io::GraphFile& file, std::span<const EdgeIndex> offsets, unsigned threads) {
  constexpr std::uint64_t kGrain = 1u << 20;  // edges that a thread holds at a time
  const std::uint64_t n = offsets.size() - 1;
  HostArray<std::uint8_t> touched(n, "vertices with an edge");
  for (std::uint64_t v = 0; v < n; ++v) touched[v] = offsets[v] != offsets[v + 1];
  const io::Column targets = file.open(io::GraphPart::out_indices);
  io::FirstFault fault;
  std::atomic<std::uint64_t> self_loops{0};
  parallel_blocks(threads, offsets[n], kGrain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    if (fault.before(begin)) return;
    std::vector<Vertex> block(end - begin);
    io::read_targets(targets, n, begin, block, fault);
    if (fault.before(end)) return;  // what follows a fault in this block may be no vertex
    const auto after = std::upper_bound(offsets.begin(), offsets.end(), begin);
    auto vertex = static_cast<std::uint64_t>(after - offsets.begin()) - 1;
    std::uint64_t loops = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      while (offsets[vertex + 1] <= i) ++vertex;
      const Vertex target = block[i - begin];
      loops += target == vertex;
      // Many edges lead to few vertices: what is set already need not be written, and taken from other cores.
      const std::atomic_ref<std::uint8_t> seen(touched[target]);
      if (seen.load(std::memory_order_relaxed) == 0) seen.store(1, std::memory_order_relaxed);
    }
    self_loops += loops;
  });
  fault.rethrow();
  const auto isolated = std::count(touched.begin(), touched.end(), std::uint8_t{0});
  return {static_cast<std::uint64_t>(isolated), self_loops};
}

}  // namespace sluice::apps
