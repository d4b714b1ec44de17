// Beliefs on ranks, which are threads here, and in partitions give the bits of one process. beliefs_test.cpp
// compares that process with exact marginals and with plain messages.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>

#include "acc/belief_models.hpp"
#include "acc/edges_elsewhere.hpp"
#include "core/host_ceiling.hpp"
#include "core/peak.hpp"
#include "engine/acc/beliefs/part_backend.hpp"
#include "engine/acc/solve.hpp"
#include "engine/acc/verify.hpp"
#include "engine/core/error.hpp"
#include "engine/exchange/launch.hpp"
#include "exchange/thread_ranks.hpp"

namespace sluice::test {
namespace {

void expect_same(const acc::BeliefResult& found, const acc::BeliefResult& expected) {
  EXPECT_EQ(found.residuals, expected.residuals);
  EXPECT_EQ(found.converged, expected.converged);
  EXPECT_TRUE(std::ranges::equal(found.beliefs, expected.beliefs));
  EXPECT_EQ(found.stats.edges, expected.stats.edges);
}

constexpr std::array<std::uint64_t, 4> kPartitions{1, 2, 7, 64};

/// Partitions that share slots, copied from memory or read from the file.
std::vector<PagingOptions> pagings(std::uint64_t partitions) {
  return {{.partitions = partitions, .slots = 2, .transport = Transport::copied},
          {.partitions = partitions, .slots = 3, .transport = Transport::file}};
}

/// Compares on these ranks, or in one process if `ranks` is null.
void compare(const Device& device, const Graph& graph, unsigned states, const acc::BeliefOptions& options,
             const std::vector<PagingOptions>& all, Communicator* ranks) {
  const acc::BeliefModel model = some_model(graph, states);
  const acc::BeliefResult expected =
      propagate_beliefs(acc::belief_graph(device, graph, states), model, options);
  const Graph elsewhere = left_elsewhere(graph);
  for (const PagingOptions& paging : all) {
    const Graph& from = paging.transport == Transport::file ? elsewhere : graph;
    const acc::AccGraph shared_out = acc::belief_graph(device, from, states, {paging, ranks});
    ASSERT_FALSE(shared_out.complete());
    const acc::BeliefResult found = propagate_beliefs(shared_out, model, options);
    expect_same(found, expected);
    ASSERT_NE(found.messages, nullptr);
    expect_same_messages(graph, states, shared_out, found, expected);
  }
}

class PartitionedBeliefs : public testing::TestWithParam<int> {};

TEST_P(PartitionedBeliefs, AreThoseOfOneProcess) {
  const std::vector<NamedGraph> graphs = belief_graphs();
  Meeting::run(GetParam(), [&](int rank, Meeting& meeting) {
    const Device device({DeviceChoice::host, 1, 0});
    ThreadCommunicator ranks(rank, meeting);
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      SCOPED_TRACE(graphs[i].name);
      acc::BeliefOptions options{.max_iterations = 6, .keep_messages = true};
      options.damping = i % 2 == 0 ? 0.3 : 0;
      const auto turn = i + static_cast<std::size_t>(GetParam());
      compare(device, graphs[i].graph, 1 + static_cast<unsigned>(i % 5), options,
              pagings(kPartitions[turn % kPartitions.size()]), &ranks);
    }
  });
}

TEST_P(PartitionedBeliefs, AreThoseOfOneProcessInAnyPartitions) {
  const Graph graph = generated(io::GraphKind::kronecker, 8, true, io::WeightRule::uniform);
  Meeting::run(GetParam(), [&](int rank, Meeting& meeting) {
    const Device device({DeviceChoice::host, 2, 0});
    ThreadCommunicator ranks(rank, meeting);
    for (const std::uint64_t partitions : kPartitions)
      compare(device, graph, 3, {.max_iterations = 20, .keep_messages = true}, pagings(partitions), &ranks);
  });
}

/// Some ranks own no vertex.
TEST_P(PartitionedBeliefs, ConvergeToWhatIsVerified) {
  const Graph pair = stat::make_undirected(2, {{0, 1, 1}}, true);
  const Graph ring = generated(io::GraphKind::ring, 6, true, io::WeightRule::uniform);
  Meeting::run(GetParam(), [&](int rank, Meeting& meeting) {
    const Device device({DeviceChoice::host, 1, 0});
    ThreadCommunicator ranks(rank, meeting);
    for (const Graph* graph : {&pair, &ring}) {
      const acc::BeliefModel model = some_model(*graph, 2);
      const acc::AccGraph shared_out =
          acc::belief_graph(device, *graph, 2, {{.partitions = 2, .transport = Transport::copied}, &ranks});
      const acc::BeliefResult found = propagate_beliefs(shared_out, model, {.keep_messages = true});
      EXPECT_TRUE(found.converged);
      EXPECT_NO_THROW(acc::verify_beliefs(*graph, model, found, 1e-6, 0, &ranks));
      EXPECT_EQ(found.stats.trace[0].active, graph->vertices());
    }
  });
}

/// Kept messages in which the numbers of one edge are changed.
class WrongMessage final : public acc::KeptMessages {
 public:
  WrongMessage(const acc::KeptMessages& right, EdgeIndex edge, double received, double sent)
      : right_(right), edge_(edge), change_{received, sent} {}
  void read(EdgeIndex first, std::span<double> received, std::span<double> sent) const override {
    right_.read(first, received, sent);
    const std::uint64_t at = (edge_ - first) * 3;
    if (edge_ >= first && at < received.size()) received[at] += change_[0], sent[at] += change_[1];
  }

