#include "io/graph_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "engine/core/error.hpp"
#include "io/checksum.hpp"
#include "tests/io/file_test_support.hpp"

namespace sluice::io {
namespace {

using test::dataset_offset;
using test::message_of;
using test::poke;
using test::TemporaryFolder;

template <class T>
HostArray<T> array_of(const std::vector<T>& values) {
  HostArray<T> array(values.size());
  std::copy(values.begin(), values.end(), array.begin());
  return array;
}

Csr rows(std::vector<EdgeIndex> offsets, std::vector<Vertex> targets, std::vector<float> weights = {},
         std::vector<std::int64_t> times = {}) {
  Csr csr;
  csr.offsets = array_of(offsets);
  csr.targets = array_of(targets);
  csr.weights = array_of(weights);
  csr.times = array_of(times);
  return csr;
}

/// 0 -> 1 (0.5), 0 -> 2 (1.5), 2 -> 0 (2), 2 -> 3 (0), with times, in-edges and original ids.
Graph full_graph() {
  Graph graph;
  graph.out = rows({0, 2, 2, 4, 4}, {1, 2, 0, 3}, {0.5f, 1.5f, 2, 0}, {10, 20, 30, 40});
  graph.in = rows({0, 1, 2, 3, 4}, {2, 0, 0, 2}, {2, 0.5f, 1.5f, 0}, {30, 10, 20, 40});
  graph.original_ids = array_of<std::int64_t>({3, 5, 100, 1ll << 40});
  graph.weighted = true;
  graph.origin = "full.txt";
  return graph;
}

/// A path 0 - 1 - 2, unweighted and undirected.
Graph undirected_path() {
  Graph graph;
  graph.out = rows({0, 1, 3, 4}, {1, 0, 2, 1});
  graph.directed = false;
  return graph;
}

template <class T>
std::vector<T> values(const HostArray<T>& array) {
  return {array.begin(), array.end()};
}

class GraphFileTest : public ::testing::Test {
 protected:
  void SetUp() override { write_graph(path, full_graph(), false); }

  std::string read_error(bool with_in = false) {
    return message_of<InputError>([&] { read_graph(path, with_in); });
  }
  std::string check_error() {
    return message_of<InputError>([&] { check_graph(path); });
  }
  std::string dataset_fault(const std::string& name, const std::string& what) {
    return path + ": dataset " + name + ": " + what + "; convert the graph again";
  }
  std::uint64_t offset(const std::string& name) { return dataset_offset(path, name); }
  /// Changes the file through HDF5.
  template <class Action>
  void edit(Action&& action) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    action(file);
    H5Fclose(file);
  }
  /// Puts another dataset in the place of one.
  void replace(const std::string& name, hid_t type, std::vector<hsize_t> shape, const void* data = nullptr,
               hid_t memory = -1) {
    edit([&](hid_t file) {
      H5Ldelete(file, name.c_str(), H5P_DEFAULT);
      const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
      const hid_t dataset =
          H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      if (data) H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
      H5Dclose(dataset);
      H5Sclose(space);
    });
  }
  void delete_attribute(const char* name) {
    edit([&](hid_t file) { H5Adelete(file, name); });
  }

