// One file shows more shards than a process may have open.
#include "io/results/join_shards.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <numeric>

#include "tests/io/file_test_support.hpp"

namespace sluice::io {
namespace {

std::vector<std::int64_t> read(const std::string& path, const char* name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  std::vector<std::int64_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  EXPECT_GE(H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  return values;
}

TEST(JoinShards, NeedsOneOpenAtATime) {
  constexpr int kShards = 60;
  const test::TemporaryFolder folder;
  std::vector<ShardFile> shards;
  for (std::int32_t i = 0; i < kShards; ++i) {
    const std::string name = std::to_string(i) + ".h5";
    shards.push_back({folder / name, name});
    const auto writer = make_result_writer(shards.back().path, ResultFormat::h5, false, {});
    const int values = writer->declare("values", ElementType::i32, {});
    const int offsets = writer->declare("offsets", ElementType::i64, {});
    const std::int64_t ends[] = {0, 1};
    writer->append(values, &i, 1);
    writer->append(offsets, ends, 2);
    writer->commit();
  }
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  // Allows the files that are open already, and a few more.
  const rlimit few{static_cast<rlim_t>(kShards / 2), usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);

  const std::string joined = folder / "joined.h5";
  EXPECT_NO_THROW(join_shards(joined, joined, shards, {}, {"offsets"}));

  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  std::vector<std::int64_t> expected(kShards + 1);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(read(joined, "offsets"), expected);
  expected.pop_back();
  EXPECT_EQ(read(joined, "values"), expected);
}

}  // namespace
}  // namespace sluice::io
