// Checks of a graph file find every damaged byte, and every structure that differs from the header.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/checksum.hpp"
#include "io/graph_file/graph_file.hpp"
#include "tests/io/graph_file_support.hpp"

namespace sluice::io {
namespace {

using test::array_of;
using test::dataset_offset;
using test::full_graph;
using test::message_of;
using test::poke;
using test::undirected_path;
using test::values;

using GraphCheckTest = test::GraphFileTest;

TEST_F(GraphCheckTest, SeveralChecksumBlocksAndThreads) {
  constexpr std::uint64_t kEdges = 3'000'000;
  Graph graph;
  graph.out.offsets = array_of<EdgeIndex>({0, 1, kEdges, kEdges});
  graph.out.targets = HostArray<Vertex>(kEdges);
  std::fill(graph.out.targets.begin(), graph.out.targets.end(), 1);
  graph.out.targets[kEdges - 1] = 2;
  write_graph(folder / "big.h5", graph, false);

  EXPECT_EQ(values(read_graph(folder / "big.h5", {}, 3).out.targets), values(graph.out.targets));
  EXPECT_NO_THROW(check_graph(folder / "big.h5", 3));
  poke(folder / "big.h5", dataset_offset(folder / "big.h5", "/out/indices") + (9u << 20), std::uint8_t{3});
  EXPECT_EQ(message_of<InputError>([&] { check_graph(folder / "big.h5", 3); }),
            folder / "big.h5" +
                ": dataset /out/indices: the checksum of bytes 8388608 to 11999999 does not match: the "
                "file is damaged; convert the graph again");
}

TEST_F(GraphCheckTest, LostChecksumsAreAFault) {
  edit([](hid_t file) { H5Ldelete(file, "/checksums", H5P_DEFAULT); });
  EXPECT_NO_THROW(read_graph(path));
  EXPECT_TRUE(check_error().starts_with(path + ": dataset /checksums/out/indptr: is missing"))
      << check_error();
}

TEST_F(GraphCheckTest, AnyFlippedBitOfAnyDatasetIsFound) {
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
      EXPECT_TRUE(check_error().find("does not match") != std::string::npos) << name << " " << byte;
      poke(path, at, good[at]);
    }
  }
  EXPECT_NO_THROW(check_graph(path));
}

// ---- graphs with correct checksums and a wrong structure

TEST_F(GraphCheckTest, CheckFindsUnsortedLists) {
  Graph graph = full_graph();
  std::swap(graph.out.targets[0], graph.out.targets[1]);
  write_graph(path, graph, true);
  EXPECT_EQ(check_error(),
            dataset_fault("/out/indices", "position 1: the list of vertex 0 is not ascending (1 after 2)"));
}

TEST_F(GraphCheckTest, CheckFindsInEdgesThatDiffer) {
  Graph graph = full_graph();
  graph.in.weights[0] = 3;
  write_graph(path, graph, true);
  EXPECT_EQ(check_error(), path + ": /in and /out do not hold the same edges; convert the graph again");
}

TEST_F(GraphCheckTest, CheckFindsMissingDirection) {
  Graph graph = undirected_path();
  graph.out.targets[3] = 0;
  write_graph(path, graph, true);
  EXPECT_EQ(check_error(),
            path +
                ": the graph is undirected, but /out does not hold every edge in both directions; "
                "convert its edges with --undirected");
}

TEST_F(GraphCheckTest, CheckFindsOriginalIdsThatAreNotDistinct) {
  Graph graph = full_graph();
  graph.original_ids[2] = 5;
  write_graph(path, graph, true);
  EXPECT_EQ(check_error(), dataset_fault("/vertices/original_id", "id 5 occurs twice"));
  graph.original_ids[2] = -1;
  write_graph(path, graph, true);
  EXPECT_EQ(check_error(), dataset_fault("/vertices/original_id", "position 2: -1 is not a valid id"));
}

TEST_F(GraphCheckTest, CheckTakesOriginalIdsThatAnUpdateAppended) {
  Graph graph = full_graph();
  graph.original_ids[3] = 4;
  write_graph(path, graph, true);
  EXPECT_EQ(check_graph(path).info.vertices, 4u);
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
