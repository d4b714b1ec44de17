// Ranks that each read the whole graph in partitions give the bytes of one process. Covers jobs without rows
// in the matrix of all kinds (matrix_test.cpp).
#include <nlohmann/json.hpp>

#include "mpi/ranks.hpp"

namespace sluice::test {
namespace {

/// A combination of settings that must not change a bit.
struct Cell {
  int ranks, partitions, slots;
  std::string transport;

  std::vector<std::string> options() const {
    return {"--partitions", std::to_string(partitions), "--slots", std::to_string(slots), "--transport",
            transport};
  }
};

const Cell kCells[] = {{1, 2, 2, "copied"}, {2, 7, 3, "mapped"}, {3, 64, 2, "file"}};

class Partitions : public MpiTest {
 protected:
  /// Runs `arguments` in this cell; its file must have the expected bytes.
  void expect_same(const std::string& expected, std::vector<std::string> arguments, const Cell& cell) {
    const auto options = cell.options();
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--force", "--report", at("cell.json")});
    if (cell.ranks == 1) run(arguments);
    if (cell.ranks > 1) run_on(cell.ranks, arguments);

    EXPECT_EQ(read_file(at("cell.h5")), expected);
    const auto report = nlohmann::json::parse(read_file(at("cell.json")));
    EXPECT_EQ(report["ranks"], cell.ranks);
    // Long lists leave a few of many partitions empty.
    EXPECT_NEAR(report["partitions"].get<int>(), cell.partitions, cell.partitions / 20);
  }
};

/// Lists with stored sums of biases, and picks that clash.
TEST_F(Partitions, GiveLayersOfEveryBias) {
  const std::vector<std::vector<std::string>> layers{{"--bias", "weight"},
                                                     {"--bias", "weight", "--revisit"},
                                                     {"--bias", "degree"},
                                                     {"--bias", "degree", "--select", "updated"}};
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
    for (const Cell& cell : kCells) expect_same(read_file(at("whole.h5")), sample, cell);
  }
}

}  // namespace
}  // namespace sluice::test
