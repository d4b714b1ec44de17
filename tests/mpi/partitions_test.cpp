// Ranks that each bring the graph in partitions give the bytes of one process that has it whole. All
// combinations would be a thousand launches: these meet in pairs, every value of one option with every value
// of every other.
#include <nlohmann/json.hpp>
#include <set>

#include "mpi/ranks.hpp"

namespace sluice::test {
namespace {

constexpr int kCellsOfAKind = 3;

/// One combination of what may change no bit.
struct Cell {
  std::size_t kind;
  int ranks, partitions, slots;
  std::string transport, schedule;

  std::vector<std::string> values() const {
    return {"kind " + std::to_string(kind),
            std::to_string(ranks) + " ranks",
            std::to_string(partitions) + " partitions",
            std::to_string(slots) + " slots",
            transport,
            schedule};
  }
  std::vector<std::string> options() const {
    return {"--partitions", std::to_string(partitions),
            "--slots",      std::to_string(slots),
            "--transport",  transport,
            "--schedule",   schedule};
  }
};

/// Three numbers of ranks, of partitions and three transports in each kind, shifted from kind to kind.
Cell cell_of(std::size_t kind, int row) {
  constexpr int kPartitions[] = {2, 7, 64};
  const char* const transports[] = {"copied", "mapped", "file"};
  const int k = static_cast<int>(kind);
  return {kind,
          1 + row,
          kPartitions[(row + k) % 3],
          2 + (row + k) % 2,
          transports[(row + k / 3) % 3],
          (row / 2 + k / 2) % 2 == 0 ? "workload" : "fifo"};
}

class Partitions : public MpiTest {
 protected:
  /// Runs `arguments` in this cell; the file must be the one that is expected.
  void expect_same(const std::string& expected, std::vector<std::string> arguments, const Cell& cell) {
    const auto options = cell.options();
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--force", "--report", at("cell.json")});
    if (cell.ranks == 1) run(arguments);
    if (cell.ranks > 1) run_on(cell.ranks, arguments);

    EXPECT_EQ(read_bytes(at("cell.h5")), expected);
    const auto report = nlohmann::json::parse(read_bytes(at("cell.json")));
    EXPECT_EQ(report["ranks"], cell.ranks);
    // Edges are drawn by their positions, so no partition is brought; and long lists leave a few parts of
    // many without any.
    const int cut = report["options"]["kind"] == "edge" ? 1 : cell.partitions;
    EXPECT_NEAR(report["partitions"].get<int>(), cut, cut / 20);
  }
};

TEST_F(Partitions, CellsMeetInPairs) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (std::size_t kind = 0; kind < all_kinds().size(); ++kind) {
    for (int row = 0; row < kCellsOfAKind; ++row) {
      const auto values = cell_of(kind, row).values();
      for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) pairs.insert({values[j], values[i]});
    }
  }
  // Of kinds, ranks, partitions, slots, transports, schedules.
  const std::vector<std::size_t> extents{all_kinds().size(), 3, 3, 2, 3, 2};
  std::size_t all = 0;
  for (std::size_t i = 0; i < extents.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) all += extents[j] * extents[i];
  EXPECT_EQ(pairs.size(), all);
}

TEST_F(Partitions, GiveTheBytesOfTheWholeGraph) {
  const std::vector<Kind> all = all_kinds();
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    const Kind& called = all[kind];
    run(arguments_of(called, "whole.h5", {"--force"}));
    const std::string expected = read_bytes(at("whole.h5"));
    for (int row = 0; row < kCellsOfAKind; ++row) {
      SCOPED_TRACE(called.name + std::string(", cell ") + std::to_string(row));
      expect_same(expected, arguments_of(called, "cell.h5", {}), cell_of(kind, row));
    }
  }
}

/// Lists that say their sums, and picks that clash.
TEST_F(Partitions, GiveLayersOfEveryBias) {
  const std::vector<std::vector<std::string>> layers{{"--bias", "weight"},
                                                     {"--bias", "weight", "--revisit"},
                                                     {"--bias", "degree"},
                                                     {"--bias", "degree", "--select", "updated"},
                                                     {"--bias", "weight", "--select", "keys"}};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    SCOPED_TRACE(i);
    std::vector<std::string> sample{"sample",       graph("kronecker", 8, {"--weights", "uniform"}),
                                    "--kind",       "layer",
                                    "--layer-size", "9,20,4",
                                    "--quiet"};
    sample.insert(sample.end(), layers[i].begin(), layers[i].end());
    auto whole = sample;
    whole.insert(whole.end(), {"--force", "--output", at("whole.h5")});
    sample.insert(sample.end(), {"--output", at("cell.h5")});
    run(whole);
    for (int row = 0; row < kCellsOfAKind; ++row)
      expect_same(read_bytes(at("whole.h5")), sample, cell_of(i, row));
  }
}

/// Where no edge leads back, a step of node2vec needs the previous vertex's list too.
TEST_F(Partitions, GiveNode2vecOfADirectedGraph) {
  const std::vector<std::string> walk{
      "walk",    graph("kronecker", 8, {}), "--kind", "node2vec", "--q", "2", "--length", "9", "--quiet",
      "--output"};
  auto whole = walk, cell = walk;
  whole.push_back(at("whole.h5")), cell.push_back(at("cell.h5"));
  run(whole);
  for (int row = 0; row < kCellsOfAKind; ++row) {
    SCOPED_TRACE(row);
    expect_same(read_bytes(at("whole.h5")), cell, cell_of(0, row));
  }
}

}  // namespace
}  // namespace sluice::test
