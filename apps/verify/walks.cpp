#include <fmt/core.h>

#include <algorithm>

#include "apps/verify/questions.hpp"
#include "apps/verify/verify.hpp"
#include "engine/core/error.hpp"

namespace sluice::apps {

namespace {

class WalkVerifier : public WalkSink {
 public:
  WalkVerifier(const Graph& graph, const Starts& starts, const walks::Options& options, WalkSink* next,
               unsigned threads)
      : graph_(graph),
        starts_(starts),
        options_(options),
        next_(next),
        threads_(threads),
        edges_(graph, by_weight(options), options.length, threads) {}

  void write(const WalkBatch& batch) override {
    if (batch.length != options_.length) throw RunError("verify: a batch has the wrong length");
    for (std::uint64_t from = 0, to = 0; from < batch.count; from = to) {
      edges_.clear();
      for (; to < batch.count && edges_.remaining() >= options_.length; ++to) add_queries(batch, to);
      edges_.evaluate([&](const EdgeQuery& query, const ListParts::Part& part, std::uint8_t& found) {
        if (found == 0) found = has_positive_edge(query, part);
      });
      parallel_blocks(threads_, to - from, kWalksAtOnce,
                      [&](std::uint64_t begin, std::uint64_t end, unsigned) {
                        for (std::uint64_t i = begin; i < end; ++i)
                          check(batch, from + i, i * options_.length);
                      });
    }
    next_->write(batch);
  }

 private:
  static bool by_weight(const walks::Options& options) {
    return options.kind == walks::Kind::node2vec ||
           (options.kind == walks::Kind::biased && options.bias == Bias::weight);
  }

  static constexpr std::uint64_t kWalksAtOnce = 16;

  /// A walk and the results of its queries; the first step is 1.
  struct WalkCheck {
    Instance instance;
    const EdgeQueries& queries;
    std::uint64_t first_query;  ///< index of its first query

    [[noreturn]] void fail(std::uint64_t step, const std::string& what) const {
      throw RunError(fmt::format("verify: instance {}, step {}: {}", instance, step, what));
    }
    bool found(std::size_t step) const { return queries[first_query + step - 1] != 0; }
  };

  bool is_pool() const { return options_.kind == walks::Kind::multidimensional; }
  std::span<const Vertex> row(const WalkBatch& batch, std::uint64_t i) const {
    const std::size_t length = options_.length;
    return is_pool() ? batch.edges.subspan(i * 2 * length, 2 * length)
                     : batch.walks.subspan(i * (length + 1), length + 1);
  }

  /// Adds one query per step: may this edge be drawn? At a walk's end: is there any edge that may be?
  void add_queries(const WalkBatch& batch, std::uint64_t i) {
    const auto vertices = row(batch, i);
    const std::size_t stride = is_pool() ? 2 : 1;
    for (std::size_t step = 0; step < options_.length; ++step)
      edges_.add({vertices[stride * step], vertices[stride * step + 1]});
  }

  /// Is the bias of the i-th edge positive? Its value does not matter here.
  bool positive(const ListParts::Part& part, std::size_t i) const {
    if (by_weight(options_)) return part.weights == nullptr || part.weights[i] > 0;
    return options_.kind != walks::Kind::biased || degree(part.targets[i]) > 0;
  }

  bool has_positive_edge(const EdgeQuery& query, const ListParts::Part& part) const {
    auto [low, high] = std::ranges::equal_range(part.targets, query.target);
    if (query.target == kNoVertex) low = part.targets.begin(), high = part.targets.end();
    for (auto at = low; at != high; ++at) {
      if (positive(part, static_cast<std::size_t>(at - part.targets.begin()))) return true;
    }
    return false;
  }

  void check(const WalkBatch& batch, std::uint64_t i, std::uint64_t first_query) const {
    const WalkCheck walk_check{batch.first + i, edges_, first_query};
    const std::size_t size = options_.frontier_size;
    if (is_pool()) {
      check_pool(walk_check, row(batch, i), batch.pool.subspan(i * size, size));
    } else {
      check_walk(walk_check, row(batch, i));
    }
  }

