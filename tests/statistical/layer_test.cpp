// Layer samples: K distinct candidate edges from the union of the frontier's lists, with and without
// --revisit.
#include <gtest/gtest.h>

#include <numeric>

#include "statistical/combinations.hpp"
#include "statistical/graphs.hpp"
#include "statistical/sample_checks.hpp"

namespace sluice::stat {
namespace {

struct Technique {
  Select select;
  Bias bias;
};

std::vector<Technique> techniques() {
  std::vector<Technique> all;
  for (const Select select : selects_of(samples::Kind::layer))
    for (const Bias bias : {Bias::none, Bias::weight, Bias::degree}) all.push_back({select, bias});
  return all;
}

class LayerSample : public testing::TestWithParam<Technique> {
 protected:
  samples::Options options(std::vector<std::uint64_t> sizes, std::uint64_t seed) const {
    samples::Options options;
    options.kind = samples::Kind::layer;
    options.select = GetParam().select;
    options.bias = GetParam().bias;
    options.layer_sizes = std::move(sizes);
    options.seed = seed;
    return options;
  }
};

TEST_P(LayerSample, DrawsEverySetAsOftenAsItShould) {
  for (const bool weighted : {true, false}) {
    Bench bench(pocket(weighted));
    const Starts starts =
        repeat_seeds({{0}, {1, 4}, {0, 3, 5}, {2, 3, 4}, {6, 7, 1}, {7}, {5, 5, 2}}, scaled(12000));
    for (const auto& sizes : {std::vector<std::uint64_t>{1, 1, 1}, {2, 3}, {3, 2, 2}, {100, 2}})
      EXPECT_TRUE(fits(check_samples(bench, starts, options(sizes, 301)))) << sizes[0] << " " << weighted;
  }
}

TEST_P(LayerSample, DrawsFromLongAndUnequalLists) {
  Bench bench(zoo());
  std::vector<Vertex> all(kSpecials);
  std::iota(all.rbegin(), all.rend(), Vertex{0});
  const std::vector<Vertex> some = {kSixOrders, kRounded, kAllZero, kBiasList, kDenormal};
  const std::vector<Vertex> two_lists = {kBiasList, kEqual};

  EXPECT_TRUE(fits(check_samples(bench, repeat_seeds({all}, scaled(20000)), options({20}, 302))));
  EXPECT_TRUE(fits(check_samples(bench, repeat_seeds({all}, scaled(2000)), options({100}, 303))));
  EXPECT_TRUE(fits(check_samples(bench, repeat_seeds({some, two_lists}, scaled(50000)), options({4}, 304))));
}

TEST_P(LayerSample, DrawsAreIndependent) {
  Bench bench(pocket());
  const Starts starts = repeat_seeds({{0, 4}, {1, 2}}, scaled(60000));

  EXPECT_TRUE(fits(check_samples(bench, starts, options({2, 2}, 305), Given::draw_before)));
  EXPECT_TRUE(fits(check_samples(bench, starts, options({2, 2}, 306), Given::instance_before)));
}

/// The same with --revisit: a list is in the frontier as often as its vertex was drawn.
class LayerTree : public LayerSample {
 protected:
  samples::Options tree(std::vector<std::uint64_t> sizes, std::uint64_t seed) const {
    samples::Options options = this->options(std::move(sizes), seed);
    options.revisit = true;
    return options;
  }
};

TEST_P(LayerTree, DrawsEverySetAsOftenAsItShould) {
  for (const bool weighted : {true, false}) {
    Bench bench(pocket(weighted));
    const Starts starts = repeat_seeds({{0}, {1, 4}, {6, 7, 1}, {7}, {5, 5, 2}}, scaled(12000));
    for (const auto& sizes : {std::vector<std::uint64_t>{1, 1, 1}, {2, 3}, {3, 2, 2}, {100, 2}})
      EXPECT_TRUE(fits(check_samples(bench, starts, tree(sizes, 307)))) << sizes[0] << " " << weighted;
  }
}

TEST_P(LayerTree, DrawsFromEveryCopyOfAList) {
  Bench lists(regular()), hub(zoo());
  const Starts starts = repeat_seeds({{3}, {3, 3}, {3, 5, 3}, {5, 7, 2}}, scaled(30000));
  const Starts long_lists = repeat_seeds({{kHub, kTen, kHub, kSixOrders, kTen}}, scaled(5000));

  EXPECT_TRUE(fits(check_samples(lists, starts, tree({1, 4, 2}, 308))));
  EXPECT_TRUE(fits(check_samples(lists, starts, tree({3, 1}, 309))));
  EXPECT_TRUE(fits(check_samples(hub, long_lists, tree({1}, 310))));
}

TEST_P(LayerTree, DrawsAreIndependent) {
  Bench bench(pocket());
  const Starts two = repeat_seeds({{0, 4}, {1, 1}}, scaled(30000)),
               one = repeat_seeds({{0, 0}}, scaled(30000));

  EXPECT_TRUE(fits(check_samples(bench, two, tree({2, 2}, 311), Given::draw_before)));
  EXPECT_TRUE(fits(check_samples(bench, one, tree({2, 2}, 312), Given::instance_before)));
}

const auto by_technique = [](const auto& at) {
  return name_of(at.param.select) + "_" + name_of(at.param.bias);
};

INSTANTIATE_TEST_SUITE_P(Kinds, LayerSample, testing::ValuesIn(techniques()), by_technique);
INSTANTIATE_TEST_SUITE_P(Kinds, LayerTree, testing::ValuesIn(techniques()), by_technique);

}  // namespace
}  // namespace sluice::stat
