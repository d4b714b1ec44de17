// Neighbor, forest-fire and snowball samples with every technique and bias, with and without --revisit.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/error.hpp"
#include "statistical/combinations.hpp"
#include "statistical/graphs.hpp"
#include "statistical/sample_checks.hpp"

namespace sluice::stat {
namespace {

constexpr Bias kBiases[] = {Bias::none, Bias::weight, Bias::degree};

/// All special vertices as seeds of one instance, unsorted and some repeated: one draw from each list.
Starts every_special(std::uint64_t copies) {
  std::vector<Vertex> seeds;
  for (Vertex i = 0; i < kSpecials; ++i) seeds.push_back(i * 7 % kSpecials);
  seeds.insert(seeds.begin() + 5, {seeds[0], seeds[3], seeds[3]});
  return repeat_seeds({seeds}, scaled(copies));
}

/// Two special vertices for each instance, so that samples grow deep.
Starts pairs_of_specials(std::uint64_t copies) {
  std::vector<std::vector<Vertex>> lists;
  for (Vertex i = 0; i < kSpecials; ++i) lists.push_back({i, (i * 5 + 3) % kSpecials, i});
  return repeat_seeds(lists, scaled(copies));
}

samples::Options sample(samples::Kind kind, Bias bias, bool revisit, std::uint64_t seed) {
  samples::Options options;
  options.kind = kind;
  options.bias = bias;
  options.revisit = revisit;
  options.seed = seed;
  return options;
}

Bench& shared_zoo(bool weighted = true) {
  static Bench with(zoo(true)), without(zoo(false));
  return weighted ? with : without;
}

struct Technique {
  samples::Kind kind;
  Select select;
  Bias bias;
  bool replace;
  bool revisit;
};

std::string test_name(const testing::TestParamInfo<Technique>& info) {
  const Technique& t = info.param;
  return name_of(t.kind) + "_" + name_of(t.select) + "_" + name_of(t.bias) + (t.replace ? "_replace" : "") +
         (t.revisit ? "_revisit" : "");
}

std::vector<Technique> techniques() {
  std::vector<Technique> all;
  for (const samples::Kind kind : {samples::Kind::neighbor, samples::Kind::forest_fire}) {
    for (const bool replace : {false, true}) {
      if (replace && kind != samples::Kind::neighbor) continue;
      for (const Select select : selects_of(kind, replace))
        for (const Bias bias : kBiases)
          for (const bool revisit : {false, true}) all.push_back({kind, select, bias, replace, revisit});
    }
  }
  return all;
}

class GrownSample : public testing::TestWithParam<Technique> {
 protected:
  samples::Options options(std::vector<std::int64_t> fanout, double probability, std::uint64_t seed) const {
    samples::Options options = sample(GetParam().kind, GetParam().bias, GetParam().revisit, seed);
    options.select = GetParam().select;
    options.replace = GetParam().replace;
    options.depth = static_cast<std::uint32_t>(fanout.size());
    options.probability = probability;
    if (GetParam().kind == samples::Kind::neighbor) options.fanout = std::move(fanout);
    return options;
  }
};

TEST_P(GrownSample, DrawsEverySetAsOftenAsItShould) {
  EXPECT_TRUE(fits(check_samples(shared_zoo(), every_special(60000), options({kFanout}, 0.7, 201))));
}

/// Enough draws to detect a deviation of one percent in a probable set of a single list.
TEST_P(GrownSample, DrawsEverySetToOnePercent) {
  const Starts starts = repeat_seeds({{kBiasList, kSixOrders}}, scaled(GetParam().revisit ? 200000 : 600000));

  EXPECT_TRUE(fits(check_samples(shared_zoo(), starts, options({2}, 0.7, 205))));
}

TEST_P(GrownSample, DrawsRightAtEveryDepth) {
  EXPECT_TRUE(fits(check_samples(shared_zoo(), pairs_of_specials(800), options({3, 2, 4}, 0.6, 202))));
}

TEST_P(GrownSample, TakesEveryWeightAsOneWithoutWeights) {
  EXPECT_TRUE(fits(check_samples(shared_zoo(false), every_special(5000), options({kFanout}, 0.5, 203))));
}

TEST_P(GrownSample, DrawsAreIndependent) {
  Bench bench(pocket());
  const Starts starts = repeat_seeds({{0, 4}, {1, 0, 2}, {3, 0}}, scaled(10000));
  const samples::Options two = options({2, 2, 2}, 0.5, 204);

  EXPECT_TRUE(fits(check_samples(bench, starts, two, Given::draw_before))) << "given the draw before";
  EXPECT_TRUE(fits(check_samples(bench, starts, two, Given::instance_before))) << "given the instance before";
  if (GetParam().revisit) {
    EXPECT_TRUE(fits(check_samples(bench, starts, two, Given::twin))) << "given its twin";
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, GrownSample, testing::ValuesIn(techniques()), test_name);

/// All columns of a run, to compare runs that must be equal.
std::vector<std::uint64_t> columns(Bench& bench, const Starts& starts, const samples::Options& options,
                                   RunStats& stats) {
  std::vector<std::uint64_t> all;
  SampleReader reader([&](const SampleView& sample) {
    all.push_back(sample.edge.size());
    all.insert(all.end(), sample.edge.begin(), sample.edge.end());
  });
  stats = sampling::run_samples(bench.resident, starts, options, &reader);
  return all;
}

TEST(Samples, CollisionDetectionChangesNoDraw) {
  using enum samples::Kind;
  for (const samples::Kind kind : {neighbor, forest_fire, layer}) {
    for (const Select select : selects_of(kind)) {
      for (const Bias bias : kBiases) {
        samples::Options options = sample(kind, bias, false, 211);
        options.select = select, options.probability = 0.9, options.collision = Collision::linear;
        options.fanout = {40, 3}, options.layer_sizes = {40, 70};
        RunStats linear, bits;
        const auto expected = columns(shared_zoo(), every_special(300), options, linear);
        for (const Collision collision :
             {Collision::bitmap, Collision::strided_bitmap, Collision::strided_bytes}) {
          SCOPED_TRACE(name_of(kind) + " " + name_of(select) + " " + name_of(bias) + " " +
                       name_of(collision));
          options.collision = collision;
          EXPECT_TRUE(columns(shared_zoo(), every_special(300), options, bits) == expected);
          EXPECT_EQ(bits.selection_iterations, linear.selection_iterations);
          if (select == Select::updated) {
            EXPECT_EQ(linear.collision_searches + bits.collision_searches, 0u);
          } else if (kind == layer && select == Select::repeated) {
            // A layer's bits are shared, so a heavy pick that is hit repeatedly is compared each time.
            EXPECT_NE(bits.collision_searches, linear.collision_searches);
          } else {
            EXPECT_LT(bits.collision_searches, linear.collision_searches);
          }
        }
      }
    }
  }
}

TEST(Samples, DrawsManyFromAHub) {
  for (const Select select : selects_of(samples::Kind::neighbor)) {
    for (const Bias bias : kBiases) {
      for (const std::int64_t fanout : {40, 250}) {
        samples::Options options = sample(samples::Kind::neighbor, bias, false, 212);
        options.select = select;
        options.fanout = std::vector<std::int64_t>{fanout};
        const Starts few = repeat_seeds({{kHub, kTen}}, scaled(fanout > 100 ? 3000 : 15000));
        EXPECT_TRUE(fits(check_samples(shared_zoo(), few, options)))
            << name_of(select) << " " << name_of(bias) << " " << fanout;
      }
    }
  }
}

TEST(Samples, TakesAllCandidatesWhereAskedTo) {
  for (const Bias bias : kBiases) {
    for (const bool revisit : {false, true}) {
      samples::Options options = sample(samples::Kind::neighbor, bias, revisit, 213);
      options.fanout = std::vector<std::int64_t>{-1, 2, -1};
      EXPECT_TRUE(fits(check_samples(shared_zoo(), pairs_of_specials(40), options)))
          << name_of(bias) << revisit;
    }
  }
}

TEST(Samples, SnowballsTakeEverything) {
  Bench pockets(pocket());
  Starts everywhere;
  for (const bool revisit : {false, true}) {
    samples::Options options = sample(samples::Kind::snowball, Bias::none, revisit, 214);
    options.depth = 3;
    EXPECT_TRUE(fits(check_samples(pockets, everywhere, options)));
    options.depth = 2;
    EXPECT_TRUE(fits(check_samples(shared_zoo(), pairs_of_specials(1), options)));
    EXPECT_TRUE(fits(check_samples(shared_zoo(), everywhere, options)));
  }
}

TEST(Samples, ForestFiresBurnByTheirProbability) {
  for (const double probability : {0.0, 0.05, 0.5, 0.95}) {
    for (const Bias bias : kBiases) {
      samples::Options options = sample(samples::Kind::forest_fire, bias, false, 215);
      options.depth = 1;
      options.probability = probability;
      EXPECT_TRUE(fits(check_samples(shared_zoo(), every_special(10000), options)))
          << probability << name_of(bias);
    }
  }
}

TEST(Samples, RandomSeedsAreUniform) {
  Bench bench(regular());
  samples::Options options = sample(samples::Kind::neighbor, Bias::none, false, 216);
  options.fanout = std::vector<std::int64_t>{1};
  Tally tally;
  tally.add_state("seeds", std::vector<double>(16, 1. / 16));
  tally.add_state("seeds of instances i and i+1", std::vector<double>(256, 1. / 256));
  tally.add_state("seed and its neighbour's rank", std::vector<double>(64, 1. / 64));
  Vertex before = 0;
  SampleReader reader([&](const SampleView& sample) {
    const Vertex seed = sample.seeds[0];
    tally.count(0, seed);
    if (sample.instance % 2) tally.count(1, seed * 16 + before);
    tally.count(2, seed * 4 + sample.edge[0] - bench.view().offsets[seed]);
    before = seed;
  });

  sampling::run_samples(bench.resident, random_starts(scaled(1000000)), options, &reader);

  EXPECT_TRUE(fits(tally.report()));
}

TEST(Samples, EverySupportedTechniqueIsListed) {
  Bench bench(pocket());
  for (int kind = 0; kind <= static_cast<int>(samples::Kind::edge); ++kind) {
    for (const bool replace : {false, true}) {
      samples::Options options = sample(static_cast<samples::Kind>(kind), Bias::none, false, 1);
      if (replace && options.kind != samples::Kind::neighbor) continue;
      options.replace = replace;
      if (options.kind == samples::Kind::neighbor) options.fanout = std::vector<std::int64_t>{2};
      if (options.kind == samples::Kind::layer) options.layer_sizes = std::vector<std::uint64_t>{2};
      if (options.kind >= samples::Kind::node) options.count = 2;
      const auto supported = selects_of(options.kind, replace);
      for (const Select select : kSelects) {
        options.select = select;
        const bool listed = std::find(supported.begin(), supported.end(), select) != supported.end();
        bool taken = true;
        try {
          sampling::run_samples(bench.resident, random_starts(4), options, nullptr);
        } catch (const UsageError&) {
          taken = false;
        }
        EXPECT_EQ(taken, listed) << name_of(options.kind) << " by " << name_of(select)
                                 << (replace ? " replace" : "");
      }
    }
  }
}

}  // namespace
}  // namespace sluice::stat
