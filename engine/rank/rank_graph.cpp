#include "engine/rank/rank_graph.hpp"

#include "engine/core/error.hpp"
#include "engine/exec/threads.hpp"
#include "engine/rank/divisor.hpp"
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
  parallel_blocks(threads, vertices(), kVerticesAtOnce,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t v = begin; v < end; ++v)
                      divisors_[v] = out_weight(graph.out.view(), static_cast<Vertex>(v), weighted);
                  });
}

void RankGraph::add_loops(unsigned threads) {
  added_loops_ = HostArray<std::uint8_t>(vertices(), "self-loops");
  parallel_blocks(threads, vertices(), kVerticesAtOnce,
                  [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                    for (std::uint64_t v = begin; v < end; ++v) {
                      const bool loops = has_loop(in_, static_cast<Vertex>(v));
                      added_loops_[v] = loops ? 0 : 1;
                      if (!loops) divisors_[v] += 1;
                    }
                  });
}

}  // namespace sluice
