#include "engine/pagerank/static/numbered_sources.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/exec/order_in_blocks.hpp"

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
  const double* const divisors = graph.divisors();
  std::array<std::uint64_t, kClasses + 1> begins{};
  order_in_blocks(
      device.threads(), graph.vertices(), begins,
      [&](std::uint64_t begin, std::uint64_t end, const auto& emit) {
        for (std::uint64_t v = begin; v < end; ++v)
          emit(v, static_cast<std::uint32_t>(class_of(divisors[v])));
      },
      [this](std::uint64_t number, std::uint64_t v, std::uint32_t) {
        numbers_.data()[v] = static_cast<Vertex>(number);
      });
  const Vertex* const targets = graph.in().targets;
  graph.for_each_loaded_range(device.threads(), [&](EdgeIndex begin, EdgeIndex end) {
    for (EdgeIndex e = begin; e < end; ++e) sources_.data()[e] = numbers_.data()[targets[e]];
  });
}

}  // namespace sluice::pagerank
