// Selection without replacement: three techniques and three collision structures give one distribution.
#include "engine/select/distinct.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "core/printed.hpp"
#include "engine/exec/group.hpp"
#include "engine/select/candidates.hpp"
#include "statistical/chi_square.hpp"

namespace sluice {
namespace {

using Picks = std::vector<std::uint32_t>;
using Biases = std::vector<std::uint64_t>;

/// The last parameter: true if every candidate has a bit of its own, false if one word serves all.
class Distinct : public testing::TestWithParam<std::tuple<Select, Collision, bool>> {
 protected:
  template <class Candidates>
  Picks pick(const Candidates& candidates, std::uint32_t size, std::uint32_t count, Instance instance) {
    const auto [technique, collision, exact] = GetParam();
    picks_.assign(count, 0), excluded_.assign(count, 0), words_.resize(exact ? (size + 31) / 32 : 1);
    const Taken<std::uint32_t> taken{collision, words_.data(), static_cast<std::uint32_t>(words_.size()),
                                     picks_.data(), exact};
    counters_ = {};
    DistinctPicker<SingleLane, Candidates, SampleDraws>({}, candidates, SampleDraws{1, 7, instance},
                                                        technique, taken, picks_.data(), excluded_.data())
        .pick(count, counters_);
    EXPECT_TRUE(std::all_of(words_.begin(), words_.end(), [](std::uint32_t w) { return w == 0; }))
        << "bits are left";
    return picks_;
  }
  Picks pick(const Biases& biases, std::uint32_t count, Instance instance) {
    Biases sums(biases.size());
    std::partial_sum(biases.begin(), biases.end(), sums.begin());
    const auto size = static_cast<std::uint32_t>(biases.size());
    return pick(CtpsCandidates{sums.data(), size}, size, count, instance);
  }

  /// All orders of `count` picks with their probabilities.
  static void enumerate(const Biases& biases, std::uint32_t count, Picks& so_far, double probability,
                        std::map<Picks, double>& law) {
    if (so_far.size() == count) {
      law[so_far] = probability;
      return;
    }
    double rest = 0;
    for (std::uint32_t i = 0; i < biases.size(); ++i) {
      if (std::find(so_far.begin(), so_far.end(), i) == so_far.end()) rest += static_cast<double>(biases[i]);
    }
    for (std::uint32_t i = 0; i < biases.size(); ++i) {
      if (biases[i] == 0 || std::find(so_far.begin(), so_far.end(), i) != so_far.end()) continue;
      so_far.push_back(i);
      enumerate(biases, count, so_far, probability * static_cast<double>(biases[i]) / rest, law);
      so_far.pop_back();
    }
  }

  void expect_law(const Biases& biases, std::uint32_t count, Instance draws) {
    std::map<Picks, double> law;
    Picks none;
    enumerate(biases, count, none, 1, law);
    std::map<Picks, std::uint64_t> seen;
    for (Instance i = 0; i < draws; ++i) {
      const Picks picks = pick(biases, count, i);
      ASSERT_TRUE(law.contains(picks)) << "an order that cannot be";
      ++seen[picks];
    }
    std::vector<std::uint64_t> observed;
    std::vector<double> probability;
    for (const auto& [order, p] : law) observed.push_back(seen[order]), probability.push_back(p);
    EXPECT_GT(stat::pearson(observed, probability).p, stat::kThreshold);
  }

  Picks picks_, excluded_, words_;
  PickCounters counters_;
};

TEST_P(Distinct, PicksDifferFromEachOtherAndHavePositiveBias) {
  std::uint64_t state = 1;
  for (std::uint32_t size : {2u, 3u, 31u, 32u, 33u, 64u, 200u}) {
    Biases biases(size);
    for (auto& bias : biases) bias = (state = state * 6364136223846793005u + 1) >> 60;
    biases[0] = 0, biases[1] = 1;
    const auto positive = static_cast<std::uint32_t>(size - std::count(biases.begin(), biases.end(), 0u));
    for (const std::uint32_t count : {1u, (positive + 1) / 2, positive - 1, positive}) {
      if (count == 0) continue;
      for (Instance instance = 0; instance < 20; ++instance) {
        const Picks picks = pick(biases, count, instance);
        EXPECT_EQ(std::set<std::uint32_t>(picks.begin(), picks.end()).size(), count) << size;
        for (const std::uint32_t i : picks) ASSERT_GT(biases[i], 0u) << size;
      }
    }
  }
}

TEST_P(Distinct, UniformCandidatesDiffer) {
  for (const std::uint32_t count : {1u, 10u, 49u, 50u}) {
    const Picks picks = pick(UniformCandidates{50}, 50, count, count);
    EXPECT_EQ(std::set<std::uint32_t>(picks.begin(), picks.end()).size(), count);
    for (const std::uint32_t i : picks) EXPECT_LT(i, 50u);
  }
}

TEST_P(Distinct, OrdersHaveTheLawOfSuccessiveDraws) {
  expect_law({3, 6, 2, 2, 2}, 2, 40000);  // where the published search is biased
  expect_law({3, 6, 2, 2, 2}, 4, 40000);
  expect_law({1, 0, 100, 7, 0, 31}, 3, 40000);
  expect_law({5, 1}, 1, 20000);
  expect_law({1, 1, 1, 1}, 3, 20000);
}

TEST_P(Distinct, ARegionThatHoldsNearlyAllOfTheSpace) {
  expect_law({std::uint64_t{1} << 40, 1, 2, 3}, 2, 3000);
  expect_law({std::uint64_t{1} << 40, 1, 2, 3}, 3, 3000);
  expect_law({1, std::uint64_t{1} << 50, std::uint64_t{1} << 30, 1, 0, 1}, 4, 2000);
}

TEST_P(Distinct, IsReproducible) {
  const Biases biases{9, 1, 4, 4, 0, 70, 2};
  for (Instance instance = 0; instance < 50; ++instance) {
    EXPECT_EQ(pick(biases, 5, instance), pick(biases, 5, instance));
  }
}

TEST_P(Distinct, CountsEveryFirstChoice) {
  pick(Biases{1, 2, 3, 4, 5, 6}, 4, 0);
  EXPECT_GE(counters_.iterations, 4u);
}

INSTANTIATE_TEST_SUITE_P(
    Techniques, Distinct,
    testing::Combine(testing::Values(Select::repeated, Select::updated, Select::bipartite),
                     testing::Values(Collision::linear, Collision::bitmap, Collision::strided_bitmap,
                                     Collision::strided_bytes),
                     testing::Bool()));

}  // namespace
}  // namespace sluice
