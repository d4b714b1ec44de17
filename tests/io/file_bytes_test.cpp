// Reads that bypass the page cache give the same bytes for any range, and keep nothing in the cache.
#include "io/file_bytes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "core/host_ceiling.hpp"
#include "io/descriptor.hpp"
#include "io/file_test_support.hpp"

namespace sluice::io {
namespace {

using test::TemporaryFolder;

constexpr std::uint64_t kSize = (5u << 20) + 1234;  // not a multiple of any block size

/// A file that is on the disk but not in the page cache.
class ColdFile {
 public:
  ColdFile() : content_(kSize, '\0') {
    std::mt19937_64 random(7);
    for (char& byte : content_) byte = static_cast<char>(random());
    test::write_file(path(), content_);
    Descriptor file(path(), O_RDONLY);
    file.sync();
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
  std::string path() const { return folder_ / "bytes"; }
  const std::string& content() const { return content_; }

  void expect_read(const FileBytes& file, std::uint64_t offset, std::uint64_t bytes) const {
    std::vector<std::byte> read(bytes);
    const std::uint64_t expected = offset < kSize ? std::min(bytes, kSize - offset) : 0;
    ASSERT_EQ(file.read_at(read, offset), expected) << offset << ", " << bytes;
    EXPECT_TRUE(std::equal(read.begin(), read.begin() + static_cast<std::ptrdiff_t>(expected),
                           std::as_bytes(std::span(content_)).begin() + static_cast<std::ptrdiff_t>(offset)))
        << offset << ", " << bytes;
  }

 private:
  TemporaryFolder folder_;
  std::string content_;
};

TEST(FileBytes, AnyRangeIsReadEitherWay) {
  const ColdFile cold;
  for (const Caching caching : {Caching::system, Caching::none}) {
    const FileBytes file(cold.path(), caching);
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4095},
                                       std::uint64_t{4096}, std::uint64_t{1000000}}) {
      for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{70000},
                                        (std::uint64_t{1} << 20) - 1, std::uint64_t{2500000}, kSize})
        cold.expect_read(file, offset, bytes);
    }
    cold.expect_read(file, kSize - 100000, 200000);
    cold.expect_read(file, kSize, 200000);
  }
}

TEST(FileBytes, ThreadsReadSideBySide) {
  const ColdFile cold;
  const FileBytes file(cold.path(), Caching::none);
  std::vector<std::jthread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 8; ++i) cold.expect_read(file, t * 1000003 + i * 77777, 600000);
    });
}

TEST(FileBytes, NothingStaysInTheCache) {
  const ColdFile cold;
  const FileBytes past(cold.path(), Caching::none), cached(cold.path());
  if (!past.bypasses_cache()) GTEST_SKIP() << "this file system has no reads past its cache";
  const auto held = [&] {
    unsigned pieces = 0;
    for (std::uint64_t at = 4096; at < 4u << 20; at += 1u << 20) pieces += past.in_cache(at, 1u << 20);
    return pieces;
  };
  if (held() != 0) GTEST_SKIP() << "this file system keeps in its cache what it was asked to drop";

  cold.expect_read(past, 4099, 4 << 20);

  EXPECT_EQ(held(), 0u);
  cold.expect_read(cached, 0, kSize);
  EXPECT_TRUE(past.in_cache(0, kSize));
  cold.expect_read(past, 5, kSize);  // from the cache
}

/// Reads the file in these sizes, repeatedly, until it ends.
void expect_stream(const ColdFile& cold, std::initializer_list<std::size_t> sizes) {
  FileStream stream(cold.path());
  std::vector<std::byte> all, some;
  for (std::size_t i = 0;; ++i) {
    some.resize(sizes.begin()[i % sizes.size()]);
    const std::size_t got = stream.read(some);
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got));
    if (got < some.size()) break;
  }
  EXPECT_EQ(stream.read(some), 0u);
  const auto content = std::as_bytes(std::span(cold.content()));
  EXPECT_TRUE(std::ranges::equal(all, content));
}

TEST(FileStream, ReadsAFileFromFrontToBack) {
  expect_stream(ColdFile(), {1000});
  expect_stream(ColdFile(), {std::size_t{1} << 20});
  expect_stream(ColdFile(), {1, 70000, 3000001, 4096});
  expect_stream(ColdFile(), {kSize + 5});
}

TEST(FileStream, ReadsWhatTheCacheHolds) {
  const ColdFile cold;
  cold.expect_read(FileBytes(cold.path()), 1u << 20, 2u << 20);  // caches a part of the file
  expect_stream(cold, {300000});
}

TEST(FileStream, ReadsThroughTheCacheWhereMemoryIsShort) {
  const ColdFile cold;
  const std::uint64_t used = host_budget().used();
  const test::HostCeiling little(4096);
  expect_stream(cold, {300000});
  EXPECT_EQ(host_budget().used(), used);
}

TEST(FileStream, EndsWhereAFileWasCutMeanwhile) {
  const ColdFile cold;
  FileStream stream(cold.path());
  std::vector<std::byte> some(1000), rest(kSize);
  ASSERT_EQ(stream.read(some), some.size());
  ASSERT_EQ(::truncate(cold.path().c_str(), kSize - 5000), 0);
  const std::size_t got = stream.read(rest);
  EXPECT_GE(got, kSize - 5000 - some.size());  // read-ahead may have read some of it before
  EXPECT_EQ(stream.read(rest), 0u);
}

TEST(FileBytes, AReadAheadLeavesTheFileInTheCache) {
  const ColdFile cold;
  const FileBytes file(cold.path(), Caching::none);  // reports what the cache holds
  if (!file.bypasses_cache()) GTEST_SKIP() << "this file system has no reads past its cache";
  if (file.in_cache(0, kSize))
    GTEST_SKIP() << "this file system keeps in its cache what it was asked to drop";
  {
    const ReadAhead ahead(cold.path());
    for (unsigned waited = 0; !file.in_cache(0, kSize) && waited < 10'000; ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(file.in_cache(0, kSize));
}

/// Opening a pipe without a writer would block forever, and so would this test.
TEST(FileBytes, AReadAheadLeavesAloneWhatIsNoFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const ReadAhead pipe(folder / "pipe"), none(folder / "absent"), directory(folder / "");
}

/// If memory cannot hold a thread's block, the thread reads through the cache.
TEST(FileBytes, ABudgetTooSmallForABlockIsKept) {
  const ColdFile cold;
  const FileBytes file(cold.path(), Caching::none);
  const std::uint64_t used = host_budget().used();
  const test::HostCeiling little(4096);
  std::jthread([&] { cold.expect_read(file, 17, 1000000); }).join();
  EXPECT_EQ(host_budget().used(), used);
}

}  // namespace
}  // namespace sluice::io
