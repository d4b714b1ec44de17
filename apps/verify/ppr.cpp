#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "apps/verify/verify.hpp"
#include "engine/core/error.hpp"
#include "engine/core/host_array.hpp"
#include "partition/list_parts.hpp"

namespace sluice::apps {

namespace {

/// More than the rounding error of doubles in a sum of this many edges.
constexpr double kRounding = 1e-12;
/// Lists requested at a time.
constexpr std::size_t kListsAtOnce = 1u << 14;

class PprVerifier : public ppr::Sink {
 public:
  PprVerifier(const Graph& graph, const Starts& starts, const ppr::Options& options, ppr::Sink& next)
      : vertices_(graph.vertices()),
        starts_(starts),
        options_(options),
        next_(next),
        lists_(graph, options.weighted),
        expected_(vertices_, "checked scores"),
        mass_(vertices_, "checked scores"),
        next_mass_(vertices_, "checked scores"),
        weight_sums_(options.weighted ? vertices_ : 0, "checked weights"),
        offsets_(graph.out.offsets.data()) {
    if (options.weighted) sum_weights();
  }

  void write(const ppr::Batch& batch) override {
    for (std::uint64_t i = 0; i < batch.count; ++i) {
      query_ = batch.first + i;
      check(batch.seeds[i], batch.vertices.subspan(i * batch.top, batch.top),
            batch.scores.subspan(i * batch.top, batch.top), allowed_error(batch.figures[i]));
    }
    next_.write(batch);
  }

 private:
  /// The error that the query reports; for walks, a bound that chance exceeds once in 10^12 queries.
  double allowed_error(const ppr::QueryFigures& figures) const {
    return options_.method == ppr::Method::walks ? ppr::walk_error(options_.walks, 1 - 1e-12) : figures.error;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw RunError(fmt::format("verify: query {}: {}", query_, what));
  }

  void check(Vertex first_seed, std::span<const Vertex> vertices, std::span<const double> scores,
             double error) {
    set_seeds(first_seed);
    diffuse(error);
    std::size_t listed = 0;
    while (listed < vertices.size() && vertices[listed] != kNoVertex) ++listed;
    std::set<Vertex> listed_vertices;
    double sum = 0;
    for (std::size_t i = 0; i < listed; ++i) {
      if (vertices[i] >= vertices_ || !listed_vertices.insert(vertices[i]).second)
        fail(fmt::format("vertex {} does not exist, or is listed twice", vertices[i]));
      if (!(scores[i] > 0)) fail(fmt::format("a score of {}", scores[i]));
      const bool in_order = i == 0 || scores[i - 1] > scores[i] ||
                            (scores[i - 1] == scores[i] && vertices[i - 1] < vertices[i]);
      if (!in_order) fail(fmt::format("row {} is out of order", i));
      if (std::fabs(scores[i] - expected_[vertices[i]]) > error + kRounding) {
        fail(fmt::format("vertex {} scores {}, but {} by a dense diffusion (allowed: {})", vertices[i],
                         scores[i], expected_[vertices[i]], error + kRounding));
      }
      sum += scores[i];
    }
    if (sum > 1 + kRounding) fail(fmt::format("scores sum to {}", sum));
    for (std::size_t i = listed; i < vertices.size(); ++i) {
      if (vertices[i] != kNoVertex || scores[i] != 0) fail("its list has entries after its end");
    }
    const double lowest_score = listed < vertices.size() || listed == 0 ? 0 : scores[listed - 1];
    for (std::size_t v = 0; v < vertices_; ++v) {
      if (expected_[v] > lowest_score + error + kRounding &&
          !listed_vertices.contains(static_cast<Vertex>(v)))
        fail(fmt::format("vertex {} should be listed: it scores {}", v, expected_[v]));
    }
  }

  /// Drawn seeds are not known here, so the seed in the result is taken as correct.
  void set_seeds(Vertex first_seed) {
    seeds_.clear();
    const bool listed = starts_.mode == Starts::Mode::listed;
    if (starts_.mode == Starts::Mode::per_vertex && first_seed != query_ % vertices_)
      fail("its seed differs from its start");
    if (!listed) return seeds_.assign({{first_seed, 1.0}});
    double total = 0;
    for (std::uint64_t i = starts_.offsets[query_]; i < starts_.offsets[query_ + 1]; ++i) {
      seeds_.emplace_back(starts_.vertices[i], starts_.weights.empty() ? 1.0 : starts_.weights[i]);
      total += seeds_.back().second;
    }
    if (first_seed != seeds_[0].first) fail("its seed differs from its start");
    for (auto& [vertex, weight] : seeds_) weight /= total;
  }

