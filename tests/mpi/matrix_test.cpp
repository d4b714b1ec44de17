// The matrix of all settings that must not change a bit, on the cores of this machine: starts matrix.cpp.
#include "mpi/ranks.hpp"
#include "paths.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

/// Cells of a kind: the whole graph, 3 partitions x 3 transports x 2 slots under replicate, and 4 x 2 x 2
/// under shard.
constexpr int kCellsOfAKind = 1 + 3 * 3 * 2 + 4 * 2 * 2;
/// Cells with coded lists: 3 numbers of partitions.
constexpr int kCodedCells = 3;

/// Hundreds of jobs, on cores that may be shared with other tests.
constexpr std::chrono::seconds kLimit{580};

class Matrix : public MpiTest {
 protected:
  /// Makes the graphs, and the files of one process with the graph in memory.
  void SetUp() override {
    MpiTest::SetUp();
    if (IsSkipped()) return;
    const auto finished = Process({paths::kMatrix, "prepare", folder_.path().string(), "300"}).wait();
    ASSERT_EQ(finished.status, 0) << finished.err;
  }

  /// Runs the cells of `name` on `ranks` ranks, with `more` options.
  Finished cells(int ranks, const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{paths::kMatrix, "run", folder_.path().string(), "--only", name,
                                   "--device",     "host"};
    words.insert(words.end(), more.begin(), more.end());
    return Process(ranks == 1 ? words : on_ranks(ranks, words)).wait(kLimit);
  }

  static std::string said(int ranks, int cells, int different) {
    return std::to_string(cells) + " cells on " + std::to_string(ranks) + " ranks, " +
           std::to_string(different) + " different\n";
  }
};

struct Part {
  int ranks;
  const char* name;
  int kinds;  ///< its rows; some kinds have two
  int coded;  ///< rows that can read coded lists
};

/// Without this, names of tests would contain an address.
void PrintTo(const Part& part, std::ostream* out) {
  *out << part.name << " on " << part.ranks << " ranks";
}

class MatrixOnRanks : public Matrix, public testing::WithParamInterface<Part> {};

TEST_P(MatrixOnRanks, GivesTheFilesOfOneProcess) {
  const auto& [ranks, name, kinds, coded] = GetParam();

  const auto finished = cells(ranks, name);

  EXPECT_EQ(finished.status, 0) << finished.out << finished.err;
  EXPECT_EQ(finished.out, said(ranks, kinds * kCellsOfAKind + coded * kCodedCells, 0));
}

std::vector<Part> parts() {
  std::vector<Part> all;
  for (int ranks = kSanitized ? 3 : 1; ranks <= (kSanitized ? 3 : 4); ++ranks)
    all.push_back({ranks, "walk", 8, 7}), all.push_back({ranks, "sample", 8, 3});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, MatrixOnRanks, testing::ValuesIn(parts()), [](const auto& part) {
  return std::string(part.param.name) + "_" + std::to_string(part.param.ranks);
});

TEST_F(Matrix, SeesAnotherSeed) {
  const auto finished = cells(2, "neighbor", {"--seed", "2"});

  EXPECT_EQ(finished.status, 1) << finished.err;
  EXPECT_NE(finished.out.find(said(2, kCellsOfAKind + kCodedCells, kCellsOfAKind + kCodedCells)),
            std::string::npos)
      << finished.out;
  EXPECT_NE(finished.out.find("DIFFERENT: neighbor, 2 ranks, shard, 7 partitions, file, "), std::string::npos)
      << finished.out;
}

/// Changes a number in the expected file, to show that datasets are compared and not only metadata.
TEST_F(Matrix, SeesOneOtherNumber) {
  const hid_t file = H5Fopen(at("uniform.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t walks = H5Dopen2(file, "walks", H5P_DEFAULT);
  std::vector<std::int64_t> numbers = read_numbers(at("uniform.h5"), "walks");
  numbers[numbers.size() / 2] ^= 1;
  ASSERT_GE(H5Dwrite(walks, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), 0);
  H5Dclose(walks);
  H5Fclose(file);

  const auto finished = cells(1, "uniform");

  EXPECT_EQ(finished.status, 1) << finished.err;
  EXPECT_NE(finished.out.find(said(1, kCellsOfAKind + kCodedCells, kCellsOfAKind + kCodedCells)),
            std::string::npos)
      << finished.out;
}

/// A name without a row must not pass as a matrix without cells.
TEST_F(Matrix, RefusesToRunNothing) {
  const auto finished = cells(1, "nobody");

  EXPECT_EQ(finished.status, 2);
  EXPECT_NE(finished.err.find("nothing called 'nobody'"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace sluice::test
