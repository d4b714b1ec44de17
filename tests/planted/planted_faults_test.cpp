// Do the statistical tests see anything? Each error planted in the engine must fail the checks that it
// concerns, and without one the very same checks, with the same seeds and as many draws, must pass.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/core/planted.hpp"
#include "statistical/combinations.hpp"
#include "statistical/graphs.hpp"
#include "statistical/one_pass_checks.hpp"
#include "statistical/sample_checks.hpp"
#include "statistical/walk_checks.hpp"

#if !defined(SLUICE_PLANTED_FAULTS)
#error "these tests need the engine with planted faults"
#endif

namespace sluice::stat {
namespace {

using Check = std::function<Report()>;

/// A fresh bench each: derived tables must be built under the fault as well.
Check walk(WalkKind kind, Select select = Select::automatic, Bias bias = Bias::weight) {
  return [=] {
    Bench bench(star());
    WalkOptions options;
    options.kind = kind;
    options.select = select;
    options.bias = bias;
    options.length = 3;
    options.q = 2;
    Starts starts;
    starts.rounds = 1500;
    return check_walks(bench, starts, options);
  };
}

Check step_pairs(WalkKind kind, Select select = Select::automatic) {
  return [=] {
    Bench bench(regular());
    WalkOptions options;
    options.kind = kind;
    options.select = select;
    options.length = 40;
    Starts starts;
    starts.rounds = 500;
    return check_rank_pairs(bench, starts, options);
  };
}

Check sample(SampleKind kind, Select select = Select::automatic, bool replace = false,
             Bias bias = Bias::weight) {
  return [=] {
    Bench bench(zoo());
    SampleOptions options;
    options.kind = kind;
    options.select = select;
    options.replace = replace;
    options.bias = bias;
    options.fanout = std::vector<std::int64_t>{2};
    options.layer_sizes = std::vector<std::uint64_t>{4};
    options.depth = 1;
    return check_samples(bench, repeat_seeds({{kBiasList, kEqual, kTen, kHub}}, 30000), options);
  };
}

Check pool_walk(bool remember) {
  return [=] {
    Bench bench(pocket());
    WalkOptions options;
    options.kind = WalkKind::multidimensional;
    options.frontier_size = 2;
    options.length = 8;
    return check_multidimensional(bench, random_starts(50000), options, remember);
  };
}

/// The checks by name.
const std::map<std::string, Check>& checks() {
  static const std::map<std::string, Check> all = {
      {"uniform walk", walk(WalkKind::uniform)},
      {"metropolis-hastings walk", walk(WalkKind::metropolis_hastings)},
      {"jump walk", walk(WalkKind::jump)},
      {"restart walk", walk(WalkKind::restart)},
      {"biased walk by its", walk(WalkKind::biased, Select::its)},
      {"biased walk by alias", walk(WalkKind::biased, Select::alias)},
      {"biased walk by rejection", walk(WalkKind::biased, Select::rejection)},
      {"node2vec walk by its", walk(WalkKind::node2vec, Select::its)},
      {"node2vec walk by rejection", walk(WalkKind::node2vec, Select::rejection)},
      {"uniform steps", step_pairs(WalkKind::uniform)},
      {"biased steps by its", step_pairs(WalkKind::biased, Select::its)},
      {"biased steps by alias", step_pairs(WalkKind::biased, Select::alias)},
      {"biased steps by rejection", step_pairs(WalkKind::biased, Select::rejection)},
      {"random starts",
       [] {
         Bench bench(star());
         return check_random_starts(bench, 200000, 1);
       }},
      {"even sample", sample(SampleKind::neighbor, Select::automatic, false, Bias::none)},
      {"sample by repeated", sample(SampleKind::neighbor, Select::repeated)},
      {"sample by updated", sample(SampleKind::neighbor, Select::updated)},
      {"sample by bipartite", sample(SampleKind::neighbor, Select::bipartite)},
      {"forest fire", sample(SampleKind::forest_fire)},
      {"sample with replacement", sample(SampleKind::neighbor, Select::its, true)},
      {"layer", sample(SampleKind::layer)},
      {"nodes",
       [] {
         Bench bench(pocket());
         return check_nodes(bench, 100000, 3, 1);
       }},
      {"edges",
       [] {
         Bench bench(pocket());
         return check_edges(bench, 100000, 2, 1);
       }},
      {"multidimensional walk", pool_walk(false)},
      {"multidimensional steps", pool_walk(true)},
  };
  return all;
}

class PlantedFault : public testing::Test {
 protected:
  ~PlantedFault() override { planted_fault = Fault::none; }

  static void expect_caught(Fault fault, const std::vector<std::string>& by) {
    for (const std::string& name : by) {
      planted_fault = fault;
      const double p = checks().at(name)().worst();
      EXPECT_LT(p, kThreshold) << name << " does not see the fault";
    }
  }
};

TEST_F(PlantedFault, WithoutOneAllChecksPass) {
  for (const auto& [name, check] : checks()) EXPECT_TRUE(fits(check())) << name;
}

/// Checks of what is drawn by an index below a small number, which errors of an index must fail. (Sums of
/// quantised biases are near 2^32: one more or less there is beyond any test.)
const std::vector<std::string> kByIndex = {"uniform walk",
                                           "metropolis-hastings walk",
                                           "jump walk",
                                           "restart walk",
                                           "biased walk by alias",
                                           "biased walk by rejection",
                                           "node2vec walk by rejection",
                                           "random starts",
                                           "even sample",
                                           "edges",
                                           "multidimensional walk"};

TEST_F(PlantedFault, ModuloBiasIsCaught) {
  expect_caught(Fault::modulo_bias, kByIndex);
  expect_caught(Fault::modulo_bias,
                {"biased walk by its", "biased steps by its", "sample by repeated", "sample by updated",
                 "sample by bipartite", "sample with replacement", "forest fire", "layer"});
}

TEST_F(PlantedFault, OffByOneIsCaught) {
  expect_caught(Fault::off_by_one, kByIndex);
  expect_caught(Fault::off_by_one, {"uniform steps", "nodes"});
}

TEST_F(PlantedFault, ADroppedLastNeighbourIsCaught) {
  expect_caught(Fault::dropped_last, kByIndex);
  expect_caught(Fault::dropped_last, {"uniform steps", "nodes"});
}

TEST_F(PlantedFault, ReusedCountersAreCaught) {
  expect_caught(Fault::reused_counter, {"uniform steps", "biased steps by its", "biased steps by alias",
                                        "biased steps by rejection", "node2vec walk by its"});
}

TEST_F(PlantedFault, ThePublishedRegionSearchIsCaught) {
  expect_caught(Fault::published_bipartite, {"sample by bipartite", "even sample", "forest fire"});
}

/// Every check under every fault, as a table: `--gtest_also_run_disabled_tests` prints it.
TEST_F(PlantedFault, DISABLED_Table) {
  constexpr const char* kNames[] = {"none",           "modulo_bias",  "off_by_one",
                                    "reused_counter", "dropped_last", "published_bipartite"};
  for (int fault = 0; fault < 6; ++fault) {
    for (const auto& [name, check] : checks()) {
      planted_fault = static_cast<Fault>(fault);
      std::printf("%-20s %-28s %s\n", kNames[fault], name.c_str(),
                  check().worst() < kThreshold ? "caught" : "-");
    }
  }
}

}  // namespace
}  // namespace sluice::stat
