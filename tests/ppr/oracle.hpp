// A second implementation of personalized PageRank: dense diffusion in long double over a plain edge list.
// Also helpers of solver tests.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/ppr/methods/solver.hpp"
#include "engine/ppr/ppr.hpp"
#include "pagerank/cases.hpp"
#include "pagerank/oracle.hpp"
#include "sanitized.hpp"

namespace sluice::test {

using WeightedSeeds = std::vector<std::pair<Vertex, double>>;

class DensePpr {
 public:
  DensePpr(const Graph& graph, const ppr::Options& options, const WeightedSeeds& seeds)
      : options_(options),
        edges_(edges_of(graph, options.weighted)),
        total_(graph.vertices()),
        seeds_(graph.vertices()),
        mass_(graph.vertices()),
        scores_(graph.vertices()) {
    for (const auto& edge : edges_) total_[edge.from] += edge.weight;
    long double sum = 0;
    for (const auto& seed : seeds) sum += seed.second;
    for (const auto& [vertex, weight] : seeds) seeds_[vertex] += weight / sum;
    mass_ = seeds_;
  }

  void step() {
    const long double alpha = options_.alpha;
    std::vector<long double> after(mass_.size()), share(mass_.size());
    long double returning = 0;
    for (std::size_t v = 0; v < mass_.size(); ++v) {
      scores_[v] += (1 - alpha) * mass_[v];
      if (total_[v] == 0) returning += alpha * mass_[v];
      share[v] = total_[v] > 0 ? alpha * mass_[v] / total_[v] : 0;  // of an edge of weight 1
    }
    for (const auto& [from, to, weight] : edges_) after[to] += share[from] * weight;
    const bool to_seeds = options_.dangling == ppr::Dangling::seed;
    for (std::size_t v = 0; v < after.size(); ++v)
      after[v] += returning * (to_seeds ? seeds_[v] : 1.0L / after.size());
    mass_.swap(after);
  }

  std::vector<long double>& mass() { return mass_; }
  std::vector<long double>& partial() { return scores_; }
  std::vector<long double> scores() const {
    std::vector<long double> all = scores_;
    for (std::size_t v = 0; v < all.size(); ++v) all[v] += mass_[v];
    return all;
  }

