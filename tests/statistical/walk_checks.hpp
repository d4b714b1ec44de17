// Checks of walks. Each runs the engine and returns verdicts, which the tests of planted faults use, too.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "statistical/harness.hpp"
#include "statistical/oracle_walks.hpp"
#include "statistical/report.hpp"

namespace sluice::stat {

/// One step of a walk, with data that it must be independent of.
struct StepContext {
  std::span<const Vertex> walk;       ///< of this instance
  std::span<const Vertex> neighbour;  ///< of the previous instance in the same batch, or empty
  std::uint32_t step;                 ///< from walk[step] to walk[step + 1]

  Vertex start() const { return walk[0]; }
  Vertex at() const { return walk[step]; }
  Vertex before(std::uint32_t steps = 1) const { return step >= steps ? walk[step - steps] : kNoVertex; }
};

/// The exact row of a step. It depends only on the start (restart) or the previous vertex (node2vec).
inline Row exact_row(const CsrView& graph, const walks::Options& options, const StepContext& at) {
  switch (options.kind) {
    case walks::Kind::uniform:
      return uniform_row(graph, at.at());
    case walks::Kind::biased:
      return biased_row(graph, at.at(), options.bias);
    case walks::Kind::metropolis_hastings:
      return metropolis_hastings_row(graph, at.at());
    case walks::Kind::jump:
      return jump_row(graph, at.at(), options.probability);
    case walks::Kind::restart:
      return restart_row(graph, at.at(), at.start(), options.probability);
    case walks::Kind::node2vec:
      return node2vec_row(graph, at.before(), at.at(), options.p, options.q);
    case walks::Kind::multidimensional:
      break;
  }
  throw std::logic_error("multidimensional walks have no row of one vertex");
}

/// Events of a step: small errors of P, p and q appear in their sums first.
inline Tally::Events step_events(const CsrView& graph, walks::Kind kind, const StepContext& at) {
  const auto list = neighbours(graph, at.at());
  const auto has = [](std::span<const Vertex> targets, Vertex v) {
    return std::find(targets.begin(), targets.end(), v) != targets.end();
  };
  Tally::Events events;
  events["staying"] = {at.at()};
  for (Vertex u = 0; u < graph.vertices; ++u)
    if (!has(list, u)) events["going elsewhere"].push_back(u);
  if (kind == walks::Kind::restart) events["going to the start"] = {at.start()};
  if (kind == walks::Kind::node2vec && at.step > 0) {
    events["going back"] = {at.before()};
    for (const Vertex u : std::set<Vertex>(list.begin(), list.end()))
      if (u != at.before() && has(neighbours(graph, at.before()), u)) events["staying near"].push_back(u);
  }
  return events;
}

/// A state: the data that the row depends on and, to test independence, other data.
using StateKey = std::optional<std::uint64_t> (*)(const StepContext&, std::uint64_t vertices,
                                                  walks::Kind kind);

namespace key {

inline std::uint64_t pair(Vertex other, Vertex at, std::uint64_t n) {
  return (other == kNoVertex ? n : other) * (n + 1) + at;
}

/// Only the state that the contract names.
inline std::optional<std::uint64_t> state(const StepContext& at, std::uint64_t n, walks::Kind kind) {
  if (kind == walks::Kind::restart) return pair(at.start(), at.at(), n);
  if (kind == walks::Kind::node2vec) return pair(at.before(), at.at(), n);
  return at.at();
}

/// Also the vertex `k` steps before: consecutive choices are independent.
template <std::uint32_t k>
std::optional<std::uint64_t> past(const StepContext& at, std::uint64_t n, walks::Kind kind) {
  return *state(at, n, kind) * (n + 1) + (at.before(k) == kNoVertex ? n : at.before(k));
}

/// Also the number of the step.
inline std::optional<std::uint64_t> step(const StepContext& at, std::uint64_t n, walks::Kind kind) {
  return at.step * (n + 1) * (n + 1) + *state(at, n, kind);
}

/// Also the step `shift` later of the previous instance, if it was at the same vertex.
template <int shift>
std::optional<std::uint64_t> other_instance(const StepContext& at, std::uint64_t n, walks::Kind kind) {
  const std::int64_t other_step = static_cast<std::int64_t>(at.step) + shift;
  if (other_step < 0 || at.neighbour.empty() ||
      static_cast<std::size_t>(other_step) + 1 >= at.neighbour.size())
    return {};
  const auto step = static_cast<std::size_t>(other_step);
  if (at.neighbour[step] != at.at()) return {};
  const Vertex next = at.neighbour[step + 1];
  return *state(at, n, kind) * (n + 1) + (next == kNoVertex ? n : next);
}

}  // namespace key

/// Walks from `starts`; every step is compared with its exact row, state by state. `judged`: compares with
/// the rows of other options, to test the checks.
inline Report check_walks(Bench& bench, const Starts& starts, const walks::Options& options,
                          StateKey key_of = key::state, const walks::Options* judged = nullptr) {
  const CsrView graph = bench.view();
  const std::uint64_t n = graph.vertices;
  Report broken;
  Tally tally;
  std::unordered_map<std::uint64_t, std::size_t> states;
  std::uint64_t steps = 0;
  WalkReader reader([&](const WalkBatch& batch, std::uint64_t i) {
    const std::size_t width = batch.length + std::size_t{1};
    const auto walk = batch.walks.subspan(i * width, width);
    const auto neighbour = i ? batch.walks.subspan((i - 1) * width, width) : std::span<const Vertex>();
    const Instance instance = batch.first + i;
    if (starts.mode == Starts::Mode::listed && walk[0] != starts.vertices[instance])
      broken.broken("another start");
    if (starts.mode == Starts::Mode::per_vertex && walk[0] != instance % n) broken.broken("another start");
    for (std::uint32_t step = 0; step < batch.length; ++step) {
      if (walk[step] == kNoVertex) {
        if (walk[step + 1] != kNoVertex) broken.broken("a walk goes on behind its end");
        continue;
      }
      const Vertex next = walk[step + 1];
      if (walk[step] >= n || (next >= n && next != kNoVertex)) {
        broken.broken("no vertex: " + std::to_string(walk[step]) + " to " + std::to_string(next));
        continue;
      }
      steps += next != kNoVertex;
      const StepContext at{walk, neighbour, step};
      const auto key = key_of(at, n, options.kind);
      if (!key) continue;
      auto [found, fresh] = states.try_emplace(*key, 0);
      if (fresh) {
        found->second = tally.add_state("state " + std::to_string(*key) + " at " + std::to_string(at.at()),
                                        exact_row(graph, judged ? *judged : options, at),
                                        step_events(graph, options.kind, at));
      }
      tally.count(found->second, next == kNoVertex ? n : next);
    }
  });

  const RunStats stats = sampling::run_walks(bench.resident, starts, options, &reader);

  Report report = tally.report();
  report.merge(broken, "rule");
  if (!reader.in_order() || reader.count() != starts.instances(n))
    report.broken("instances are missing or out of order");
  if (stats.steps != steps)
    report.broken("RunStats::steps " + std::to_string(stats.steps) + " of " + std::to_string(steps));
  return report;
}

/// All conditions that steps must be independent of. For small graphs.
inline Report check_independence(Bench& bench, const Starts& starts, const walks::Options& options) {
  Report report;
  report.merge(check_walks(bench, starts, options, key::past<1>), "given the vertex before");
  report.merge(check_walks(bench, starts, options, key::past<2>), "given the vertex two before");
  report.merge(check_walks(bench, starts, options, key::step), "given the number of the step");
  report.merge(check_walks(bench, starts, options, key::other_instance<0>), "given the instance before");
  report.merge(check_walks(bench, starts, options, key::other_instance<-1>), "given its step before");
  report.merge(check_walks(bench, starts, options, key::other_instance<1>), "given its step behind");
  return report;
}

/// Joint choices of consecutive steps on `regular()`, where the ranks of all lists have one distribution.
inline Report check_rank_pairs(Bench& bench, const Starts& starts, const walks::Options& options) {
  const CsrView graph = bench.view();
  std::vector<double> single(kRegularDegree), joint;
  const auto biases = list_biases(graph, 0, options.kind == walks::Kind::uniform ? Bias::none : options.bias);
  for (std::size_t i = 0; i < single.size(); ++i)
    single[i] = biases[i] / std::accumulate(biases.begin(), biases.end(), 0.0);
  for (const double a : single)
    for (const double b : single) joint.push_back(a * b);
  Tally tally;
  tally.add_state("steps k and k+1", joint);
  tally.add_state("steps k and k+2", joint);
  tally.add_state("instances i and i+1", joint);
  Report broken;
  const auto rank = [&](std::span<const Vertex> walk, std::size_t step) {
    const auto list = neighbours(graph, walk[step]);
    const auto found = std::find(list.begin(), list.end(), walk[step + 1]);
    if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
    broken.broken("no edge");
    return std::size_t{0};
  };
  WalkReader reader([&](const WalkBatch& batch, std::uint64_t i) {
    const std::size_t width = batch.length + std::size_t{1};
    const auto walk = batch.walks.subspan(i * width, width);
    for (std::size_t k = 0; k + 1 < batch.length; k += 2)  // disjoint pairs, so cells are multinomial
      tally.count(0, rank(walk, k) * kRegularDegree + rank(walk, k + 1));
    for (std::size_t k = 0; k + 3 < batch.length; k += 4)
      tally.count(1, rank(walk, k) * kRegularDegree + rank(walk, k + 2));
    if (i % 2 == 0) return;
    const auto other = batch.walks.subspan((i - 1) * width, width);
    for (std::size_t k = 0; k < batch.length; ++k)
      tally.count(2, rank(walk, k) * kRegularDegree + rank(other, k));
  });

  sampling::run_walks(bench.resident, starts, options, &reader);

  Report report = tally.report();
  report.merge(broken, "rule");
  return report;
}

/// Drawn starts are uniform, and independent of each other and of the first step.
inline Report check_random_starts(Bench& bench, std::uint64_t instances, std::uint64_t seed) {
  const std::uint64_t n = bench.graph.vertices();
  Tally tally;
  const double even = 1 / static_cast<double>(n);
  tally.add_state("starts", std::vector<double>(n, even));
  tally.add_state("starts of instances i and i+1", std::vector<double>(n * n, even * even));
  WalkReader reader([&](const WalkBatch& batch, std::uint64_t i) {
    const std::size_t width = batch.length + std::size_t{1};
    tally.count(0, batch.walks[i * width]);
    if (i % 2) tally.count(1, batch.walks[i * width] * n + batch.walks[(i - 1) * width]);
  });
  walks::Options options;
  options.length = 1;
  options.seed = seed;

  sampling::run_walks(bench.resident, random_starts(instances), options, &reader);

  Report report = tally.report();
  report.merge(check_walks(bench, random_starts(instances), options), "first step given the start");
  return report;
}

}  // namespace sluice::stat
