// Graph files with changed bytes.
#include <filesystem>

#include "io/hdf5.hpp"
#include "tests/io/changed_bytes.hpp"
#include "tests/io/graph_file_support.hpp"

namespace sluice::test {
namespace {

class GraphDamageTest : public GraphFileTest {
 protected:
  void SetUp() override {
    if (!kMayDamage) GTEST_SKIP() << "not under a sanitizer";
    io::write_graph(path, undirected_path(), false);
  }

  void expect_that_each_byte_may_change() {
    const std::uint64_t bytes = std::filesystem::file_size(path);
    EXPECT_EQ(first_fatal_byte(path, bytes, [&] { io::read_graph(path, {}, 1); }), bytes);
  }
};

TEST_F(GraphDamageTest, NoChangedByteCrashesTheLibrary) {
  expect_that_each_byte_may_change();
}

TEST_F(GraphDamageTest, NorInTheTextsOfEarlierFiles) {
  edit([](hid_t file) {
    for (const char* name : {"sluice_format", "origin"}) {
      H5Adelete(file, name);
      io::h5::write_attribute(file, name, std::string("graph"));
    }
  });

  io::check_graph(path);
  EXPECT_EQ(io::read_graph_info(path).origin, "graph");
  expect_that_each_byte_may_change();
}

}  // namespace
}  // namespace sluice::test