 private:
  const acc::KeptMessages& right_;
  EdgeIndex edge_;
  double change_[2];
};

/// One more round changes beliefs by the reported residual, and every fault is found, wherever edges and
/// messages are.
TEST_P(PartitionedBeliefs, AreVerifiedAsThoseOfOneProcess) {
  const Graph graph = generated(io::GraphKind::kronecker, 8, true, io::WeightRule::uniform),
              elsewhere = left_elsewhere(graph);
  const acc::BeliefModel model = some_model(graph, 3);
  for (const double damping : {0.0, 0.4}) {
    const acc::BeliefOptions options{.damping = damping, .tolerance = 1e-3, .keep_messages = true};
    std::atomic<double> most = 0;
    std::atomic<int> faults = 0;
    Meeting::run(GetParam(), [&](int rank, Meeting& meeting) {
      const Device device({DeviceChoice::host, 2, 0});
      ThreadCommunicator ranks(rank, meeting);
      const auto change = [&](const acc::BeliefResult& found) {
        const double by = acc::verify_beliefs(elsewhere, model, found, 1e-3, damping, &ranks, 2);
        for (double known = most; by > known && !most.compare_exchange_weak(known, by);) {
        }
      };
      const acc::AccGraph shared_out = acc::belief_graph(
          device, elsewhere, 3, {{.partitions = 5, .slots = 2, .transport = Transport::file}, &ranks});
      acc::BeliefResult found = propagate_beliefs(shared_out, model, options);
      ASSERT_TRUE(found.converged);
      change(found);
      // At least one rank finds each fault; the other ranks finish the check, and wait there.
      const auto expect_fault = [&](const char* what) {
        faults = 0;
        ranks.barrier("a fault");
        try {
          change(found);
        } catch (const RunError& fault) {
          EXPECT_NE(std::string(fault.what()).find(what), std::string::npos) << fault.what();
          ++faults;
          ranks.barrier("the fault");
        }
        ranks.barrier("all faults");
        EXPECT_GT(faults, 0) << what;
        ranks.barrier("they were counted");
      };
      const std::shared_ptr<const acc::KeptMessages> right = found.messages;
      for (const EdgeIndex edge : {EdgeIndex{0}, graph.edges() / 2, graph.edges() - 1}) {
        found.messages = std::make_shared<WrongMessage>(*right, edge, 0.1, 0);
        expect_fault("verify: ");
        found.messages = std::make_shared<WrongMessage>(*right, edge, 1e-14, 0);
        expect_fault("received differ from those that were sent");
        found.messages = std::make_shared<WrongMessage>(*right, edge, 0, 1e-14);
        expect_fault("received differ from those that were sent");
      }
      found.messages = right;
      for (const std::uint64_t v : {std::uint64_t{1}, graph.vertices() - 1}) {
        found.beliefs[v * 3 + 1] += 0.01f;
        expect_fault("by its received messages it would be");
        found.beliefs[v * 3 + 1] -= 0.01f;
      }
    });
    const Device device({DeviceChoice::host, 1, 0});
    const acc::BeliefResult alone = propagate_beliefs(acc::belief_graph(device, graph, 3), model, options);
    EXPECT_EQ(acc::verify_beliefs(graph, model, alone, 1e-3, damping, nullptr, 3), most);
    EXPECT_GT(most, 0);
  }
}

TEST_P(PartitionedBeliefs, SeeWhatCannotBe) {
  const Graph pair = stat::make_undirected(2, {{0, 1, 1}}, false);
  acc::BeliefModel model = some_model(pair, 2);
  std::copy_n(std::vector<double>{1, 0, 0, 1}.begin(), 4, model.priors.begin());
  model.coupling = {1, 0, 0, 1};
  std::vector<Graph> one_way;
  using stat::Edge;
  for (const auto& edges : {std::vector<Edge>{{0, 1}, {1, 0}, {1, 2}},
                            {{0, 1}, {0, 1}, {1, 0}},
                            {{2, 0}},
                            {{0, 1}, {1, 2}, {2, 0}}})
    one_way.push_back(stat::make_graph(3, edges, false, false));
  one_way.push_back(stat::make_graph(3, {{0, 2, 1}, {2, 0, 2}}, true, false));
  Meeting::run(GetParam(), [&](int rank, Meeting& meeting) {
    const Device device({DeviceChoice::host, 1, 0});
    ThreadCommunicator ranks(rank, meeting);
    const acc::AccPlace place{{.partitions = 2, .transport = Transport::copied}, &ranks};
    const acc::AccGraph shared_out = acc::belief_graph(device, pair, 2, place);
    EXPECT_THROW(propagate_beliefs(shared_out, model), InputError);  // 0 and 1 must agree, but cannot
    for (const Graph& graph : one_way) {
      const acc::AccGraph bad = acc::belief_graph(device, graph, 2, place),
                          whole = acc::belief_graph(device, graph, 2);
      EXPECT_THROW(propagate_beliefs(bad, some_model(graph, 2)), InputError);
      EXPECT_THROW(propagate_beliefs(whole, some_model(graph, 2)), InputError);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, PartitionedBeliefs, testing::Values(1, 2, 3, 4));

TEST(PartitionedBeliefRuns, AreTheSameForAnyThreads) {
  const Graph graph = generated(io::GraphKind::kronecker, 10, true, io::WeightRule::uniform);
  const acc::BeliefModel model = some_model(graph, 3);
  const acc::BeliefOptions options{.max_iterations = 9, .keep_messages = true};
  const auto whole = [&](const Device& device) {
    return propagate_beliefs(acc::belief_graph(device, graph, 3), model, options);
  };
  const Device one({DeviceChoice::host, 1, 0});
  for (const unsigned threads : {1u, 2u, 5u}) {
    const Device device({DeviceChoice::host, threads, 0});
    expect_same(whole(device), whole(one));
    compare(device, graph, 3, options, pagings(7), nullptr);
  }
}

TEST(PartitionedBeliefRuns, BringAPartitionOnceARound) {
  const Device device({DeviceChoice::host, 2, 0});
  const Graph graph = generated(io::GraphKind::kronecker, 8, true, io::WeightRule::uniform),
              even = generated(io::GraphKind::kronecker, 8, true, io::WeightRule::none);
  const acc::AccPlace place{{.partitions = 8, .slots = 2, .transport = Transport::copied}};
  const auto run = [&](const Graph& from) {
    const acc::BeliefOptions options{.tolerance = 0, .max_iterations = 5};
    return propagate_beliefs(acc::belief_graph(device, from, 2, place), some_model(from, 2), options).stats;
  };

  const acc::AccStats weighted = run(graph), plain = run(even);

  EXPECT_EQ(weighted.partitions, 8u);
  EXPECT_GT(weighted.partition_transfers, 5u * 6);
  EXPECT_LE(weighted.partition_transfers, 6u * 8);
  EXPECT_EQ(plain.partitions, 8u);
  EXPECT_EQ(plain.partition_transfers, 0u);  // positions of messages replace the lists
}

TEST(PartitionedBeliefRuns, TakeTheMemoryThatIsPlanned) {
  for (const auto& [name, graph] : belief_graphs()) {
    for (const std::uint64_t partitions : {1u, 3u}) {
      if (graph.vertices() == 0 || (graph.weighted && partitions > 1)) continue;
      SCOPED_TRACE(name);
      const Device device({DeviceChoice::host, 2, 0});
      const acc::AccPlace place{{.partitions = partitions}};
      const acc::BeliefModel model = some_model(graph, 3);
      acc::BeliefResult found;
      const Peak peak = peak_of([&, &graph = graph](const Device& on) {
        found = propagate_beliefs(acc::belief_graph(on, graph, 3, place), model, {.max_iterations = 1});
      });
      const acc::AccPlan plan = acc::plan_beliefs(device, graph, 3, place);
      EXPECT_EQ(plan.device_bytes, peak.device);
      EXPECT_GE(plan.host_bytes, peak.host);
      EXPECT_LE(plan.host_bytes, peak.host + 4096) << "counts of messages";
      EXPECT_EQ(plan.message_bytes, graph.edges() * (2 * 3 * 8 + 8));
      EXPECT_EQ(plan.partitions, partitions);
      EXPECT_LE(found.stats.partitions, partitions);
    }
  }
}

TEST(PartitionedBeliefRuns, OfARankTakeTheDeviceMemoryThatIsPlannedForIt) {
  constexpr int kRanks = 3;
  const Device device({DeviceChoice::host, 1, 0});
  for (const auto& [name, graph] : belief_graphs()) {
    if (graph.vertices() == 0) continue;
    SCOPED_TRACE(name);
    const acc::BeliefModel model = some_model(graph, 2);
    std::vector<std::uint64_t> peaks(kRanks);
    Meeting::run(kRanks, [&, &graph = graph](int rank, Meeting& meeting) {
      ThreadCommunicator ranks(rank, meeting);
      const Device on({DeviceChoice::host, 1, 0});
      propagate_beliefs(acc::belief_graph(on, graph, 2, {.paging = {.partitions = 1}, .ranks = &ranks}),
                        model, {.max_iterations = 1});
      peaks[static_cast<std::size_t>(rank)] = on.memory().peak();
    });
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto planned = make_planned(rank, kRanks);
      const acc::AccPlace place{.paging = {.partitions = 1}, .ranks = planned.get()};
      EXPECT_EQ(acc::plan_beliefs(device, graph, 2, place).device_bytes,
                peaks[static_cast<std::size_t>(rank)])
          << rank;
    }
  }
}

TEST(PartitionedBeliefRuns, AreTheSameWithMessagesInScratchFiles) {
  const Graph graph = generated(io::GraphKind::kronecker, 10, true, io::WeightRule::uniform);
  const acc::BeliefModel model = some_model(graph, 2);
  const acc::BeliefOptions options{.damping = 0.3, .max_iterations = 9, .keep_messages = true};
  const std::uint64_t messages = acc::MessageParts::bytes(graph.edges(), 2);
  for (const unsigned threads : {1u, 3u}) {
    const Device device({DeviceChoice::host, threads, 0});
    const acc::BeliefResult expected = propagate_beliefs(acc::belief_graph(device, graph, 2), model, options);
    acc::AccPlace place{.paging = {.partitions = 7, .slots = 2, .transport = Transport::copied}};
    const auto found = [&] {
      return propagate_beliefs(acc::belief_graph(device, graph, 2, place), model, options);
    };
    EXPECT_EQ(found().stats.scratch_bytes, 0u);
    const HostCeiling little(messages - 1);
    EXPECT_THROW(found(), BudgetError);
    place.scratch = testing::TempDir();

    const acc::BeliefResult from_files = found();

    expect_same(from_files, expected);
    EXPECT_EQ(from_files.stats.scratch_bytes, messages);
  }
}

/// A GPU's slots depend on its budget; a host's budget tests the same code.
TEST(BeliefSlots, AreAsManyAsWereAskedFor) {
  const Graph graph = generated(io::GraphKind::grid, 10, true, io::WeightRule::uniform);
  const std::uint64_t edge = acc::belief_slot_bytes(2, true), all = graph.edges() * edge;
  for (const std::uint64_t slots : {0u, 2u, 3u, 16u}) {
    SCOPED_TRACE(slots);
    const std::uint64_t at_once = std::max<std::uint64_t>(slots, 2);
    const Device third({DeviceChoice::host, 1, all / 3}), enough({DeviceChoice::host, 1, all}),
        nothing({DeviceChoice::host, 1, 4 * at_once * edge - 1});  // the longest lists have four edges
    const acc::AccPlace place{.paging = {.slots = slots}};
    const auto rows_on = [&](const Device& device) {
      return acc::RankPart(device, graph, acc::belief_needs(device, graph, 2), place);
    };

    const PartitionPlan cut = acc::cut_for_slots(third, rows_on(third), 2);

    EXPECT_GE(cut.size(), 3 * at_once);
    EXPECT_LE(cut.size(), 4 * at_once);
    EXPECT_LE(at_once * cut.largest() * edge, all / 3);
    EXPECT_EQ(acc::belief_slots(rows_on(third), cut), at_once);
    EXPECT_EQ(acc::cut_for_slots(enough, rows_on(enough), 2).size(), 1u);
    EXPECT_THROW(acc::cut_for_slots(nothing, rows_on(nothing), 2), BudgetError);
  }
}

}  // namespace
}  // namespace sluice::test
