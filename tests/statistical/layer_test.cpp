// Layer samples: K distinct candidate edges from the union of the frontier's lists.
#include <gtest/gtest.h>

#include <numeric>

#include "engine/core/error.hpp"
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
  for (const Select select : selects_of(SampleKind::layer))
    for (const Bias bias : {Bias::none, Bias::weight, Bias::degree}) all.push_back({select, bias});
  return all;
}

class LayerSample : public testing::TestWithParam<Technique> {
 protected:
  SampleOptions options(std::vector<std::uint64_t> sizes, std::uint64_t seed) const {
    SampleOptions options;
    options.kind = SampleKind::layer;
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

TEST_P(LayerSample, HasNoTreeSemantics) {
  Bench bench(pocket());
  SampleOptions options = this->options({2, 3, 2}, 307);
  options.revisit = true;

  EXPECT_THROW(check_samples(bench, repeat_seeds({{0}}, 10), options), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Kinds, LayerSample, testing::ValuesIn(techniques()), [](const auto& at) {
  return name_of(at.param.select) + "_" + name_of(at.param.bias);
});

}  // namespace
}  // namespace sluice::stat
