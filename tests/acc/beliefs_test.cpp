// Beliefs compared with exact marginals on trees, and with plain belief propagation on graphs with cycles.
#include "engine/acc/beliefs/beliefs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "acc/belief_models.hpp"
#include "acc/cases.hpp"
#include "engine/acc/exact_math.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"

namespace sluice::test {
namespace {

using stat::Edge;

double weight_of(const Graph& graph, EdgeIndex e) {
  return graph.out.weights.empty() ? 1 : static_cast<double>(graph.out.weights[e]);
}

/// The marginals from the weights of all assignments of states.
std::vector<double> exact_marginals(const Graph& graph, const acc::BeliefModel& model) {
  const std::uint64_t n = graph.vertices();
  std::vector<double> marginals(n * model.states, 0.0);
  std::vector<unsigned> is(n, 0);
  const auto weigh = [&] {
    double product = 1;
    for (std::uint64_t v = 0; v < n; ++v) {
      product *= model.priors[v * model.states + is[v]];
      for (EdgeIndex e = graph.out.offsets[v]; e < graph.out.offsets[v + 1]; ++e) {
        const Vertex u = graph.out.targets[e];
        if (u >= v) product *= std::pow(model.coupling[is[v] * model.states + is[u]], weight_of(graph, e));
      }
    }
    for (std::uint64_t v = 0; v < n; ++v) marginals[v * model.states + is[v]] += product;
  };
  for (std::uint64_t v = 0; v < n;) {
    weigh();
    for (v = 0; v < n && ++is[v] == model.states; ++v) is[v] = 0;
  }
  for (std::uint64_t v = 0; v < n; ++v) {
    double sum = 0;
    for (unsigned x = 0; x < model.states; ++x) sum += marginals[v * model.states + x];
    for (unsigned x = 0; x < model.states; ++x) marginals[v * model.states + x] /= sum;
  }
  return marginals;
}

/// Synchronous sum-product with messages as doubles, each product computed anew. For simple graphs only.
std::vector<double> plain_beliefs(const Graph& graph, const acc::BeliefModel& model, unsigned rounds,
                                  double damping) {
  const unsigned states = model.states;
  const auto at = [&](Vertex from, Vertex to) {
    const auto begin = graph.out.targets.begin() + graph.out.offsets[from],
               end = graph.out.targets.begin() + graph.out.offsets[from + 1ull];
    return static_cast<EdgeIndex>(std::lower_bound(begin, end, to) - graph.out.targets.begin());
  };
  std::vector<long double> messages(graph.edges() * states, 1.0L / states), next = messages;
  const auto product = [&](Vertex v, unsigned x, Vertex without) {
    long double all = model.priors[std::uint64_t{v} * states + x];
    for (EdgeIndex e = graph.out.offsets[v]; e < graph.out.offsets[v + 1ull]; ++e)
      if (const Vertex k = graph.out.targets[e]; k != without)
        all *= messages[at(k, v) * states + x] * states;
    return all;
  };
  for (unsigned round = 0; round < rounds; ++round) {
    for (Vertex u = 0; u < graph.vertices(); ++u) {
      for (EdgeIndex e = graph.out.offsets[u]; e < graph.out.offsets[u + 1ull]; ++e) {
        long double sum = 0;
        for (unsigned y = 0; y < states; ++y) {
          long double sent = 0;
          for (unsigned x = 0; x < states; ++x)
            sent += product(u, x, graph.out.targets[e]) *
                    std::pow(static_cast<long double>(model.coupling[x * states + y]), weight_of(graph, e));
          sum += next[e * states + y] = sent;
        }
        for (unsigned y = 0; y < states; ++y) {
          next[e * states + y] /= sum;
          next[e * states + y] = (1 - damping) * next[e * states + y] + damping * messages[e * states + y];
        }
      }
    }
    messages.swap(next);
  }
  std::vector<double> beliefs;
  for (Vertex v = 0; v < graph.vertices(); ++v) {
    long double sum = 0;
    for (unsigned x = 0; x < states; ++x) sum += product(v, x, kNoVertex);
    for (unsigned x = 0; x < states; ++x)
      beliefs.push_back(static_cast<double>(product(v, x, kNoVertex) / sum));
  }
  return beliefs;
}

template <class Expected>
double largest_error(const acc::BeliefResult& result, const Expected& expected) {
  double error = 0;
  EXPECT_EQ(result.beliefs.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    error = std::max(error, std::abs(static_cast<double>(result.beliefs[i]) - expected[i]));
  return error;
}

class Beliefs : public testing::TestWithParam<unsigned> {
 protected:
  const Device device_{{DeviceChoice::host, GetParam(), 0}};

  acc::BeliefResult solve(const Graph& graph, const acc::BeliefModel& model,
                          acc::BeliefOptions options = {}) {
    options.keep_messages = true;
    auto result = propagate_beliefs(acc::belief_graph(device_, graph, model.states), model, options);
    EXPECT_NO_THROW(acc::verify_beliefs(graph, model, result, options.tolerance, options.damping));
    return result;
  }
};

Graph tree(bool weighted) {
  return stat::make_undirected(
      9, {{0, 1, 0.5f}, {0, 2, 2}, {2, 3, 1}, {2, 4, 0}, {4, 5, 1.5f}, {4, 6, 1}, {6, 7, 3}, {7, 7, 0.7f}},
      weighted);
}

TEST_P(Beliefs, AreTheMarginalsOnTrees) {
  for (const bool weighted : {false, true}) {
    for (const unsigned states : {1u, 2u, 3u}) {
      for (const double zeros : {0.0, 0.4}) {
        SCOPED_TRACE(testing::Message() << states << " states, zeros " << zeros);
        const Graph graph = tree(weighted);
        const acc::BeliefModel model = some_model(graph, states, zeros);

        const acc::BeliefResult result = solve(graph, model, {.tolerance = 1e-12});

        EXPECT_TRUE(result.converged);
        EXPECT_LT(largest_error(result, exact_marginals(graph, model)), 1e-7);
      }
    }
  }
}

TEST_P(Beliefs, AreThoseOfPlainMessagesOnGraphsWithCycles) {
  const Graph graph = stat::triangles();
  for (const unsigned states : {2u, 4u}) {
    for (const double damping : {0.0, 0.3}) {
      const acc::BeliefModel model = some_model(graph, states);
      acc::BeliefOptions options;
      options.damping = damping;
      options.tolerance = 0;
      for (const unsigned rounds : {1u, 2u, 7u}) {
        options.max_iterations = rounds;

        const acc::BeliefResult result = solve(graph, model, options);

        EXPECT_EQ(result.stats.rounds, rounds);
        EXPECT_LT(largest_error(result, plain_beliefs(graph, model, rounds, damping)), 1e-6);
      }
    }
  }
}

TEST_P(Beliefs, StandHubsExtremeNumbersAndParallelEdges) {
  std::vector<Edge> star;
  for (Vertex v = 1; v < 5000; ++v) star.push_back({0, v, v % 2 == 0 ? 1e-3f : 50.0f});
  const Graph hub = stat::make_undirected(5000, star, true);
  acc::BeliefModel model = some_model(hub, 2);
  model.coupling = {1e-100, 1e100, 1e100, 1e-100};
  const acc::BeliefResult result = solve(hub, model);
  EXPECT_TRUE(result.converged);

  const Graph copies = stat::make_undirected(2, {{0, 1, 1}, {0, 1, 2}}, true);
  const acc::BeliefModel small = some_model(copies, 2);
  solve(copies, small);
}

/// C(x, x) to the power of a large weight is below the least factor in every state.
TEST_P(Beliefs, KeepTheRatioOfSelfLoopsThatUnderflow) {
  const Graph graph = stat::make_undirected(2, {{0, 1, 1}, {1, 1, 700}, {1, 1, 800}}, true);
  acc::BeliefModel model = some_model(graph, 2);
  std::fill(model.priors.begin(), model.priors.end(), 1.0);
  model.coupling = {0.25, 1, 1, 0.26};

  const acc::BeliefResult result = solve(graph, model);

  // 0.26^1500 over 0.25^1500 is above 10^25.
  EXPECT_LT(result.beliefs[2], 1e-20f);
  EXPECT_EQ(result.beliefs[3], 1.0f);
}

INSTANTIATE_TEST_SUITE_P(Threads, Beliefs, testing::Values(1u, 3u));

TEST(BeliefRuns, RefuseWhatTheyCanNot) {
  const Device device({DeviceChoice::host, 1, 0});
  const Graph pair = stat::make_undirected(2, {{0, 1, 1}}, false);
  acc::BeliefModel model;
  model.states = 2;
  model.coupling = {1, 0, 0, 1};
  model.priors = HostArray<double>(4);
  std::copy_n(std::vector<double>{1, 0, 0, 1}.begin(), 4, model.priors.begin());
  const acc::AccGraph graph(device, pair, {});
  EXPECT_THROW(propagate_beliefs(graph, model), InputError);  // vertices 0 and 1 must agree, but cannot

  model.priors[1] = model.priors[2] = 1;
  const acc::BeliefResult unkept = propagate_beliefs(graph, model);
  EXPECT_THROW(acc::verify_beliefs(pair, model, unkept, 1e-6, 0), UsageError);
  EXPECT_THROW(propagate_beliefs(graph, model, {.damping = 1}), UsageError);
  EXPECT_THROW(propagate_beliefs(graph, model, {.tolerance = -1}), UsageError);
  EXPECT_THROW(propagate_beliefs(graph, model, {.max_iterations = 0}), UsageError);
  const Graph directed = stat::make_graph(2, {{0, 1}}, false);
  EXPECT_THROW(propagate_beliefs(acc::AccGraph(device, directed, {}), model), UsageError);
}

TEST(BeliefVerify, SeesWhatIsWrong) {
  const Device device({DeviceChoice::host, 1, 0});
  const Graph graph = tree(true);
  const acc::BeliefModel model = some_model(graph, 2);
  const auto run = [&] {
    return propagate_beliefs(acc::belief_graph(device, graph, model.states), model, {.keep_messages = true});
  };
  auto result = run();
  result.beliefs[3] += 0.001f;
  EXPECT_THROW(acc::verify_beliefs(graph, model, result, 1e-6, 0), RunError);
  result = run();
  acc::BeliefModel other = some_model(graph, 2);
  std::swap(other.coupling[0], other.coupling[3]);
  EXPECT_THROW(acc::verify_beliefs(graph, other, result, 1e-6, 0), RunError);
}

TEST(ExactMath, IsThatOfTheLibraryToAFewUnits) {
  Numbers number;
  for (int i = 0; i < 100'000; ++i) {
    const double x = -1020 * number() / 1.01 * (i % 2 == 0 ? 1 : 1e-3), expected = std::exp2(x);
    EXPECT_NEAR(acc::exact::power2(x) / expected, 1, 1e-15);
    const double y = std::ldexp(number(), i % 1900 - 950);
    EXPECT_NEAR(acc::exact::log2(y), std::log2(y), 1e-15 * std::max(1.0, std::abs(std::log2(y))));
  }
  EXPECT_EQ(acc::exact::power2(0), 1);
  EXPECT_EQ(acc::exact::power2(-5000), 0);
  EXPECT_EQ(acc::exact::log2(1), 0);
  EXPECT_EQ(acc::exact::log2(0.25), -2);
}

}  // namespace
}  // namespace sluice::test