  /// Computes the true scores, to an error well below `error`.
  void diffuse(double error) {
    const std::uint32_t length = length_of(options_);
    std::fill(expected_.begin(), expected_.end(), 0.0);
    std::fill(mass_.begin(), mass_.end(), 0.0);
    for (const auto& [vertex, share] : seeds_) mass_[vertex] += share;
    double remaining_mass = 1;
    for (std::uint32_t depth = 0; length != 0 ? depth < length : remaining_mass > std::min(error, 1e-3) / 100;
         ++depth) {
      step();
      remaining_mass *= options_.alpha;
      if (length == 0 && remaining_mass < kRounding / 10) break;
    }
    for (std::size_t v = 0; v < vertices_; ++v) expected_[v] += mass_[v];
  }

  void step() {
    std::fill(next_mass_.begin(), next_mass_.end(), 0.0);
    double dangling_mass = 0;
    for_each_list(
        [&](Vertex v) {
          if (mass_[v] == 0) return false;
          expected_[v] += (1 - options_.alpha) * mass_[v];
          if (weight_sum(v) == 0) dangling_mass += options_.alpha * mass_[v];
          return weight_sum(v) > 0;
        },
        [&](Vertex v, const ListParts::Part& part) {
          const double spread_mass = options_.alpha * mass_[v];
          for (std::size_t i = 0; i < part.targets.size(); ++i)
            next_mass_[part.targets[i]] += spread_mass * (weight(part, i) / weight_sum(v));
        });
    if (options_.dangling == ppr::Dangling::seed) {
      for (const auto& [vertex, share] : seeds_) next_mass_[vertex] += dangling_mass * share;
    } else {
      for (double& mass : next_mass_) mass += dangling_mass / static_cast<double>(vertices_);
    }
    std::swap(mass_, next_mass_);
  }

  /// Calls use(v, part) for the lists of all vertices with wanted(v).
  template <class Wanted, class Use>
  void for_each_list(Wanted&& wanted, Use&& use) {
    std::vector<Vertex> chunk;
    for (std::uint64_t v = 0; v < vertices_;) {
      chunk.clear();
      for (; v < vertices_ && chunk.size() < kListsAtOnce; ++v) {
        if (wanted(static_cast<Vertex>(v))) chunk.push_back(static_cast<Vertex>(v));
      }
      lists_.for_each(chunk, [&](std::size_t i, const ListParts::Part& part) { use(chunk[i], part); });
    }
  }

  void sum_weights() {
    std::fill(weight_sums_.begin(), weight_sums_.end(), 0.0);
    for_each_list([](Vertex) { return true; },
                  [&](Vertex v, const ListParts::Part& part) {
                    for (std::size_t i = 0; i < part.targets.size(); ++i) weight_sums_[v] += weight(part, i);
                  });
  }
  /// The sum of the weights in the list of v.
  double weight_sum(Vertex v) const {
    return options_.weighted ? weight_sums_[v] : static_cast<double>(offsets_[v + 1ull] - offsets_[v]);
  }
  static double weight(const ListParts::Part& part, std::size_t i) {
    return part.weights != nullptr ? static_cast<double>(part.weights[i]) : 1.0;
  }

  std::uint64_t vertices_;
  const Starts& starts_;
  const ppr::Options& options_;
  ppr::Sink& next_;
  Instance query_ = 0;
  std::vector<std::pair<Vertex, double>> seeds_;
  ListParts lists_;
  HostArray<double> expected_, mass_, next_mass_;  ///< [vertices]
  HostArray<double> weight_sums_;                  ///< [vertices] empty unless weighted
  const EdgeIndex* offsets_;
};

}  // namespace

std::unique_ptr<ppr::Sink> verify_ppr(const Graph& graph, const Starts& starts, const ppr::Options& options,
                                      ppr::Sink& next) {
  return std::make_unique<PprVerifier>(graph, starts, options, next);
}

}  // namespace sluice::apps
