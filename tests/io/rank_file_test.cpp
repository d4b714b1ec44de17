// Earlier ranks, as `pagerank --previous` reads them.
#include "io/results/rank_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "io/hdf5.hpp"
#include "io/results/result_writer.hpp"
#include "tests/io/changed_bytes.hpp"
#include "tests/io/file_test_support.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t kVertices = 6;

class RankFileTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto writer = io::make_result_writer(path_, io::ResultFormat::h5, false,
                                               {{"graph_checksum", "0123456789abcdef"},
                                                {"dangling", "uniform"},
                                                {"weighted", std::int64_t{0}},
                                                {"converged", std::int64_t{1}},
                                                {"damping", 0.85},
                                                {"norm", "linf"},
                                                {"tolerance", 1e-10}});
    const std::vector<double> ranks(kVertices, 0.125);
    writer->append(writer->declare("rank", io::ElementType::f64, {}), ranks.data(), ranks.size());
    writer->commit();
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("ranks.h5");
};

TEST_F(RankFileTest, HoldsTheRulesOfItsRanks) {
  const io::RankFile found = io::read_rank_file(path_, kVertices);
  ASSERT_EQ(found.ranks.size(), kVertices);
  EXPECT_EQ(found.ranks[5], 0.125);
  EXPECT_EQ(found.graph_checksum, "0123456789abcdef");
  EXPECT_EQ(found.dangling, "uniform");
  EXPECT_EQ(found.norm, "linf");
  EXPECT_EQ(found.weighted, false);
  EXPECT_EQ(found.converged, true);
  EXPECT_EQ(found.damping, 0.85);
  EXPECT_EQ(found.tolerance, 1e-10);
  EXPECT_EQ(found.prune_tolerance, std::nullopt);
}

TEST_F(RankFileTest, IsOfTheGraph) {
  EXPECT_EQ(message_of<InputError>([&] { io::read_rank_file(path_, 7); }),
            path_ + ": 6 ranks, and the graph has 7 vertices (rank the graph anew with --method static)");
}

TEST_F(RankFileTest, NoChangedByteCrashesTheLibrary) {
  if (!kMayDamage) GTEST_SKIP() << "not under a sanitizer";
  const std::uint64_t bytes = std::filesystem::file_size(path_);
  EXPECT_EQ(first_fatal_byte(path_, bytes, [&] { io::read_rank_file(path_, kVertices); }), bytes);
}

TEST_F(RankFileTest, AListInPlaceOfANumberIsNoneOfTheRules) {
  io::h5::change_file(io::h5::open_file(path_, true), [](hid_t file) {
    H5Adelete(file, "damping");
    const std::vector<double> many(1000, 0.5);
    io::h5::write_attribute(file, "damping", many.data(), H5T_NATIVE_DOUBLE, many.size());
  });
  EXPECT_EQ(io::read_rank_file(path_, kVertices).damping, std::nullopt);
}

}  // namespace
}  // namespace sluice::test
