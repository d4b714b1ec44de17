// The mathematics of these tests compared with closed forms, and their power on simulated samplers with known
// errors.
#include "statistical/chi_square.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "statistical/report.hpp"

namespace sluice::stat {
namespace {

TEST(ChiSquareTails, MatchesPublishedQuantiles) {
  EXPECT_NEAR(chi_square_tails(3.841458820694124, 1).upper, 0.05, 1e-12);
  EXPECT_NEAR(chi_square_tails(18.307038053275146, 10).upper, 0.05, 1e-12);
  EXPECT_NEAR(chi_square_tails(124.34211340400407, 100).upper, 0.05, 1e-12);
  EXPECT_NEAR(chi_square_tails(6.634896601021213, 1).upper, 0.01, 1e-12);
}

TEST(ChiSquareTails, MatchesClosedFormsFarOut) {
  for (const double x : {0.01, 0.5, 1.0, 3.0, 10.0, 30.0, 60.0, 300.0}) {
    const double one = std::erfc(std::sqrt(x / 2)), two = std::exp(-x / 2), four = two * (1 + x / 2);
    EXPECT_NEAR(chi_square_tails(x, 1).upper / one, 1, 1e-10) << x;
    EXPECT_NEAR(chi_square_tails(x, 2).upper / two, 1, 1e-10) << x;
    EXPECT_NEAR(chi_square_tails(x, 4).upper / four, 1, 1e-10) << x;
    EXPECT_NEAR(chi_square_tails(x, 2).lower / -std::expm1(-x / 2), 1, 1e-10) << x;
  }
}

// With an even number of degrees 2n the upper tail is the Poisson sum of the first n terms.
TEST(ChiSquareTails, MatchesPoissonSumsForManyDegrees) {
  for (const int n : {5, 50, 500, 20000}) {
    for (const double ratio : {0.8, 0.95, 1.0, 1.05, 1.3}) {
      const double mean = n * ratio;
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += std::exp(-mean + k * std::log(mean) - std::lgamma(k + 1.0));
      EXPECT_NEAR(chi_square_tails(2 * mean, 2.0 * n).upper, sum, 1e-8) << n << " " << ratio;
    }
  }
}

TEST(BinomialTail, MatchesDirectSums) {
  const double p = 0.3;
  std::vector<double> mass(21);
  for (unsigned k = 0; k <= 20; ++k) {
    double ways = 1;
    for (unsigned i = 0; i < k; ++i) ways = ways * (20 - i) / (i + 1);
    mass[k] = ways * std::pow(p, k) * std::pow(1 - p, 20 - k);
  }
  for (unsigned k = 0; k <= 20; ++k) {
    double up = 0, down = 0;
    for (unsigned i = k; i <= 20; ++i) up += mass[i];
    for (unsigned i = 0; i <= k; ++i) down += mass[i];
    if (k >= 6) {
      EXPECT_NEAR(binomial_tail(20, k, p, true) / up, 1, 1e-10);
    } else {
      EXPECT_NEAR(binomial_tail(20, k, p, false) / down, 1, 1e-10);
    }
  }
  EXPECT_EQ(binomial_two_sided(10, 1, 0), 0);
  EXPECT_EQ(binomial_two_sided(10, 10, 1), 1);
  EXPECT_LT(binomial_two_sided(1000000, 502500, 0.5), kThreshold);
  EXPECT_GT(binomial_two_sided(1000000, 501000, 0.5), kThreshold);
}

TEST(Pearson, IsTheTextbookStatistic) {
  const std::vector<std::uint64_t> observed = {43, 52, 54, 40, 61, 50};  // a die thrown 300 times
  const std::vector<double> probability(6, 1.0 / 6);

  const Fit fit = pearson(observed, probability);

  EXPECT_NEAR(fit.statistic, (49. + 4 + 16 + 100 + 121 + 0) / 50, 1e-12);
  EXPECT_EQ(fit.freedom, 5);
}

TEST(Pearson, PoolsSmallCellsAndSeesTheirExcess) {
  const std::vector<double> probability = {0.5, 0.4999, 0.00005, 0.00005};

  const Fit fair = pearson(std::vector<std::uint64_t>{5002, 4997, 1, 0}, probability);
  const Fit excess = pearson(std::vector<std::uint64_t>{4990, 4985, 20, 5}, probability);

  EXPECT_EQ(fair.freedom, 1);
  EXPECT_GT(fair.p, 0.1);
  EXPECT_LT(excess.p, kThreshold);
}

TEST(Pearson, FailsOnWhatCannotHappen) {
  const Fit fit = pearson(std::vector<std::uint64_t>{50, 49, 1}, std::vector<double>{0.5, 0.5, 0});

  EXPECT_EQ(fit.p, 0);
  EXPECT_EQ(fit.impossible, 1u);
}

TEST(Pearson, RefusesAnOracleThatDoesNotSumToOne) {
  EXPECT_THROW(pearson(std::vector<std::uint64_t>{1, 1}, std::vector<double>{0.5, 0.4}), std::logic_error);
}

// Twenty states of five cells; the first cell of each is drawn too often by a relative error.
Report simulated(double relative_error, std::uint64_t draws) {
  std::mt19937_64 random(11);
  Tally tally;
  for (int state = 0; state < 20; ++state) {
    const std::size_t s = tally.add_state("state", {0.3, 0.25, 0.2, 0.15, 0.1});
    const double first = 0.3 * (1 + relative_error), rest = (1 - first) / 0.7;
    std::discrete_distribution<std::size_t> cells({first, 0.25 * rest, 0.2 * rest, 0.15 * rest, 0.1 * rest});
    for (std::uint64_t i = 0; i < draws; ++i) tally.count(s, cells(random));
  }
  return tally.report();
}

TEST(Tally, PassesAFairSamplerAndCatchesOnePercent) {
  EXPECT_TRUE(fits(simulated(0, 100000)));
  EXPECT_LT(simulated(0.01, 100000).worst(), kThreshold);
  EXPECT_LT(simulated(0.004, 200000).worst(), kThreshold);
}

TEST(Tally, SeesDrawsThatAreTooEven) {
  Tally tally;
  for (int state = 0; state < 20; ++state) {
    const std::size_t s = tally.add_state("state", {0.25, 0.25, 0.25, 0.25});
    for (int i = 0; i < 4000; ++i) tally.count(s, static_cast<std::size_t>(i % 4));
  }

  EXPECT_LT(tally.report().worst(), kThreshold);
}

TEST(Report, AnEmptyCheckHasNotPassed) {
  EXPECT_FALSE(fits(Report{}));
}

}  // namespace
}  // namespace sluice::stat
