#include "engine/samples/pool/bias_tree.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "engine/exec/group.hpp"
#include "exec/thread_group.hpp"

namespace sluice::test {
namespace {

using samples::BiasTree;

/// The entry that a linear scan of the biases finds.
std::uint32_t scanned(const std::vector<std::uint64_t>& biases, std::uint64_t x) {
  std::uint32_t entry = 0;
  while (x >= biases[entry]) x -= biases[entry++];
  return entry;
}

/// Random biases: a third is 0, and few are large.
std::vector<std::uint64_t> some_biases(std::uint64_t count, std::mt19937_64& random) {
  std::vector<std::uint64_t> biases(count);
  for (auto& bias : biases)
    bias = random() % 3 == 0 ? 0 : random() % 100 == 0 ? random() >> 24 : random() % 8;
  biases[random() % count] = 5;
  return biases;
}

constexpr std::uint64_t kCapacities[] = {1, 31, 32, 33, 1023, 1024, 1025, 40000};

TEST(BiasTree, FindsWhatAScanFinds) {
  std::mt19937_64 random(1);
  for (const std::uint64_t capacity : kCapacities) {
    SCOPED_TRACE(capacity);
    std::vector<std::uint64_t> biases = some_biases(capacity, random), memory(BiasTree::size(capacity));
    std::ranges::copy(biases, memory.begin());
    const BiasTree tree{memory.data(), capacity};
    tree.build(SingleLane{});
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t total = std::accumulate(biases.begin(), biases.end(), std::uint64_t{0});
      for (const std::uint64_t x : {std::uint64_t{0}, random() % total, total - 1})
        ASSERT_EQ(tree.find(SingleLane{}, x), scanned(biases, x)) << x;
      const std::uint64_t entry = random() % capacity;
      biases[entry] = random() % 2 == 0 ? 0 : random() % 1000;
      biases[(entry + 1) % capacity] = 7;
      tree.set(entry, biases[entry]);
      tree.set((entry + 1) % capacity, 7);
    }
  }
}

TEST(BiasTree, FindsItByAGroupOfLanes) {
  std::mt19937_64 random(2);
  for (const std::uint64_t capacity : kCapacities) {
    SCOPED_TRACE(capacity);
    const std::vector<std::uint64_t> biases = some_biases(capacity, random);
    std::vector<std::uint64_t> memory(BiasTree::size(capacity)), wanted;
    std::ranges::copy(biases, memory.begin());
    const std::uint64_t total = std::accumulate(biases.begin(), biases.end(), std::uint64_t{0});
    for (int i = 0; i < 50; ++i) wanted.push_back(random() % total);
    std::vector<std::uint32_t> found(wanted.size());
    ThreadGroup::Workspace workspace;
    const auto lane = [&](unsigned rank) {
      const ThreadGroup group(workspace, rank);
      const BiasTree tree{memory.data(), capacity};
      tree.build(group);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::uint32_t entry = tree.find(group, wanted[i]);
        if (rank == 0) found[i] = entry;
      }
    };
    std::jthread other(lane, 1);
    lane(0);
    other.join();
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(found[i], scanned(biases, wanted[i]));
  }
}

TEST(BiasTree, HasFewSumsMoreThanBiases) {
  for (const std::uint64_t capacity : kCapacities) {
    EXPECT_GE(BiasTree::size(capacity), capacity);
    EXPECT_LE(BiasTree::size(capacity), capacity + capacity / 16);
  }
}

}  // namespace
}  // namespace sluice::test
