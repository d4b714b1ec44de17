// Real graphs compared with counts that were measured independently of these readers.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "io/readers/readers_support.hpp"
#include "io/real_graph_counts.hpp"

namespace sluice::io::testing {
namespace {

using nlohmann::json;

const std::filesystem::path kData = paths::kSharedData;

struct Counts {
  std::uint64_t edges = 0, least = ~0ull, largest = 0, distinct = 0;
  std::uint64_t loops = 0;  ///< distinct self-loops, as the JSON counts them
  friend bool operator==(const Counts&, const Counts&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Counts& c) {
    return out << c.edges << " edges, ids " << c.least << ".." << c.largest << ", " << c.distinct
               << " distinct, " << c.loops << " loops";
  }
};

/// `listed_twice`: the file lists both directions of an edge (METIS), but the reader emits one. Such an edge
/// counts twice.
Counts count(const EdgeBatch& edges, bool listed_twice) {
  Counts c;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> arcs;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto [u, v] = arcs.emplace_back(edges.source[i], edges.target[i]);
    c.least = std::min({c.least, u, v});
    c.largest = std::max({c.largest, u, v});
    if (listed_twice && u != v) arcs.emplace_back(v, u);
  }
  c.edges = arcs.size();
  std::sort(arcs.begin(), arcs.end());
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  c.distinct = arcs.size();
  for (const auto& [u, v] : arcs) c.loops += u == v;
  return c;
}

/// The JSON has the ids of the file; readers subtract 1 in formats whose ids begin at 1.
Counts expected_of(const json& entry) {
  const json& stat = entry.at("stat");
  const std::string kind = entry.at("kind");
  const bool from_one =
      kind == "mtx" || kind == "metis" || kind == "pace" || (kind == "dimacs" && stat.at("hn") > 0);
  return {stat.at("edge_lines"), stat.at("minid").get<std::uint64_t>() - from_one,
          stat.at("maxid").get<std::uint64_t>() - from_one, stat.at("distinct_arcs"), stat.at("selfloops")};
}

class RealGraphsTest : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_REAL_GRAPHS(counts_); }
  const json counts_ = test::real_graph_counts();
};

TEST_F(RealGraphsTest, GiveTheCountsThatWereMeasured) {
  ReadOptions options;
  options.threads = 2;
  options.batch_bytes = 300'000;  // several blocks in most files

  std::size_t read = 0;
  for (const auto& [name, entry] : counts_.items()) {
    if (name.starts_with("quirks/") || entry.at("kind") == "tntp") continue;
    SCOPED_TRACE(name);
    const Loaded loaded = load(kData / name, options);
    EXPECT_EQ(count(loaded.edges, entry.at("kind") == "metis"), expected_of(entry));
    ++read;
  }
  EXPECT_GT(read, 30u);
}

TEST_F(RealGraphsTest, AreRefusedWhereTheFormatIsUnknown) {
  expect_refused(kData / "ChicagoRegional_net.tntp.gz", ": ", "no known format");
}

TEST_F(RealGraphsTest, KeepTimesAndRefuseRatingsAsWeights) {
  const auto path = kData / "soc-sign-bitcoinotc.csv.gz";

  const Loaded timed = load(kData / "CollegeMsg.txt.gz", with_times());

  EXPECT_EQ(timed.edges.time.front(), 1082040961);
  EXPECT_EQ(timed.edges.time.size(), 59835u);
  EXPECT_NE(refusal(path, with_weights()).find("negative"), std::string::npos);
}

TEST_F(RealGraphsTest, RemarkOnTitlesAndMissingHeaders) {
  EXPECT_NE(load(kData / "musae-lastfm_edges.csv.gz").remark.find("title"), std::string::npos);
  EXPECT_NE(load(kData / "ego-twitter-undirected.jlg.csv.gz").remark.find("title"), std::string::npos);
  EXPECT_NE(load(kData / "bremen_dist.gr.gz").remark.find("no 'p' line"), std::string::npos);
  EXPECT_EQ(load(kData / "rome99.gr.gz").remark,
            "column 3 was not read (--weights column or --timestamps reads it)");
  EXPECT_EQ(load(kData / "rome99.gr.gz", with_weights()).remark, "");
}

/// The expected result of each unusual file: its number of edges, or a refusal that contains the text.
struct Quirk {
  std::uint64_t edges;
  std::string refused;
};

