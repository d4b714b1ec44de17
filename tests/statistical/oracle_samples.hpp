// Exact probabilities of a sampler's draws from one list (CONTRACT section 4, Samples). Sets of positions are
// bit masks, since lists are short enough to enumerate. Long lists are judged by inclusion probabilities.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "statistical/oracle_bias.hpp"

namespace sluice::stat {

/// Lists up to this length are enumerated.
inline constexpr std::size_t kEnumerable = 14;

/// prefix[S]: the probability that the first |S| successive draws are the set S in any order. Each draw is
/// proportional to the remaining biases. The last draw of a set is one of its members.
inline std::vector<double> prefix_sets(std::span<const double> biases) {
  const std::size_t size = biases.size();
  std::vector<double> prefix(std::size_t{1} << size, 0.0);
  prefix[0] = 1;
  for (std::size_t set = 1; set < prefix.size(); ++set) {
    double left_outside = 0;  // biases outside the set: summed, since subtraction would cancel
    for (std::size_t i = 0; i < size; ++i)
      if (!(set >> i & 1)) left_outside += biases[i];
    for (std::size_t i = 0; i < size; ++i) {
      if (!(set >> i & 1) || biases[i] <= 0) continue;
      prefix[set] += prefix[set ^ (std::size_t{1} << i)] * biases[i] / (left_outside + biases[i]);
    }
  }
  return prefix;
}

/// Distribution of min(wanted, candidates) distinct positions, over all masks.
inline std::vector<double> successive_sets(std::span<const double> biases, std::uint64_t wanted) {
  std::vector<double> sets = prefix_sets(biases);
  const auto size = static_cast<int>(std::min(wanted, candidates(biases)));
  for (std::size_t set = 0; set < sets.size(); ++set)
    if (std::popcount(set) != size) sets[set] = 0;
  return sets;
}

/// P(the number of neighbours burned is k): successes before the first failure, capped.
inline double burn_probability(double success, std::uint64_t k, std::uint64_t cap) {
  if (k > cap) return 0;
  const double reached = std::pow(success, static_cast<double>(k));
  return k == cap ? reached : reached * (1 - success);
}

/// Distribution, over all masks, of the edges that a forest fire burns from one list.
inline std::vector<double> burned_sets(std::span<const double> biases, double success) {
  std::vector<double> sets = prefix_sets(biases);
  const std::uint64_t cap = candidates(biases);
  for (std::size_t set = 0; set < sets.size(); ++set)
    sets[set] *= burn_probability(success, static_cast<std::uint64_t>(std::popcount(set)), cap);
  return sets;
}

/// Inclusion probabilities of the positions under a distribution over masks.
inline std::vector<double> inclusion_of(std::span<const double> sets, std::size_t size) {
  std::vector<double> inclusion(size, 0.0);
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (std::size_t i = 0; i < size; ++i)
      if (set >> i & 1) inclusion[i] += sets[set];
  for (double& p : inclusion) p = std::min(p, 1.0);
  return inclusion;
}

/// Inclusion probabilities of `wanted` successive draws from a list of any length. Each position has an
/// exponential clock of rate b, and the first `wanted` clocks to ring are the draw. So position i is included
/// if, at its time t, fewer than `wanted` others have rung. That is an integral over t of a Poisson-binomial
/// tail. The trapezoid rule in log t converges exponentially; prefix and suffix tables over positions give
/// the tails.
inline std::vector<double> successive_inclusion(std::span<const double> biases, std::uint64_t wanted) {
  const std::size_t size = biases.size(), f = std::min(wanted, candidates(biases));
  std::vector<double> inclusion(size, 0.0);
  if (f == candidates(biases)) {
    for (std::size_t i = 0; i < size; ++i) inclusion[i] = biases[i] > 0 ? 1 : 0;
    return inclusion;
  }
  if (f == 0) return inclusion;
  const double sum = std::accumulate(biases.begin(), biases.end(), 0.0);
  const auto with = [&](std::vector<double>& counts, double ring) {  // one more clock, counts below f only
    for (std::size_t k = f; k-- > 0;) counts[k] = counts[k] * (1 - ring) + (k ? counts[k - 1] * ring : 0);
  };
  constexpr double kStep = 0.02;
  double smallest = sum;
  for (const double b : biases)
    if (b > 0) smallest = std::min(smallest, b);
  const double from = std::log(1e-13), to = std::log(50 * sum / smallest);
  std::vector<std::vector<double>> before(size + 1), after(size + 1);
  for (double x = from; x < to; x += kStep) {
    const double t = std::exp(x) / sum;
    before[0].assign(f, 0.0);
    before[0][0] = 1;
    after[size] = before[0];
    for (std::size_t i = 0; i < size; ++i) with(before[i + 1] = before[i], -std::expm1(-biases[i] * t));
    for (std::size_t i = size; i-- > 0;) with(after[i] = after[i + 1], -std::expm1(-biases[i] * t));
    for (std::size_t i = 0; i < size; ++i) {
      double fewer = 0, up_to = 0;  // P(k rang before i in the list, at most f-1-k after it)
      for (std::size_t k = f; k-- > 0;) {
        up_to += after[i + 1][f - 1 - k];
        fewer += before[i][k] * up_to;
      }
      inclusion[i] += kStep * biases[i] * t * std::exp(-biases[i] * t) * fewer;
    }
  }
  for (double& p : inclusion) p = std::min(p, 1.0);
  return inclusion;
}

/// The same for a forest fire. With N others before it, position i is included with probability P^(N+1), and
/// the mean of P^N over independent clocks is a product.
inline std::vector<double> burned_inclusion(std::span<const double> biases, double success) {
  const std::size_t size = biases.size();
  std::vector<double> inclusion(size, 0.0);
  const double sum = std::accumulate(biases.begin(), biases.end(), 0.0);
  if (sum <= 0 || success <= 0) return inclusion;
  double smallest = sum;
  for (const double b : biases)
    if (b > 0) smallest = std::min(smallest, b);
  constexpr double kStep = 0.02;
  const double to = std::log(50 * sum / smallest);
  for (double x = std::log(1e-13); x < to; x += kStep) {
    const double t = std::exp(x) / sum;
    double all = 1;  // no factor is below P, so division by one is safe
    for (const double b : biases) all *= 1 + (1 - success) * std::expm1(-b * t);
    for (std::size_t i = 0; i < size; ++i) {
      const double others = all / (1 + (1 - success) * std::expm1(-biases[i] * t));
      inclusion[i] += kStep * biases[i] * t * std::exp(-biases[i] * t) * success * others;
    }
  }
  for (double& p : inclusion) p = std::min(p, 1.0);
  return inclusion;
}

/// The number of a multiset of positions in ascending order: a numeral of base `size`.
inline std::size_t multiset_number(std::span<const std::size_t> ascending, std::size_t size) {
  std::size_t number = 0;
  for (const std::size_t position : ascending) number = number * size + position;
  return number;
}

/// Distribution of `draws` independent draws, seen in ascending order, over multiset numbers.
inline std::vector<double> independent_multisets(std::span<const double> biases, std::uint64_t draws) {
  const std::size_t size = biases.size();
  const double sum = std::accumulate(biases.begin(), biases.end(), 0.0);
  std::size_t numbers = 1;
  for (std::uint64_t k = 0; k < draws; ++k) numbers *= size;
  std::vector<double> result(numbers, 0.0);
  for (std::size_t sequence = 0; sequence < numbers;
       ++sequence) {  // every ordered outcome, counted for its multiset
    std::vector<std::size_t> drawn;
    double p = 1;
    for (std::size_t k = 0, rest = sequence; k < draws; ++k, rest /= size) {
      drawn.push_back(rest % size);
      p *= biases[drawn.back()] / sum;
    }
    std::sort(drawn.begin(), drawn.end());
    result[multiset_number(drawn, size)] += p;
  }
  return result;
}

}  // namespace sluice::stat
