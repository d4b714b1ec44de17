// Belief propagation on a GPU gives the host's beliefs, messages and residuals, bit for bit.
#include "engine/acc/beliefs/beliefs.hpp"

#include <gtest/gtest.h>

#include "acc/belief_models.hpp"
#include "acc/edges_elsewhere.hpp"
#include "engine/acc/beliefs/part_backend.hpp"
#include "engine/acc/solve.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"
#include "gpu/gpu.hpp"
#include "gpu/thread_ranks.hpp"

namespace sluice::test {
namespace {

template <class T>
void expect_equal(const HostArray<T>& found, const HostArray<T>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin()));
}

/// Compares a GPU with a host that holds the whole graph. The GPU reads the edges of `from` if it is given.
acc::BeliefResult compare_beliefs(const Device& host, const Device& gpu, const Graph& graph,
                                  const acc::BeliefModel& model, acc::BeliefOptions options,
                                  const acc::AccPlace& place, const Graph* from = nullptr) {
  options.keep_messages = true;
  const acc::AccGraph on_gpu = acc::belief_graph(gpu, from != nullptr ? *from : graph, model.states, place);
  acc::BeliefResult found = propagate_beliefs(on_gpu, model, options);
  options.fusion = acc::AccFusion::automatic;  // the host has no kernels
  const acc::BeliefResult expected =
      propagate_beliefs(acc::belief_graph(host, graph, model.states), model, options);
  EXPECT_EQ(found.residuals, expected.residuals);
  EXPECT_EQ(found.converged, expected.converged);
  expect_equal(found.beliefs, expected.beliefs);
  expect_same_messages(graph, model.states, on_gpu, found, expected);
  return found;
}

class GpuBeliefs : public OnGpu {
 protected:
  acc::BeliefResult compare(const Graph& graph, const acc::BeliefModel& model,
                            const acc::BeliefOptions& options, const acc::AccPlace& place = {},
                            const Graph* from = nullptr) {
    return compare_beliefs(host_, *gpu_, graph, model, options, place, from);
  }
};

TEST_F(GpuBeliefs, AreTheHostsOnHardGraphs) {
  std::size_t turn = 0;
  for (const auto& [name, graph] : belief_graphs()) {
    SCOPED_TRACE(name);
    for (const unsigned states : {1u, 2u, 3u, 4u, 5u}) {
      for (const double damping : {0.0, 0.3}) {
        for (const acc::AccFusion fusion : {acc::AccFusion::none, acc::AccFusion::all}) {
          if (brief() && turn++ % 5 != 0) continue;
          compare(graph, some_model(graph, states),
                  {.damping = damping, .max_iterations = 9, .fusion = fusion});
        }
      }
    }
  }
}

TEST_F(GpuBeliefs, KeepWhatIsCertain) {
  // Priors and the coupling have zeros; some priors have one possible state left.
  for (const auto& [name, graph] : belief_graphs()) {
    SCOPED_TRACE(name);
    if (brief() && name != "star of stars") continue;
    acc::BeliefModel model = some_model(graph, 3);
    for (std::uint64_t v = 0; v < graph.vertices(); v += 3) model.priors[3 * v + v % 2] = 0;
    for (std::uint64_t v = 1; v < graph.vertices(); v += 7) model.priors[3 * v] = model.priors[3 * v + 1] = 0;
    model.coupling[1] = model.coupling[3] = 0;
    compare(graph, model, {.damping = 0.5, .max_iterations = 6});
  }
}

TEST_F(GpuBeliefs, ConvergeToWhatIsVerified) {
  const Graph path = generated(io::GraphKind::ring, 6, true, io::WeightRule::uniform);
  for (const unsigned states : {2u, 32u}) {
    const acc::BeliefModel model = some_model(path, states);
    const acc::BeliefResult found = compare(path, model, {.fusion = acc::AccFusion::none});
    EXPECT_TRUE(found.converged);
    EXPECT_GT(found.stats.kernel_launches, found.stats.rounds);
    EXPECT_NO_THROW(acc::verify_beliefs(path, model, found, 1e-6, 0));
    const acc::BeliefResult fused = compare(path, model, {.fusion = acc::AccFusion::all});
    EXPECT_TRUE(fused.converged);
    EXPECT_EQ(fused.stats.rounds, found.stats.rounds);
    EXPECT_LT(fused.stats.kernel_launches, found.stats.kernel_launches - found.stats.rounds);
  }
}

TEST_F(GpuBeliefs, GoOnWhereALaunchEnds) {
  const Graph ring = generated(io::GraphKind::ring, 6, true, io::WeightRule::uniform);
  const acc::BeliefResult found =
      compare(ring, some_model(ring, 2), {.damping = 0.9, .tolerance = 0, .max_iterations = 150});
  EXPECT_GT(found.stats.rounds, 64u);
}

TEST_F(GpuBeliefs, AreTheHostsWhereTheGridIsFull) {
  const Graph graph =
      generated(io::GraphKind::kronecker, std::min(rmat_scale(), 17u), true, io::WeightRule::uniform);
  for (const acc::AccFusion fusion : {acc::AccFusion::none, acc::AccFusion::all})
    compare(graph, some_model(graph, 2), {.max_iterations = brief() ? 2u : 5u, .fusion = fusion});
}

