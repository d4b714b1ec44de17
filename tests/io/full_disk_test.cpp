// Results and graphs that do not fit on the disk.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include "core/printed.hpp"
#include "engine/core/error.hpp"
#include "io/graph_file/graph_file.hpp"
#include "tests/io/file_test_support.hpp"
#include "tests/io/results_support.hpp"

namespace sluice::io {
namespace {

using test::message_of;
using test::TemporaryFolder;

/// A file system of 3 MiB, if the user may mount one.
class FullDisk : public ::testing::TestWithParam<ResultFormat> {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(place);
    if (::mount("none", place.c_str(), "tmpfs", 0, "size=3m") != 0)
      GTEST_SKIP() << "no permission to mount a tmpfs";
    mounted = true;
  }
  void TearDown() override {
    if (mounted) ::umount2(place.c_str(), MNT_DETACH);
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(place), {}));
  }

  TemporaryFolder folder;
  std::string place = folder / "disk";
  bool mounted = false;
};

TEST_P(FullDisk, IsReportedAndLeavesNothing) {
  const std::vector<std::int64_t> values = counting(100'000);
  for (const bool second_only : {false, true}) {
    const std::string message = message_of<RunError>([&] {
      const auto writer = make_result_writer(place + "/r", GetParam(), false, kAttributes);
      const int a = writer->declare("a", ElementType::i64, {}),
                b = writer->declare("b", ElementType::i64, {});
      for (int i = 0; i < 100; ++i) writer->append(second_only ? b : a, values.data(), values.size());
      writer->commit();
    });
    EXPECT_EQ(message, place + "/r: No space left on device");
    EXPECT_EQ(entries(), 0u);
  }
}

TEST_P(FullDisk, IsReportedWhenOnlyTheLastBytesDoNotFit) {
  if (GetParam() != ResultFormat::h5) GTEST_SKIP() << "matters where a library writes at close";
  const std::vector<std::int64_t> values = counting(1 << 17);
  for (std::size_t left : {512u, 2048u, 4096u, 8192u, 12288u}) {  // free for what HDF5 writes at the end
    test::write_file(place + "/ballast", std::string((3u << 20) - (1u << 20) - left / 4096 * 4096, 'x'));
    const std::string message = message_of<RunError>([&] {
      const auto writer = make_result_writer(place + "/r", GetParam(), false, kAttributes);
      writer->append(writer->declare("a", ElementType::i64, {}), values.data(), values.size());
      writer->commit();
    });
    if (message == "no exception") break;
    EXPECT_EQ(message, place + "/r: No space left on device");
    EXPECT_EQ(entries(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(ResultFormats, FullDisk,
                         ::testing::Values(ResultFormat::h5, ResultFormat::npy, ResultFormat::text));

TEST(GraphOnFullDiskTest, IsReportedBeforeTheWork) {
  const TemporaryFolder folder;
  const std::string place = folder / "disk";
  std::filesystem::create_directory(place);
  if (::mount("none", place.c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "no permission to mount a tmpfs";
  GraphInfo info;
  info.vertices = 10;
  info.edges = 1u << 20;
  EXPECT_EQ(message_of<RunError>([&] { GraphWriter(place + "/g.h5", info, false); }),
            place + "/g.h5: No space left on device");
  EXPECT_TRUE(std::filesystem::is_empty(place));
  test::write_file(place + "/ballast", std::string(1u << 20, 'x'));
  EXPECT_EQ(message_of<RunError>([&] { GraphWriter(place + "/g.h5", GraphInfo(), false); }),
            place + "/g.h5: No space left on device");
  EXPECT_FALSE(std::filesystem::exists(place + "/g.h5"));
  ::umount2(place.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace sluice::io
