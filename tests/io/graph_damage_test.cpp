// A graph file with any byte changed is read, or refused as bad input: HDF5 must neither crash nor hang on
// it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>

#include "io/hdf5.hpp"
#include "tests/io/graph_file_support.hpp"

namespace sluice::test {
namespace {

class GraphDamageTest : public GraphFileTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "HDF5 reads memory that it freed when a file is damaged, and a sanitizer ends that";
#endif
    io::write_graph(path, undirected_path(), false);
  }
  void TearDown() override {
    munmap(place_, sizeof *place_);
  }

  /// Reads the file with one byte after the other changed, in a process that may crash; the first byte that
  /// it could not stand, or the file's size.
  std::uint64_t read_with_each_byte_changed() {
    const pid_t child = fork();
    if (child == 0) {
      alarm(300);  // a hang ends
      change_bytes();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? size_ : *place_;
  }

  std::uint64_t size() {
    return size_ = std::filesystem::file_size(path);
  }

 private:
  void change_bytes() {
    const int file = open(path.c_str(), O_RDWR);
    for (std::uint64_t& at = *place_; at < size_; ++at) {
      std::uint8_t byte = 0;
      if (pread(file, &byte, 1, static_cast<off_t>(at)) != 1) _exit(1);
      const std::uint8_t changed = byte == 0 ? 255 : byte ^ 8;
      if (pwrite(file, &changed, 1, static_cast<off_t>(at)) != 1) _exit(1);
      try {
        io::read_graph(path, false, 1);
      } catch (const InputError&) {
      } catch (...) {
        _exit(2);
      }
      if (pwrite(file, &byte, 1, static_cast<off_t>(at)) != 1) _exit(1);
    }
  }

  std::uint64_t size_ = 0;
  std::uint64_t* place_ = static_cast<std::uint64_t*>(
      mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
};

TEST_F(GraphDamageTest, NoChangedByteCrashesTheLibrary) {
  const std::uint64_t bytes = size();
  EXPECT_EQ(read_with_each_byte_changed(), bytes) << "the first byte that was too much";
}

TEST_F(GraphDamageTest, TextsOfEarlierFilesAreNotFollowed) {
  edit([](hid_t file) {
    for (const char* name : {"sluice_format", "origin"}) {
      H5Adelete(file, name);
      io::h5::write_attribute(file, name, std::string("graph"));
    }
  });

  io::check_graph(path);
  EXPECT_EQ(io::read_graph_info(path).origin, "");
  const std::uint64_t bytes = size();
  EXPECT_EQ(read_with_each_byte_changed(), bytes) << "the first byte that was too much";
}

}  // namespace
}  // namespace sluice::test
