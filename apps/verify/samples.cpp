#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_set>
#include <vector>

#include "apps/verify/questions.hpp"
#include "apps/verify/verify.hpp"
#include "engine/core/error.hpp"
#include "engine/memory/sweep_lists.hpp"

namespace sluice::apps {

namespace {

/// The part of a batch that belongs to one instance.
struct Sample {
  Instance instance;
  std::span<const Vertex> source, target;
  std::span<const std::int32_t> depth;
  std::span<const EdgeIndex> edge;
  std::span<const Vertex> seeds, vertices;

  [[noreturn]] void fail(const std::string& what) const {
    throw RunError(fmt::format("verify: instance {}: {}", instance, what));
  }
};

class SampleVerifier : public SampleSink {
 public:
  SampleVerifier(const Graph& graph, const Starts& starts, const samples::Options& options, SampleSink* next,
                 unsigned threads)
      : graph_(graph),
        starts_(starts),
        options_(options),
        next_(next),
        threads_(threads),
        edges_(graph, options.bias == Bias::weight, 1, threads) {
    if (graph.edge_source == nullptr || options.bias == Bias::none) return;
    candidates_ = HostArray<std::uint64_t>(graph.vertices(), "checked candidates");
    if (next != nullptr) count_candidates();
  }

  void write(const SampleBatch& batch) override {
    check_edges(batch);
    // The positions at which the samples of a block of instances begin.
    struct Positions {
      std::uint64_t edges = 0, seeds = 0, vertices = 0;
    };
    std::vector<Positions> blocks;
    Positions positions;
    for (std::uint64_t i = 0; i < batch.count; ++i) {
      if (i % kSamplesAtOnce == 0) blocks.push_back(positions);
      positions.edges += batch.edge_counts[i], positions.seeds += batch.seed_counts[i];
      positions.vertices += batch.vertex_counts.empty() ? 0 : batch.vertex_counts[i];
    }
    // Lists of a graph in its file share one buffer.
    const unsigned threads = edges_.in_file() && options_.kind == samples::Kind::node ? 1 : threads_;
    parallel_blocks(
        threads, batch.count, kSamplesAtOnce, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
          auto [edges, seeds, vertices] = blocks[begin / kSamplesAtOnce];
          for (std::uint64_t i = begin; i < end; ++i) {
            const std::uint64_t count = batch.edge_counts[i], seed_count = batch.seed_counts[i];
            const std::uint64_t vertex_count = batch.vertex_counts.empty() ? 0 : batch.vertex_counts[i];
            check({batch.first + i, batch.source.subspan(edges, count), batch.target.subspan(edges, count),
                   batch.depth.subspan(edges, count), batch.edge.subspan(edges, count),
                   batch.seeds.subspan(seeds, seed_count), batch.vertices.subspan(vertices, vertex_count)});
            edges += count, seeds += seed_count, vertices += vertex_count;
          }
        });
    next_->write(batch);
  }

 private:
  static constexpr std::uint64_t kSamplesAtOnce = 16, kVerticesAtOnce = 1u << 12;

  std::uint64_t degree(Vertex v) const { return graph_.out.offsets[v + 1ull] - graph_.out.offsets[v]; }

  bool positive(Vertex target, const float* weight) const {
    if (options_.bias == Bias::weight) return weight == nullptr || *weight > 0;
    if (options_.bias == Bias::degree) return degree(target) > 0;
    return true;
  }

