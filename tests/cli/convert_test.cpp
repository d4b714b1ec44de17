// `convert` of inputs that say more about a graph than its edges, and its messages.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/cli.hpp"

namespace sluice::test {
namespace {

class Convert : public CliTest {
 protected:
  /// Converts `text` and returns the messages.
  std::string convert(const std::string& name, const std::string& text, std::vector<std::string> more = {}) {
    write_file(at(name), text);
    more.insert(more.begin(), {"convert", at(name), at("out.h5"), "--force"});
    return run(more).err;
  }
  std::vector<std::int64_t> targets() const { return read_numbers(at("out.h5"), "out/indices"); }
};

const std::string kMetisSquare = "4 4\n2 4\n1 3\n2 4\n1 3\n";

TEST_F(Convert, MetisStoresAnEdgeOnceADirectionWithKeepDuplicates) {
  convert("square.graph", kMetisSquare);
  const auto once = targets();
  convert("square.graph", kMetisSquare, {"--keep-duplicates"});

  EXPECT_EQ(once, (std::vector<std::int64_t>{1, 3, 0, 2, 1, 3, 0, 2}));
  EXPECT_EQ(targets(), once);
}

TEST_F(Convert, MetisKeepsAndCountsTrueDuplicatesAlone) {
  const std::string doubled = "3 3\n2 3 2\n1 1\n1\n";

  EXPECT_EQ(convert("square.graph", kMetisSquare).find("dropped"), std::string::npos);
  EXPECT_NE(convert("doubled.graph", doubled).find("dropped: 0 self-loops, 1 duplicates"), std::string::npos);
  convert("doubled.graph", doubled, {"--keep-duplicates"});
  EXPECT_EQ(targets(), (std::vector<std::int64_t>{1, 1, 2, 0, 0, 0}));
}

TEST_F(Convert, NamesCompactWhereIdsBeginBehindZero) {
  const std::string line =
      "ids begin at 1: unused ids became vertices without edges, 2 in all, including vertex 0 "
      "(--compact drops them)\n";
  const std::string edges = "1 2\n2 4\n4 1\n";

  EXPECT_NE(convert("g.txt", edges).find(line), std::string::npos);
  EXPECT_EQ(convert("g.txt", edges, {"--compact"}).find("begin at"), std::string::npos);
  EXPECT_EQ(convert("g.txt", edges, {"--no-compact"}).find("begin at"), std::string::npos);
  EXPECT_EQ(convert("g.txt", edges, {"--quiet"}), "");
  EXPECT_EQ(convert("g.txt", "0 2\n2 4\n4 3\n").find("begin at"), std::string::npos);
  EXPECT_EQ(convert("g.txt", "1000 2000\n").find("begin at"), std::string::npos) << "compacted by itself";
  EXPECT_EQ(convert("g.gr", "p sp 3 1\na 2 3 1\n").find("begin at"), std::string::npos)
      << "declared vertices";
}

TEST_F(Convert, TheReportNamesWhereTheTimeWent) {
  std::string edges;
  for (int i = 0; i < 20000; ++i) edges += fmt::format("{} {}\n", i, i * 7919 % 20000);

  convert("g.txt", edges, {"--report", at("report.json")});

  const auto seconds = nlohmann::json::parse(read_file(at("report.json")))["seconds"];
  for (const char* key : {"load", "sort", "write"}) EXPECT_GT(seconds[key], 0) << key;
  const double named = seconds["load"].get<double>() + seconds["sort"].get<double>() +
                       seconds["write"].get<double>() + seconds["other"].get<double>();
  EXPECT_GE(named, 0.999 * seconds["total"].get<double>());
}

TEST_F(Convert, NamesUndirectedWhereATitleSaysSo) {
  const auto said_at = [&](const std::string& place, const std::string& text) {
    const std::string message = place + ": the title declares the graph undirected (--undirected ";
    EXPECT_NE(convert("g.txt", text).find(message), std::string::npos) << text;
    EXPECT_EQ(convert("g.txt", text, {"--undirected"}).find("title declares"), std::string::npos) << text;
  };
  said_at("g.txt:2", "# a network\n# Undirected graph: a.txt\n0 1\n1 2\n");
  said_at("g.txt:1", "% sym unweighted\n0 1\n1 2\n");
  said_at("g.txt:1", "3,2,u,graph\n0,1\n1,2\n");
  for (const std::string text :
       {"# Directed graph (each unordered pair is saved once)\n0 1\n1 2\n", "% asym unweighted\n0 1\n1 2\n",
        "3,2,d,graph\n0,1\n1,2\n", "0 1\n1 2\n", "0 1\n# undirected, but no title\n1 2\n"})
    EXPECT_EQ(convert("g.txt", text).find("title declares"), std::string::npos) << text;
}

}  // namespace
}  // namespace sluice::test
