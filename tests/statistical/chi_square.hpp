// Tests of fit with a stated error rate: Pearson's chi-square with pooled small cells, and exact binomial
// tails for small expectations. The special functions here are tested against closed forms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

namespace sluice::stat {

/// A p-value below this is a failure: one in a million correct samplers would fail a verdict by chance. Seeds
/// are fixed, so a suite that passes once always passes.
inline constexpr double kThreshold = 1e-6;
/// Cells that expect fewer observations are pooled.
inline constexpr double kSmallCell = 5;

/// Lower and upper regularised incomplete gamma function, each computed without cancellation where it is
/// small.
struct GammaTails {
  double lower, upper;
};

inline GammaTails gamma_tails(double a, double x) {
  if (x <= 0) return {0, 1};
  const double front = std::exp(-x + a * std::log(x) - std::lgamma(a));
  if (x < a + 1) {  // the power series of the lower tail
    double term = 1 / a, sum = term;
    for (double n = 1; term > sum * 1e-17; ++n) sum += term *= x / (a + n);
    const double lower = std::min(1.0, front * sum);
    return {lower, 1 - lower};
  }
  constexpr double kTiny = 1e-300;  // Lentz's continued fraction of the upper tail
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, value = d;
  for (double i = 1; i < 1e7; ++i) {
    const double numerator = -i * (i - a);
    b += 2;
    d = numerator * d + b;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = b + numerator / c;
    if (std::abs(c) < kTiny) c = kTiny;
    value *= c * d;
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  const double upper = std::min(1.0, front * value);
  return {1 - upper, upper};
}

/// Probability that chi-square with `freedom` degrees is at least (upper) or at most (lower) `statistic`.
inline GammaTails chi_square_tails(double statistic, double freedom) {
  if (freedom <= 0) return {1, 1};
  return gamma_tails(freedom / 2, statistic / 2);
}

/// Probability that |Z| >= |z| for a standard normal Z.
inline double normal_two_sided(double z) {
  return std::erfc(std::abs(z) / std::sqrt(2.0));
}

/// P(X >= k) (`up`) or P(X <= k) of a binomial, exact; meant for k on that side of the mean.
inline double binomial_tail(std::uint64_t n, std::uint64_t k, double p, bool up) {
  if (up && k == 0) return 1;
  if (p <= 0) return up ? 0 : 1;
  if (p >= 1) return up || k >= n ? 1 : 0;
  const double size = static_cast<double>(n), count = static_cast<double>(k);
  double term = std::exp(std::lgamma(size + 1) - std::lgamma(count + 1) - std::lgamma(size - count + 1) +
                         count * std::log(p) + (size - count) * std::log1p(-p));
  double sum = 0;
  const double odds = p / (1 - p);
  for (double i = count; i >= 0 && i <= size && term > 0; up ? ++i : --i) {
    sum += term;
    if (term < sum * 1e-16) break;
    term *= up ? (size - i) / (i + 1) * odds : i / (size - i + 1) / odds;
  }
  return std::min(1.0, sum);
}

/// Twice the smaller tail: the p-value of `k` of `n` for an event of probability p.
inline double binomial_two_sided(std::uint64_t n, std::uint64_t k, double p) {
  if (p <= 0) return k == 0 ? 1 : 0;
  if (p >= 1) return k == n ? 1 : 0;
  const bool up = static_cast<double>(k) >= static_cast<double>(n) * p;
  return std::min(1.0, 2 * binomial_tail(n, k, p, up));
}

/// The result of a comparison of counts with probabilities.
struct Fit {
  double statistic = 0;
  double freedom = 0;
  double p = 1;
  std::size_t impossible = 0;  ///< observations in cells of probability zero: a failure whatever p says
};

/// Pearson's statistic of `observed` and `probability`, which must sum to 1. Cells that expect fewer than 5
/// observations form one cell. If even that expects fewer, it joins the smallest other cell. Its excess is
/// then judged by the exact binomial tail, so that rare cells drawn too often still fail.
inline Fit pearson(std::span<const std::uint64_t> observed, std::span<const double> probability) {
  const double mass = std::accumulate(probability.begin(), probability.end(), 0.0);
  if (observed.size() != probability.size() || std::abs(mass - 1) > 1e-9)
    throw std::logic_error("oracle's probabilities sum to " + std::to_string(mass));
  const std::uint64_t total = std::accumulate(observed.begin(), observed.end(), std::uint64_t{0});

  Fit fit;
  double pool = 0, pool_seen = 0, smallest = std::numeric_limits<double>::infinity(), smallest_seen = 0;
  std::size_t cells = 0;
  const auto add = [&](double expected, double seen, double sign) {
    fit.statistic += sign * (seen - expected) * (seen - expected) / expected;
  };
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const double expected = probability[i] * static_cast<double>(total);
    const double seen = static_cast<double>(observed[i]);
    if (probability[i] <= 0) {
      fit.impossible += observed[i];
    } else if (expected < kSmallCell) {
      pool += expected;
      pool_seen += seen;
    } else {
      add(expected, seen, 1);
      ++cells;
      if (expected < smallest) smallest = expected, smallest_seen = seen;
    }
  }
  double tail = 1;
  if (pool >= kSmallCell) {
    add(pool, pool_seen, 1);
    ++cells;
  } else if (pool > 0 && cells > 0) {
    add(smallest, smallest_seen, -1);
    add(smallest + pool, smallest_seen + pool_seen, 1);
    if (pool_seen > pool)
      tail = binomial_tail(total, static_cast<std::uint64_t>(pool_seen), pool / static_cast<double>(total),
                           true);
  }
  fit.freedom = cells > 1 ? static_cast<double>(cells - 1) : 0;
  if (cells <= 1) fit.statistic = 0;
  fit.p = fit.impossible ? 0 : std::min(chi_square_tails(fit.statistic, fit.freedom).upper, tail);
  return fit;
}

}  // namespace sluice::stat
