// Verdicts of a check: for each state, and for all states together, which detects a small consistent bias.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "statistical/chi_square.hpp"

namespace sluice::stat {

/// p-values by name. A broken rule is a verdict of 0.
class Report {
 public:
  void add(std::string what, double p) { verdicts_.push_back({std::move(what), p}); }
  /// A rule without randomness was broken. Only the first few are kept.
  void broken(std::string what) {
    if (broken_++ < 5) add(std::move(what), 0);
  }
  void merge(const Report& other, const std::string& prefix) {
    for (const auto& verdict : other.verdicts_) add(prefix + ": " + verdict.what, verdict.p);
  }

  std::size_t size() const { return verdicts_.size(); }
  double worst() const {
    double p = verdicts_.empty() ? 0 : 1;  // a check that compared nothing has not passed
    for (const auto& verdict : verdicts_) p = std::min(p, verdict.p);
    return p;
  }
  /// The failures, worst first, at most ten.
  std::string failures() const {
    auto sorted = verdicts_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.p < b.p; });
    std::string text = sorted.empty() ? "nothing was compared" : "";
    for (std::size_t i = 0; i < sorted.size() && i < 10 && sorted[i].p < kThreshold; ++i)
      text += "\n  p = " + std::to_string(std::log10(std::max(sorted[i].p, 1e-300))) + " (log10)  " +
              sorted[i].what;
    return text;
  }

 private:
  struct Verdict {
    std::string what;
    double p;
  };
  std::vector<Verdict> verdicts_;
  std::size_t broken_ = 0;
};

/// The assertion EXPECT_TRUE(fits(report)).
inline testing::AssertionResult fits(const Report& report) {
  if (report.worst() >= kThreshold) return testing::AssertionSuccess();
  return testing::AssertionFailure() << report.failures();
}

/// Sum over states of signed deviations of one event from its expectation, as a normal deviate.
class SignedSum {
 public:
  void add(std::uint64_t trials, std::uint64_t seen, double p) {
    if (p <= 0 || p >= 1) return;
    deviation_ += static_cast<double>(seen) - static_cast<double>(trials) * p;
    variance_ += static_cast<double>(trials) * p * (1 - p);
  }
  /// Sums that are too small for the normal approximation have no verdict.
  void report(Report& to, const std::string& what) const {
    if (variance_ < 100) return;
    const double z = deviation_ / std::sqrt(variance_);
    to.add("all states, " + what + ": z = " + std::to_string(z), normal_two_sided(z));
  }

 private:
  double deviation_ = 0, variance_ = 0;
};

/// Counts of cells, state by state, compared with each state's exact probabilities. Cells are in order of
/// neighbour rank.
class Tally {
 public:
  /// Named sets of cells ("back", "elsewhere"), summed over the states that have them.
  using Events = std::map<std::string, std::vector<std::size_t>>;

  std::size_t add_state(std::string name, std::vector<double> probability, Events events = {}) {
    states_.push_back({std::move(name), std::move(probability), {}, std::move(events)});
    states_.back().observed.resize(states_.back().probability.size());
    return states_.size() - 1;
  }
  void count(std::size_t state, std::size_t cell) { ++states_[state].observed[cell]; }
  std::size_t states() const { return states_.size(); }

  Report report() const {
    Report report;
    double statistic = 0, freedom = 0;
    SignedSum first, last, middle, lower;
    std::map<std::string, SignedSum> events;
    const double states =
        static_cast<double>(states_.size());  // Bonferroni: the threshold is for all of them
    for (const auto& state : states_) {
      const Fit fit = pearson(state.observed, state.probability);
      report.add(state.name + " chi2 = " + std::to_string(fit.statistic) +
                     " df = " + std::to_string(fit.freedom) +
                     (fit.impossible ? ", impossible draws: " + std::to_string(fit.impossible) : ""),
                 std::min(1.0, fit.p * states));
      statistic += fit.statistic;
      freedom += fit.freedom;
      ranks(state, first, last, middle, lower);
      for (const auto& [name, cells] : state.events) add_event(events[name], state, cells);
    }
    for (const auto& [name, sum_of_event] : events) sum_of_event.report(report, name);
    const GammaTails tails = chi_square_tails(statistic, freedom);
    const std::string sum = std::to_string(statistic) + " of df " + std::to_string(freedom);
    report.add("all states, sum of chi2 = " + sum, tails.upper);
    // Draws that fit too well are not random either. With few degrees of freedom an exact fit is likely.
    if (freedom >= 20) report.add("all states, too even: chi2 = " + sum, tails.lower);
    first.report(report, "first neighbour");
    last.report(report, "last neighbour");
    middle.report(report, "middle neighbour");
    lower.report(report, "lower half of the neighbours");
    return report;
  }

