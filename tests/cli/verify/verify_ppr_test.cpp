// Verifiers of PPR results, tested like those of walks and samples in verify_test.cpp.
#include <gtest/gtest.h>

#include <vector>

#include "apps/verify/verify.hpp"
#include "cli/verify/verify.hpp"

namespace sluice::apps {
namespace {

constexpr Vertex kEnd = kNoVertex;

struct PprCounter : ppr::Sink {
  void write(const ppr::Batch&) override { ++batches; }
  int batches = 0;
};

struct Scores {
  std::vector<Vertex> vertices;
  std::vector<double> scores;
};

/// Checks the scores of a query with seeds 0 (weight 2) and 3 (weight 1).
bool accepts(const ppr::Options& options, const Scores& scores, Vertex seed = 0) {
  Starts starts = starts_at({0, 3}, {0, 2});
  starts.weights = {2, 1};
  const std::vector<Vertex> seeds{seed};
  const std::vector<ppr::QueryFigures> figures(1);
  const auto top = static_cast<std::uint32_t>(scores.vertices.size());
  const ppr::Batch batch{0, 1, top, seeds, scores.vertices, scores.scores, figures};
  return passes([&](const Graph& graph) {
    PprCounter next;
    verify_ppr(graph, starts, options, next)->write(batch);
    EXPECT_EQ(next.batches, 1);
  });
}

/// Vertex 0 sends half of its mass to 1 and 2, or with weights to 1 alone. Vertex 3 returns half of its mass
/// to the seeds.
ppr::Options one_step(bool weighted) {
  ppr::Options options;
  options.length = 1, options.alpha = 0.5, options.weighted = weighted;
  return options;
}

TEST(VerifyPpr, AcceptsWhatIsRight) {
  const double third = 1 / 3.0, sixth = 1 / 6.0;
  EXPECT_TRUE(
      accepts(one_step(false), {{0, 3, 1, 2}, {third + sixth * 2 / 3, sixth + sixth / 3, sixth, sixth}}));
  EXPECT_TRUE(
      accepts(one_step(true), {{0, 1, 3, kEnd}, {third + sixth * 2 / 3, third, sixth + sixth / 3, 0}}));
  EXPECT_TRUE(accepts(one_step(true), {{0}, {third + sixth * 2 / 3}}));
}

TEST(VerifyPpr, FindsWhatIsWrong) {
  const double first = 4 / 9.0, second = 1 / 3.0, third = 2 / 9.0;
  const ppr::Options options = one_step(true);
  ASSERT_TRUE(accepts(options, {{0, 1, 3, kEnd}, {first, second, third, 0}}));

  EXPECT_FALSE(accepts(options, {{0, 1, 3, kEnd}, {first, second, third, 0}}, 3));       // seed
  EXPECT_FALSE(accepts(options, {{0, 1, 3, kEnd}, {first, second, third + 1e-9, 0}}));   // score
  EXPECT_FALSE(accepts(options, {{0, 3, 1, kEnd}, {first, third, second, 0}}));          // order
  EXPECT_FALSE(accepts(options, {{0, 3, kEnd, kEnd}, {first, third, 0, 0}}));            // one is missing
  EXPECT_FALSE(accepts(options, {{0, 3}, {first, third}}));                              // and was better
  EXPECT_FALSE(accepts(options, {{0, 1, 1, kEnd}, {first, second, second, 0}}));         // a duplicate
  EXPECT_FALSE(accepts(options, {{0, 1, 3, 2}, {first, second, third, 0}}));             // no score
  EXPECT_FALSE(accepts(options, {{0, 1, 3, kEnd}, {first, second, third, 0.1}}));        // behind the end
  EXPECT_FALSE(accepts(one_step(false), {{0, 1, 3, kEnd}, {first, second, third, 0}}));  // weights
}

}  // namespace
}  // namespace sluice::apps
