// Uses of the sampling API that no built-in kind makes: combinations of biases that only user-defined
// samplers have.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "apps/bench/generated_graph.hpp"
#include "engine/walks/walk.hpp"
#include "io/file_test_support.hpp"
#include "io/graph_file/graph_file.hpp"
#include "statistical/chi_square.hpp"
#include "statistical/graphs.hpp"

namespace sluice::test {
namespace {

/// Bias by degree, doubled for targets of even id: a fixed part that is not a weight, and a dynamic part.
struct DegreeAndParity {
  static constexpr BiasClass kBias = BiasClass::dynamic;

  SLUICE_HD std::uint64_t edge_bias(const GraphView& graph, const Edge& edge) const {
    return graph.degree(edge.target);
  }
  SLUICE_HD std::uint64_t dynamic_bias(const GraphView&, const walks::Walker&, const Edge& edge) const {
    return edge.target % 2 == 0 ? 2 : 1;
  }
  SLUICE_HD std::uint64_t bias_bound() const { return 2; }
};

/// The same without a bound, so the engine computes prefix sums of the list's biases at every step.
struct DegreeAndParityUnbounded {
  static constexpr BiasClass kBias = BiasClass::dynamic;

  SLUICE_HD std::uint64_t edge_bias(const GraphView& graph, const Edge& edge) const {
    return graph.degree(edge.target);
  }
  SLUICE_HD std::uint64_t dynamic_bias(const GraphView&, const walks::Walker&, const Edge& edge) const {
    return edge.target % 2 == 0 ? 2 : 1;
  }
};

/// A fixed bias that reads another list than the edge's.
struct ByBackEdges {
  static constexpr BiasClass kBias = BiasClass::fixed;

  SLUICE_HD std::uint64_t edge_bias(const GraphView& graph, const Edge& edge) const {
    return graph.has_edge(edge.target, edge.source) ? 100 : 1;
  }
};

struct AllSteps : WalkSink {
  void write(const WalkBatch& batch) override {
    walks.insert(walks.end(), batch.walks.begin(), batch.walks.end());
  }
  std::vector<Vertex> walks;
};

struct FirstSteps : WalkSink {
  void write(const WalkBatch& batch) override {
    for (std::size_t i = 0; i < batch.count; ++i) ++count[batch.walks[2 * i]][batch.walks[2 * i + 1]];
  }
  std::map<Vertex, std::map<Vertex, std::uint64_t>> count;
};

/// Returns the `Sink` after it received walks of the host.
template <class Sink, class Sampler>
Sink walked(const Graph& graph, const Sampler& sampler, const Starts& starts, const walks::Options& options,
            unsigned threads = 2) {
  Device device({DeviceChoice::host, threads, 0});
  ResidentGraph resident(device, graph);
  Sink sink;
  walks::run_walk(resident, starts, sampler, options, &sink);
  return sink;
}

template <class Sampler>
void expect_degree_and_parity(bool weighted, Select select) {
  const Graph graph = stat::triangles(weighted);
  Starts starts;
  starts.rounds = 2000;
  walks::Options options;
  options.length = 1, options.select = select;

  auto seen = walked<FirstSteps>(graph, Sampler{}, starts, options);

  const auto degree = [&](Vertex v) { return graph.out.offsets[v + 1] - graph.out.offsets[v]; };
  double statistic = 0, freedom = 0;
  for (Vertex v = 0; v < graph.vertices(); ++v) {
    std::vector<double> probability;
    std::vector<std::uint64_t> observed;
    double total = 0;
    for (EdgeIndex e = graph.out.offsets[v]; e < graph.out.offsets[v + 1]; ++e) {
      const Vertex to = graph.out.targets[e];
      probability.push_back(static_cast<double>(degree(to)) * (to % 2 == 0 ? 2 : 1));
      observed.push_back(seen.count[v][to]);
      total += probability.back();
    }
    for (double& p : probability) p /= total;
    const stat::Fit fit = stat::pearson(observed, probability);
    statistic += fit.statistic, freedom += fit.freedom;
  }
  EXPECT_GT(stat::chi_square_tails(statistic, freedom).upper, stat::kThreshold)
      << statistic << " of " << freedom;
}

TEST(UserWalk, FixedPartOfADynamicBiasCountsOnAWeightedGraph) {
  expect_degree_and_parity<DegreeAndParity>(true, Select::automatic);
  expect_degree_and_parity<DegreeAndParity>(true, Select::its);
  expect_degree_and_parity<DegreeAndParityUnbounded>(true, Select::automatic);
}

TEST(UserWalk, FixedPartOfADynamicBiasCountsOnAnUnweightedGraph) {
  expect_degree_and_parity<DegreeAndParity>(false, Select::its);
  expect_degree_and_parity<DegreeAndParityUnbounded>(false, Select::automatic);
}

TEST(UserWalk, FixedPartOfABoundedDynamicBiasCountsOnAnUnweightedGraph) {
  expect_degree_and_parity<DegreeAndParity>(false, Select::automatic);
}

/// Jumps to vertex 0 with probability 1/2. Otherwise a step moves along its edge or stays, with equal
/// probability.
template <BiasClass kClass>
struct JumpOrMove {
  static constexpr BiasClass kBias = kClass;

