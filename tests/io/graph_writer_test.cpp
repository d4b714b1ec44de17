// A written graph file is read back unchanged, and no incomplete file remains.
#include <gtest/gtest.h>

#include <vector>

#include "io/graph_file/graph_file.hpp"
#include "tests/io/graph_file_support.hpp"

namespace sluice::io {
namespace {

using test::array_of;
using test::full_graph;
using test::message_of;
using test::rows;
using test::undirected_path;
using test::values;

using GraphWriterTest = test::GraphFileTest;

TEST_F(GraphWriterTest, ReturnsWhatWasWritten) {
  const Graph expected = full_graph();

  const Graph graph = read_graph(path, {.in = true});

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

TEST_F(GraphWriterTest, EmptyAndUnweightedGraphsRoundTrip) {
  Graph empty;
  empty.out = rows({0}, {});
  write_graph(folder / "empty.h5", empty, false);
  write_graph(folder / "path.h5", undirected_path(), false);

  EXPECT_EQ(read_graph(folder / "empty.h5").vertices(), 0u);
  EXPECT_NO_THROW(check_graph(folder / "empty.h5"));
  const Graph graph = read_graph(folder / "path.h5");
  EXPECT_FALSE(graph.directed);
  EXPECT_TRUE(graph.out.weights.empty());
  EXPECT_NO_THROW(check_graph(folder / "path.h5"));
}

TEST_F(GraphWriterTest, BytesDoNotDependOnThePieces) {
  const Graph graph = full_graph();
  GraphInfo info = read_graph_info(path);
  GraphWriter writer(folder / "pieces.h5", info, false);

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
  EXPECT_TRUE(test::read_file(path) == test::read_file(folder / "pieces.h5"));
}

TEST_F(GraphWriterTest, InEdgesAndOriginDoNotChangeTheChecksum) {
  Graph graph = full_graph();
  graph.in = Csr();
  graph.origin = "elsewhere";

  EXPECT_EQ(write_graph(folder / "other.h5", graph, false), read_graph_info(path).checksum);
  graph.out.weights[0] = 0.25f;
  EXPECT_NE(write_graph(folder / "third.h5", graph, false), read_graph_info(path).checksum);
}

TEST_F(GraphWriterTest, IncompleteDatasetsAreNotCommitted) {
  GraphInfo info;
  info.vertices = 3;
  info.edges = 1;
  {
    GraphWriter writer(folder / "half.h5", info, false);
    writer.append_offsets(std::vector<EdgeIndex>{0, 1, 1});
    EXPECT_EQ(message_of<RunError>([&] { writer.commit(); }),
              "internal error: " + folder / "half.h5" + ": dataset /out/indptr holds 3 of its 4 elements");
    EXPECT_THROW(writer.append_targets(std::vector<Vertex>{1, 2}), RunError);
    EXPECT_THROW(writer.append_weights(std::vector<float>{1}), RunError);
  }
  EXPECT_EQ(folder.entries(), 1u);
}

TEST_F(GraphWriterTest, ExistingFileNeedsForce) {
  EXPECT_THROW(write_graph(path, full_graph(), false), UsageError);
  EXPECT_NO_THROW(write_graph(path, undirected_path(), true));
  EXPECT_EQ(read_graph(path).vertices(), 3u);
}

TEST_F(GraphWriterTest, ScipyLoadsIt) {
  if (!test::python_has("h5py, scipy.sparse")) GTEST_SKIP() << "no h5py and SciPy";
  write_graph(folder / "path.h5", undirected_path(), false);
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
                             folder / "path.h5"),
            0);
}

}  // namespace
}  // namespace sluice::io
