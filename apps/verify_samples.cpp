#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "apps/verify.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

/// One instance's part of a batch.
struct Sample {
  std::span<const Vertex> source, target;
  std::span<const std::int32_t> depth;
  std::span<const EdgeIndex> edge;
  std::span<const Vertex> seeds, vertices;
};

class SampleVerifier : public SampleSink {
 public:
  SampleVerifier(const Graph& graph, const Starts& starts, const SampleOptions& options, SampleSink& next)
      : graph_(graph), csr_(graph.out.view()), starts_(starts), options_(options), next_(next) {}

  void write(const SampleBatch& batch) override {
    std::uint64_t edges = 0, seeds = 0, vertices = 0;
    for (std::uint64_t i = 0; i < batch.count; ++i) {
      instance_ = batch.first + i;
      const std::uint64_t count = batch.edge_counts[i], seed_count = batch.seed_counts[i];
      const std::uint64_t vertex_count = batch.vertex_counts.empty() ? 0 : batch.vertex_counts[i];
      check({batch.source.subspan(edges, count), batch.target.subspan(edges, count),
             batch.depth.subspan(edges, count), batch.edge.subspan(edges, count),
             batch.seeds.subspan(seeds, seed_count), batch.vertices.subspan(vertices, vertex_count)});
      edges += count, seeds += seed_count, vertices += vertex_count;
    }
    if (edges != batch.source.size())
      throw RunError("verify: a batch holds more edges than its instances have");
    next_.write(batch);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw RunError(fmt::format("verify: instance {}: {}", instance_, what));
  }

  std::uint64_t degree(Vertex v) const { return csr_.offsets[v + 1] - csr_.offsets[v]; }

  bool positive(EdgeIndex e) const {
    if (options_.bias == Bias::weight) return csr_.weights == nullptr || csr_.weights[e] > 0;
    if (options_.bias == Bias::degree) return degree(csr_.targets[e]) > 0;
    return true;
  }

  std::uint64_t candidates(Vertex v) const {
    std::uint64_t count = 0;
    for (EdgeIndex e = csr_.offsets[v]; e < csr_.offsets[v + 1]; ++e) count += positive(e);
    return count;
  }

  void check(const Sample& sample) const {
    for (std::size_t i = 0; i < sample.source.size(); ++i) check_edge(sample, i);
    if (options_.kind == SampleKind::node) return check_node(sample);
    if (options_.kind == SampleKind::edge) return check_one_pass(sample, options_.count);
    verify_seeds(graph_, starts_, instance_, sample.seeds, true);
    check_traversal(sample);
  }

  void check_edge(const Sample& sample, std::size_t i) const {
    const Vertex u = sample.source[i], v = sample.target[i];
    const EdgeIndex e = sample.edge[i];
    if (u >= csr_.vertices || e < csr_.offsets[u] || e >= csr_.offsets[u + 1] || csr_.targets[e] != v) {
      fail(fmt::format("{} to {} does not stand at position {}", u, v, e));
    }
    if (!positive(e)) fail(fmt::format("the edge at position {} has no bias and cannot be drawn", e));
    const std::int32_t before = i == 0 ? 1 : sample.depth[i - 1];
    if (sample.depth[i] < before || (i == 0 && sample.depth[i] != 1)) fail("depths do not ascend from 1");
  }

  /// `count` different positions, ascending, all of depth 1.
  void check_one_pass(const Sample& sample, std::uint64_t count) const {
    if (sample.edge.size() != count) fail(fmt::format("{} edges instead of {}", sample.edge.size(), count));
    if (!sample.depth.empty() && sample.depth.back() != 1) fail("an edge is deeper than 1");
    const auto descends = std::adjacent_find(sample.edge.begin(), sample.edge.end(), std::greater_equal<>());
    if (descends != sample.edge.end()) fail("edges are not different and ascending");
  }

