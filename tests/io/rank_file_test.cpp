// Earlier ranks, as `pagerank --previous` reads them.
#include "io/results/rank_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "io/hdf5.hpp"
#include "io/results/join_shards.hpp"
#include "io/results/result_writer.hpp"
#include "tests/io/changed_bytes.hpp"
#include "tests/io/file_test_support.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t kVertices = 6;

class RankFileTest : public testing::Test {
 protected:
  void SetUp() override { write(path_, std::vector<double>(kVertices, 0.125)); }

  void write(const std::string& path, const std::vector<double>& ranks) const {
    const auto writer = io::make_result_writer(path, io::ResultFormat::h5, false, attributes_);
    writer->append(writer->declare("rank", io::ElementType::f64, {}), ranks.data(), ranks.size());
    writer->commit();
  }

  /// Writes a file that shows two shards as one.
  std::string write_shards() const {
    const std::vector<io::ShardFile> shards{{folder_ / "0.h5", "0.h5"}, {folder_ / "1.h5", "1.h5"}};
    write(shards[0].path, {0.5, 0.25});
    write(shards[1].path, {0.125, 0.0625, 0, 1});
    const std::string joined = folder_ / "joined.h5";
    join_shards(joined, joined, shards, attributes_, {});
    return joined;
  }

  const std::vector<io::Attribute> attributes_{{"graph_checksum", "0123456789abcdef"},
                                               {"dangling", "uniform"},
                                               {"weighted", std::int64_t{0}},
                                               {"converged", std::int64_t{1}},
                                               {"damping", 0.85},
                                               {"norm", "linf"},
                                               {"tolerance", 1e-10}};
  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "ranks.h5";
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
            path_ + ": 6 ranks, but the graph has 7 vertices (compute the ranks with --method static)");
  EXPECT_EQ(message_of<InputError>([&] { io::read_rank_file(path_, 2); }),
            path_ + ": 6 ranks, but the graph has 2 vertices (compute the ranks with --method static)");
}

TEST_F(RankFileTest, NoChangedByteCrashesTheLibrary) {
  if (!kMayDamage) GTEST_SKIP() << "not under a sanitizer";
  const std::uint64_t bytes = std::filesystem::file_size(path_);
  EXPECT_EQ(first_fatal_byte(path_, bytes, [&] { io::read_rank_file(path_, kVertices); }), bytes);
}

TEST_F(RankFileTest, ShowsTheRanksOfShardsInOrder) {
  const io::RankFile found = io::read_rank_file(write_shards(), kVertices);
  const std::vector<double> expected{0.5, 0.25, 0.125, 0.0625, 0, 1};
  EXPECT_EQ(std::vector(found.ranks.begin(), found.ranks.end()), expected);
  EXPECT_EQ(found.norm, "linf");
}

TEST_F(RankFileTest, TakesNamesOfManyShards) {
  constexpr std::uint64_t kShards = 100;
  std::string aside;  // has no effect but long names: 200 kB in all
  for (int i = 0; i < 1000; ++i) aside += "./";
  std::vector<io::ShardFile> shards;
  for (std::uint64_t i = 0; i < kShards; ++i) {
    const std::string name = std::to_string(i) + ".h5";
    shards.push_back({folder_ / name, aside + name});
    write(shards.back().path, {static_cast<double>(i)});
  }
  const std::string joined = folder_ / "joined.h5";
  join_shards(joined, joined, shards, attributes_, {});
  const io::RankFile found = io::read_rank_file(joined, kShards);
  for (std::uint64_t i = 0; i < kShards; ++i) ASSERT_EQ(found.ranks[i], static_cast<double>(i));
}

TEST_F(RankFileTest, NamesAShardThatIsMissing) {
  const std::string joined = write_shards();
  std::filesystem::remove(folder_ / "1.h5");
  EXPECT_TRUE(message_of<InputError>([&] {
                io::read_rank_file(joined, kVertices);
              }).starts_with(joined + ": its shard " + folder_ / "1.h5" + " is missing; "));
}

TEST_F(RankFileTest, NoChangedByteOfAFileOfShardsCrashesTheLibrary) {
  if (!kMayDamage) GTEST_SKIP() << "not under a sanitizer";
  const std::string joined = write_shards();
  const std::uint64_t bytes = std::filesystem::file_size(joined);
  EXPECT_EQ(first_fatal_byte(joined, bytes, [&] { io::read_rank_file(joined, kVertices); }), bytes);
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