  /// The number of edges of v that may be drawn. `targets` and `weights` are indexed by edge position.
  std::uint64_t candidates(std::uint64_t v, const Vertex* targets, const float* weights) const {
    std::uint64_t count = 0;
    for (EdgeIndex e = graph_.out.offsets[v]; e < graph_.out.offsets[v + 1]; ++e)
      count += positive(targets[e], weights == nullptr ? nullptr : weights + e);
    return count;
  }
  std::uint64_t candidates(Vertex v) const {
    if (options_.bias == Bias::none) return degree(v);
    if (!candidates_.empty()) return candidates_[v];
    const CsrView lists = graph_.out.view();
    return candidates(v, lists.targets, lists.weights);
  }
  /// Counts the candidates of all vertices in one pass over the file, where each access to a list is a read.
  void count_candidates() {
    const bool weights = options_.bias == Bias::weight && graph_.weighted;
    for_row_blocks(graph_.out.view(), graph_.edge_source.get(), true, weights, threads_, kVerticesAtOnce,
                   [&](const CsrView& lists, std::uint64_t begin, std::uint64_t end) {
                     for (std::uint64_t v = begin; v < end; ++v)
                       candidates_[v] = candidates(v, lists.targets, lists.weights);
                   });
  }

  enum : std::uint8_t { kNoEdge, kZeroBias, kValid };

  /// Checks that each edge is in the graph at its position, and may be drawn.
  void check_edges(const SampleBatch& batch) {
    const auto& counts = batch.edge_counts;
    if (std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) != batch.source.size())
      throw RunError("verify: a batch's edges differ from those of its instances");
    std::uint64_t instance = 0, instance_end = batch.count > 0 ? counts[0] : 0;
    for (std::uint64_t from = 0; from < batch.source.size(); from += edges_.size()) {
      const std::uint64_t to = std::min<std::uint64_t>(batch.source.size(), from + edges_.capacity());
      edges_.clear();
      for (std::uint64_t i = from; i < to; ++i) edges_.add({batch.source[i], batch.target[i], batch.edge[i]});
      edges_.evaluate([&](const EdgeQuery& query, const ListParts::Part& part, std::uint8_t& found) {
        const EdgeIndex at = query.position - part.first;  // wraps to a huge value before the part
        if (at >= part.targets.size() || part.targets[at] != query.target) return;
        const float* const weight = part.weights == nullptr ? nullptr : part.weights + at;
        found = positive(query.target, weight) ? kValid : kZeroBias;
      });
      for (std::uint64_t i = from; i < to; ++i) {
        while (i >= instance_end) instance_end += counts[++instance];
        check_edge(batch, batch.first + instance, i, edges_[i - from]);
      }
    }
  }

  static void check_edge(const SampleBatch& batch, Instance instance, std::uint64_t i, std::uint8_t found) {
    const Sample sample{instance, {}, {}, {}, {}, {}, {}};
    if (found == kNoEdge)
      sample.fail(fmt::format("the edge {} to {} is not at position {}", batch.source[i], batch.target[i],
                              batch.edge[i]));
    if (found == kZeroBias)
      sample.fail(fmt::format("the edge at position {} has no bias and cannot be drawn", batch.edge[i]));
  }

  void check(const Sample& sample) {
    if (!sample.depth.empty() &&
        (sample.depth[0] != 1 || !std::is_sorted(sample.depth.begin(), sample.depth.end())))
      sample.fail("depths do not ascend from 1");
    if (options_.kind == samples::Kind::node) return check_node(sample);
    if (options_.kind == samples::Kind::edge) return check_one_pass(sample, options_.count);
    verify_seeds(graph_, starts_, sample.instance, sample.seeds, true);
    check_traversal(sample);
  }

  /// Checks for `count` edges of depth 1 with distinct positions in ascending order.
  void check_one_pass(const Sample& sample, std::uint64_t count) const {
    if (sample.edge.size() != count)
      sample.fail(fmt::format("{} edges instead of {}", sample.edge.size(), count));
    if (!sample.depth.empty() && sample.depth.back() != 1) sample.fail("an edge is deeper than 1");
    const auto descends = std::adjacent_find(sample.edge.begin(), sample.edge.end(), std::greater_equal<>());
    if (descends != sample.edge.end()) sample.fail("edges are not different and ascending");
  }

