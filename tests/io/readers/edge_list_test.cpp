#include <cmath>
#include <vector>

#include "io/readers/readers_support.hpp"

namespace sluice::io::testing {
namespace {

using EdgeListTest = ReadersTest;

TEST_F(EdgeListTest, ReadsCommentsSeparatorsAndLineEndsOfAllKinds) {
  const auto path = file("g.txt", "# a comment\r\n% another\n\n0 1\r\n1\t2\n2,3\n 3 , 4 \n\t4\t \t5\t\n5 6");

  const Loaded loaded = load(path);

  EXPECT_EQ(pairs_of(loaded.edges), "0>1 1>2 2>3 3>4 4>5 5>6 ");
  EXPECT_FALSE(loaded.info.undirected);
  EXPECT_FALSE(loaded.info.vertices.has_value());
  EXPECT_EQ(loaded.info.origin, "g.txt");
  EXPECT_EQ(loaded.remark, "");
}

TEST_F(EdgeListTest, IgnoresFurtherColumnsWithoutWeights) {
  const auto path = file("g.el", "0 1 -5 x\n1 2 nan y\n");

  EXPECT_EQ(pairs_of(load(path).edges), "0>1 1>2 ");
}

TEST_F(EdgeListTest, SaysWhichColumnItLeaves) {
  const auto path = file("g.el", "0 1 5 7\n1 2 6 8\n");
  ReadOptions times;
  times.timestamps = true;
  ReadOptions both = with_weights();
  both.timestamps = true;

  EXPECT_EQ(load(path).remark, "column 3 was not read (--weights column or --timestamps reads it)");
  EXPECT_EQ(load(path, with_weights()).remark, "column 4 was not read (--timestamps reads it)");
  EXPECT_NE(load(path, times).remark.find("column 4 was not read"), std::string::npos);
  EXPECT_EQ(load(path, both).remark, "");
}

TEST_F(EdgeListTest, SkipsAByteOrderMark) {
  EXPECT_EQ(pairs_of(load(file("g.csv",
                               "\xef\xbb\xbf"
                               "7,8\n"))
                         .edges),
            "7>8 ");
}

TEST_F(EdgeListTest, ReadsTheLargestIdAndLeadingZeros) {
  const auto path = file("g.el", "9223372036854775807 000000000000000000000012\n");

  EXPECT_EQ(pairs_of(load(path).edges), "9223372036854775807>12 ");
}

TEST_F(EdgeListTest, SkipsATitleOfNamesWithARemark) {
  const Loaded loaded = load(file("g.csv", "# made by hand\nid_1,id_2\n0,1\n1,2\n"));

  EXPECT_EQ(pairs_of(loaded.edges), "0>1 1>2 ");
  EXPECT_NE(loaded.remark.find("line 2 ('id_1,id_2')"), std::string::npos) << loaded.remark;
}

TEST_F(EdgeListTest, SkipsATitleThatBeginsWithCounts) {
  const Loaded loaded = load(file("g.csv", "3,2,u,graph\n1,2\n2,3\n"));

  EXPECT_EQ(pairs_of(loaded.edges), "1>2 2>3 ");
  EXPECT_NE(loaded.remark.find("read as a title"), std::string::npos) << loaded.remark;
}

TEST_F(EdgeListTest, KeepsAFirstEdgeWithTextBehindIt) {
  for (const char* lines : {"0 1 friend\n1 2 foe\n", "0 1 # the first\n1 2\n", "0 1\n1 2 %last\n"}) {
    const Loaded loaded = load(file("g.txt", lines));

    EXPECT_EQ(pairs_of(loaded.edges), "0>1 1>2 ") << lines;
    EXPECT_EQ(loaded.remark, "") << lines;
  }
}

TEST_F(EdgeListTest, RemarksOnALineThatMayCountTheEdges) {
  const Loaded loaded = load(file("g.txt", "4 3\n0 1\n1 2\n2 3\n"));

  EXPECT_EQ(loaded.edges.size(), 4u);
  EXPECT_NE(loaded.remark.find("exactly 3 edges follow"), std::string::npos) << loaded.remark;
}

TEST_F(EdgeListTest, RemarksOnABannerlessSizeLine) {
  ReadOptions forced;
  forced.format = EdgeFormat::edges;

  const Loaded loaded = load(file("g.mtx", "3 3 2\n1 2 0.5\n2 3 0.5\n"), forced);

  EXPECT_NE(loaded.remark.find("exactly 2 edges follow"), std::string::npos) << loaded.remark;
}

TEST_F(EdgeListTest, DoesNotSuspectAnEdgeThatCountsNothing) {
  EXPECT_EQ(load(file("g.txt", "0 3\n0 1\n1 2\n2 3\n")).remark, "");
}

TEST_F(EdgeListTest, ReadsWeights) {
  const auto path =
      file("g.wel", "0 1 2\n1,2,.5\n2 3 1e-3 ignored\n3 4 -0.0\n4 5 +7.25\n5 6 18446744073709551615\n");

  const Loaded loaded = load(path, with_weights());

  EXPECT_EQ(loaded.edges.weight, (ChargedVector<float>{2, .5f, 1e-3f, 0, 7.25f, 18446744073709551615.f}));
  EXPECT_FALSE(std::signbit(loaded.edges.weight[3]));
  EXPECT_TRUE(loaded.info.weighted);
}

TEST_F(EdgeListTest, ReadsTimesFromTheThirdColumn) {
  const Loaded loaded = load(file("g.txt", "0 1 1082040961\n1 2 -5\n2 3 12.0\n"), with_times());

  EXPECT_EQ(loaded.edges.time, (ChargedVector<std::int64_t>{1082040961, -5, 12}));
  EXPECT_EQ(loaded.remark, "");
}

TEST_F(EdgeListTest, ReadsTimesBehindWeights) {
  const ReadOptions both{.weights = WeightColumn::column, .timestamps = true};

  const Loaded loaded = load(file("g.csv", "6,2,4,1289241911.72836\n6,5,2,1289241941\n"), both);

  EXPECT_EQ(loaded.edges.time, (ChargedVector<std::int64_t>{1289241911, 1289241941}));
  EXPECT_EQ(loaded.edges.weight, (ChargedVector<float>{4, 2}));
  EXPECT_NE(loaded.remark.find("fractions of a second"), std::string::npos) << loaded.remark;
}

TEST_F(EdgeListTest, RefusesATokenThatIsNoNumber) {
  expect_refused(file("g.txt", "0 1\n# c\n\n1 zwei\n"), ":4: ", "'zwei' is not a number");
}

TEST_F(EdgeListTest, RefusesNamesInsteadOfIds) {
  expect_refused(file("g.txt", "anna bert\nbert carl\n"), ":1: ", "'anna' is not a number");
}

TEST_F(EdgeListTest, RefusesANegativeId) {
  expect_refused(file("g.txt", "0 1\n2 -3\n"), ":2: ", "negative");
}

TEST_F(EdgeListTest, RefusesAFractionalId) {
  expect_refused(file("g.txt", "0 1\n1.5 2\n"), ":2: ", "not a whole number");
  expect_refused(file("g.txt", "0 1\n1.0 2\n"), ":2: ", "not a whole number");
  expect_refused(file("g.txt", "0 1\n1e3 2\n"), ":2: ", "not a whole number");
}

TEST_F(EdgeListTest, RefusesAnIdThatIsTooLarge) {
  expect_refused(file("g.txt", "0 1\n0 9223372036854775808\n"), ":2: ", "too large");
  expect_refused(file("g.txt", "0 1\n99999999999999999999999999 0\n"), ":2: ", "too large");
  expect_refused(file("g.txt", "0 1\n18446744073709551616 0\n"), ":2: ", "too large");
}

TEST_F(EdgeListTest, RefusesALineWithOneColumn) {
  expect_refused(file("g.txt", "0 1\n5\n"), ":2: ", "one column");
  expect_refused(file("g.txt", "17\n0 1\n"), ":1: ", "one column");
  expect_refused(file("g.txt", "0 1\n5,\n"), ":2: ", "one column");
}

TEST_F(EdgeListTest, RefusesAnEmptyColumn) {
  expect_refused(file("g.csv", "0,1\n1,,2\n"), ":2: ", "column is empty");
}

TEST_F(EdgeListTest, RefusesAStrayCarriageReturn) {
  expect_refused(file("g.txt", "0 1\r1 2\r2 3\r"), ":1: ", "carriage return");
}

TEST_F(EdgeListTest, RefusesANegativeWeight) {
  expect_refused(file("g.csv", "0,1,4\n0,2,-10\n"), ":2: ", "weight '-10' is negative", with_weights());
}

TEST_F(EdgeListTest, RefusesAWeightThatIsNaN) {
  expect_refused(file("g.csv", "0 1 4\n0 2 nan\n"), ":2: ", "NaN", with_weights());
}

TEST_F(EdgeListTest, RefusesAnInfiniteWeight) {
  expect_refused(file("g.csv", "0 1 4\n0 2 inf\n"), ":2: ", "infinite", with_weights());
  expect_refused(file("g.csv", "0 1 4\n0 2 -inf\n"), ":2: ", "infinite", with_weights());
}

TEST_F(EdgeListTest, RefusesAWeightThatFitsNoFloat) {
  expect_refused(file("g.csv", "0 1 4\n0 2 1e39\n"), ":2: ", "32-bit float", with_weights());
  expect_refused(file("g.csv", "0 1 4\n0 2 1e-60\n"), ":2: ", "32-bit float", with_weights());
}

TEST_F(EdgeListTest, RefusesAMissingWeight) {
  expect_refused(file("g.csv", "0 1 4\n0 2\n"), ":2: ", "weight is missing", with_weights());
}

TEST_F(EdgeListTest, RefusesAWeightThatIsNoNumber) {
  expect_refused(file("g.csv", "0 1 4\n0 2 heavy\n"), ":2: ", "weight 'heavy' is not a number",
                 with_weights());
}

TEST_F(EdgeListTest, RefusesAMissingOrMalformedTime) {
  expect_refused(file("g.txt", "0 1 4\n0 2\n"), ":2: ", "time is missing", with_times());
  expect_refused(file("g.txt", "0 1 4\n0 2 noon\n"), ":2: ", "time 'noon'", with_times());
  expect_refused(file("g.txt", "0 1 4\n0 2 9223372036854775808\n"), ":2: ", "64 bits", with_times());
}

TEST_F(EdgeListTest, RefusesALineWithoutEnd) {
  const std::string endless(70 << 20, '1');
  const auto first = file("first.txt.gz", gzip(endless)),
             second = file("second.txt.gz", gzip("0 1\n" + endless));

  expect_refused(first, ":1: ", "longer than");
  expect_refused(second, ":2: ", "longer than");
}

TEST_F(EdgeListTest, ReadsALineFarLongerThanABlock) {
  ReadOptions small;
  small.batch_bytes = 16;
  const std::string comment = "# " + std::string(4 << 20, 'x') + "\n";

  EXPECT_EQ(pairs_of(load(file("g.txt", "0 1\n" + comment + "1 2\n" + comment), small).edges), "0>1 1>2 ");
}

TEST_F(EdgeListTest, NamesUnprintableBytesSafely) {
  expect_refused(file("g.txt", "0 1\n0 \x1b[31m\n"), ":2: ", "'\\x1b[31m'");
}

TEST_F(EdgeListTest, GivesTheSameErrorAgainWhenAskedAgain) {
  const auto source = open_edge_file(file("g.txt", "0 1\nx y\n"), {});
  EdgeBatch batch;

  EXPECT_THROW(source->next(batch), InputError);
  EXPECT_THROW(source->next(batch), InputError);
}

}  // namespace
}  // namespace sluice::io::testing
