// Checks of kinds that do not grow, `node` and `edge`, and of the multidimensional walk, whose state is a
// pool.
#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "statistical/draw_tally.hpp"
#include "statistical/harness.hpp"
#include "statistical/report.hpp"

namespace sluice::stat {

/// Sets of `count` out of `size`: every set if there are few, otherwise inclusions only.
class SubsetTally {
 public:
  SubsetTally(std::size_t size, std::uint64_t count, const std::string& name) : enumerated_(size <= 18) {
    const std::vector<double> even(size, 1.0);
    inclusion_.add_state(name,
                         std::vector<double>(size, static_cast<double>(count) / static_cast<double>(size)));
    if (!enumerated_) return;
    std::vector<double> sets(std::size_t{1} << size, 0.0);
    std::size_t ways = 0;
    for (std::size_t set = 0; set < sets.size(); ++set) ways += of_size(set, count);
    for (std::size_t set = 0; set < sets.size(); ++set)
      sets[set] = of_size(set, count) ? 1 / static_cast<double>(ways) : 0;
    sets_.add_state(name, std::move(sets));
  }
  template <class Members>
  void count(const Members& members) {
    inclusion_.count_trial(0);
    std::size_t mask = 0;
    for (const auto member : members) {
      inclusion_.count(0, member);
      mask |= std::size_t{1} << (member & 63);
    }
    if (enumerated_) sets_.count(0, mask);
  }
  Report report() const {
    Report report;
    if (enumerated_) report.merge(sets_.report(), "sets");
    report.merge(inclusion_.report(), "members");
    return report;
  }