  void check_node(const Sample& sample) {
    const auto& chosen = sample.vertices;
    if (chosen.size() != options_.count)
      sample.fail(fmt::format("{} vertices instead of {}", chosen.size(), options_.count));
    if (std::adjacent_find(chosen.begin(), chosen.end(), std::greater_equal<>()) != chosen.end()) {
      sample.fail("vertices are not different and ascending");
    }
    const auto holds = [&](Vertex v) { return std::binary_search(chosen.begin(), chosen.end(), v); };
    if (!chosen.empty() && chosen.back() >= graph_.vertices()) sample.fail("a vertex is not in the graph");
    std::uint64_t inner_edges = 0;
    edges_.lists().for_each(chosen, [&](std::size_t, const ListParts::Part& part) {
      inner_edges += static_cast<std::uint64_t>(std::ranges::count_if(part.targets, holds));
    });
    for (std::size_t i = 0; i < sample.source.size(); ++i) {
      if (!holds(sample.source[i]) || !holds(sample.target[i]))
        sample.fail("an edge leaves the chosen vertices");
    }
    check_one_pass(sample, inner_edges);
  }

  /// The number of edges that a frontier vertex must have at this depth; nothing if it is random.
  std::optional<std::uint64_t> required(Vertex v, std::uint32_t depth) const {
    if (options_.kind == samples::Kind::snowball) return candidates(v);
    if (options_.kind != samples::Kind::neighbor) return std::nullopt;
    const std::int64_t fanout = options_.fanout[depth - 1];
    const std::uint64_t available = candidates(v);
    if (fanout < 0 || available == 0) return available;
    const auto wanted = static_cast<std::uint64_t>(fanout);
    return options_.replace ? wanted : std::min(wanted, available);
  }

  std::uint32_t depths() const {
    if (options_.kind == samples::Kind::neighbor) return static_cast<std::uint32_t>(options_.fanout.size());
    if (options_.kind == samples::Kind::layer) return static_cast<std::uint32_t>(options_.layer_sizes.size());
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
    if (at != sample.source.size()) sample.fail(fmt::format("edges are deeper than {}", depths()));
  }

  /// Assigns the edges of one depth, from `at` on, to the frontier's vertices in order; returns the next
  /// depth's first edge. With --revisit, a vertex may be in the frontier several times, each time with its
  /// own edges.
  std::size_t check_depth(const Sample& sample, std::size_t at, std::uint32_t depth,
                          std::span<const Vertex> frontier) const {
    const auto in_depth = [&](std::size_t i) {
      return i < sample.depth.size() && sample.depth[i] == static_cast<std::int32_t>(depth);
    };
    const std::size_t begin = at;
    std::uint64_t available = 0;
    for (const Vertex v : frontier) {
      const auto need = required(v, depth);
      if (options_.kind == samples::Kind::layer) available += candidates(v);
      std::uint64_t found = 0;
      for (; in_depth(at) && sample.source[at] == v && found < need.value_or(degree(v)); ++at, ++found) {
        if (found != 0 && sample.edge[at] <= sample.edge[at - 1] && !options_.replace) break;
      }
      if (need && found != *need)
        sample.fail(fmt::format("depth {}: {} gave {} edges instead of {}", depth, v, found, *need));
    }
    if (in_depth(at)) {
      sample.fail(fmt::format("depth {}: an edge from {} is repeated, out of order, or not from the frontier",
                              depth, sample.source[at]));
    }
    if (options_.kind == samples::Kind::layer) {
      const std::uint64_t need = std::min(options_.layer_sizes[depth - 1], available);
      if (at - begin != need)
        sample.fail(fmt::format("depth {}: {} edges instead of {}", depth, at - begin, need));
    }
    return at;
  }

  const Graph& graph_;
  const Starts& starts_;
  const samples::Options& options_;
  SampleSink* next_;
  unsigned threads_;
  EdgeQueries edges_;
  HostArray<std::uint64_t> candidates_;  ///< [vertices] empty: counted on demand
};

}  // namespace

std::unique_ptr<SampleSink> verify_samples(const Graph& graph, const Starts& starts,
                                           const samples::Options& options, SampleSink* next,
                                           unsigned threads) {
  return std::make_unique<SampleVerifier>(graph, starts, options, next, threads);
}

}  // namespace sluice::apps