 private:
  const ppr::Options& options_;
  std::vector<WeightedEdge> edges_;
  std::vector<long double> total_, seeds_, mass_, scores_;
};

/// GD(L), or the limit with an error of 1e-17.
inline std::vector<long double> dense_ppr(const Graph& graph, const ppr::Options& options,
                                          const WeightedSeeds& seeds) {
  DensePpr dense(graph, options, seeds);
  const std::uint32_t length = length_of(options);
  const std::uint32_t steps =
      length != 0 ? length : static_cast<std::uint32_t>(-39 / std::log(options.alpha));
  for (std::uint32_t step = 0; step < steps; ++step) dense.step();
  return dense.scores();
}

inline Starts starts_of(const std::vector<WeightedSeeds>& queries) {
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.offsets = {0};
  for (const auto& seeds : queries) {
    for (const auto& [vertex, weight] : seeds) {
      starts.vertices.push_back(vertex);
      starts.weights.push_back(weight);
    }
    starts.offsets.push_back(starts.vertices.size());
  }
  return starts;
}

/// All scores and the figures of one query.
struct SolvedQuery {
  std::vector<double> scores;
  ppr::QueryFigures figures;
};

/// Runs a query whose lists are all present.
inline ppr::QueryFigures solve_with(ppr::QuerySolver& solver, const ppr::Seeds& seeds, Instance query) {
  solver.begin(seeds, query);
  solver.advance(solver.all_lists());
  return solver.figures();
}

inline SolvedQuery solve(const Graph& graph, const ppr::Options& options, const WeightedSeeds& seeds,
                         Instance query = 0) {
  const Device device({DeviceChoice::host, 1, 0});
  const auto solver = ppr::QuerySolver::make(device, graph.out.view(), options);
  ppr::Seeds of_query;
  of_query.assign(starts_of({seeds}), graph.vertices(), options.seed, 0);
  SolvedQuery solved{std::vector<double>(graph.vertices()), solve_with(*solver, of_query, query)};
  const ppr::MassUnits units = ppr::MassUnits::of(solved.figures.units);
  solver->for_each_reached(
      [&](Vertex v, ppr::Mass score, ppr::Mass) { solved.scores[v] = units.share(score); });
  return solved;
}

inline double largest_difference(const std::vector<double>& scores, const std::vector<long double>& truth) {
  long double largest = 0;
  for (std::size_t v = 0; v < truth.size(); ++v) largest = std::max(largest, std::fabs(scores[v] - truth[v]));
  return static_cast<double>(largest);
}

/// Queries from all vertices of a small graph, from some of a large one, and two with several seeds.
inline std::vector<WeightedSeeds> queries_of(const Graph& graph) {
  const auto n = static_cast<Vertex>(graph.vertices());
  std::vector<WeightedSeeds> queries;
  for (Vertex v = 0; v < n; v += std::max<Vertex>(n / 6, 1)) queries.push_back({{v, 1}});
  queries.push_back({{0, 1}, {n - 1, 3}, {n / 2, 0.5}});
  queries.push_back({{n - 1, 1e-30}, {n - 1, 1e30}, {0, 1e30}});
  return queries;
}

/// The first of these queries, and the two with several seeds.
inline std::vector<WeightedSeeds> three_queries_of(const Graph& graph) {
  auto queries = queries_of(graph);
  queries.erase(queries.begin() + 1, queries.end() - 2);
  return queries;
}

/// Both rules for vertices without out-edges, with and without weights.
inline std::vector<ppr::Options> ppr_rules() {
  std::vector<ppr::Options> all(4);
  all[1].weighted = all[3].weighted = true;
  all[2].dangling = all[3].dangling = ppr::Dangling::uniform;
  return all;
}

/// GD(L) and the limit, with all rules for vertices without out-edges, weighted or not.
inline std::vector<ppr::Options> dense_methods() {
  std::vector<ppr::Options> all;
  for (ppr::Options options : ppr_rules()) {
    options.state = ppr::State::dense;
    options.top = 20;
    for (const std::uint32_t length : {0u, 1u, 4u}) {
      options.length = length;
      options.tolerance = length == 0 ? 1e-6 : 1e-10;
      all.push_back(options);
    }
  }
  return all;
}

/// Every method that a group of threads supports (group_query.hpp), with all its options.
inline std::vector<ppr::Options> group_methods() {
  std::vector<ppr::Options> all;
  ppr::Options options;
  options.top = 20;
  options.tolerance = 1e-6;
  all.push_back(options);
  options.length = 4;
  all.push_back(options);
  options.length = 0;
  options.method = ppr::Method::push;
  all.push_back(options);
  options.residual_threshold = 1e-4;
  all.push_back(options);
  options.method = ppr::Method::staged;
  options.stages = {1, 2, 1};
  options.unexpanded = ppr::Unexpanded::share;
  all.push_back(options);
  options.residual_threshold = 0;
  for (const double expand : {0.0, 0.13, 1.0}) {
    options.expand = expand;
    options.unexpanded = expand == 0.13 ? ppr::Unexpanded::residual : ppr::Unexpanded::share;
    all.push_back(options);
  }
  options.method = ppr::Method::walks;
  options.walks = 300;
  all.push_back(options);
  options.length = 3;
  options.dangling = ppr::Dangling::uniform;
  all.push_back(options);
  // Returning mass is spread over all vertices: the methods of the first eight that then continue
  // differently.
  for (const std::size_t i : {0, 1, 2, 3, 4, 6}) {
    all.push_back(all[i]);
    all.back().dangling = ppr::Dangling::uniform;
  }
  for (const std::size_t i : {0, 1, 6}) {
    all.push_back(all[i]);
    all.back().score_units = i == 0 ? 1009 : ~0u;
  }
  for (const std::size_t i : {1, 4, 6}) {
    all.push_back(all[i]);
    all.back().unit_degree = i == 6 ? ppr::BallDegree::average : ppr::BallDegree::largest;
  }
  return all;
}

/// Next-stage vertices one by one: all, some or none of them, by share and by residual, and with full tables.
inline std::vector<ppr::Options> one_by_one_methods() {
  std::vector<ppr::Options> all(8);
  for (ppr::Options& options : all) {
    options.method = ppr::Method::staged;
    options.one_by_one = true;
    options.top = 5;
    options.expand = 0.05;
    options.stages = {2, 3};
  }
  all[1].stages = {1, 2, 1}, all[1].unexpanded = ppr::Unexpanded::share, all[1].top = 600;
  all[2].residual_threshold = 1e-3, all[2].table = 2;
  all[3].expand = 0;
  all[4].stages = {2, 1, 2}, all[4].table = 10;
  all[5].stages = {3}, all[5].table = 3;
  all[6].stages = {2, 1, 2}, all[6].table = 3, all[6].table_limit = ppr::TableLimit::hard;
  all[3].score_units = 100003, all[6].score_units = ~0u;
  all[7] = all[6], all[7].table = 1, all[7].unexpanded = ppr::Unexpanded::share;
  for (std::size_t i = 0; i < unless_sanitized(8u, 2u); ++i) {
    all.push_back(all[i]);
    all.back().dangling = ppr::Dangling::uniform;
  }
  for (const std::size_t i : {1, 2}) {
    all.push_back(all[i]);
    all.back().unit_degree = i == 1 ? ppr::BallDegree::average : ppr::BallDegree::largest;
  }
  return all;
}

/// Keeps everything that is written.
class KeptRows : public ppr::Sink {
 public:
  void write(const ppr::Batch& batch) override {
    seeds.insert(seeds.end(), batch.seeds.begin(), batch.seeds.end());
    vertices.insert(vertices.end(), batch.vertices.begin(), batch.vertices.end());
    scores.insert(scores.end(), batch.scores.begin(), batch.scores.end());
    figures.insert(figures.end(), batch.figures.begin(), batch.figures.end());
  }
  bool operator==(const KeptRows& other) const {
    return seeds == other.seeds && vertices == other.vertices && scores == other.scores;
  }

  std::vector<Vertex> seeds, vertices;
  std::vector<double> scores;
  std::vector<ppr::QueryFigures> figures;
};

}  // namespace sluice::test
