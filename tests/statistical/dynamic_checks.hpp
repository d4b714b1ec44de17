// Checks of samples with dynamic bias: every instance is replayed, and every draw is compared with the
// distribution that its history determines.
#pragma once

#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "samples/dynamic_samplers.hpp"
#include "statistical/draw_tally.hpp"
#include "statistical/harness.hpp"

namespace sluice::stat {

/// Common parameters of the samplers that are checked.
struct DynamicRules {
  bool replace, back, fixed_part;  ///< back: edges to the previous vertex have a bias of 1
  std::uint64_t fanout;
  std::uint32_t depths;
};

/// A vertex to expand, and its previous vertex.
struct ReachedVertex {
  Vertex vertex, previous;
};

/// Replays samples and counts every draw in the state that determines its distribution.
class DynamicReplay {
 public:
  DynamicReplay(const CsrView& graph, const DynamicRules& rules, bool revisit)
      : graph_(graph), rules_(rules), revisit_(revisit) {}

  void run(const SampleView& sample) {
    std::vector<ReachedVertex> frontier;
    visited_.assign(graph_.vertices, false);
    for (const Vertex seed : sample.seeds) frontier.push_back({seed, kNoVertex}), visited_[seed] = true;
    std::size_t next = 0;
    for (std::uint32_t depth = 1; depth <= rules_.depths; ++depth) {
      std::vector<ReachedVertex> reached;
      for (const ReachedVertex& at : frontier) {
        const std::size_t count = expect(at, depth, sample.instance % 2);
        if (next + count > sample.edge.size()) return broken_.broken("edges are missing");
        std::vector<std::size_t> positions;
        for (const std::size_t end = next + count; next < end; ++next) {
          if (sample.source[next] != at.vertex || sample.depth[next] != static_cast<std::int32_t>(depth))
            return broken_.broken("an edge is out of place");
          positions.push_back(sample.edge[next] - graph_.offsets[at.vertex]);
          const Vertex to = sample.target[next];
          if (revisit_ || !visited_[to]) reached.push_back({to, at.vertex});
          visited_[to] = true;
        }
        if (count > 0) tally(states_.at(key_), positions);
      }
      frontier = std::move(reached);
    }
    if (next != sample.edge.size()) broken_.broken("edges are left over");
  }

  Report report() const {
    Report report = broken_;
    if (cells_.states() > 0) report.merge(cells_.report(), "draws");
    if (inclusion_.states() > 0) report.merge(inclusion_.report(), "positions");
    return report;
  }

 private:
  static constexpr double kMultisets = 3000;

  struct State {
    std::size_t count = 0, size = 0, at = 0;
    bool whole = false;  ///< one cell for each set; otherwise positions one by one
  };

  std::vector<double> biases(const ReachedVertex& at, std::uint32_t depth, std::uint64_t parity) const {
    std::vector<double> biases;
    for (EdgeIndex e = graph_.offsets[at.vertex]; e < graph_.offsets[at.vertex + 1]; ++e) {
      const Vertex to = graph_.targets[e];
      const std::uint64_t from = at.previous == kNoVertex ? 0 : std::uint64_t{at.previous} + 1;
      double bias = static_cast<double>(1 + (5 * e + 3 * depth + from + parity) % 6);
      if (to == at.previous) bias = rules_.back ? 1 : 0;
      biases.push_back(rules_.fixed_part ? bias * static_cast<double>(degree(graph_, to)) : bias);
    }
    return biases;
  }

  /// The number of edges that this entry draws. Sets key_ to its state.
  std::size_t expect(const ReachedVertex& at, std::uint32_t depth, std::uint64_t parity) {
    key_ = fold(fold(fold(fold(1, at.vertex), at.previous), depth), parity);
    const auto [found, fresh] = states_.try_emplace(key_);
    if (fresh) found->second = make_state(at, biases(at, depth, parity));
    return found->second.count;
  }

  State make_state(const ReachedVertex& at, const std::vector<double>& law) {
    const std::uint64_t open = candidates(law);
    if (open == 0) return {};
    const std::string name = std::to_string(at.vertex) + " from " +
                             (at.previous == kNoVertex ? "nowhere" : std::to_string(at.previous));
    State state{rules_.replace ? rules_.fanout : std::min(open, rules_.fanout), law.size()};
    state.whole =
        rules_.replace ? std::pow(law.size(), rules_.fanout) <= kMultisets : law.size() <= kEnumerable;
    if (state.whole) {
      state.at = cells_.add_state(name, rules_.replace ? independent_multisets(law, rules_.fanout)
                                                       : successive_sets(law, rules_.fanout));
    } else if (rules_.replace) {
      const double sum = std::accumulate(law.begin(), law.end(), 0.0);
      std::vector<double> each(law);
      for (double& p : each) p /= sum;
      state.at = cells_.add_state(name, std::move(each));
    } else {
      state.at = inclusion_.add_state(name, successive_inclusion(law, rules_.fanout));
    }
    return state;
  }

  void tally(const State& state, const std::vector<std::size_t>& positions) {
    if (state.whole && rules_.replace) return cells_.count(state.at, multiset_number(positions, state.size));
    if (state.whole) {
      std::size_t mask = 0;
      for (const std::size_t position : positions) mask |= std::size_t{1} << position;
      return cells_.count(state.at, mask);
    }
    if (!rules_.replace) inclusion_.count_trial(state.at);
    for (const std::size_t position : positions)
      rules_.replace ? cells_.count(state.at, position) : inclusion_.count(state.at, position);
  }

  CsrView graph_;
  DynamicRules rules_;
  bool revisit_;
  std::vector<bool> visited_;
  std::unordered_map<std::uint64_t, State> states_;
  std::uint64_t key_ = 0;
  Tally cells_;
  InclusionTally inclusion_;
  Report broken_;
};

/// The settings of one check.
struct DynamicCase {
  Select select = Select::automatic;
  bool revisit = false;
  std::uint64_t fanout = 3, bound = 6, seed = 301;
};

template <bool kReplace, bool kBound, bool kFloor, bool kFixedPart>
Report check_dynamic(Graph graph, const Starts& starts, std::uint32_t depths, const DynamicCase& one) {
  Device device({DeviceChoice::host, 2, 0});
  ResidentGraph resident(device, graph);
  const test::Remembering<kReplace, kBound, kFloor, kFixedPart> sampler{depths, one.fanout, one.bound};
  samples::Options options;
  options.select = one.select, options.revisit = one.revisit, options.seed = one.seed;
  DynamicReplay replay(graph.out.view(), {kReplace, kFloor, kFixedPart, one.fanout, depths}, one.revisit);
  SampleReader reader([&](const SampleView& sample) { replay.run(sample); });

  samples::run_sample(resident, starts, sampler, options, &reader);

  Report report = replay.report();
  if (!reader.in_order() || reader.count() != starts.instances(graph.vertices()))
    report.broken("instances are missing or out of order");
  return report;
}

}  // namespace sluice::stat
