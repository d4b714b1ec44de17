#include "engine/rank/rank_graph.hpp"

#include <algorithm>

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "partition/build.hpp"

namespace sluice {

namespace {

constexpr std::uint64_t kVerticesAtOnce = 1u << 14;

}  // namespace

RankGraph::RankGraph(const Graph& graph, const PageRankOptions& options, unsigned threads) {
  if (options.weighted && graph.out.weights.empty() && graph.edges() > 0) {
    throw UsageError("--weighted: the graph has no weights (leave it out)");
  }
  if (!graph.in.offsets.empty()) {
    in_ = graph.in.view();
  } else if (!graph.directed) {
    in_ = graph.out.view();
  } else {
    transposed_ = transpose(graph.out, threads);
    in_ = transposed_.view();
  }
  if (!options.weighted) in_.weights = nullptr;
  find_divisors(graph, options.weighted, threads);
  if (options.dangling == Dangling::self_loop) add_loops(threads);
}

void RankGraph::find_divisors(const Graph& graph, bool weighted, unsigned threads) {
  divisors_ = HostArray<double>(vertices(), "out-degrees");
  const auto& out = graph.out;
  parallel_blocks(
      threads, vertices(), kVerticesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
        for (std::uint64_t v = begin; v < end; ++v) {
          if (!weighted) {
            divisors_[v] = static_cast<double>(out.offsets[v + 1] - out.offsets[v]);
            continue;
          }
          double sum = 0;  // in the order of the list: a list is never cut, so the sum is the same everywhere
          for (EdgeIndex i = out.offsets[v]; i < out.offsets[v + 1]; ++i) sum += out.weights[i];
          divisors_[v] = sum;
        }
      });
}

void RankGraph::add_loops(unsigned threads) {
  added_loops_ = HostArray<std::uint8_t>(vertices(), "self-loops");
  parallel_blocks(
      threads, vertices(), kVerticesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
        for (std::uint64_t v = begin; v < end; ++v) {
          const Vertex* first = in_.targets + in_.offsets[v];
          const Vertex* last = in_.targets + in_.offsets[v + 1];
          const auto [low, high] = std::equal_range(first, last, static_cast<Vertex>(v));
          // A loop that carries nothing is none: its vertex could have nowhere to leave its rank.
          const bool has_loop = in_.weights == nullptr ? low != high
                                                       : std::any_of(in_.weights + (low - in_.targets),
                                                                     in_.weights + (high - in_.targets),
                                                                     [](float weight) { return weight > 0; });
          added_loops_[v] = has_loop ? 0 : 1;
          if (!has_loop) divisors_[v] += 1;
        }
      });
}

}  // namespace sluice