  std::uint64_t degree(Vertex v) const { return graph_.out.offsets[v + 1ull] - graph_.out.offsets[v]; }

  bool is_legal_step(Vertex start, Vertex u, Vertex v, bool is_edge) const {
    if (is_edge) return true;
    const bool may_leave = options_.probability > 0 || degree(u) == 0;
    switch (options_.kind) {
      case walks::Kind::metropolis_hastings:
        return u == v && degree(u) > 0;
      case walks::Kind::jump:
        return may_leave;
      case walks::Kind::restart:
        return v == start && may_leave;
      default:
        return false;
    }
  }

  void check_walk(const WalkCheck& check, std::span<const Vertex> walk) const {
    verify_seeds(graph_, starts_, check.instance, walk.first(1), false);
    const bool never_ends = options_.kind == walks::Kind::jump || options_.kind == walks::Kind::restart;
    for (std::size_t step = 1; step < walk.size(); ++step) {
      const Vertex u = walk[step - 1], v = walk[step];
      if (u == kNoVertex) {
        if (v != kNoVertex) check.fail(step, "the walk continues after its end");
      } else if (v == kNoVertex) {
        if (never_ends || check.found(step))
          check.fail(step, fmt::format("the walk ends at {}, although a step is possible", u));
      } else if (v >= graph_.vertices()) {
        check.fail(step, fmt::format("{} is not a vertex", v));
      } else if (!is_legal_step(walk[0], u, v, check.found(step))) {
        check.fail(step, fmt::format("{} to {} is not a legal step", u, v));
      }
    }
  }

  void check_pool(const WalkCheck& check, std::span<const Vertex> edges,
                  std::span<const Vertex> seeds) const {
    verify_seeds(graph_, starts_, check.instance, seeds, false);
    std::vector<Vertex> pool(seeds.begin(), seeds.end());
    for (std::size_t step = 0; step < options_.length; ++step) {
      const Vertex u = edges[2 * step], v = edges[2 * step + 1];
      if (u == kNoVertex || v == kNoVertex) {
        const bool dead = std::all_of(pool.begin(), pool.end(), [&](Vertex w) { return degree(w) == 0; });
        if (u != v || !dead) check.fail(step + 1, "the walk ends, although its pool has a possible step");
        const auto remaining_edges = edges.subspan(2 * step);
        if (!std::all_of(remaining_edges.begin(), remaining_edges.end(),
                         [](Vertex w) { return w == kNoVertex; })) {
          check.fail(step + 1, "the walk continues after its end");
        }
        return;
      }
      const auto entry = std::find(pool.begin(), pool.end(), u);
      if (entry == pool.end()) check.fail(step + 1, fmt::format("{} is not in the pool", u));
      if (!check.found(step + 1)) check.fail(step + 1, fmt::format("{} to {} is not an edge", u, v));
      *entry = v;
    }
  }

  const Graph& graph_;
  const Starts& starts_;
  const walks::Options& options_;
  WalkSink* next_;
  unsigned threads_;
  EdgeQueries edges_;
};

}  // namespace

std::unique_ptr<WalkSink> verify_walks(const Graph& graph, const Starts& starts,
                                       const walks::Options& options, WalkSink* next, unsigned threads) {
  return std::make_unique<WalkVerifier>(graph, starts, options, next, threads);
}

void verify_seeds(const Graph& graph, const Starts& starts, Instance instance, std::span<const Vertex> seeds,
                  bool repeated_once) {
  const auto fail = [&](const char* what) {
    throw RunError(fmt::format("verify: instance {}: {}", instance, what));
  };
  for (const Vertex seed : seeds) {
    if (seed >= graph.vertices()) fail("a seed is not a vertex");
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
    fail("its seeds differ from its starts");
}

}  // namespace sluice::apps
