#include "engine/pagerank/static/numbered_sources.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/exec/threads.hpp"

namespace sluice::pagerank {

namespace {

/// Powers of two that out-degrees, or sums of weights, are classed by.
constexpr int kClasses = 64;

/// The class of a vertex; 0 is that of most out-edges.
int class_of(double divisor) {
  if (!(divisor > 0)) return kClasses - 1;
  return std::clamp(kClasses / 2 - 1 - std::ilogb(divisor), 0, kClasses - 1);
}

}  // namespace

NumberedSources::NumberedSources(const Device& device, const RankGraph& graph)
    : numbers_(device, graph.vertices(), "numbers of sources"),
      sources_(device, graph.in().edges, "numbered sources") {
  std::array<std::uint64_t, kClasses + 1> next{};
  for (std::uint64_t v = 0; v < graph.vertices(); ++v) ++next[class_of(graph.divisors()[v]) + 1];
  for (int c = 1; c <= kClasses; ++c) next[c] += next[c - 1];
  for (std::uint64_t v = 0; v < graph.vertices(); ++v)
    numbers_.data()[v] = static_cast<Vertex>(next[class_of(graph.divisors()[v])]++);

  constexpr std::uint64_t kAtOnce = 1 << 16;
  const CsrView& in = graph.in();
  parallel_blocks(device.threads(), in.edges, kAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    for (std::uint64_t e = begin; e < end; ++e) sources_.data()[e] = numbers_.data()[in.targets[e]];
  });
}

}  // namespace sluice::pagerank
