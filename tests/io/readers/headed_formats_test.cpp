// Matrix Market, METIS and DIMACS: formats whose header states sizes that the file must have.
#include <vector>

#include "io/readers/readers_support.hpp"

namespace sluice::io::testing {
namespace {

const std::string kBanner = "%%MatrixMarket matrix coordinate ";

using MatrixMarketTest = ReadersTest;
using MetisTest = ReadersTest;
using DimacsTest = ReadersTest;

TEST_F(MatrixMarketTest, ReadsAPatternWithIdsFromOne) {
  const Loaded loaded =
      load(file("g.mtx", kBanner + "pattern general\n% note\n\n3 3 2\n1 2\n% inside\n\n3 1\n"));

  EXPECT_EQ(pairs_of(loaded.edges), "0>1 2>0 ");
  EXPECT_EQ(loaded.info.vertices, 3u);
  EXPECT_FALSE(loaded.info.undirected);
}

TEST_F(MatrixMarketTest, ReadsTheBannerInAnyCaseAndUnderAnyName) {
  EXPECT_EQ(load(file("g", "%%matrixmarket MATRIX Coordinate Integer GENERAL\n2 2 1\n2 1 9\n")).edges.size(),
            1u);
}

TEST_F(MatrixMarketTest, ReadsSymmetricAsUndirected) {
  const Loaded loaded =
      load(file("g.mtx", kBanner + "real symmetric\n3 3 2\n2 1 0.5\n3 1 1.5\n"), with_weights());

  EXPECT_TRUE(loaded.info.undirected);
  EXPECT_EQ(loaded.edges.weight, (ChargedVector<float>{.5f, 1.5f}));
}

TEST_F(MatrixMarketTest, IgnoresNegativeValuesWithoutWeights) {
  EXPECT_EQ(load(file("g.mtx", kBanner + "real general\n2 2 1\n1 2 -4\n")).edges.size(), 1u);
}

TEST_F(MatrixMarketTest, ReadsADeclaredGraphWithoutEdges) {
  const Loaded loaded = load(file("g.mtx", kBanner + "pattern general\n5 5 0\n"));

  EXPECT_EQ(loaded.edges.size(), 0u);
  EXPECT_EQ(loaded.info.vertices, 5u);
}

TEST_F(MatrixMarketTest, RefusesNegativeValuesAsWeights) {
  expect_refused(file("g.mtx", kBanner + "real general\n2 2 1\n1 2 -4\n"), ":3: ", "negative",
                 with_weights());
}

TEST_F(MatrixMarketTest, RefusesAMissingBanner) {
  expect_refused(file("g.mtx", "2 2 1\n1 2\n"), ":1: ", "banner");
  ReadOptions forced;
  forced.format = EdgeFormat::mtx;
  expect_refused(file("g.txt", "2 2 1\n1 2\n"), ":1: ", "banner", forced);
}

TEST_F(MatrixMarketTest, RefusesWhatIsNoGraph) {
  expect_refused(file("g.mtx", kBanner + "complex general\n2 2 1\n1 2 1 1\n"), ":1: ", "'complex'");
  expect_refused(file("g.mtx", kBanner + "real skew-symmetric\n2 2 1\n2 1 1\n"), ":1: ", "'skew-symmetric'");
  expect_refused(file("g.mtx", kBanner + "real hermitian\n2 2 1\n2 1 1\n"), ":1: ", "'hermitian'");
  expect_refused(file("g.mtx", "%%MatrixMarket matrix array real general\n1 1\n2\n"), ":1: ", "'array'");
  expect_refused(file("g.mtx", "%%MatrixMarket vector coordinate real general\n1 1\n2\n"),
                 ":1: ", "'vector'");
  expect_refused(file("g.mtx", "%%MatrixMarket matrix coordinate\n1 1 1\n"), ":1: ", "five words");
  expect_refused(file("g.mtx", kBanner + "pattern general\n2 3 1\n1 2\n"), ":2: ", "square");
}

TEST_F(MatrixMarketTest, RefusesAWrongSizeLine) {
  expect_refused(file("g.mtx", kBanner + "pattern general\n% c\n3\n1 2\n"), ":3: ", "size line");
  expect_refused(file("g.mtx", kBanner + "pattern general\n3 3 -1\n"), ":2: ", "size line");
  expect_refused(file("g.mtx", kBanner + "pattern general\n% c\n"), ":3: ", "size line is missing");
}

TEST_F(MatrixMarketTest, RefusesAnEntryCountThatDoesNotMatch) {
  expect_refused(file("g.mtx", kBanner + "pattern general\n3 3 3\n1 2\n"), ": ", "declares 3 entries, but 1");
  expect_refused(file("g.mtx", kBanner + "pattern general\n3 3 1\n1 2\n1 3\n"), ": ",
                 "declares 1 entries, but 2");
}

TEST_F(MatrixMarketTest, RefusesIdsOutsideTheMatrix) {
  expect_refused(file("g.mtx", kBanner + "pattern general\n3 3 2\n1 2\n4 1\n"), ":4: ", "id 4 is beyond");
  expect_refused(file("g.mtx", kBanner + "pattern general\n3 3 1\n0 1\n"), ":3: ", "id 0");
}

TEST_F(MatrixMarketTest, RefusesColumnsThatTheBannerDenies) {
  expect_refused(file("g.mtx", kBanner + "real general\n3 3 1\n1 2\n"), ":3: ", "value is missing");
  expect_refused(file("g.mtx", kBanner + "pattern general\n3 3 1\n1 2 1\n"),
                 ":3: ", "more than the 2 columns");
  expect_refused(file("g.mtx", kBanner + "real general\n3 3 1\n1 2 1 1\n"),
                 ":3: ", "more than the 3 columns");
}

TEST_F(MatrixMarketTest, RefusesWeightsThatAPatternLacks) {
  expect_refused(file("g.mtx", kBanner + "pattern general\n3 3 1\n1 2\n"), ":1: ", "no values",
                 with_weights());
}

TEST_F(MatrixMarketTest, RefusesToBeForcedIntoAnEdgeList) {
  ReadOptions forced;
  forced.format = EdgeFormat::edges;
  expect_refused(file("g.mtx", kBanner + "pattern general\n3 3 1\n1 2\n"), ":1: ", "--format mtx", forced);
}

TEST_F(MetisTest, GivesAnEdgeOnceThatIsListedAtBothEnds) {
  const Loaded loaded = load(file("g.graph", "% c\n3 2\n2 3\n% inside\n1\n 1 \r\n"));

  EXPECT_EQ(pairs_of(loaded.edges), "0>1 0>2 ");
  EXPECT_TRUE(loaded.info.undirected);
  EXPECT_EQ(loaded.info.vertices, 3u);
}

TEST_F(MetisTest, GivesParallelEdgesAsOftenAsTheyAreListedAtOneEnd) {
  EXPECT_EQ(pairs_of(load(file("g.graph", "2 2\n2 2\n1 1\n")).edges), "0>1 0>1 ");
}

TEST_F(MetisTest, RefusesAnEdgeThatOneEndListsAlone) {
  expect_refused(file("g.graph", "3 2\n2 3\n3\n1\n"), ": ", "at only one of its ends");
  expect_refused(file("g.graph", "2 1\n2 2\n\n"), ": ", "at only one of its ends");
  expect_refused(file("g.graph", "2 1\n\n1 1\n"), ": ", "at only one of its ends");
}

TEST_F(MetisTest, ReadsEmptyLinesAsIsolatedVertices) {
  const Loaded loaded = load(file("g.graph", "5 1\n\n3\n2\n\n\n\n\n"));

  EXPECT_EQ(pairs_of(loaded.edges), "1>2 ");
  EXPECT_EQ(loaded.info.vertices, 5u);
}

TEST_F(MetisTest, ReadsEdgeWeights) {
  const Loaded loaded = load(file("g.metis", "2 1 1\n2 7\n1 7\n"), with_weights());

  EXPECT_EQ(loaded.edges.weight, (ChargedVector<float>{7}));
}

TEST_F(MetisTest, SkipsVertexSizesAndWeights) {
  const auto weighted = file("w.graph", "3 2 011 2\n5 6 2 1 3 4\n0 0 1 1\n8 8 1 4\n\n");
  const auto sized = file("s.graph", "3 2 110\n9 5 2 3\n9 0 1\n9 8 1\n");

  EXPECT_EQ(pairs_of(load(weighted).edges), "0>1 0>2 ");
  EXPECT_EQ(load(weighted, with_weights()).edges.weight, (ChargedVector<float>{1, 4}));
  EXPECT_EQ(pairs_of(load(sized).edges), "0>1 0>2 ");
}

TEST_F(MetisTest, TakesSelfLoopsListedOnceOrTwice) {
  EXPECT_EQ(pairs_of(load(file("one.graph", "2 2\n1 2\n1\n")).edges), "0>1 0>0 ");
  EXPECT_EQ(pairs_of(load(file("two.graph", "2 2\n1 1 2\n1\n")).edges), "0>1 0>0 ");
  const Loaded weighted = load(file("four.graph", "2 3 1\n1 5 1 5 1 6 2 9 1 6\n1 9\n"), with_weights());
  EXPECT_EQ(pairs_of(weighted.edges), "0>1 0>0 0>0 ");
  EXPECT_EQ(weighted.edges.weight, (ChargedVector<float>{9, 5, 6}));
}

TEST_F(MetisTest, RemarksThatParallelSelfLoopsListedOnceWereHalved) {
  EXPECT_NE(load(file("g.graph", "2 3\n1 1 2\n1\n")).remark.find("halved"), std::string::npos);
  EXPECT_EQ(load(file("g.graph", "2 2\n1 1 2\n1\n")).remark, "");
}

TEST_F(MetisTest, RefusesAWrongHeader) {
  expect_refused(file("g.graph", "% c\n3\n"), ":2: ", "VERTICES EDGES");
  expect_refused(file("g.graph", "3 2 2\n"), ":1: ", "fmt field");
  expect_refused(file("g.graph", "3 2 1 2\n"), ":1: ", "ncon declares");
  expect_refused(file("g.graph", "3 2 10 many\n"), ":1: ", "ncon field");
}

TEST_F(MetisTest, RefusesCountsThatDoNotMatch) {
  expect_refused(file("g.graph", "2 3\n2\n1\n"), ": ", "declares 3 edges");
  expect_refused(file("g.graph", "3 1\n2\n1\n"), ": ", "declares 3 vertices, but only 2");
  expect_refused(file("g.graph", "2 1\n2\n1\n\n% c\n1\n"), ":6: ", "more lines");
}

TEST_F(MetisTest, RefusesANeighbourThatIsNoVertex) {
  expect_refused(file("g.graph", "2 1\n2\n3\n"), ":3: ", "neighbour 3");
  expect_refused(file("g.graph", "2 1\n0\n1\n"), ":2: ", "neighbour 0");
}

TEST_F(MetisTest, RefusesALineWithoutTheNumbersThatFmtPromises) {
  expect_refused(file("g.graph", "3 1 100\n1 2\n1 1\n\n"), ":4: ", "lacks the vertex's own 1 numbers");
  expect_refused(file("g.graph", "2 1 1\n2 4\n1\n"), ":3: ", "weight is missing");
}

TEST_F(MetisTest, RefusesWeightsThatItLacks) {
  expect_refused(file("g.graph", "2 1\n2\n1\n"), ":1: ", "no weights", with_weights());
  expect_refused(file("g.graph", "2 1\n2\n1\n"), ":1: ", "no times", with_times());
}

TEST_F(MetisTest, ReadsAListLongerThanAnyBlock) {
  constexpr int kVertices = 300000;  // the first line is about 2 MB
  std::string text = std::to_string(kVertices) + " " + std::to_string(kVertices - 1) + "\n";
  for (int v = 2; v <= kVertices; ++v) text += std::to_string(v) + " ";
  for (int v = 2; v <= kVertices; ++v) text += "\n1";
  ReadOptions small;
  small.batch_bytes = 64;

  EXPECT_EQ(load(file("star.graph", text + "\n"), small).edges.size(), kVertices - 1u);
}

TEST_F(DimacsTest, ReadsArcsWithIdsFromOne) {
  const auto path = file("g.gr", "c a road\np sp 3 2\nc inside\na 1 2 10\na 3 1 20\n");

  const Loaded loaded = load(path, with_weights());

  EXPECT_EQ(pairs_of(loaded.edges), "0>1 2>0 ");
  EXPECT_EQ(loaded.edges.weight, (ChargedVector<float>{10, 20}));
  EXPECT_EQ(loaded.info.vertices, 3u);
  EXPECT_FALSE(loaded.info.undirected);
  EXPECT_EQ(loaded.remark, "");
  EXPECT_NE(load(path).remark.find("column 3 was not read"), std::string::npos);
}

TEST_F(DimacsTest, TakesIdsAsTheyStandWithoutAProblemLine) {
  const Loaded loaded = load(file("g.gr", "a 0 7 1\na 7 0 1\n"));

  EXPECT_EQ(pairs_of(loaded.edges), "0>7 7>0 ");
  EXPECT_NE(loaded.remark.find("no 'p' line"), std::string::npos);
}

TEST_F(DimacsTest, ReadsPaceFilesAsUndirected) {
  const Loaded loaded = load(file("g.gr", "c tree width\np tw 3 2\n1 2\n2 3\n"));

  EXPECT_EQ(pairs_of(loaded.edges), "0>1 1>2 ");
  EXPECT_TRUE(loaded.info.undirected);
}

TEST_F(DimacsTest, RefusesAnUnknownProblem) {
  expect_refused(file("g.gr", "p edge 3 2\ne 1 2\n"), ":1: ", "'edge'");
  expect_refused(file("g.gr", "c\np sp 3\n"), ":2: ", "problem line");
}

TEST_F(DimacsTest, RefusesUnknownLines) {
  expect_refused(file("g.gr", "p sp 3 1\n1 2 3\n"), ":2: ", "'1' cannot begin a line");
  expect_refused(file("g.gr", "0 1\n"), ":1: ", "'0' cannot begin a line");
}

TEST_F(DimacsTest, RefusesASecondProblemLine) {
  expect_refused(file("g.gr", "a 1 2 3\np sp 3 1\n"), ":2: ", "unexpected 'p' line");
}

TEST_F(DimacsTest, RefusesAnArcCountThatDoesNotMatch) {
  expect_refused(file("g.gr", "p sp 3 2\na 1 2 3\n"), ": ", "declares 2 edges, but 1");
}

TEST_F(DimacsTest, RefusesIdsOutsideTheDeclaredRange) {
  expect_refused(file("g.gr", "p sp 3 1\na 0 2 3\n"), ":2: ", "id 0");
  expect_refused(file("g.gr", "p sp 3 1\na 4 2 3\n"), ":2: ", "id 4 is beyond");
}

TEST_F(DimacsTest, RefusesNegativeWeights) {
  expect_refused(file("g.gr", "p sp 3 1\na 1 2 -3\n"), ":2: ", "negative", with_weights());
}

TEST_F(DimacsTest, RefusesWeightsThatPaceLacks) {
  expect_refused(file("g.gr", "p tw 3 1\n1 2\n"), ":1: ", "bare edges", with_weights());
}

}  // namespace
}  // namespace sluice::io::testing