 private:
  static bool of_size(std::size_t set, std::uint64_t count) {
    return static_cast<std::uint64_t>(std::popcount(set)) == count;
  }
  bool enumerated_;
  Tally sets_;
  InclusionTally inclusion_;
};

/// The rules of both one-pass kinds for their columns: depth 1, correct ends, ascending positions, no seeds.
inline std::string one_pass_rules(const CsrView& graph, const SampleView& sample) {
  if (!sample.seeds.empty()) return "seeds in a one-pass sample";
  for (std::size_t e = 0; e < sample.edge.size(); ++e) {
    const EdgeIndex edge = sample.edge[e];
    if (sample.depth[e] != 1) return "a depth that is not 1";
    if (edge >= graph.edges || (e > 0 && edge <= sample.edge[e - 1])) return "positions do not ascend";
    const Vertex source = sample.source[e];
    if (source >= graph.vertices || edge < graph.offsets[source] || edge >= graph.offsets[source + 1])
      return "a position outside its source's list";
    if (sample.target[e] != graph.targets[edge]) return "another target than the list's";
  }
  return "";
}

/// Checks the rules of a one-pass kind, and compares its sets with `tally`. `members(sample, wrong)` returns
/// the counted set, and adds other faults to the string.
template <class Members>
Report check_one_pass(Bench& bench, samples::Kind kind, std::uint64_t instances, std::uint64_t count,
                      std::uint64_t seed, SubsetTally tally, const Members& members) {
  Report broken;
  SampleReader reader([&](const SampleView& sample) {
    std::string wrong = one_pass_rules(bench.view(), sample);
    const auto& counted = members(sample, wrong);
    if (!wrong.empty()) broken.broken(wrong);
    tally.count(counted);
  });
  samples::Options options;
  options.kind = kind;
  options.count = count;
  options.seed = seed;

  sampling::run_samples(bench.resident, random_starts(instances), options, &reader);

  Report report = tally.report();
  report.merge(broken, "rule");
  if (reader.count() != instances || !reader.in_order()) report.broken("instances are missing");
  return report;
}

/// `node`: uniform sets of vertices, and all edges between them.
inline Report check_nodes(Bench& bench, std::uint64_t instances, std::uint64_t count, std::uint64_t seed) {
  const CsrView graph = bench.view();
  std::vector<char> in(graph.vertices);
  const auto members = [&](const SampleView& sample, std::string& wrong) -> const auto& {
    if (!std::ranges::is_sorted(sample.vertices) ||
        std::ranges::adjacent_find(sample.vertices) != sample.vertices.end())
      wrong = "vertices do not ascend";
    std::fill(in.begin(), in.end(), 0);
    for (const Vertex v : sample.vertices) in[v] = 1;
    std::size_t next = 0;
    for (const Vertex v : sample.vertices) {
      for (EdgeIndex e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        if (!in[graph.targets[e]]) continue;
        if (next >= sample.edge.size() || sample.edge[next] != e)
          wrong = "an edge between the vertices is missing";
        ++next;
      }
    }
    if (next != sample.edge.size()) wrong = "edges that are not between the vertices";
    return sample.vertices;
  };
  return check_one_pass(bench, samples::Kind::node, instances, count, seed,
                        SubsetTally(graph.vertices, count, "vertices"), members);
}

/// `edge`: uniform sets of stored edges.
inline Report check_edges(Bench& bench, std::uint64_t instances, std::uint64_t count, std::uint64_t seed) {
  return check_one_pass(
      bench, samples::Kind::edge, instances, count, seed, SubsetTally(bench.view().edges, count, "edges"),
      [](const SampleView& sample, std::string&) -> const auto& { return sample.edge; });
}

/// Cells of a pool's next edge: each distinct (from, to), in order, and a last cell for the end.
struct PoolState {
  std::map<std::pair<Vertex, Vertex>, std::size_t> cells;
  std::vector<double> probability;
  std::size_t tally_state = 0;
};

inline PoolState pool_state(const CsrView& graph, const std::vector<Vertex>& pool) {
  std::map<std::pair<Vertex, Vertex>, double> ways;  // each neighbour of an entry has weight d / d
  double sum = 0;
  for (const Vertex v : pool) {
    for (const Vertex u : neighbours(graph, v)) {
      ways[{v, u}] += 1;
      sum += 1;
    }
  }
  PoolState state;
  for (const auto& [edge, count] : ways) {
    state.cells.emplace(edge, state.probability.size());
    state.probability.push_back(count / sum);
  }
  state.probability.push_back(sum > 0 ? 0 : 1);
  return state;
}

/// Frontier walks: every edge compared with the pool that it was drawn from; `remember`: also by the previous
/// edge.
inline Report check_multidimensional(Bench& bench, const Starts& starts, const walks::Options& options,
                                     bool remember = false) {
  const CsrView graph = bench.view();
  const std::size_t width = options.frontier_size;
  Report broken;
  Tally tally, seeds;
  const double even = 1 / static_cast<double>(graph.vertices);
  seeds.add_state("seeds", std::vector<double>(graph.vertices, even));
  seeds.add_state("pairs of seeds", std::vector<double>(graph.vertices * graph.vertices, even * even));
  std::unordered_map<std::uint64_t, PoolState> states;
  WalkReader reader([&](const WalkBatch& batch, std::uint64_t i) {
    const auto start = batch.pool.subspan(i * width, width);
    if (starts.mode == Starts::Mode::listed) {
      if (!std::ranges::equal(start, std::span(starts.vertices).subspan((batch.first + i) * width, width)))
        broken.broken("another pool than asked for");
    } else {
      for (const Vertex v : start) seeds.count(0, v);
      for (std::size_t k = 0; k + 1 < width; k += 2) seeds.count(1, start[k] * graph.vertices + start[k + 1]);
    }
    std::vector<Vertex> pool(start.begin(), start.end());
    std::sort(pool.begin(), pool.end());
    std::uint64_t before = 0;
    bool ended = false;
    for (std::size_t k = 0; k < batch.length; ++k) {
      const Vertex from = batch.edges[(i * batch.length + k) * 2],
                   to = batch.edges[(i * batch.length + k) * 2 + 1];
      if (ended || from == kNoVertex || to == kNoVertex) {
        if (from != kNoVertex || to != kNoVertex) broken.broken("an edge behind the end");
        if (ended) continue;
      }
      std::uint64_t key = remember ? fold(before, 3) : 0;
      for (const Vertex v : pool) key = fold(key, v);
      auto [found, fresh] = states.try_emplace(key);
      PoolState& state = found->second;
      if (fresh) {
        state = pool_state(graph, pool);
        std::string name = "pool";
        for (const Vertex v : pool) name += " " + std::to_string(v);
        state.tally_state = tally.add_state(name, state.probability);
      }
      if (from == kNoVertex) {
        tally.count(state.tally_state, state.probability.size() - 1);
        ended = true;
        continue;
      }
      const auto cell = state.cells.find({from, to});
      if (cell == state.cells.end()) return broken.broken("an edge that no entry of the pool has");
      tally.count(state.tally_state, cell->second);
      *std::lower_bound(pool.begin(), pool.end(), from) = to;
      std::sort(pool.begin(), pool.end());
      before = fold(from, to);
    }
  });

  sampling::run_walks(bench.resident, starts, options, &reader);

  Report report = tally.report();
  if (starts.mode != Starts::Mode::listed) report.merge(seeds.report(), "drawn");
  report.merge(broken, "rule");
  if (!reader.in_order() || reader.count() != starts.instances(graph.vertices))
    report.broken("instances are missing");
  return report;
}

}  // namespace sluice::stat
