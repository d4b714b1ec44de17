// A run keeps its plan: the planned memory suffices, a byte less does not, and layout and technique are the
// planned ones.
#include <gtest/gtest.h>

#include "core/host_ceiling.hpp"
#include "engine/core/error.hpp"
#include "engine/graph/edge_set.hpp"
#include "sampling/jobs.hpp"

namespace sluice::test {
namespace {

/// Keeps the graph whole with ceilings below its size.
constexpr PagingOptions kWhole{.partitions = 1};

/// A job that can be planned and run.
struct Planned {
  std::string name;
  std::function<sampling::RunPlan(const Device&, const Graph&, const PagingOptions&)> plan;
  std::function<RunStats(ResidentGraph&)> run;
};

Planned planned(std::string name, Starts starts, const walks::Options& options) {
  return {std::move(name),
          [=](const Device& device, const Graph& graph, const PagingOptions& paging) {
            return sampling::plan_walks(device, graph, starts, options, paging);
          },
          [=](ResidentGraph& graph) { return sampling::run_walks(graph, starts, options, nullptr); }};
}

Planned planned(std::string name, Starts starts, const samples::Options& options) {
  return {std::move(name),
          [=](const Device& device, const Graph& graph, const PagingOptions& paging) {
            return sampling::plan_samples(device, graph, starts, options, paging);
          },
          [=](ResidentGraph& graph) { return sampling::run_samples(graph, starts, options, nullptr); }};
}

std::vector<Planned> planned_walks(Layout layout) {
  using enum Select;
  std::vector<Planned> jobs;
  const auto add = [&](walks::Kind kind, Bias bias, std::initializer_list<Select> selects) {
    for (const Select select : selects) {
      walks::Options options;
      options.kind = kind, options.bias = bias, options.select = select, options.layout = layout;
      const std::string name = "walk " + std::to_string(static_cast<int>(kind)) + ", bias " +
                               std::to_string(static_cast<int>(bias)) + ", select " +
                               std::to_string(static_cast<int>(select));
      Starts listed;
      listed.mode = Starts::Mode::listed;
      listed.vertices = {1, 5, 2, 5};
      jobs.push_back(planned(name, random_starts(700), options));
      jobs.push_back(planned(name + ", listed", listed, options));
    }
  };
  add(walks::Kind::uniform, Bias::none, {automatic, its, alias, rejection});
  add(walks::Kind::biased, Bias::weight, {automatic, its, rejection});
  add(walks::Kind::biased, Bias::degree, {automatic, its});
  add(walks::Kind::jump, Bias::none, {automatic, alias});
  add(walks::Kind::node2vec, Bias::weight, {automatic, its});
  return jobs;
}

std::vector<Planned> planned_others(std::uint64_t vertices) {
  using enum Select;
  std::vector<Planned> jobs;
  walks::Options pool;
  pool.kind = walks::Kind::multidimensional, pool.frontier_size = 30;
  jobs.push_back(planned("multidimensional", random_starts(20), pool));
  jobs.push_back(planned("multidimensional, lists", seed_lists(20, vertices), pool));
  for (const Bias bias : {Bias::none, Bias::weight, Bias::degree}) {
    const auto add = [&](std::string name, samples::Kind kind, Select select, bool replace,
                         bool revisit = false) {
      samples::Options options;
      options.kind = kind, options.bias = bias, options.select = select, options.replace = replace,
      options.revisit = revisit;
      options.fanout = {3, 2}, options.layer_sizes = {20, 10}, options.count = 100;
      jobs.push_back(planned(name + ", bias " + std::to_string(static_cast<int>(bias)) + ", select " +
                                 std::to_string(static_cast<int>(select)),
                             seed_lists(50, vertices), options));
    };
    for (const Select select : {automatic, repeated, updated})
      add("neighbor", samples::Kind::neighbor, select, false);
    for (const Select select : {automatic, its, alias, rejection}) {
      add("neighbor, replaced", samples::Kind::neighbor, select, true);
    }
    add("forest-fire", samples::Kind::forest_fire, automatic, false);
    add("snowball", samples::Kind::snowball, automatic, false);
    for (const Select select : {automatic, its, updated}) add("layer", samples::Kind::layer, select, false);
    add("layer, copies", samples::Kind::layer, automatic, false, true);
    add("node", samples::Kind::node, automatic, false);
    add("edge", samples::Kind::edge, automatic, false);
  }
  return jobs;
}

/// Runs `job` on a new host device with `memory` bytes.
void expect_fits(const Planned& job, const Graph& graph, std::uint64_t memory) {
  Device device({DeviceChoice::host, 2, memory});
  const sampling::RunPlan plan = job.plan(device, graph, kWhole);

  try {
    ResidentGraph resident(device, graph, kWhole);
    const RunStats stats = job.run(resident);

    EXPECT_LE(plan.device_bytes_needed, memory) << job.name << ": ran, but was said not to fit";
    EXPECT_EQ(stats.layout, plan.layout) << job.name;
    EXPECT_EQ(stats.select, plan.select) << job.name;
    EXPECT_GE(device.memory().peak(), plan.device_bytes_needed) << job.name;
  } catch (const BudgetError& error) {
    EXPECT_GT(plan.device_bytes_needed, memory) << job.name << ": was said to fit, but " << error.what();
  }
}

void expect_kept(const std::vector<Planned>& jobs, const Graph& graph) {
  const Device boundless({DeviceChoice::host, 2, 0});
  for (const Planned& job : jobs) {
    const std::uint64_t needed = job.plan(boundless, graph, kWhole).device_bytes_needed;
    ASSERT_GT(needed, 1u) << job.name;
    {
      Device exact({DeviceChoice::host, 2, needed});
      ResidentGraph resident(exact, graph, kWhole);
      EXPECT_NO_THROW(job.run(resident)) << job.name;
      EXPECT_EQ(exact.memory().peak(), needed) << job.name;
    }
    for (const std::uint64_t memory : {needed, needed - 1, needed / 2}) expect_fits(job, graph, memory);
  }
}

TEST(Plan, WalksNeedWhatItSays) {
  const Graph graph = scattered(2000);
  expect_kept(planned_walks(Layout::csr), graph);
  expect_kept(planned_walks(Layout::wide), graph);
}

TEST(Plan, SamplesAndPoolsNeedWhatItSays) {
  const Graph graph = scattered(2000);
  expect_kept(planned_others(graph.vertices()), graph);
}

TEST(Plan, TakesTheLayoutThatTheRunTakes) {
  const Graph graph = scattered(2000);
  const std::uint64_t margin = std::uint64_t{64} << 20, edges = graph.edges();
  for (const Planned& job : planned_walks(Layout::automatic)) {
    for (const std::uint64_t each : {8, 16, 32}) {
      for (const std::uint64_t aside : {0, 16, 4000, 24000, 28000, 28016}) {
        expect_fits(job, graph, margin + edges * each + aside);
      }
    }
    expect_fits(job, graph, 0 + edges * 13);
  }
}

/// A plan with partitions equals the run if sizes are known beforehand.
TEST(Plan, CutsAsTheRunCuts) {
  const Graph graph = scattered(20000);
  const std::uint64_t edges = graph.edges() * (sizeof(Vertex) + sizeof(float));
  std::vector<Planned> jobs = planned_walks(Layout::automatic);
  for (const Planned& job : planned_others(graph.vertices())) {
    // These have no partition, or a size that only the first batch shows.
    const bool other = job.name.starts_with("edge") || job.name.starts_with("snowball");
    if (!other) jobs.push_back(job);
  }
  for (const Planned& job : jobs) {
    for (const PagingOptions& paging : {PagingOptions{}, PagingOptions{.partitions = 7, .slots = 3}}) {
      SCOPED_TRACE(job.name);
      Device device({DeviceChoice::host, 2, paging.partitions == 0 ? edges - edges / 4 : 0});
      const sampling::RunPlan plan = job.plan(device, graph, paging);
      ResidentGraph resident(device, graph, paging);
      const RunStats stats = job.run(resident);

      ASSERT_TRUE(plan.partitions.has_value());
      EXPECT_EQ(plan.partitions->size(), stats.partitions);
      EXPECT_EQ(plan.select, stats.select);
      EXPECT_EQ(plan.layout, stats.layout);
      EXPECT_LE(plan.device_bytes_needed, device.memory().ceiling());
      EXPECT_GE(device.memory().peak(), plan.graph_bytes);
      if (job.name.starts_with("walk")) {
        EXPECT_GE(device.memory().peak(), plan.device_bytes_needed);
      }
    }
  }
}

/// Host memory limits slots and batches like device memory, minus what is in it before.
TEST(Plan, CutsAsTheRunCutsWithinHostMemory) {
  const Graph graph = scattered(20000);
  const std::uint64_t edges = graph.edges() * (sizeof(Vertex) + sizeof(float));
  walks::Options options;
  options.length = 20;
  Starts listed;
  listed.mode = Starts::Mode::listed;
  for (Vertex v = 0; v < 20000; ++v) listed.vertices.push_back(v);
  for (const Planned& job :
       {planned("drawn", random_starts(2000), options), planned("listed", listed, options)}) {
    SCOPED_TRACE(job.name);
    Device device({DeviceChoice::host, 2, 0});
    const PagingOptions paging{.transport = Transport::copied};
    const HostCeiling ceiling(edges / 2);

    const sampling::RunPlan plan = job.plan(device, graph, paging);
    ResidentGraph resident(device, graph, paging);
    const RunStats stats = job.run(resident);

    ASSERT_TRUE(plan.partitions.has_value());
    EXPECT_EQ(plan.partitions->size(), stats.partitions);
  }
}

TEST(Plan, TakesNoMemory) {
  const Graph graph = scattered(2000);
  std::vector<Planned> jobs = planned_walks(Layout::automatic);
  for (Planned& job : planned_others(graph.vertices())) jobs.push_back(std::move(job));
  const Device device({DeviceChoice::host, 2, 0});
  const std::uint64_t used = host_budget().used(), peak = host_budget().peak();
  for (const Planned& job : jobs) {
    SCOPED_TRACE(job.name);
    for (const PagingOptions& paging : {kWhole, PagingOptions{.partitions = 7}}) {
      EXPECT_GT(job.plan(device, graph, paging).device_bytes_needed, 0u);
      EXPECT_EQ(device.memory().used(), 0u);
      EXPECT_EQ(device.memory().peak(), 0u);
      EXPECT_EQ(host_budget().used(), used);
      EXPECT_EQ(host_budget().peak(), peak);
    }
  }
}

TEST(Plan, SaysThatPartitionsDoNotFit) {
  const Graph graph = scattered(2000);
  const Device device({DeviceChoice::host, 2, graph.edges()});
  EXPECT_THROW(sampling::plan_walks(device, graph, Starts{}, walks::Options{}, {.partitions = 7, .slots = 0}),
               BudgetError);
}

TEST(Plan, SaysHowLargeTheResultIs) {
  const Graph graph = scattered(1000);
  const Device device({DeviceChoice::host, 2, 0});
  walks::Options options;
  options.length = 9, options.first_instance = 10, options.last_instance = 60;

  EXPECT_EQ(sampling::plan_walks(device, graph, Starts{}, options).result_bytes, 50u * 10 * 4);
}

TEST(Plan, CountsAnEdgeSetAsATable) {
  const Graph graph = scattered(1000);
  const Device device({DeviceChoice::host, 2, 0});
  const auto table_bytes = [&](std::uint32_t length) {
    walks::Options options;
    options.kind = walks::Kind::node2vec, options.layout = Layout::wide, options.length = length;
    return sampling::plan_walks(device, graph, Starts{}, options).table_bytes;
  };

  const EdgeSet set = EdgeSet::of({graph.out.view(), nullptr, !graph.directed}, 0, graph.vertices());
  EXPECT_EQ(table_bytes(100), table_bytes(1) + set.bytes()) << "it pays for long walks";
}

TEST(Plan, RefusesWhatTheRunRefuses) {
  const Graph graph = scattered(1000);
  const Device device({DeviceChoice::host, 2, 0});
  walks::Options walk;
  walk.select = Select::bipartite;
  samples::Options sample;
  sample.kind = samples::Kind::node, sample.count = 5, sample.select = Select::alias;

  EXPECT_THROW(sampling::plan_walks(device, graph, Starts{}, walk), UsageError);
  EXPECT_THROW(sampling::plan_samples(device, graph, Starts{}, sample), UsageError);
  walk.select = Select::automatic, walk.layout = Layout::coded;
  EXPECT_THROW(sampling::plan_walks(device, graph, Starts{}, walk), UsageError);
  walk.layout = Layout::wide;
  EXPECT_THROW(sampling::plan_walks(device, graph, Starts{}, walk, {.partitions = 3}), UsageError);
  Starts outside;
  outside.mode = Starts::Mode::listed;
  outside.vertices = {1, 1000};
  EXPECT_THROW(sampling::plan_walks(device, graph, outside, walks::Options{}), InputError);
}

}  // namespace
}  // namespace sluice::test