/// The GPU reads the graph in partitions, or holds a part of it.
TEST_F(GpuBeliefs, AreTheHostsInPartitions) {
  std::size_t turn = 0;
  for (const auto& [name, graph] : belief_graphs()) {
    SCOPED_TRACE(name);
    const Graph elsewhere = left_elsewhere(graph);
    for (const std::uint64_t partitions : {1u, 2u, 7u, 64u}) {
      if (brief() && turn++ % 5 != 0) continue;
      const unsigned states = 1 + static_cast<unsigned>(partitions % 5);
      const acc::BeliefOptions options{.damping = partitions % 2 == 0 ? 0.3 : 0, .max_iterations = 9};
      const PagingOptions paging{
          .partitions = partitions, .slots = partitions % 3, .transport = Transport::copied};
      const acc::BeliefModel model = some_model(graph, states);
      compare(graph, model, options, {paging});
      compare(graph, model, options, {paging}, &elsewhere);
    }
  }
}

TEST_F(GpuBeliefs, WorkInPartitionsWhereTheGraphDoesNotFit) {
  const Graph graph =
      generated(io::GraphKind::kronecker, std::min(rmat_scale(), 17u), true, io::WeightRule::uniform);
  const acc::BeliefModel model = some_model(graph, 2);
  const std::uint64_t vertices = graph.vertices() * (2 * (16 + 16 + 8) + 8),
                      edges = graph.edges() * (32 + 8 + 4);
  const acc::BeliefOptions options{.max_iterations = brief() ? 2u : 5u};
  const acc::BeliefResult expected = propagate_beliefs(acc::belief_graph(host_, graph, 2), model, options);
  for (const std::uint64_t slots : {0u, 5u}) {
    const auto small = open_gpu(vertices + edges / 3 + (1u << 16));
    REQUIRE_GPU(small);
    const acc::AccPlace place{.paging = {.slots = slots}};

    const acc::BeliefResult found =
        propagate_beliefs(acc::belief_graph(*small, graph, 2, place), model, options);

    EXPECT_EQ(found.residuals, expected.residuals);
    expect_equal(found.beliefs, expected.beliefs);
    EXPECT_GT(found.stats.partitions, std::max<std::uint64_t>(slots, 2));
    EXPECT_GT(found.stats.partition_transfers, 2 * found.stats.partitions);
    EXPECT_LE(small->memory().peak(), small->memory().ceiling());
    // The plan's fixed part is an upper bound; slots use the bytes that it leaves over.
    const std::uint64_t spare = std::max<std::uint64_t>(slots, 2) * acc::belief_slot_bytes(2, true);
    EXPECT_LE(small->memory().peak(), acc::plan_beliefs(*small, graph, 2, place).device_bytes + spare);
  }
}

TEST(GpuBeliefRanks, AreTheHosts) {
  REQUIRE_GPU(open_gpu());
  const std::vector<NamedGraph> graphs = belief_graphs();
  on_ranks_of_gpu([&](const Device& host, const Device& gpu, Communicator& ranks, DeviceRanks&) {
    for (std::size_t i = 0; i < graphs.size(); i += brief() ? 3 : 1) {
      SCOPED_TRACE(graphs[i].name);
      acc::AccPlace place{.ranks = &ranks};
      if (i % 2 == 1) place.paging = {.partitions = 3, .transport = Transport::copied};
      const acc::BeliefResult found =
          compare_beliefs(host, gpu, graphs[i].graph, some_model(graphs[i].graph, 2 + i % 2),
                          {.damping = 0.3, .max_iterations = 6}, place);
      // GPUs that hold their parts exchange what hosts would exchange.
      EXPECT_EQ(found.stats.exchanged_bytes > 0, i % 2 == 0);
    }
  });
}

TEST_F(GpuBeliefs, TakeTheMemoryThatIsPlanned) {
  const std::vector<NamedGraph> graphs = belief_graphs();
  const Graph& graph = graphs.back().graph;
  const acc::BeliefModel model = some_model(graph, 2);
  const std::uint64_t planned = acc::plan_beliefs(*gpu_, graph, 2).device_bytes;
  const acc::AccPlace whole{.paging = {.partitions = 1}};
  const auto run_within = [&](std::uint64_t memory) {
    const auto gpu = open_gpu(memory);
    propagate_beliefs(acc::belief_graph(*gpu, graph, 2, whole), model, {.max_iterations = 1});
    EXPECT_EQ(gpu->memory().peak(), planned);
  };
  run_within(planned);
  EXPECT_THROW(run_within(planned - 1), BudgetError);
}

TEST_F(GpuBeliefs, SeeWhatCannotBe) {
  const auto run = [&](const Graph& graph, const acc::BeliefModel& model) {
    propagate_beliefs(acc::belief_graph(*gpu_, graph, model.states), model);
  };
  const Graph pair = stat::make_undirected(2, {{0, 1, 1}}, false);
  acc::BeliefModel model = some_model(pair, 2);
  std::copy_n(std::vector<double>{1, 0, 0, 1}.begin(), 4, model.priors.begin());
  model.coupling = {1, 0, 0, 1};
  EXPECT_THROW(run(pair, model), InputError);  // vertices 0 and 1 must agree, but their priors differ

  const Graph one_way = stat::make_graph(3, {{0, 1}, {1, 0}, {1, 2}}, false, false);
  EXPECT_THROW(run(one_way, some_model(one_way, 2)), InputError);
}

}  // namespace
}  // namespace sluice::test
