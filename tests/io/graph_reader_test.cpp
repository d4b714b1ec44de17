// Files that are damaged, foreign or no graph files are refused with one line that says so.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>

#include "io/graph_file/graph_file.hpp"
#include "tests/io/graph_file_support.hpp"

namespace sluice::io {
namespace {

using test::full_graph;
using test::message_of;
using test::poke;
using test::undirected_path;
using test::values;

using GraphReaderTest = test::GraphFileTest;

TEST_F(GraphReaderTest, InfoTellsTheHeader) {
  const GraphInfo info = read_graph_info(path);

  EXPECT_EQ(info.vertices, 4u);
  EXPECT_EQ(info.edges, 4u);
  EXPECT_TRUE(info.directed && info.weighted && info.timed && info.compacted && info.has_in);
  EXPECT_EQ(info.origin, "full.txt");
}

TEST_F(GraphReaderTest, LeavesInTheFileWhatIsNotAskedFor) {
  poke(path, offset("/out/data"), -1.0f);  // faults in unread data are not found
  const Graph expected = full_graph();
  const GraphColumns columns{.in = true, .weights = false, .times = false};

  const Graph graph = read_graph(path, columns), in_file = open_graph(path, columns);

  EXPECT_EQ(values(graph.out.targets), values(expected.out.targets));
  EXPECT_EQ(values(graph.in.targets), values(expected.in.targets));
  for (const Csr* const lists : {&graph.out, &graph.in}) {
    EXPECT_TRUE(lists->weights.empty());
    EXPECT_TRUE(lists->times.empty());
  }
  for (const Graph* const read : {&graph, &in_file}) {
    EXPECT_FALSE(read->weighted);
    EXPECT_FALSE(read->timed());
  }
  EXPECT_NE(read_error(), "");
}

// ---- files that cannot be opened

TEST_F(GraphReaderTest, MissingFile) {
  EXPECT_EQ(message_of<InputError>([&] { read_graph(folder / "none.h5"); }),
            folder / "none.h5" + ": No such file or directory");
}

TEST_F(GraphReaderTest, FolderIsNoFile) {
  EXPECT_EQ(message_of<InputError>([&] { read_graph(folder / "."); }),
            folder / "." + " is a folder, not a graph file");
}

TEST_F(GraphReaderTest, UnreadableFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  std::filesystem::permissions(path, std::filesystem::perms::none);
  EXPECT_EQ(read_error(), path + ": Permission denied");
}

TEST_F(GraphReaderTest, TextIsNoHdf5) {
  test::write_file(path, "0 1\n1 2\n");
  EXPECT_EQ(read_error(), path + " is not an HDF5 file; make a graph file with 'sluice convert'");
}

TEST_F(GraphReaderTest, EmptyFileIsNoHdf5) {
  test::write_file(path, "");
  EXPECT_EQ(read_error(), path + " is not an HDF5 file; make a graph file with 'sluice convert'");
}

TEST_F(GraphReaderTest, TruncatedFile) {
  const auto size = std::filesystem::file_size(path);
  for (const std::uintmax_t kept : {size - 1, size / 2, std::uintmax_t{200}, std::uintmax_t{20}}) {
    std::filesystem::resize_file(path, kept);
    ::testing::internal::CaptureStderr();
    const std::string message = read_error();
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "HDF5 must be silent";
    EXPECT_TRUE(message.starts_with(path)) << message;
    EXPECT_EQ(message.find('\n'), message.npos);
    if (kept == size / 2) {
      EXPECT_EQ(message,
                path + " is truncated (" + std::to_string(kept) + " bytes); copy or convert it again");
    }
  }
}

TEST_F(GraphReaderTest, LockedFileNamesTheSetting) {
  const hid_t writer = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const std::string script =
      "import h5py, sys\ntry:\n h5py.File(sys.argv[1], 'r')\nexcept OSError: sys.exit(0)\nsys.exit(1)";
  const bool locks = test::python_has("h5py") && test::run_python(script, path) == 0;
  H5Fclose(writer);
  if (!locks) GTEST_SKIP() << "no locks here, or no h5py to see them";
  test::write_file(folder / "hold.py",
                   "import fcntl, sys, time\nf = open(sys.argv[1], 'r+')\nfcntl.flock(f, fcntl.LOCK_EX)\n"
                   "print('held', flush=True)\ntime.sleep(20)\n");
  FILE* const holder =
      ::popen(("exec /usr/bin/python3 " + folder / "hold.py" + " " + path + " & echo $!; wait").c_str(), "r");
  int pid = 0;
  char word[16] = {};
  ASSERT_EQ(std::fscanf(holder, "%d %15s", &pid, word), 2);
  const std::string message = read_error();
  ::kill(static_cast<pid_t>(pid), SIGTERM);
  ::pclose(holder);
  EXPECT_NE(message.find("HDF5_USE_FILE_LOCKING"), message.npos) << message;
  EXPECT_TRUE(message.starts_with(path + ": cannot be locked")) << message;
}

// ---- HDF5 files that are not graph files of this program

TEST_F(GraphReaderTest, Hdf5WithoutFormat) {
  delete_attribute("sluice_format");
  EXPECT_EQ(read_error(),
            path +
                " is not a graph file (root attribute sluice_format is missing); make a graph file with "
                "'sluice convert'");
}

TEST_F(GraphReaderTest, ResultFileIsNoGraph) {
  edit([](hid_t file) {
    H5Adelete(file, "sluice_format");
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 5);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(file, "sluice_format", type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, "walks");
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
  });
  EXPECT_EQ(read_error(),
            path +
                " is not a graph file (its sluice_format is 'walks'); make a graph file with 'sluice "
                "convert'");
}

TEST_F(GraphReaderTest, OtherVersion) {
  edit([](hid_t file) {
    const std::int64_t version = 2;
    const hid_t attribute = H5Aopen(file, "sluice_version", H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT64, &version);
    H5Aclose(attribute);
  });
  EXPECT_EQ(read_error(),
            path +
                " has version 2 of the graph file, and this program reads version 1; convert the "
                "graph again");
}

TEST_F(GraphReaderTest, MissingDataset) {
  edit([](hid_t file) { H5Ldelete(file, "/out/indices", H5P_DEFAULT); });
  EXPECT_EQ(read_error(), path + ": dataset /out/indices is missing; convert the graph again");
}

TEST_F(GraphReaderTest, WrongShapes) {
  replace("/out/indptr", H5T_STD_I64LE, {4});
  EXPECT_EQ(read_error(), dataset_fault("/out/indptr", "4 entries instead of 5 (vertices + 1)"));
  write_graph(path, full_graph(), true);
  replace("/out/indices", H5T_STD_I32LE, {5});
  EXPECT_EQ(read_error(), dataset_fault("/out/indices", "5 entries instead of 4 (edges)"));
  write_graph(path, full_graph(), true);
  replace("/in/data", H5T_IEEE_F32LE, {4, 1});
  EXPECT_EQ(read_error(), dataset_fault("/in/data", "2 dimensions instead of one"));
  write_graph(path, full_graph(), true);
  replace("/vertices/original_id", H5T_STD_I64LE, {3});
  EXPECT_EQ(read_error(), dataset_fault("/vertices/original_id", "does not hold 4 ids"));
}

TEST_F(GraphReaderTest, WrongTypes) {
  replace("/out/indices", H5T_IEEE_F64LE, {4});
  EXPECT_EQ(read_error(), dataset_fault("/out/indices", "its type is not a whole number"));
  write_graph(path, full_graph(), true);
  replace("/out/data", H5T_C_S1, {4});
  EXPECT_EQ(read_error(), dataset_fault("/out/data", "its type is not a number"));
}

TEST_F(GraphReaderTest, OtherToolsMayUseOtherTypesAndLayouts) {
  const std::int32_t offsets[] = {0, 2, 2, 4, 4};
  const std::int64_t targets[] = {1, 2, 0, 3};
  const double weights[] = {0.5, 1.5, 2, 0};
  replace("/out/indptr", H5T_STD_I32BE, {5}, offsets, H5T_NATIVE_INT32);
  replace("/out/indices", H5T_STD_I64LE, {4}, targets, H5T_NATIVE_INT64);
  replace("/out/data", H5T_IEEE_F64LE, {4}, weights, H5T_NATIVE_DOUBLE);
  edit([](hid_t file) {
    H5Ldelete(file, "/checksums", H5P_DEFAULT);
    for (const char* name : {"checksum", "vertices", "edges", "directed", "weighted", "origin"})
      H5Adelete(file, name);
  });

  const Graph graph = read_graph(path);

  EXPECT_EQ(values(graph.out.offsets), values(full_graph().out.offsets));
  EXPECT_EQ(values(graph.out.targets), values(full_graph().out.targets));
  EXPECT_EQ(values(graph.out.weights), values(full_graph().out.weights));
  EXPECT_FALSE(check_graph(path).has_checksums);
}

// ---- faults in the data

TEST_F(GraphReaderTest, OffsetsThatDecrease) {
  poke(path, offset("/out/indptr") + 3 * 8, std::int64_t{1});
  EXPECT_EQ(read_error(), dataset_fault("/out/indptr", "offset 3 decreases (1 after 2)"));
  poke(path, offset("/out/indptr") + 2 * 8, std::int64_t{-5});
  EXPECT_EQ(read_error(), dataset_fault("/out/indptr", "offset 2 decreases (-5 after 2)"));
}

TEST_F(GraphReaderTest, OffsetsThatBeginOrEndElsewhere) {
  poke(path, offset("/out/indptr"), std::int64_t{1});
  EXPECT_EQ(read_error(), dataset_fault("/out/indptr", "offset 0 is 1, not 0"));
  poke(path, offset("/out/indptr"), std::int64_t{0});
  poke(path, offset("/out/indptr") + 4 * 8, std::int64_t{9});
  EXPECT_EQ(read_error(), dataset_fault("/out/indptr", "the last offset is 9, but there are 4 edges"));
}

TEST_F(GraphReaderTest, TargetsOutOfRange) {
  poke(path, offset("/out/indices") + 4, std::int32_t{4});
  EXPECT_EQ(read_error(),
            dataset_fault("/out/indices", "position 1: target 4 is not a vertex (there are 4)"));
  poke(path, offset("/out/indices") + 0, std::int32_t{-1});
  EXPECT_EQ(read_error(),
            dataset_fault("/out/indices", "position 0: target -1 is not a vertex (there are 4)"));
}

TEST_F(GraphReaderTest, WeightsThatAreNone) {
  poke(path, offset("/out/data") + 8, -2.0f);
  EXPECT_EQ(read_error(), dataset_fault("/out/data", "position 2: weight -2 is negative"));
  poke(path, offset("/out/data") + 4, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(read_error(), dataset_fault("/out/data", "position 1: weight nan is not finite"));
  poke(path, offset("/out/data") + 0, std::numeric_limits<float>::infinity());
  EXPECT_EQ(read_error(), dataset_fault("/out/data", "position 0: weight inf is not finite"));
}

TEST_F(GraphReaderTest, InEdgesThatAreNotStored) {
  write_graph(path, undirected_path(), true);
  EXPECT_EQ(read_error(true), path + " holds no in-edges (/in); convert its edges with --reverse");
}

}  // namespace
}  // namespace sluice::io