const std::map<std::string, Quirk> kQuirks = {
    {"4.el", {256, ""}},
    {"4.gr", {256, ""}},
    {"4.graph", {0, "lacks the vertex's own 1 numbers"}},  // fmt 100, but no vertex sizes
    {"4.mtx", {256, ""}},
    {"4.wel", {256, ""}},
    {"4w.graph", {0, "listed at both ends, but 53"}},  // arcs of a directed graph, each listed once
    {"4w.mtx", {256, ""}},
    {"as20000102.txt.gz", {13895, ""}},
    {"celegans_metabolic.graph", {4050, ""}},
    {"chesapeake.mtx", {170, ""}},
    {"cugraph-dolphins.mtx", {159, ""}},
    {"cugraph-karate.mtx", {78, ""}},
    {"cugraph-netscience.mtx", {2742, ""}},
    {"dolphins_multi_edge.csv", {325, ""}},
    {"dolphins_s_loop.csv", {321, ""}},
    {"example_weighted.graph", {656, ""}},
    {"graph_23rd.gr.gz", {5170, ""}},
    {"jazz.graph", {5484, ""}},
    {"karate-disjoint.csv", {312, ""}},
    {"karate_multi_edge.csv", {160, ""}},
    {"karate_s_loop.csv", {160, ""}},
    {"karate_str.mtx", {0, "banner"}},
    {"karate_undirected.csv", {78, ""}},
    {"lagraph/A2.mtx", {15, ""}},
    {"lagraph/LFAT5.mtx", {30, ""}},
    {"lagraph/LFAT5_two.mtx", {60, ""}},
    {"lagraph/comments_cover.mtx", {12, ""}},
    {"lagraph/comments_full.mtx", {0, "'array'"}},
    {"lagraph/comments_west0067.mtx", {295, ""}},
    {"lagraph/complex.mtx", {0, "'array'"}},
    {"lagraph/cover.mtx", {12, ""}},
    {"lagraph/cover_structure.mtx", {12, ""}},
    {"lagraph/full_symmetric.mtx", {0, "'array'"}},
    {"lagraph/jagmesh7.mtx", {4294, ""}},
    {"lagraph/karate.mtx", {78, ""}},
    {"lagraph/ldbc-directed-example-bool.mtx", {17, ""}},
    {"lagraph/ldbc-directed-example-unweighted.mtx", {17, ""}},
    {"lagraph/ldbc-directed-example.mtx", {17, ""}},
    {"lagraph/ldbc-undirected-example.mtx", {12, ""}},
    {"lagraph/lp_afiro.mtx", {0, "27 by 51"}},
    {"lagraph/lp_afiro_structure.mtx", {0, "27 by 51"}},
    {"lagraph/mangled1.mtx", {0, "'mangled'"}},
    {"lagraph/mangled2.mtx", {0, "the layout 'mangled'"}},
    {"lagraph/mangled3.mtx", {0, "values of kind 'mangled'"}},
    {"lagraph/mangled4.mtx", {0, "the symmetry 'mangled'"}},
    {"lagraph/mangled5.mtx", {0, "'hermitian'"}},
    {"lagraph/mangled6.mtx", {0, "'hermitian'"}},
    {"lagraph/mangled7.mtx", {0, "value is missing"}},
    {"lagraph/mangled8.mtx", {0, "size line is '3'"}},
    // Only the ranges of a type in a comment of GraphBLAS are damaged, so the file is valid Matrix Market.
    {"lagraph/mangled_bool.mtx", {12, ""}},
    {"lagraph/mangled_format.mtx", {0, "'array'"}},
    {"lagraph/mangled_int8.mtx", {12, ""}},
    {"lagraph/mangled_skew.mtx", {0, "'skew-symmetric'"}},
    {"lagraph/matrix_bool.mtx", {12, ""}},
    {"lagraph/matrix_fp32.mtx", {12, ""}},
    {"lagraph/matrix_fp32_structure.mtx", {12, ""}},
    {"lagraph/matrix_fp64.mtx", {12, ""}},
    {"lagraph/matrix_int64.mtx", {12, ""}},
    {"lagraph/matrix_int8.mtx", {12, ""}},
    {"lagraph/matrix_uint64.mtx", {12, ""}},
    {"lagraph/sample.mtx", {12, ""}},
    {"lagraph/skew_fp64.mtx", {0, "'skew-symmetric'"}},
    {"lagraph/skew_int16.mtx", {0, "'skew-symmetric'"}},
    {"lagraph/structure.mtx", {12, ""}},
    {"lagraph/tree-example.mtx", {5, ""}},
    {"lagraph/west0067.mtx", {294, ""}},
    {"lagraph/west0067_jumbled.mtx", {294, ""}},
    {"lagraph/west0067_noheader.mtx", {0, "banner"}},
    {"lesmis.graph", {508, ""}},
    {"monaco.wel.gz", {4263, ""}},
    {"negative-vertex-id.csv", {0, "negative"}},
    {"power.graph.gz", {13188, ""}},
    {"rMatGraph_J_5_100", {0, "Ligra"}},
    {"rmat10.el.gz", {20992, ""}},
    {"tiny_01.graph", {22, ""}},
    {"tiny_02.graph", {22, ""}},
    {"tiny_03.graph", {22, ""}},
    {"tiny_04.graph", {22, ""}},  // three weights a vertex; the JSON counts them as neighbours
};

TEST_F(RealGraphsTest, HaveAnExpectationForEveryQuirk) {
  std::set<std::string> files, expected;
  for (const auto& [name, entry] : counts_.items())
    if (name.starts_with("quirks/")) files.insert(name.substr(7));
  for (const auto& [name, quirk] : kQuirks) expected.insert(name);

  EXPECT_EQ(files, expected);
}

TEST_F(RealGraphsTest, ReadQuirksRightlyOrRefuseThem) {
  for (const auto& [name, quirk] : kQuirks) {
    SCOPED_TRACE(name);
    const std::string path = kData / "quirks" / name;
    if (!quirk.refused.empty()) {
      expect_refused(path, ":", quirk.refused);
      continue;
    }
    const json& entry = counts_.at("quirks/" + name);
    const Counts counts = count(load(path).edges, entry.at("kind") == "metis");
    EXPECT_EQ(counts.edges, quirk.edges);
    if (entry.at("stat").is_object() && name != "tiny_04.graph") {
      EXPECT_EQ(counts, expected_of(entry));
    }
  }
}

TEST_F(RealGraphsTest, RefuseQuirksWhoseValuesAreNoWeights) {
  const std::map<std::string, std::string> bad_weights = {
      {"comments_west0067.mtx", "NaN"},    {"matrix_fp32.mtx", "infinite"},  {"matrix_fp64.mtx", "infinite"},
      {"matrix_int64.mtx", "negative"},    {"mangled_int8.mtx", "negative"}, {"LFAT5.mtx", "negative"},
      {"cover_structure.mtx", "no values"}};

  for (const auto& [name, what] : bad_weights)
    expect_refused(kData / "quirks/lagraph" / name, ":", what, with_weights());
}

}  // namespace
}  // namespace sluice::io::testing
