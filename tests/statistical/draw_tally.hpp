// Draws from lists, by state, compared with the exact distribution of sets (short lists) or inclusions (long
// lists).
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "statistical/copies.hpp"
#include "statistical/oracle_samples.hpp"
#include "statistical/report.hpp"

#include "engine/samples/options.hpp"
namespace sluice::stat {

/// Hashes integers to the key of a state; with 64 bits, states of one test practically never collide.
inline std::uint64_t fold(std::uint64_t key, std::uint64_t value) {
  key = (key ^ value) * 0x9E3779B97F4A7C15u;
  return key ^ key >> 29;
}

class DrawTally {
 public:
  DrawTally(const CsrView& graph, const samples::Options& options) : graph_(graph), options_(options) {}

  /// Counts a draw of `positions`, ascending in the concatenated lists of `sources`, at `depth`. The draw
  /// must be independent of `given`.
  void count(std::span<const Vertex> sources, std::int32_t depth, std::span<const std::size_t> positions,
             std::uint64_t given = 0) {
    std::uint64_t key = fold(given, wanted(depth));
    for (const Vertex v : sources) key = fold(key, v);
    auto [found, fresh] = states_.try_emplace(key);
    if (fresh) found->second = make_state(sources, depth);
    const State& state = found->second;
    if (state.size == 0) return;  // no candidates (Replay checks that nothing was drawn), or not judged
    if (options_.replace) return count_independent(state, positions);
    if (state.sets) {
      std::size_t mask = 0;
      for (const std::size_t position : positions) mask |= std::size_t{1} << position;
      sets_.count(state.set_state, mask);
    } else if (options_.kind == samples::Kind::forest_fire) {
      sets_.count(state.set_state, positions.size());
    }
    inclusion_.count_trial(state.inclusion_state);
    for (const std::size_t position : positions) inclusion_.count(state.inclusion_state, position);
    if (state.pairs) count_pairs(state, positions);
  }

  Report report() const {
    Report report;
    if (sets_.states() > 0) report.merge(sets_.report(), "sets");
    if (!options_.replace) report.merge(inclusion_.report(), "positions");
    if (pairs_.states() > 0) report.merge(pairs_.report(), "pairs of positions");
    return report;
  }

 private:
  struct State {
    std::size_t size = 0;
    bool sets = false;
    std::size_t set_state = 0, inclusion_state = 0;
    bool pairs = false;
    std::size_t pair_state = 0;
  };
  static constexpr std::size_t kMultisets = 3000;

  std::uint64_t wanted(std::int32_t depth) const {
    const auto at = static_cast<std::size_t>(depth) - 1;
    if (options_.kind == samples::Kind::layer) return options_.layer_sizes[at];
    if (options_.kind != samples::Kind::neighbor || options_.fanout[at] < 0) return ~std::uint64_t{0};
    return static_cast<std::uint64_t>(options_.fanout[at]);
  }

  /// Tests need the probabilities of the same few long lists once for each technique.
  static const std::vector<double>& known_inclusion(const std::vector<double>& biases, std::uint64_t wanted) {
    static std::map<std::pair<std::vector<double>, std::uint64_t>, std::vector<double>> known;
    const auto [at, fresh] = known.try_emplace({biases, wanted});
    if (fresh) at->second = successive_inclusion(biases, wanted);
    return at->second;
  }

  State make_state(std::span<const Vertex> sources, std::int32_t depth) {
    const std::vector<double> biases = list_biases(graph_, sources, options_.bias);
    std::string name = std::to_string(wanted(depth)) + " from";
    for (const Vertex v : sources) name += " " + std::to_string(v);
    State state{biases.size()};
    if (candidates(biases) == 0) return {};
    const bool copies = options_.kind == samples::Kind::layer && has_copies(sources);
    if (options_.replace) return independent_state(name, biases, wanted(depth));
    const bool burns = options_.kind == samples::Kind::forest_fire;
    std::vector<double> inclusion;
    if (biases.size() <= kEnumerable) {
      state.sets = true;
      auto sets = burns ? burned_sets(biases, options_.probability) : successive_sets(biases, wanted(depth));
      if (copies) sets = in_first_copies(graph_, sources, sets);
      inclusion = inclusion_of(sets, biases.size());
      state.set_state = sets_.add_state(name, std::move(sets));
    } else if (burns) {
      std::vector<double> counts;
      for (std::uint64_t k = 0; k <= candidates(biases); ++k)
        counts.push_back(burn_probability(options_.probability, k, candidates(biases)));
      state.set_state = sets_.add_state(name + ", count", std::move(counts));
      inclusion = burned_inclusion(biases, options_.probability);
    } else if (copies) {
      if (wanted(depth) > 1) return {};  // several edges of long lists with copies: not judged
      inclusion = single_in_first_copies(graph_, sources, successive_inclusion(biases, 1));
    } else {
      inclusion = known_inclusion(biases, wanted(depth));
      if (options_.bias == Bias::none) {  // other biases have no closed form for pairs
        const double size = static_cast<double>(biases.size());
        const double drawn = std::min(size, static_cast<double>(wanted(depth)));
        state.pairs = true;
        state.pair_state = pairs_.add_state(
            name, std::vector<double>(biases.size() / 2 * 2, drawn * (drawn - 1) / (size * (size - 1))));
      }
    }
    state.inclusion_state = inclusion_.add_state(name, std::move(inclusion));
    return state;
  }

  State independent_state(const std::string& name, const std::vector<double>& biases, std::uint64_t draws) {
    State state{biases.size()};
    state.sets = std::pow(static_cast<double>(biases.size()), static_cast<double>(draws)) <= kMultisets;
    if (state.sets) {
      state.set_state = sets_.add_state(name, independent_multisets(biases, draws));
    } else {
      const double sum = std::accumulate(biases.begin(), biases.end(), 0.0);
      std::vector<double> single(biases);
      for (double& p : single) p /= sum;
      state.set_state = sets_.add_state(name + ", each", std::move(single));
    }
    return state;
  }

  void count_independent(const State& state, std::span<const std::size_t> positions) {
    if (state.sets) return sets_.count(state.set_state, multiset_number(positions, state.size));
    for (const std::size_t position : positions) sets_.count(state.set_state, position);
  }

  /// Pairs of neighbours in the list, and of entries half a list apart, may be drawn together too often or
  /// too rarely.
  void count_pairs(const State& state, std::span<const std::size_t> positions) {
    const std::size_t half = state.size / 2;
    in_.assign(state.size, 0);
    for (const std::size_t position : positions) in_[position] = 1;
    pairs_.count_trial(state.pair_state);
    for (std::size_t i = 0; i < half; ++i) {
      if (in_[2 * i] && in_[2 * i + 1]) pairs_.count(state.pair_state, i);
      if (in_[i] && in_[i + half]) pairs_.count(state.pair_state, half + i);
    }
  }

  CsrView graph_;
  samples::Options options_;
  std::unordered_map<std::uint64_t, State> states_;
  Tally sets_;
  InclusionTally inclusion_, pairs_;
  std::vector<char> in_;
};

}  // namespace sluice::stat