 private:
  struct State {
    std::string name;
    std::vector<double> probability;
    std::vector<std::uint64_t> observed;
    Events events;
  };

  static void add_event(SignedSum& sum, const State& state, const std::vector<std::size_t>& cells) {
    double p = 0;
    std::uint64_t seen = 0;
    for (const std::size_t cell : cells) p += state.probability[cell], seen += state.observed[cell];
    sum.add(std::accumulate(state.observed.begin(), state.observed.end(), std::uint64_t{0}), seen, p);
  }

  static void ranks(const State& state, SignedSum& first, SignedSum& last, SignedSum& middle,
                    SignedSum& lower) {
    std::vector<std::size_t> possible;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < state.probability.size(); ++i) {
      total += state.observed[i];
      if (state.probability[i] > 0) possible.push_back(i);
    }
    if (possible.size() < 2) return;
    const auto add = [&](SignedSum& sum, std::size_t i) {
      sum.add(total, state.observed[i], state.probability[i]);
    };
    add(first, possible.front());
    add(last, possible.back());
    if (possible.size() > 2) add(middle, possible[possible.size() / 2]);
    double half = 0;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < possible.size() / 2; ++i) {
      half += state.probability[possible[i]];
      seen += state.observed[possible[i]];
    }
    lower.add(total, seen, half);
  }

  std::vector<State> states_;
};

/// Counts of positions in draws without replacement, compared with exact inclusion probabilities.
class InclusionTally {
 public:
  std::size_t add_state(std::string name, std::vector<double> probability) {
    states_.push_back({std::move(name), std::move(probability), {}, 0});
    states_.back().observed.resize(states_.back().probability.size());
    return states_.size() - 1;
  }
  std::size_t states() const { return states_.size(); }
  void count_trial(std::size_t state) { ++states_[state].trials; }
  void count(std::size_t state, std::size_t position) { ++states_[state].observed[position]; }

  /// Inclusions of one draw are dependent, so each position is judged alone (Bonferroni over positions and
  /// states).
  Report report() const {
    Report report;
    SignedSum first, last, middle;
    for (const auto& state : states_) {
      std::size_t worst_at = 0;
      double worst = 1;
      std::vector<std::size_t> open;
      for (std::size_t i = 0; i < state.probability.size(); ++i) {
        const double p = binomial_two_sided(state.trials, state.observed[i], state.probability[i]);
        if (p < worst) worst = p, worst_at = i;
        if (state.probability[i] > 1e-12 && state.probability[i] < 1 - 1e-12) open.push_back(i);
      }
      const double cells = static_cast<double>(std::max<std::size_t>(open.size(), 1));
      report.add(state.name + " inclusion, worst at position " + std::to_string(worst_at) + ": " +
                     std::to_string(state.observed.empty() ? 0 : state.observed[worst_at]) + " of " +
                     std::to_string(state.trials),
                 std::min(1.0, worst * cells * static_cast<double>(states_.size())));
      if (open.size() < 2) continue;
      const auto add = [&](SignedSum& sum, std::size_t i) {
        sum.add(state.trials, state.observed[i], state.probability[i]);
      };
      add(first, open.front());
      add(last, open.back());
      add(middle, open[open.size() / 2]);
    }
    first.report(report, "inclusion of the first candidate");
    last.report(report, "inclusion of the last candidate");
    middle.report(report, "inclusion of the middle candidate");
    return report;
  }

 private:
  struct State {
    std::string name;
    std::vector<double> probability;
    std::vector<std::uint64_t> observed;
    std::uint64_t trials;
  };
  std::vector<State> states_;
};

}  // namespace sluice::stat
