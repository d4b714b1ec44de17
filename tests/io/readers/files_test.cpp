// Properties of files of any format: compression, binary pairs, detection, blocks and threads.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "io/readers/readers_support.hpp"

namespace sluice::io::testing {
namespace {

using FileTest = ReadersTest;
using BinaryTest = ReadersTest;
using DetectTest = ReadersTest;
using BlocksTest = ReadersTest;

template <class Id>
std::string raw(const std::vector<Id>& ids) {
  std::string bytes(ids.size() * sizeof(Id), '\0');
  std::memcpy(bytes.data(), ids.data(), bytes.size());
  return bytes;
}

/// A few thousand edges on lines of many lengths, with comments between them.
std::string long_text() {
  std::string text = "# head\n";
  std::uint64_t x = 1;
  for (int i = 0; i < 5000; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    text += std::to_string(x >> (20 + x % 40)) + (i % 3 ? " " : "\t") + std::to_string(x % 1000);
    text += i % 7 ? "\n" : "\r\n";
    if (i % 50 == 0) text += "% comment " + std::string(i % 200, '-') + "\n\n";
  }
  return text;
}

TEST_F(FileTest, ReadsGzipAndItsProgress) {
  const auto path = file("g.txt.gz", gzip(long_text()));

  const auto source = open_edge_file(path, {});
  EdgeBatch batch;
  while (source->next(batch)) {
  }

  EXPECT_EQ(source->progress().first, std::filesystem::file_size(path));
  EXPECT_EQ(source->progress().second, std::filesystem::file_size(path));
  EXPECT_EQ(pairs_of(load(path).edges), pairs_of(load(file("g.txt", long_text())).edges));
}

TEST_F(FileTest, ReadsGzipMembersThatFollowOneAnother) {
  EXPECT_EQ(pairs_of(load(file("g.txt.gz", gzip("0 1\n1 ") + gzip("2\n") + gzip("2 3\n"))).edges),
            "0>1 1>2 2>3 ");
}

TEST_F(FileTest, ReadsGzipPaddedWithZeros) {
  EXPECT_EQ(pairs_of(load(file("g.txt.gz", gzip("0 1\n") + std::string(512, '\0'))).edges), "0>1 ");
}

TEST_F(FileTest, RefusesGzipThatIsCutOff) {
  const std::string whole = gzip(long_text());
  for (const std::size_t size :
       {whole.size() - 1, whole.size() - 8, whole.size() / 2, std::size_t{12}, std::size_t{5}})
    expect_refused(file("g.txt.gz", whole.substr(0, size)), ": ", "are truncated");
}

TEST_F(FileTest, RefusesGzipThatIsDamaged) {
  std::string packed = gzip(long_text());
  packed[packed.size() - 6] ^= 1;  // in the checksum
  expect_refused(file("g.txt.gz", packed), ": ", "damaged");
}

TEST_F(FileTest, RefusesGarbageBehindGzip) {
  expect_refused(file("g.txt.gz", gzip("0 1\n") + "garbage"), ": ", "something other than gzip");
}

TEST_F(FileTest, RefusesPlainTextNamedGz) {
  expect_refused(file("g.txt.gz", "0 1\n"), ": ", "no gzip data");
}

TEST_F(FileTest, RefusesAMissingFile) {
  expect_refused(folder_ / "none.txt", ": ", "No such file");
}

TEST_F(FileTest, RefusesAFolder) {
  expect_refused(folder_.path(), ": ", "is a folder");
}

TEST_F(FileTest, RefusesAFileThatMayNotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "the superuser may read every file";
  const auto path = file("g.txt", "0 1\n");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  expect_refused(path, ": ", "Permission denied");
}

TEST_F(FileTest, RefusesAnEmptyFile) {
  expect_refused(file("g.txt", ""), ": ", "is empty");
  expect_refused(file("g.txt.gz", gzip("")), ": ", "is empty");
}

TEST_F(FileTest, RefusesAFileWithoutEdges) {
  for (const char* name : {"g.txt", "g.unknown", "g.gr", "g.graph"})
    expect_refused(file(name, "\n\n"), ": ", "holds no edges");
  expect_refused(file("g.txt", "# only\n% comments"), ": ", "holds no edges");
}

TEST_F(BinaryTest, ReadsPairsOf32BitsByDefault) {
  const auto bytes = raw<std::uint32_t>({0, 1, 4294967295u, 7});

  for (const char* name : {"g.bin", "g.u32"})
    EXPECT_EQ(pairs_of(load(file(name, bytes)).edges), "0>1 4294967295>7 ");
  EXPECT_EQ(pairs_of(load(file("g.bin.gz", gzip(bytes))).edges), "0>1 4294967295>7 ");
}

TEST_F(BinaryTest, ReadsPairsOf64BitsByName) {
  const auto path = file("g.u64", raw<std::uint64_t>({1, 2, 1ull << 40, 3}));

  for (const std::size_t batch : {1, 16, 24, 1000}) {
    ReadOptions options;
    options.batch_bytes = batch;
    EXPECT_EQ(pairs_of(load(path, options).edges), "1>2 1099511627776>3 ");
  }
}

TEST_F(BinaryTest, RefusesASizeThatIsNoWholePair) {
  expect_refused(file("g.u32", std::string(12, '\1')), ": ", "no whole pair of 32-bit ids");
  expect_refused(file("g.u64", std::string(24, '\1')), ": ", "no whole pair of 64-bit ids");
  expect_refused(file("g.bin.gz", gzip(std::string(15, '\1'))), ": ", "no whole pair");
}

TEST_F(BinaryTest, RefusesIdsThatAreTooLarge) {
  expect_refused(file("g.u64", raw<std::uint64_t>({1, 2, 1ull << 63, 3})), ": ", "edge 1 has an id");
}

TEST_F(BinaryTest, RefusesWeightsItLacks) {
  expect_refused(file("g.bin", raw<std::uint32_t>({0, 1})), ": ", "neither weights", with_weights());
}

TEST_F(BinaryTest, RemarksOn64BitIdsTakenFor32) {
  const auto path = file("g.bin", raw<std::uint64_t>({1, 2, 3, 4}));
  EXPECT_NE(load(path).remark.find("name the file .u64"), std::string::npos);
}

TEST_F(DetectTest, TellsOneGraphInAllFormatsAlike) {
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  const std::vector<std::pair<std::string, std::string>> forms = {
      {"g.el", "0 1\n0 2\n1 3\n"},
      {"g.csv", "src,dst\n0,1\n0,2\n1,3\n"},
      {"g.txt", "# c\n0\t1\n0\t2\n1\t3\n"},
      {"noname", "0 1 1\n0 2 1\n1 3 1\n"},
      {"g.mtx", banner + "pattern symmetric\n4 4 3\n1 2\n1 3\n2 4\n"},
      {"r.mtx", banner + "real general\n4 4 3\n1 2 1\n1 3 1\n2 4 1\n"},
      {"g.gr", "p sp 4 3\na 1 2 1\na 1 3 1\na 2 4 1\n"},
      {"zero.gr", "a 0 1 1\na 0 2 1\na 1 3 1\n"},
      {"pace.gr", "p tw 4 3\n1 2\n1 3\n2 4\n"},
      {"named.txt", "c x\np sp 4 3\na 1 2 1\na 1 3 1\na 2 4 1\n"},
      {"g.graph", "4 3\n2 3\n1 4\n1\n2\n"},
      {"g.u32", raw<std::uint32_t>({0, 1, 0, 2, 1, 3})},
      {"g.u64", raw<std::uint64_t>({0, 1, 0, 2, 1, 3})},
  };

  for (const auto& [name, content] : forms) {
    for (const bool packed : {false, true}) {
      const Loaded loaded = load(packed ? file(name + ".gz", gzip(content)) : file(name, content));
      std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
      for (std::size_t i = 0; i < loaded.edges.size(); ++i)
        edges.push_back(std::minmax(loaded.edges.source[i], loaded.edges.target[i]));
      std::sort(edges.begin(), edges.end());
      edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
      EXPECT_EQ(edges, (decltype(edges){{0, 1}, {0, 2}, {1, 3}})) << name;
    }
  }
}

TEST_F(DetectTest, RefusesLigraGraphs) {
  expect_refused(file("g", "AdjacencyGraph\n2\n1\n"), ": ", "Ligra");
}

TEST_F(DetectTest, RefusesHdf5Files) {
  expect_refused(file("g.h5", "\x89HDF\r\n\x1a\n"), ": ", "HDF5");
}

TEST_F(DetectTest, RefusesBytesThatAreNoText) {
  expect_refused(file("g.dat", std::string("\1\0\0\0\2\0\0\0", 8)), ": ", "no text");
}

TEST_F(DetectTest, RefusesWhatItDoesNotKnow) {
  expect_refused(file("g.xyz", "<graph>\n"), ": ", "name the format");
  expect_refused(file("g.xyz", "graph {\n a -- b\n}\n"), ": ", "name the format");
}

TEST_F(BlocksTest, AreTheSameForAnySizeAndAnyThreads) {
  const auto text = file("g.txt", long_text());
  const auto packed = file("g2.txt.gz", gzip(long_text()));
  const std::string expected = pairs_of(load(text).edges);

  for (const std::size_t bytes : {1, 7, 64, 1000, 4096, 65536}) {
    for (const unsigned threads : {1u, 2u, 5u}) {
      ReadOptions options;
      options.batch_bytes = bytes;
      options.threads = threads;
      EXPECT_EQ(pairs_of(load(text, options).edges), expected)
          << bytes << " bytes, " << threads << " threads";
      EXPECT_EQ(pairs_of(load(packed, options).edges), expected)
          << bytes << " bytes, " << threads << " threads";
    }
  }
}

TEST_F(BlocksTest, NumberVerticesAcrossMetisBlocks) {
  std::string text = "2000 1000 10\n";
  for (int v = 1; v <= 2000; ++v)
    text += (v % 100 ? "" : "% c\n") + std::string("1 ") + std::to_string(v % 2 ? v + 1 : v - 1) + "\n";
  const auto path = file("g.graph", text + "\n\n");
  const std::string expected = pairs_of(load(path).edges);

  for (const std::size_t bytes : {1, 50, 777}) {
    ReadOptions options;
    options.batch_bytes = bytes;
    options.threads = 3;
    EXPECT_EQ(pairs_of(load(path, options).edges), expected) << bytes;
  }
}

TEST_F(BlocksTest, CutMetisListsThatAreLonger) {
  // A weighted star with two self-loops far apart: the list of the first names it twice, the other once.
  std::string text = "300 302 011\n", leaves;
  std::string hub = "9 1 3";
  for (int v = 2; v <= 300; ++v) {
    const std::string weight = std::to_string(v % 7);
    hub += "  " + std::to_string(v) + " " + weight;
    leaves += "8 1 " + weight + (v == 200 ? " 200 5" : "") + (v % 50 ? "\n" : "\r\n% c\n");
  }
  const auto path = file("g.graph", text + hub + " 1 3 \n" + leaves);
  const auto sorted = [&](const ReadOptions& options) {
    const Loaded loaded = load(path, options);
    std::vector<std::tuple<std::uint64_t, std::uint64_t, float>> edges;
    for (std::size_t i = 0; i < loaded.edges.size(); ++i)
      edges.emplace_back(loaded.edges.source[i], loaded.edges.target[i], loaded.edges.weight[i]);
    std::sort(edges.begin(), edges.end());
    return std::pair(edges, loaded.remark);
  };
  ReadOptions options = with_weights();
  const auto expected = sorted(options);
  ASSERT_EQ(expected.first.size(), 301u);

  for (std::size_t bytes = 1; bytes <= 400; ++bytes) {
    options.batch_bytes = bytes;
    options.threads = 1 + bytes % 3;
    ASSERT_EQ(sorted(options), expected) << bytes;
  }
  for (const std::size_t bytes : {1, 20, 300}) {
    options.batch_bytes = bytes;
    expect_refused(file("h.graph", text + hub + " 1 x\n" + leaves), ":2: ", "'x'", options);
    expect_refused(file("i.graph", text + hub + " 1 3\n" + leaves + "8 0 1\n"), ":308: ", "neighbour 0",
                   options);
  }
}

TEST_F(BlocksTest, NameTheExactLineOfAFault) {
  std::string text = "# head\n";
  for (int i = 0; i < 3000; ++i) text += i % 10 ? "1 2\n" : "\n# c\n1 2\r\n";
  const std::size_t line = 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const auto path = file("g.txt", text + "1 x\n2 y\n");

  for (const std::size_t bytes : {1, 33, 512, 1 << 20}) {
    for (const unsigned threads : {1u, 4u}) {
      ReadOptions options;
      options.batch_bytes = bytes;
      options.threads = threads;
      expect_refused(path, fmt::format(":{}: ", line), "'x' is not a number", options);
    }
  }
}

TEST_F(BlocksTest, MayBeAbandonedHalfway) {
  ReadOptions options;
  options.batch_bytes = 100;
  options.threads = 3;
  const auto source = open_edge_file(file("g.txt", long_text()), options);
  EdgeBatch batch;

  EXPECT_TRUE(source->next(batch));
  // The destructor stops the reader and the parsers.
}

TEST_F(BlocksTest, EndMoreThanOnce) {
  const auto source = open_edge_file(file("g.txt", "0 1\n"), {});
  EdgeBatch batch;

  EXPECT_TRUE(source->next(batch));
  EXPECT_FALSE(source->next(batch));
  EXPECT_FALSE(source->next(batch));
}

}  // namespace
}  // namespace sluice::io::testing