  void check_node(const Sample& sample) const {
    const auto& chosen = sample.vertices;
    if (chosen.size() != options_.count)
      fail(fmt::format("{} vertices instead of {}", chosen.size(), options_.count));
    if (std::adjacent_find(chosen.begin(), chosen.end(), std::greater_equal<>()) != chosen.end()) {
      fail("vertices are not different and ascending");
    }
    const auto holds = [&](Vertex v) { return std::binary_search(chosen.begin(), chosen.end(), v); };
    std::uint64_t between = 0;
    for (const Vertex u : chosen) {
      if (u >= csr_.vertices) fail("a vertex is not the graph's");
      between += static_cast<std::uint64_t>(
          std::count_if(csr_.targets + csr_.offsets[u], csr_.targets + csr_.offsets[u + 1], holds));
    }
    for (std::size_t i = 0; i < sample.source.size(); ++i) {
      if (!holds(sample.source[i]) || !holds(sample.target[i])) fail("an edge leaves the chosen vertices");
    }
    check_one_pass(sample, between);
  }

  /// How many edges a frontier vertex must give at this depth; nothing where chance decides.
  std::optional<std::uint64_t> required(Vertex v, std::uint32_t depth) const {
    if (options_.kind == SampleKind::snowball) return candidates(v);
    if (options_.kind != SampleKind::neighbor) return std::nullopt;
    const std::int64_t fanout = options_.fanout[depth - 1];
    const std::uint64_t available = candidates(v);
    if (fanout < 0 || available == 0) return available;
    const auto wanted = static_cast<std::uint64_t>(fanout);
    return options_.replace ? wanted : std::min(wanted, available);
  }

  std::uint32_t depths() const {
    if (options_.kind == SampleKind::neighbor) return static_cast<std::uint32_t>(options_.fanout.size());
    if (options_.kind == SampleKind::layer) return static_cast<std::uint32_t>(options_.layer_sizes.size());
    return options_.depth;
  }

  void check_traversal(const Sample& sample) const {
    std::vector<Vertex> frontier(sample.seeds.begin(), sample.seeds.end());
    std::unordered_set<Vertex> visited(frontier.begin(), frontier.end());
    std::size_t at = 0;
    for (std::uint32_t depth = 1; depth <= depths(); ++depth) {
      const std::size_t begin = at;
      at = check_depth(sample, begin, depth, frontier);
      frontier.clear();
      for (std::size_t i = begin; i < at; ++i) {
        const Vertex v = sample.target[i];
        if (visited.insert(v).second || options_.revisit) frontier.push_back(v);
      }
    }
    if (at != sample.source.size()) fail(fmt::format("edges are deeper than {}", depths()));
  }

  /// Assigns the edges of one depth, from `at` on, to the frontier's vertices in order; returns the next
  /// depth's first edge. With --revisit a vertex may stand in the frontier several times, each with edges of
  /// its own.
  std::size_t check_depth(const Sample& sample, std::size_t at, std::uint32_t depth,
                          std::span<const Vertex> frontier) const {
    const auto here = [&](std::size_t i) {
      return i < sample.depth.size() && sample.depth[i] == static_cast<std::int32_t>(depth);
    };
    const std::size_t begin = at;
    std::uint64_t available = 0;
    for (const Vertex v : frontier) {
      const auto need = required(v, depth);
      if (options_.kind == SampleKind::layer) available += candidates(v);
      std::uint64_t got = 0;
      for (; here(at) && sample.source[at] == v && got < need.value_or(degree(v)); ++at, ++got) {
        if (got != 0 && sample.edge[at] <= sample.edge[at - 1] && !options_.replace) break;
      }
      if (need && got != *need)
        fail(fmt::format("depth {}: {} gave {} edges instead of {}", depth, v, got, *need));
    }
    if (here(at)) {
      fail(fmt::format("depth {}: an edge from {} is repeated, out of order, or not from the frontier", depth,
                       sample.source[at]));
    }
    if (options_.kind == SampleKind::layer) {
      const std::uint64_t need = std::min(options_.layer_sizes[depth - 1], available);
      if (at - begin != need) fail(fmt::format("depth {}: {} edges instead of {}", depth, at - begin, need));
    }
    return at;
  }

  const Graph& graph_;
  CsrView csr_;
  const Starts& starts_;
  const SampleOptions& options_;
  SampleSink& next_;
  Instance instance_ = 0;
};

}  // namespace

std::unique_ptr<SampleSink> verify_samples(const Graph& graph, const Starts& starts,
                                           const SampleOptions& options, SampleSink& next) {
  return std::make_unique<SampleVerifier>(graph, starts, options, next);
}

}  // namespace sluice::apps
