#include <fmt/core.h>

#include <algorithm>

#include "apps/verify.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

class WalkVerifier : public WalkSink {
 public:
  WalkVerifier(const Graph& graph, const Starts& starts, const WalkOptions& options, WalkSink& next)
      : graph_(graph), csr_(graph.out.view()), starts_(starts), options_(options), next_(next) {}

  void write(const WalkBatch& batch) override {
    if (batch.length != options_.length) throw RunError("verify: a batch has the wrong length");
    for (std::uint64_t i = 0; i < batch.count; ++i) {
      instance_ = batch.first + i;
      if (options_.kind == WalkKind::multidimensional) {
        const std::size_t length = 2 * std::size_t{options_.length}, size = options_.frontier_size;
        check_pool(batch.edges.subspan(i * length, length), batch.pool.subspan(i * size, size));
      } else {
        const std::size_t row = std::size_t{options_.length} + 1;
        check_walk(batch.walks.subspan(i * row, row));
      }
    }
    next_.write(batch);
  }

 private:
  [[noreturn]] void fail(std::uint64_t step, const std::string& what) const {
    throw RunError(fmt::format("verify: instance {}, step {}: {}", instance_, step, what));
  }

  std::uint64_t degree(Vertex v) const { return csr_.offsets[v + 1] - csr_.offsets[v]; }

  /// The bias that the kind gives to position `e` of a list; only whether it is zero matters here.
  bool positive(EdgeIndex e) const {
    const bool weight = options_.kind == WalkKind::node2vec ||
                        (options_.kind == WalkKind::biased && options_.bias == Bias::weight);
    if (weight) return csr_.weights == nullptr || csr_.weights[e] > 0;
    return options_.kind != WalkKind::biased || degree(csr_.targets[e]) > 0;
  }

  /// Is there an edge from u to v that may be drawn?
  bool has_edge(Vertex u, Vertex v) const {
    const Vertex* begin = csr_.targets + csr_.offsets[u];
    const auto [low, high] = std::equal_range(begin, csr_.targets + csr_.offsets[u + 1], v);
    for (const Vertex* at = low; at != high; ++at) {
      if (positive(static_cast<EdgeIndex>(at - csr_.targets))) return true;
    }
    return false;
  }

  bool is_dead_end(Vertex u) const {
    for (EdgeIndex e = csr_.offsets[u]; e < csr_.offsets[u + 1]; ++e) {
      if (positive(e)) return false;
    }
    return true;
  }

  bool legal(Vertex start, Vertex u, Vertex v) const {
    if (has_edge(u, v)) return true;
    const bool leaves = options_.probability > 0 || degree(u) == 0;
    switch (options_.kind) {
      case WalkKind::metropolis_hastings:
        return u == v && degree(u) > 0;
      case WalkKind::jump:
        return leaves;
      case WalkKind::restart:
        return v == start && leaves;
      default:
        return false;
    }
  }

  void check_walk(std::span<const Vertex> walk) const {
    verify_seeds(graph_, starts_, instance_, walk.first(1), false);
    const bool never_ends = options_.kind == WalkKind::jump || options_.kind == WalkKind::restart;
    for (std::size_t step = 1; step < walk.size(); ++step) {
      const Vertex u = walk[step - 1], v = walk[step];
      if (u == kNoVertex) {
        if (v != kNoVertex) fail(step, "the walk goes on behind its end");
      } else if (v == kNoVertex) {
        if (never_ends || !is_dead_end(u))
          fail(step, fmt::format("the walk ends at {}, which has a way on", u));
      } else if (v >= csr_.vertices) {
        fail(step, fmt::format("{} is no vertex", v));
      } else if (!legal(walk[0], u, v)) {
        fail(step, fmt::format("{} to {} is no legal step", u, v));
      }
    }
  }

  void check_pool(std::span<const Vertex> edges, std::span<const Vertex> seeds) const {
    verify_seeds(graph_, starts_, instance_, seeds, false);
    std::vector<Vertex> pool(seeds.begin(), seeds.end());
    for (std::size_t step = 0; step < options_.length; ++step) {
      const Vertex u = edges[2 * step], v = edges[2 * step + 1];
      if (u == kNoVertex || v == kNoVertex) {
        const bool dead = std::all_of(pool.begin(), pool.end(), [&](Vertex w) { return degree(w) == 0; });
        if (u != v || !dead) fail(step + 1, "the walk ends, but its pool has a way on");
        const auto rest = edges.subspan(2 * step);
        if (!std::all_of(rest.begin(), rest.end(), [](Vertex w) { return w == kNoVertex; })) {
          fail(step + 1, "the walk goes on behind its end");
        }
        return;
      }
      const auto entry = std::find(pool.begin(), pool.end(), u);
      if (entry == pool.end()) fail(step + 1, fmt::format("{} is not in the pool", u));
      if (v >= csr_.vertices || !has_edge(u, v)) fail(step + 1, fmt::format("{} to {} is no edge", u, v));
      *entry = v;
    }
  }

  const Graph& graph_;
  CsrView csr_;
  const Starts& starts_;
  const WalkOptions& options_;
  WalkSink& next_;
  Instance instance_ = 0;
};

}  // namespace

std::unique_ptr<WalkSink> verify_walks(const Graph& graph, const Starts& starts, const WalkOptions& options,
                                       WalkSink& next) {
  return std::make_unique<WalkVerifier>(graph, starts, options, next);
}

void verify_seeds(const Graph& graph, const Starts& starts, Instance instance, std::span<const Vertex> seeds,
                  bool repeated_once) {
  const auto fail = [&](const char* what) {
    throw RunError(fmt::format("verify: instance {}: {}", instance, what));
  };
  for (const Vertex seed : seeds) {
    if (seed >= graph.vertices()) fail("a seed is no vertex");
  }
  if (starts.mode == Starts::Mode::random) return;
  std::vector<Vertex> expected;
  if (starts.mode == Starts::Mode::per_vertex) {
    expected.push_back(static_cast<Vertex>(instance % graph.vertices()));
  } else {
    const std::uint64_t begin = starts.offsets.empty() ? instance : starts.offsets[instance];
    const std::uint64_t end = starts.offsets.empty() ? instance + 1 : starts.offsets[instance + 1];
    for (std::uint64_t i = begin; i < end; ++i) {
      const Vertex seed = starts.vertices[i];
      if (repeated_once && std::find(expected.begin(), expected.end(), seed) != expected.end()) continue;
      expected.push_back(seed);
    }
  }
  if (!std::equal(seeds.begin(), seeds.end(), expected.begin(), expected.end()))
    fail("its seeds are not its starts");
}

}  // namespace sluice::apps