  TemporaryFolder folder;
  std::string path = folder.file("graph.h5");
};

TEST_F(GraphFileTest, ReturnsWhatWasWritten) {
  const Graph expected = full_graph();

  const Graph graph = read_graph(path, true);

  EXPECT_EQ(values(graph.out.offsets), values(expected.out.offsets));
  EXPECT_EQ(values(graph.out.targets), values(expected.out.targets));
  EXPECT_EQ(values(graph.out.weights), values(expected.out.weights));
  EXPECT_EQ(values(graph.out.times), values(expected.out.times));
  EXPECT_EQ(values(graph.in.offsets), values(expected.in.offsets));
  EXPECT_EQ(values(graph.in.targets), values(expected.in.targets));
  EXPECT_EQ(values(graph.in.weights), values(expected.in.weights));
  EXPECT_EQ(values(graph.original_ids), values(expected.original_ids));
  EXPECT_TRUE(graph.directed);
  EXPECT_TRUE(graph.weighted);
  EXPECT_EQ(graph.origin, "full.txt");
  EXPECT_NE(graph.checksum, 0u);
  EXPECT_TRUE(check_graph(path).has_checksums);
}

TEST_F(GraphFileTest, InfoTellsTheHeader) {
  const GraphInfo info = read_graph_info(path);

  EXPECT_EQ(info.vertices, 4u);
  EXPECT_EQ(info.edges, 4u);
  EXPECT_TRUE(info.directed && info.weighted && info.timed && info.compacted && info.has_in);
  EXPECT_EQ(info.origin, "full.txt");
}

TEST_F(GraphFileTest, EmptyAndUnweightedGraphsRoundTrip) {
  Graph empty;
  empty.out = rows({0}, {});
  write_graph(folder.file("empty.h5"), empty, false);
  write_graph(folder.file("path.h5"), undirected_path(), false);

  EXPECT_EQ(read_graph(folder.file("empty.h5")).vertices(), 0u);
  EXPECT_NO_THROW(check_graph(folder.file("empty.h5")));
  const Graph graph = read_graph(folder.file("path.h5"));
  EXPECT_FALSE(graph.directed);
  EXPECT_TRUE(graph.out.weights.empty());
  EXPECT_NO_THROW(check_graph(folder.file("path.h5")));
}

TEST_F(GraphFileTest, BytesDoNotDependOnThePieces) {
  const Graph graph = full_graph();
  GraphInfo info = read_graph_info(path);
  GraphWriter writer(folder.file("pieces.h5"), info, false);

  for (const bool in : {true, false}) {
    const Csr& csr = in ? graph.in : graph.out;
    for (const float weight : csr.weights) writer.append_weights({&weight, 1}, in);
    for (const Vertex target : csr.targets) writer.append_targets({&target, 1}, in);
    for (const EdgeIndex position : csr.offsets) writer.append_offsets({&position, 1}, in);
    for (const std::int64_t time : csr.times) writer.append_times({&time, 1}, in);
  }
  writer.append_original_ids(graph.original_ids.span());
  const std::uint64_t sum = writer.commit();

  EXPECT_EQ(sum, info.checksum);
  EXPECT_TRUE(test::read_file(path) == test::read_file(folder.file("pieces.h5")));
}

TEST_F(GraphFileTest, InEdgesAndOriginDoNotChangeTheChecksum) {
  Graph graph = full_graph();
  graph.in = Csr();
  graph.origin = "elsewhere";

  EXPECT_EQ(write_graph(folder.file("other.h5"), graph, false), read_graph_info(path).checksum);
  graph.out.weights[0] = 0.25f;
  EXPECT_NE(write_graph(folder.file("third.h5"), graph, false), read_graph_info(path).checksum);
}

TEST_F(GraphFileTest, IncompleteDatasetsAreNotCommitted) {
  GraphInfo info;
  info.vertices = 3;
  info.edges = 1;
  {
    GraphWriter writer(folder.file("half.h5"), info, false);
    writer.append_offsets(std::vector<EdgeIndex>{0, 1, 1});
    EXPECT_EQ(
        message_of<RunError>([&] { writer.commit(); }),
        "internal error: " + folder.file("half.h5") + ": dataset /out/indptr holds 3 of its 4 elements");
    EXPECT_THROW(writer.append_targets(std::vector<Vertex>{1, 2}), RunError);
    EXPECT_THROW(writer.append_weights(std::vector<float>{1}), RunError);
  }
  EXPECT_EQ(folder.entries(), 1u);
}

TEST_F(GraphFileTest, ExistingFileNeedsForce) {
  EXPECT_THROW(write_graph(path, full_graph(), false), UsageError);
  EXPECT_NO_THROW(write_graph(path, undirected_path(), true));
  EXPECT_EQ(read_graph(path).vertices(), 3u);
}

TEST_F(GraphFileTest, SeveralChecksumBlocksAndThreads) {
  constexpr std::uint64_t kEdges = 3'000'000;
  Graph graph;
  graph.out.offsets = array_of<EdgeIndex>({0, 1, kEdges, kEdges});
  graph.out.targets = HostArray<Vertex>(kEdges);
  std::fill(graph.out.targets.begin(), graph.out.targets.end(), 1);
  graph.out.targets[kEdges - 1] = 2;
  write_graph(folder.file("big.h5"), graph, false);

  EXPECT_EQ(values(read_graph(folder.file("big.h5"), false, 3).out.targets), values(graph.out.targets));
  EXPECT_NO_THROW(check_graph(folder.file("big.h5"), 3));
  poke(folder.file("big.h5"), dataset_offset(folder.file("big.h5"), "/out/indices") + (9u << 20),
       std::uint8_t{3});
  EXPECT_EQ(message_of<InputError>([&] { check_graph(folder.file("big.h5"), 3); }),
            folder.file("big.h5") +
                ": dataset /out/indices: bytes 8388608 to 11999999 do not have their checksum: the "
                "file is damaged; convert the graph again");
}

// ---- files that cannot be opened

TEST_F(GraphFileTest, MissingFile) {
  EXPECT_EQ(message_of<InputError>([&] { read_graph(folder.file("none.h5")); }),
            folder.file("none.h5") + ": No such file or directory");
}

TEST_F(GraphFileTest, FolderIsNoFile) {
  EXPECT_EQ(message_of<InputError>([&] { read_graph(folder.file(".")); }),
            folder.file(".") + " is a folder, not a graph file");
}

TEST_F(GraphFileTest, UnreadableFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  std::filesystem::permissions(path, std::filesystem::perms::none);
  EXPECT_EQ(read_error(), path + ": Permission denied");
}

TEST_F(GraphFileTest, TextIsNoHdf5) {
  test::write_file(path, "0 1\n1 2\n");
  EXPECT_EQ(read_error(), path + " is no HDF5 file; make a graph file with 'sluice convert'");
}

TEST_F(GraphFileTest, EmptyFileIsNoHdf5) {
  test::write_file(path, "");
  EXPECT_EQ(read_error(), path + " is no HDF5 file; make a graph file with 'sluice convert'");
}

TEST_F(GraphFileTest, TruncatedFile) {
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

TEST_F(GraphFileTest, LockedFileNamesTheSetting) {
  const hid_t writer = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const std::string script =
      "import h5py, sys\ntry:\n h5py.File(sys.argv[1], 'r')\nexcept OSError: sys.exit(0)\nsys.exit(1)";
  const bool locks = test::python_has("h5py") && test::run_python(script, path) == 0;
  H5Fclose(writer);
  if (!locks) GTEST_SKIP() << "no locks here, or no h5py to see them";
  test::write_file(folder.file("hold.py"),
                   "import fcntl, sys, time\nf = open(sys.argv[1], 'r+')\nfcntl.flock(f, fcntl.LOCK_EX)\n"
                   "print('held', flush=True)\ntime.sleep(20)\n");
  FILE* const holder = ::popen(
      ("exec /usr/bin/python3 " + folder.file("hold.py") + " " + path + " & echo $!; wait").c_str(), "r");
  int pid = 0;
  char word[16] = {};
  ASSERT_EQ(std::fscanf(holder, "%d %15s", &pid, word), 2);
  const std::string message = read_error();
  std::system(("kill " + std::to_string(pid)).c_str());
  ::pclose(holder);
  EXPECT_NE(message.find("HDF5_USE_FILE_LOCKING"), message.npos) << message;
  EXPECT_TRUE(message.starts_with(path + ": cannot be locked")) << message;
}

// ---- HDF5 files that are no graph, or not ours

TEST_F(GraphFileTest, Hdf5WithoutFormat) {
  delete_attribute("sluice_format");
  EXPECT_EQ(read_error(),
            path +
                " is no graph file (root attribute sluice_format is missing); make a graph file with "
                "'sluice convert'");
}

TEST_F(GraphFileTest, ResultFileIsNoGraph) {
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
                " is no graph file (its sluice_format is 'walks'); make a graph file with 'sluice "
                "convert'");
}

TEST_F(GraphFileTest, OtherVersion) {
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

TEST_F(GraphFileTest, MissingDataset) {
  edit([](hid_t file) { H5Ldelete(file, "/out/indices", H5P_DEFAULT); });
  EXPECT_EQ(read_error(), path + ": dataset /out/indices is missing; convert the graph again");
}

TEST_F(GraphFileTest, WrongShapes) {
  replace("/out/indptr", H5T_STD_I64LE, {4});
  EXPECT_EQ(read_error(), dataset_fault("/out/indptr", "4 entries, where 5 (vertices + 1) belong"));
  write_graph(path, full_graph(), true);
  replace("/out/indices", H5T_STD_I32LE, {5});
  EXPECT_EQ(read_error(), dataset_fault("/out/indices", "5 entries, where 4 (edges) belong"));
  write_graph(path, full_graph(), true);
  replace("/in/data", H5T_IEEE_F32LE, {4, 1});
  EXPECT_EQ(read_error(), dataset_fault("/in/data", "2 dimensions, where one belongs"));
  write_graph(path, full_graph(), true);
  replace("/vertices/original_id", H5T_STD_I64LE, {3});
  EXPECT_EQ(read_error(), dataset_fault("/vertices/original_id", "does not hold 4 ids"));
}

TEST_F(GraphFileTest, WrongTypes) {
  replace("/out/indices", H5T_IEEE_F64LE, {4});
  EXPECT_EQ(read_error(), dataset_fault("/out/indices", "its type is no whole number"));
  write_graph(path, full_graph(), true);
  replace("/out/data", H5T_C_S1, {4});
  EXPECT_EQ(read_error(), dataset_fault("/out/data", "its type is no number"));
}

TEST_F(GraphFileTest, OtherToolsMayUseOtherTypesAndLayouts) {
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

TEST_F(GraphFileTest, LostChecksumsAreAFault) {
  edit([](hid_t file) { H5Ldelete(file, "/checksums", H5P_DEFAULT); });
  EXPECT_NO_THROW(read_graph(path));
  EXPECT_TRUE(check_error().starts_with(path + ": dataset /checksums/out/indptr: is missing"))
      << check_error();
}

// ---- faults in the data

TEST_F(GraphFileTest, OffsetsThatDecrease) {
  poke(path, offset("/out/indptr") + 3 * 8, std::int64_t{1});
  EXPECT_EQ(read_error(), dataset_fault("/out/indptr", "offset 3 decreases (1 after 2)"));
  poke(path, offset("/out/indptr") + 2 * 8, std::int64_t{-5});
  EXPECT_EQ(read_error(), dataset_fault("/out/indptr", "offset 2 decreases (-5 after 2)"));
}

TEST_F(GraphFileTest, OffsetsThatBeginOrEndElsewhere) {
  poke(path, offset("/out/indptr"), std::int64_t{1});
  EXPECT_EQ(read_error(), dataset_fault("/out/indptr", "offset 0 is 1, not 0"));
  poke(path, offset("/out/indptr"), std::int64_t{0});
  poke(path, offset("/out/indptr") + 4 * 8, std::int64_t{9});
  EXPECT_EQ(read_error(), dataset_fault("/out/indptr", "the last offset is 9, but there are 4 edges"));
}

TEST_F(GraphFileTest, TargetsOutOfRange) {
  poke(path, offset("/out/indices") + 4, std::int32_t{4});
  EXPECT_EQ(read_error(), dataset_fault("/out/indices", "position 1: target 4 is no vertex (there are 4)"));
  poke(path, offset("/out/indices") + 0, std::int32_t{-1});
  EXPECT_EQ(read_error(), dataset_fault("/out/indices", "position 0: target -1 is no vertex (there are 4)"));
}

TEST_F(GraphFileTest, WeightsThatAreNone) {
  poke(path, offset("/out/data") + 8, -2.0f);
  EXPECT_EQ(read_error(), dataset_fault("/out/data", "position 2: weight -2 is negative"));
  poke(path, offset("/out/data") + 4, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(read_error(), dataset_fault("/out/data", "position 1: weight nan is not finite"));
  poke(path, offset("/out/data") + 0, std::numeric_limits<float>::infinity());
  EXPECT_EQ(read_error(), dataset_fault("/out/data", "position 0: weight inf is not finite"));
}

TEST_F(GraphFileTest, InEdgesThatAreNotStored) {
  write_graph(path, undirected_path(), true);
  EXPECT_EQ(read_error(true), path + " holds no in-edges (/in); convert it with --reverse");
}

TEST_F(GraphFileTest, AnyFlippedBitOfAnyDatasetIsFound) {
  const std::string good = test::read_file(path);
  const std::tuple<const char*, std::uint64_t> parts[] = {{"/out/indptr", 40},
                                                          {"/out/indices", 16},
                                                          {"/out/data", 16},
                                                          {"/out/times", 32},
                                                          {"/in/indptr", 40},
                                                          {"/in/indices", 16},
                                                          {"/in/data", 16},
                                                          {"/in/times", 32},
                                                          {"/vertices/original_id", 32},
                                                          {"/checksums/out/indptr", 8},
                                                          {"/checksums/in/times", 8}};
  for (const auto& [name, bytes] : parts) {
    const std::uint64_t begin = offset(name);
    for (std::uint64_t byte = 0; byte < bytes; ++byte) {
      const std::uint64_t at = begin + byte;
      poke(path, at, static_cast<char>(good[at] ^ (1 << byte % 8)));
      EXPECT_TRUE(check_error().find("do not have their checksum") != std::string::npos)
          << name << " " << byte;
      poke(path, at, good[at]);
    }
  }
  EXPECT_NO_THROW(check_graph(path));
}

/// Graphs whose checksums are right and whose structure is not.
TEST_F(GraphFileTest, CheckFindsUnsortedLists) {
  Graph graph = full_graph();
  std::swap(graph.out.targets[0], graph.out.targets[1]);
  write_graph(path, graph, true);
  EXPECT_EQ(check_error(),
            dataset_fault("/out/indices", "position 1: the list of vertex 0 is not ascending (1 after 2)"));
}

TEST_F(GraphFileTest, CheckFindsInEdgesThatDiffer) {
  Graph graph = full_graph();
  graph.in.weights[0] = 3;
  write_graph(path, graph, true);
  EXPECT_EQ(check_error(), path + ": /in and /out do not hold the same edges; convert the graph again");
}

TEST_F(GraphFileTest, CheckFindsMissingDirection) {
  Graph graph = undirected_path();
  graph.out.targets[3] = 0;
  write_graph(path, graph, true);
  EXPECT_EQ(check_error(),
            path +
                ": the graph is undirected, but /out does not hold every edge in both directions; "
                "convert it with --undirected");
}

TEST_F(GraphFileTest, CheckFindsOriginalIdsOutOfOrder) {
  Graph graph = full_graph();
  graph.original_ids[2] = 5;
  write_graph(path, graph, true);
  EXPECT_EQ(check_error(), dataset_fault("/vertices/original_id", "position 2: ids must ascend (5 after 5)"));
}

TEST_F(GraphFileTest, ScipyLoadsIt) {
  if (!test::python_has("h5py, scipy.sparse")) GTEST_SKIP() << "no h5py and SciPy";
  write_graph(folder.file("path.h5"), undirected_path(), false);
  const std::string load =
      "import sys, h5py, numpy as np, scipy.sparse as sp; f = h5py.File(sys.argv[1], 'r'); g = f['out'];"
      "assert g.attrs['encoding-type'] == 'csr_matrix' and g.attrs['encoding-version'] == '0.1.0';"
      "m = sp.csr_matrix((g['data'][:], g['indices'][:], g['indptr'][:]), "
      "shape=tuple(g.attrs['shape'])).toarray();";
  EXPECT_EQ(
      test::run_python(load + "assert (m == np.array([[0,.5,1.5,0],[0,0,0,0],[2,0,0,0],[0,0,0,0]])).all();"
                              "assert g['indices'].dtype == np.int32 and g['indptr'].dtype == np.int64",
                       path),
      0);
  EXPECT_EQ(test::run_python(load + "assert (m == np.array([[0,1,0],[1,0,1],[0,1,0]])).all();"
                                    "assert g['data'].id.get_storage_size() == 0",
                             folder.file("path.h5")),
            0);
}

TEST(ChecksumTest, DependsOnEveryBitAndNotOnThePieces) {
  std::vector<std::byte> bytes(133);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37);
  const std::uint64_t whole = checksum(bytes);

  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Checksum sum;
    sum.update(std::span(bytes).first(cut));
    sum.update(std::span(bytes).subspan(cut));
    EXPECT_EQ(sum.value(), whole) << cut;
  }
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    EXPECT_NE(checksum(bytes), whole) << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
  }
  bytes.push_back(std::byte{0});
  EXPECT_NE(checksum(bytes), whole) << "length counts";
}

}  // namespace
}  // namespace sluice::io
