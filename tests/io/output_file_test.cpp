#include "io/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "engine/core/error.hpp"
#include "io/descriptor.hpp"
#include "tests/io/file_test_support.hpp"

namespace sluice::io {
namespace {

using test::message_of;
using test::read_file;
using test::TemporaryFolder;
using test::write_file;

TEST(OutputFileTest, AppearsOnlyAtCommit) {
  const TemporaryFolder folder;
  OutputFile output(folder.file("a"), false);
  write_file(output.temporary(), "content");

  EXPECT_FALSE(std::filesystem::exists(folder.file("a")));
  output.commit();

  EXPECT_EQ(read_file(folder.file("a")), "content");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFileTest, TemporaryLiesBesideAndNamesTheProcess) {
  const TemporaryFolder folder;
  const OutputFile output(folder.file("a"), false);

  EXPECT_EQ(output.temporary(), folder.file("a") + ".partial-" + std::to_string(::getpid()));
}

TEST(OutputFileTest, VanishesWithoutCommit) {
  const TemporaryFolder folder;
  {
    OutputFile file(folder.file("a"), false), other(folder.file("b"), false, true);
    write_file(other.temporary() + "/x.npy", "x");
    const OutputFile moved(std::move(file));
    EXPECT_EQ(folder.entries(), 2u);
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(OutputFileTest, ExistingFileNeedsForce) {
  const TemporaryFolder folder;
  write_file(folder.file("a"), "old");

  EXPECT_EQ(message_of<UsageError>([&] { OutputFile(folder.file("a"), false); }),
            folder.file("a") + " exists: give --force to replace it");
  OutputFile output(folder.file("a"), true);
  write_file(output.temporary(), "new");
  EXPECT_EQ(read_file(folder.file("a")), "old");
  output.commit();
  EXPECT_EQ(read_file(folder.file("a")), "new");
}

TEST(OutputFileTest, FileThatAppearsMeanwhileIsKept) {
  const TemporaryFolder folder;
  OutputFile output(folder.file("a"), false);
  write_file(folder.file("a"), "another's");

  EXPECT_THROW(output.commit(), UsageError);
  EXPECT_EQ(read_file(folder.file("a")), "another's");
}

TEST(OutputFileTest, MissingFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of<RunError>([&] { OutputFile(folder.file("none/a"), false); }),
            folder.file("none/a") + ": No such file or directory");
}

TEST(OutputFileTest, FolderWithoutPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("closed"));
  ::chmod(folder.file("closed").c_str(), 0555);
  EXPECT_EQ(message_of<RunError>([&] { OutputFile(folder.file("closed/a"), false); }),
            folder.file("closed/a") + ": Permission denied");
}

TEST(OutputFileTest, EmptyName) {
  EXPECT_THROW(OutputFile("", false), UsageError);
}

TEST(OutputFileTest, FoldersReplaceFoldersOfResultsAndFiles) {
  const TemporaryFolder folder;
  for (const char* content : {"1", "2"}) {
    OutputFile output(folder.file("r/"), true, true);
    write_file(output.temporary() + "/walks.npy", content);
    output.commit();
    EXPECT_EQ(read_file(folder.file("r/walks.npy")), content);
  }
  {
    OutputFile file(folder.file("r"), true);
    write_file(file.temporary(), "file");
    file.commit();
    EXPECT_EQ(read_file(folder.file("r")), "file");
  }
  OutputFile(folder.file("r"), true, true).commit();
  EXPECT_TRUE(std::filesystem::is_directory(folder.file("r")));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFileTest, ForceSparesFoldersOfOtherThings) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("home"));
  write_file(folder.file("home/letter.txt"), "dear");

  EXPECT_EQ(
      message_of<UsageError>([&] { OutputFile(folder.file("home"), true, true); }),
      folder.file("home") +
          " is a folder that holds more than results (letter.txt): choose another name, or remove it first");
  EXPECT_THROW(OutputFile(folder.file("home"), true), UsageError);
  EXPECT_EQ(read_file(folder.file("home/letter.txt")), "dear");
}

TEST(OutputFileTest, ForceSparesDevices) {
  EXPECT_EQ(message_of<UsageError>([&] { OutputFile("/dev/null", true); }),
            "/dev/null is no regular file: choose another name");
}

TEST(DescriptorTest, FullDeviceIsToldUnderTheUsersName) {
  Descriptor full("/dev/full", O_WRONLY, "walks.txt");
  const char byte = 'x';
  EXPECT_EQ(message_of<RunError>([&] { full.write_all(std::as_bytes(std::span(&byte, 1))); }),
            "walks.txt: No space left on device");
}

TEST(DescriptorTest, ReadsUpToTheEnd) {
  const TemporaryFolder folder;
  write_file(folder.file("a"), "12345");
  std::byte held[8];
  EXPECT_EQ(Descriptor(folder.file("a"), O_RDONLY).read_at(held, 2), 3u);
  EXPECT_EQ(held[0], std::byte{'3'});
}

TEST(DescriptorTest, ScratchHasNoName) {
  const TemporaryFolder folder;
  const Descriptor scratch = make_scratch(folder.file("a"), "a");
  EXPECT_TRUE(static_cast<bool>(scratch));
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace sluice::io
