#include "engine/pagerank/static/numbered_sources.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/threads.hpp"

namespace sluice::pagerank {

namespace {

/// Classes of vertices by out-degree, or sum of out-weights: one a power of two.
constexpr int kClasses = 64;

/// The class of a vertex; class 0 has the most out-edges.
int class_of(double divisor) {
  if (!(divisor > 0)) return kClasses - 1;
  return std::clamp(kClasses / 2 - 1 - std::ilogb(divisor), 0, kClasses - 1);
}

}  // namespace

NumberedSources::NumberedSources(const Device& device, const RankGraph& graph)
    : numbers_(device, graph.vertices(), "numbers of sources"),
      sources_(device, graph.in().edges, "numbered sources") {
  number(device.threads(), {graph.divisors(), graph.vertices()});
  const Vertex* const targets = graph.in().targets;
  graph.for_each_loaded_range(device.threads(), [&](EdgeIndex begin, EdgeIndex end) {
    for (EdgeIndex e = begin; e < end; ++e) sources_.data()[e] = numbers_.data()[targets[e]];
  });
}

void NumberedSources::number(unsigned threads, std::span<const double> divisors) {
  constexpr std::uint64_t kLeast = 1 << 16, kBlocks = 256;
  const std::uint64_t grain = std::max(kLeast, divisors.size() / kBlocks);
  // The next number of each class in each block of vertices; at first, the number of such vertices.
  std::vector<std::array<std::uint64_t, kClasses>> next(divisors.size() / grain + 1);
  const auto over_blocks = [&](const auto& body) {
    parallel_blocks(threads, divisors.size(), grain, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
      for (std::uint64_t v = begin; v < end; ++v) body(v, next[begin / grain][class_of(divisors[v])]);
    });
  };
  over_blocks([](std::uint64_t, std::uint64_t& count) { ++count; });
  std::uint64_t below = 0;
  for (int c = 0; c < kClasses; ++c)
    for (auto& block : next) below += std::exchange(block[c], below);
  over_blocks(
      [&](std::uint64_t v, std::uint64_t& number) { numbers_.data()[v] = static_cast<Vertex>(number++); });
}

}  // namespace sluice::pagerank
