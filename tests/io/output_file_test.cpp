#include "io/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "engine/core/error.hpp"
#include "io/descriptor.hpp"
#include "tests/io/file_test_support.hpp"

namespace {

/// What the simulated file system does not support.
struct Lacks {
  bool flags = false, links = false;
  int failing_rename = 0;  ///< the number of the call to rename, from now on, that fails
} lacks;

int refused(int reason) {
  errno = reason;
  return -1;
}

}  // namespace

// These functions replace those of the C library, so that the engine calls them.
extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) noexcept {
  if (lacks.flags && flags != 0) return refused(EINVAL);
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}
extern "C" int rename(const char* from, const char* to) noexcept {
  if (lacks.failing_rename > 0 && --lacks.failing_rename == 0) return refused(EIO);
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
extern "C" int link(const char* from, const char* to) noexcept {
  if (lacks.links) return refused(EPERM);
  return static_cast<int>(::syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace sluice::io {
namespace {

using test::message_of;
using test::read_file;
using test::TemporaryFolder;
using test::write_file;

TEST(OutputFileTest, AppearsOnlyAtCommit) {
  const TemporaryFolder folder;
  OutputFile output(folder / "a", false);
  write_file(output.temporary(), "content");

  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  output.commit();

  EXPECT_EQ(read_file(folder / "a"), "content");
  EXPECT_EQ(folder.entries(), 1u);
}

/// Processes of different containers may share an id, and namespaces of different machines too.
TEST(OutputFileTest, TemporaryLiesBesideAndNamesHostNamespaceAndProcess) {
  const TemporaryFolder folder;
  const OutputFile output(folder / "a", false);

  char host[256] = {};
  struct stat space {};
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  ASSERT_EQ(::stat("/proc/self/ns/pid", &space), 0);
  const std::string known = folder / "a" + ".partial-" + host + "-" + std::to_string(space.st_ino) + "-" +
                            std::to_string(::getpid()) + "-";
  EXPECT_TRUE(output.temporary().starts_with(known)) << output.temporary();
  EXPECT_EQ(output.temporary().size(), known.size() + 16);
}

TEST(OutputFileTest, NamesOfAnyLengthHaveATemporary) {
  const TemporaryFolder folder;
  const std::string name(255, 'n'), other = std::string(254, 'n') + "m";
  OutputFile first(folder / name, false), second(folder / other, false);
  write_file(first.temporary(), "first");
  first.commit();
  second.commit();

  EXPECT_EQ(read_file(folder / name), "first");
  EXPECT_EQ(read_file(folder / other), "");
}

TEST(OutputFileTest, ATemporaryOfTheSameNameIsLeftAlone) {
  const TemporaryFolder folder;
  const std::string name = OutputFile::temporary_of(folder / "a", temporary_tag());
  write_file(name, "another's");

  EXPECT_THROW(OutputFile(folder / "a", true), RunError);
  EXPECT_EQ(read_file(name), "another's");
}

TEST(OutputFileTest, VanishesWithoutCommit) {
  const TemporaryFolder folder;
  {
    OutputFile file(folder / "a", false), other(folder / "b", false, true);
    write_file(other.temporary() + "/x.npy", "x");
    const OutputFile moved(std::move(file));
    EXPECT_EQ(folder.entries(), 2u);
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(OutputFileTest, ExistingFileNeedsForce) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");

  EXPECT_EQ(message_of<UsageError>([&] { OutputFile(folder / "a", false); }),
            folder / "a" + " exists: use --force to replace it");
  OutputFile output(folder / "a", true);
  write_file(output.temporary(), "new");
  EXPECT_EQ(read_file(folder / "a"), "old");
  output.commit();
  EXPECT_EQ(read_file(folder / "a"), "new");
}

/// Runs on file systems with the flags of renameat2, without them (as NFS), and without hard links.
class AnyFileSystem : public testing::TestWithParam<Lacks> {
 protected:
  AnyFileSystem() { lacks = GetParam(); }
  ~AnyFileSystem() override { lacks = {}; }
  const TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(OutputFileTest, AnyFileSystem,
                         testing::Values(Lacks{}, Lacks{true, false}, Lacks{true, true}));

TEST_P(AnyFileSystem, WhatAppearsMeanwhileIsKept) {
  for (const bool folder : {false, true}) {
    OutputFile onto_file(folder_ / "a", false, folder), onto_folder(folder_ / "b", false, folder);
    write_file(folder_ / "a", "another's");
    std::filesystem::create_directory(folder_ / "b");
    write_file(folder_ / "b/walks.npy", "another's");

    EXPECT_THROW(onto_file.commit(), UsageError);
    EXPECT_THROW(onto_folder.commit(), UsageError);
    EXPECT_EQ(read_file(folder_ / "a"), "another's");
    EXPECT_EQ(read_file(folder_ / "b/walks.npy"), "another's");
    std::filesystem::remove(folder_ / "a");
    std::filesystem::remove_all(folder_ / "b");
  }
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_P(AnyFileSystem, WhatIsFreeIsTaken) {
  OutputFile file(folder_ / "a", false), results(folder_ / "b", false, true);
  write_file(file.temporary(), "content");
  write_file(results.temporary() + "/walks.npy", "content");
  file.commit();
  results.commit();

  EXPECT_EQ(read_file(folder_ / "a"), "content");
  EXPECT_EQ(read_file(folder_ / "b/walks.npy"), "content");
  EXPECT_EQ(folder_.entries(), 2u);
}

TEST_P(AnyFileSystem, ForceReplacesFolders) {
  for (const char* content : {"1", "2"}) {
    OutputFile output(folder_ / "r", true, true);
    write_file(output.temporary() + "/walks.npy", content);
    output.commit();
    EXPECT_EQ(read_file(folder_ / "r/walks.npy"), content);
  }
  EXPECT_EQ(folder_.entries(), 1u);
}

TEST(OutputFileTest, AFailedSwapGivesTheOldResultsTheirNameBack) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "r");
  write_file(folder / "r/walks.npy", "old");
  {
    OutputFile output(folder / "r", true, true);
    lacks = {.flags = true, .failing_rename = 2};
    EXPECT_EQ(message_of<RunError>([&] { output.commit(); }), folder / "r" + ": Input/output error");
    lacks = {};
  }

  EXPECT_EQ(read_file(folder / "r/walks.npy"), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

/// The folder's entry could not be synced, but the file exists.
TEST(OutputFileTest, AFolderThatMayOnlyBeWrittenIsNoFailure) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "closed");
  ASSERT_EQ(::chmod((folder / "closed").c_str(), 0333), 0);
  ASSERT_EQ(::chmod(std::filesystem::path(folder / "closed").parent_path().c_str(), 0755), 0);
  const pid_t writer = ::fork();
  if (writer == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    try {
      OutputFile(folder / "closed/a", false).commit();
    } catch (const Error&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);

  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "closed/a"));
  ::chmod((folder / "closed").c_str(), 0777);
}

TEST(OutputFileTest, MissingFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of<RunError>([&] { OutputFile(folder / "none/a", false); }),
            folder / "none/a" + ": No such file or directory");
}

TEST(OutputFileTest, FolderWithoutPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "closed");
  ::chmod((folder / "closed").c_str(), 0555);
  EXPECT_EQ(message_of<RunError>([&] { OutputFile(folder / "closed/a", false); }),
            folder / "closed/a" + ": Permission denied");
}

TEST(OutputFileTest, EmptyName) {
  EXPECT_THROW(OutputFile("", false), UsageError);
}

TEST(OutputFileTest, FoldersReplaceFoldersOfResultsAndFiles) {
  const TemporaryFolder folder;
  for (const char* content : {"1", "2"}) {
    OutputFile output(folder / "r/", true, true);
    write_file(output.temporary() + "/walks.npy", content);
    output.commit();
    EXPECT_EQ(read_file(folder / "r/walks.npy"), content);
  }
  {
    OutputFile file(folder / "r", true);
    write_file(file.temporary(), "file");
    file.commit();
    EXPECT_EQ(read_file(folder / "r"), "file");
  }
  OutputFile(folder / "r", true, true).commit();
  EXPECT_TRUE(std::filesystem::is_directory(folder / "r"));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFileTest, ForceSparesFoldersOfOtherThings) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "home");
  write_file(folder / "home/letter.txt", "dear");

  EXPECT_EQ(
      message_of<UsageError>([&] { OutputFile(folder / "home", true, true); }),
      folder / "home" +
          " is a folder that holds more than results (letter.txt): choose another name, or remove it first");
  EXPECT_THROW(OutputFile(folder / "home", true), UsageError);
  EXPECT_EQ(read_file(folder / "home/letter.txt"), "dear");
}

TEST(OutputFileTest, ForceSparesDevices) {
  EXPECT_EQ(message_of<UsageError>([&] { OutputFile("/dev/null", true); }),
            "/dev/null is not a regular file: choose another name");
}

TEST(DescriptorTest, FullDeviceIsReportedUnderTheUsersName) {
  Descriptor full("/dev/full", O_WRONLY, "walks.txt");
  const char byte = 'x';
  EXPECT_EQ(message_of<RunError>([&] { full.write_all(std::as_bytes(std::span(&byte, 1))); }),
            "walks.txt: No space left on device");
}

TEST(DescriptorTest, ReadsUpToTheEnd) {
  const TemporaryFolder folder;
  write_file(folder / "a", "12345");
  std::byte held[8];
  EXPECT_EQ(Descriptor(folder / "a", O_RDONLY).read_at(held, 2), 3u);
  EXPECT_EQ(held[0], std::byte{'3'});
}

TEST(DescriptorTest, ScratchHasNoName) {
  const TemporaryFolder folder;
  const Descriptor scratch = open_scratch(folder / "a", "a");
  EXPECT_TRUE(static_cast<bool>(scratch));
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace sluice::io