  SLUICE_HD std::uint64_t edge_bias(const GraphView&, const Edge&) const
      requires(kClass == BiasClass::fixed) {
    return 1;
  }
  SLUICE_HD Vertex redirect(const GraphView&, const walks::Walker&, const PhiloxBlock& random, bool) const {
    return random.high() >> 63 ? kNoVertex : 0;
  }
  SLUICE_HD Vertex update(const GraphView&, const walks::Walker&, const Edge& edge, walks::EdgeDegrees,
                          std::uint64_t random) const {
    return random >> 63 ? edge.target : edge.source;
  }
};

/// On the cycle 1, 2, 3 beside vertex 0: a quarter of the steps move, a quarter stay, half jump.
template <class Sampler>
void expect_a_quarter_each(Select select) {
  const Graph graph = stat::make_graph(4, {{0, 0}, {1, 2}, {2, 3}, {3, 1}}, false);
  Starts starts;
  starts.mode = Starts::Mode::listed;
  starts.vertices.assign(40000, 1);
  walks::Options options;
  options.length = 1, options.select = select;

  auto seen = walked<FirstSteps>(graph, Sampler{}, starts, options);

  const std::vector<std::uint64_t> observed{seen.count[1][0], seen.count[1][1], seen.count[1][2]};
  EXPECT_GT(stat::pearson(observed, std::vector<double>{0.5, 0.25, 0.25}).p, stat::kThreshold)
      << observed[0] << ' ' << observed[1] << ' ' << observed[2];
}

TEST(UserWalk, RedirectAndUpdateDrawIndependentlyWhereTheTableLeavesAWord) {
  expect_a_quarter_each<JumpOrMove<BiasClass::uniform>>(Select::automatic);
  expect_a_quarter_each<JumpOrMove<BiasClass::fixed>>(Select::its);
}

TEST(UserWalk, RedirectAndUpdateDrawIndependentlyWhereItLeavesNone) {
  expect_a_quarter_each<JumpOrMove<BiasClass::fixed>>(Select::alias);
  expect_a_quarter_each<JumpOrMove<BiasClass::fixed>>(Select::rejection);
}

/// Tables of such a bias are built after all edges are read.
TEST(UserSampler, MayLookAtAnyListOfAGraphThatIsBeingRead) {
  const Graph graph = bench::generate_graph({io::GraphKind::rmat, 13, 32}, {});
  ASSERT_GT(graph.edges(), 3u << 16) << "threads take some pieces";
  const TemporaryFolder folder;
  const std::string path = folder / "graph.h5";
  io::write_graph(path, graph, false);
  for (const Select select : {Select::its, Select::alias, Select::rejection}) {
    for (const unsigned threads : {1u, 3u}) {
      walks::Options options;
      options.length = 5, options.select = select;
      const auto walks_on = [&](const Graph& on) {
        return walked<AllSteps>(on, ByBackEdges{}, {}, options, threads).walks;
      };

      EXPECT_EQ(walks_on(io::begin_reading(path, {}, threads)), walks_on(graph))
          << static_cast<int>(select) << ' ' << threads;
    }
  }
}

/// Bias by weight, doubled for heavy edges: the dynamic part reads the proposed edge.
struct TwiceIfHeavy {
  static constexpr BiasClass kBias = BiasClass::dynamic;

  SLUICE_HD std::uint64_t edge_bias(const GraphView& graph, const Edge& edge) const {
    return graph.weight_bias(edge);
  }
  SLUICE_HD std::uint64_t dynamic_bias(const GraphView& graph, const walks::Walker&, const Edge& edge) const {
    return graph.weight(edge.position) > 2 ? 2 : 1;
  }
  SLUICE_HD std::uint64_t bias_bound() const { return 2; }
};

/// Bias by weight; the walk stays if the selected edge is light.
struct StaysIfLight {
  static constexpr BiasClass kBias = BiasClass::fixed;

  SLUICE_HD std::uint64_t edge_bias(const GraphView& graph, const Edge& edge) const {
    return graph.weight_bias(edge);
  }
  SLUICE_HD Vertex update(const GraphView& graph, const walks::Walker&, const Edge& edge, walks::EdgeDegrees,
                          std::uint64_t) const {
    return graph.weight(edge.position) > 2 ? edge.target : edge.source;
  }
};

template <class Sampler>
std::vector<Vertex> walks_by(Layout layout) {
  Starts starts;
  starts.rounds = 20;
  walks::Options options;
  options.length = 10, options.layout = layout;
  return walked<AllSteps>(stat::triangles(true), Sampler{}, starts, options).walks;
}

TEST(UserSampler, ReadsTheEdgeThatWasDrawnInAnyLayout) {
  EXPECT_EQ(walks_by<TwiceIfHeavy>(Layout::wide), walks_by<TwiceIfHeavy>(Layout::csr));
  EXPECT_EQ(walks_by<StaysIfLight>(Layout::wide), walks_by<StaysIfLight>(Layout::csr));
}

}  // namespace
}  // namespace sluice::test
