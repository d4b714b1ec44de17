// Every walk kind, with every technique, compared with its exact transition probabilities.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/core/error.hpp"
#include "statistical/combinations.hpp"
#include "statistical/graphs.hpp"
#include "statistical/walk_checks.hpp"

namespace sluice::stat {
namespace {

/// Many walks from each special vertex of the zoo: 100 000 first steps for each, followed by steps of the
/// leaves.
Starts from_specials(std::uint64_t copies = 100000) {
  std::vector<Vertex> specials(kSpecials);
  std::iota(specials.begin(), specials.end(), Vertex{0});
  return repeat_starts(specials, scaled(copies));
}

Starts from_everywhere(std::uint64_t rounds) {
  Starts starts;
  starts.rounds = scaled(rounds);
  return starts;
}

walks::Options walk(walks::Kind kind, std::uint32_t length, std::uint64_t seed) {
  walks::Options options;
  options.kind = kind;
  options.length = length;
  options.seed = seed;
  return options;
}

Bench& shared_zoo(bool weighted) {
  static Bench with(zoo(true)), without(zoo(false));
  return weighted ? with : without;
}

struct Technique {
  walks::Kind kind;
  Select select;
  Bias bias = Bias::weight;
};

std::string test_name(const testing::TestParamInfo<Technique>& info) {
  std::string name = name_of(info.param.kind) + "_" + name_of(info.param.select);
  return info.param.kind == walks::Kind::biased ? name + "_" + name_of(info.param.bias) : name;
}

std::vector<Technique> techniques(std::initializer_list<walks::Kind> kinds) {
  std::vector<Technique> all;
  for (const walks::Kind kind : kinds) {
    for (const Select select : selects_of(kind)) {
      all.push_back({kind, select});
      if (kind == walks::Kind::biased) all.push_back({kind, select, Bias::degree});
    }
  }
  return all;
}

class FirstOrderWalk : public testing::TestWithParam<Technique> {
 protected:
  walks::Options options(std::uint32_t length, std::uint64_t seed) const {
    walks::Options options = walk(GetParam().kind, length, seed);
    options.select = GetParam().select;
    options.bias = GetParam().bias;
    return options;
  }
};

TEST_P(FirstOrderWalk, StepsAsItsRowsSay) {
  EXPECT_TRUE(fits(check_walks(shared_zoo(true), from_specials(), options(3, 101))));
}

/// Enough draws to detect a deviation of one percent in a probable cell of a single list.
TEST_P(FirstOrderWalk, StepsAsItsRowsSayToOnePercent) {
  const Starts starts =
      repeat_starts(std::vector<Vertex>{kBiasList, kSixOrders, kEqual, kParallel}, scaled(1000000));

  EXPECT_TRUE(fits(check_walks(shared_zoo(true), starts, options(1, 105))));
}

TEST_P(FirstOrderWalk, TakesEveryWeightAsOneWithoutWeights) {
  EXPECT_TRUE(fits(check_walks(shared_zoo(false), from_specials(20000), options(3, 102))));
}

TEST_P(FirstOrderWalk, StepsAreIndependent) {
  Bench bench(pocket());

  EXPECT_TRUE(fits(check_independence(bench, from_everywhere(10000), options(9, 103))));
}

TEST_P(FirstOrderWalk, LayoutChangesNoDraw) {
  walks::Options options = this->options(20, 104);
  std::vector<Vertex> csr, wide;
  const auto run = [&](Layout layout, std::vector<Vertex>& into) {
    WalkReader reader([&](const WalkBatch& batch, std::uint64_t i) {
      const std::size_t width = batch.length + std::size_t{1};
      const auto row = batch.walks.subspan(i * width, width);
      into.insert(into.end(), row.begin(), row.end());
    });
    options.layout = layout;
    sampling::run_walks(shared_zoo(true).resident, from_everywhere(100), options, &reader);
  };

  run(Layout::csr, csr);
  run(Layout::wide, wide);

  EXPECT_TRUE(csr == wide);
}

INSTANTIATE_TEST_SUITE_P(Kinds, FirstOrderWalk,
                         testing::ValuesIn(techniques({walks::Kind::uniform, walks::Kind::biased,
                                                       walks::Kind::metropolis_hastings, walks::Kind::jump,
                                                       walks::Kind::restart})),
                         test_name);

class SecondOrderWalk : public testing::TestWithParam<Technique> {
 protected:
  walks::Options options(double p, double q, std::uint64_t seed) const {
    walks::Options options = walk(walks::Kind::node2vec, 6, seed);
    options.select = GetParam().select;
    options.p = p;
    options.q = q;
    return options;
  }
};

TEST_P(SecondOrderWalk, StepsAsItsRowsSay) {
  Bench bench(triangles());
  for (const auto& [p, q] :
       {std::pair{1.0, 1.0}, {0.25, 4.0}, {4.0, 0.25}, {0.5, 0.5}, {3.0, 7.0}, {100.0, 0.01}}) {
    EXPECT_TRUE(fits(check_walks(bench, from_everywhere(5000), options(p, q, 111))))
        << "p " << p << " q " << q;
  }
}

TEST_P(SecondOrderWalk, StepsAsItsRowsSayOnDirectedGraphs) {
  Bench pockets(pocket());
  for (const auto& [p, q] : {std::pair{0.25, 4.0}, {4.0, 0.25}, {2.0, 3.0}}) {
    EXPECT_TRUE(fits(check_walks(shared_zoo(true), from_specials(30000), options(p, q, 112))))
        << p << " " << q;
    EXPECT_TRUE(fits(check_walks(shared_zoo(false), from_specials(10000), options(p, q, 113))))
        << p << " " << q;
    EXPECT_TRUE(fits(check_walks(pockets, from_everywhere(20000), options(p, q, 114)))) << p << " " << q;
  }
}

TEST_P(SecondOrderWalk, StepsAreIndependent) {
  Bench bench(pocket());

  EXPECT_TRUE(fits(check_independence(bench, from_everywhere(10000), options(0.5, 3, 115))));
}

INSTANTIATE_TEST_SUITE_P(Kinds, SecondOrderWalk, testing::ValuesIn(techniques({walks::Kind::node2vec})),
                         test_name);

TEST(Walks, ChoicesOfConsecutiveStepsAndInstancesAreIndependent) {
  Bench bench(regular());
  for (const Select select : selects_of(walks::Kind::biased)) {
    walks::Options options = walk(walks::Kind::biased, 40, 121);
    options.select = select;
    EXPECT_TRUE(fits(check_rank_pairs(bench, from_everywhere(4000), options))) << name_of(select);
  }
  EXPECT_TRUE(fits(check_rank_pairs(bench, from_everywhere(4000), walk(walks::Kind::uniform, 40, 122))));
}

TEST(Walks, RandomStartsAreUniformAndIndependent) {
  Bench bench(regular());

  EXPECT_TRUE(fits(check_random_starts(bench, scaled(1000000), 131)));
}

TEST(Walks, JumpsAndRestartsAtTheEdgesOfTheirProbability) {
  for (const walks::Kind kind : {walks::Kind::jump, walks::Kind::restart}) {
    for (const double probability : {0.0, 0.5, 1.0}) {
      walks::Options options = walk(kind, 3, 141);
      options.probability = probability;
      EXPECT_TRUE(fits(check_walks(shared_zoo(true), from_specials(5000), options)))
          << name_of(kind) << probability;
    }
  }
}

TEST(Walks, JumpAndRestartProbabilitiesToOnePercent) {
  Bench bench(pocket());
  for (const walks::Kind kind : {walks::Kind::jump, walks::Kind::restart}) {
    const Starts starts = repeat_starts(std::vector<Vertex>{0, 5}, scaled(3000000));
    EXPECT_TRUE(fits(check_walks(bench, starts, walk(kind, 1, 142)))) << name_of(kind);
  }
}

TEST(Walks, EverySupportedTechniqueIsListed) {
  Bench bench(pocket());
  for (int kind = 0; kind <= static_cast<int>(walks::Kind::multidimensional); ++kind) {
    walks::Options options = walk(static_cast<walks::Kind>(kind), 2, 1);
    const auto supported = selects_of(options.kind);
    for (const Select select : kSelects) {
      options.select = select;
      const bool listed = std::find(supported.begin(), supported.end(), select) != supported.end();
      bool taken = true;
      try {
        Starts one = random_starts(4);
        sampling::run_walks(bench.resident, one, options, nullptr);
      } catch (const UsageError&) {
        taken = false;
      }
      EXPECT_EQ(taken, listed) << name_of(options.kind) << " by " << name_of(select);
    }
  }
}

}  // namespace
}  // namespace sluice::stat
