// docs/performance.md, docs/papers.md and docs/goals.md are what sluice-bench writes from the reports.
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "bench/bench.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

class Page : public BenchTest {
 protected:
  const std::string source_ = paths::kSource, reports_ = source_ + "/tests/bench/reports",
                    peers_ = source_ + "/tests/bench/peers.json",
                    papers_ = source_ + "/tests/bench/papers.json";
};

TEST_F(Page, IsWrittenFromTheReports) {
  for (const std::string page : {"peers performance", "papers papers", "goals goals"}) {
    const std::string list = page.substr(0, page.find(' ')), name = page.substr(list.size() + 1);
    run_bench({"page", reports_, "--" + list, source_ + "/tests/bench/" + list + ".json", "--output",
               at(name + ".md")});

    EXPECT_EQ(read_file(at(name + ".md")), read_file(source_ + "/docs/" + name + ".md")) << fmt::format(
        "write it anew: sluice-bench page tests/bench/reports --{0} tests/bench/{0}.json --output "
        "docs/{1}.md --force",
        list, name);
  }
  const std::string figures = read_file(at("performance.md"));
  EXPECT_LE(std::count(figures.begin(), figures.end(), '\n'), 150);
}

TEST_F(Page, ShowsFiguresBesideLimitsAndPeers) {
  std::filesystem::create_directory(at("reports"));
  std::ofstream(at("reports/a.json"))
      << R"({"command": "pagerank", "options": {"device": "cuda", "scale": 22}, "device": "a GPU",
             "date": "2026-01-02", "commit": "abc", "limit: host to device [GB/s]": 55.5,
             "one iteration, f64 [G edges/s]": 164.82, "one iteration, f64: % of host to device": 88.2,
             "a figure of no family []": 1})";
  std::ofstream(at("reports/b.json"))
      << R"({"command": "scaling", "options": {"device": "cuda", "only": "bfs|sssp"}, "device": "a GPU", "ranks": 2,
             "date": "2026-01-02", "commit": "abc", "bfs, one rank [ms]": 3.0, "bfs [ms]": 2.0,
             "bfs: times one rank": 1.5})";
  std::ofstream(at("reports/c.json")) << R"({"command": "pagerank", "options": {}, "device": "another GPU",
                                             "date": "2026-01-02", "commit": "abc", "of no family []": 1})";
  std::ofstream(at("peers.json"))
      << R"([{"family": "pagerank", "figure": "an iteration", "sluice": "2 ms", "peer": "another",
              "value": "3 ms", "device": "a GPU", "source": "one run"}])";

  const std::string page =
      run_bench({"page", at("reports"), "--peers", at("peers.json"), "--output", "-"}).out;

  for (const char* part :
       {"1. a GPU, 2026-01-02, commit abc: `sluice-bench pagerank --device cuda --scale 22`. Limits: host to "
        "device 55.5 GB/s\n",
        "| one iteration, f64 | 164.8 G edges/s, 88% of host to device |\n",
        "commit abc: `mpirun -n 2 sluice-bench scaling --device cuda --only 'bfs|sssp'`\n",
        "| bfs | 2 ms, speed-up 1.5 |\n", "| an iteration | 2 ms | another: 3 ms | a GPU | one run |\n",
        "No report yet.\n"})
    EXPECT_NE(page.find(part), std::string::npos) << part << "\nin\n" << page;
  EXPECT_EQ(page.find("no family"), std::string::npos) << page;
  EXPECT_EQ(page.find("another GPU"), std::string::npos) << "no figure is from that run\n" << page;
}

TEST_F(Page, ShowsExperimentsBesideWhatWasPublished) {
  std::filesystem::create_directory(at("reports"));
  std::ofstream(at("reports/a.json"))
      << R"({"command": "papers", "options": {"device": "host", "threads": 2, "scale": 0, "repetitions": 3,
                                                 "graphs": "some"},
             "device": "host, 2 threads", "date": "2026-01-02", "commit": "abc", "load": 0.2,
             "A, sizes: graph []": "a ring, 4 vertices", "A, sizes: small [ms]": 1.5, "A, sizes: small: edges": 12,
             "A, sizes: large [ms]": 30.25, "A, sizes: large: times small": 20.2,
             "A, sizes: none []": "needs a GPU", "A, sizes: other []": "needs a GPU",
             "B, sizes: none []": "too large", "another: small [ms]": 7})";
  std::ofstream(at("reports/b.json")) << R"({"command": "acc", "options": {}, "device": "a GPU",
                                             "date": "2026-01-02", "commit": "abc"})";
  std::ofstream(at("papers.json")) << R"({"runs": ["How to measure."], "papers": [
            {"paper": "Somebody's", "cited": "Somebody, 2020.", "differs": ["it is slower.", "a bug."],
             "experiments": [
             {"figure": "Fig. 3", "title": "sizes, A-B", "in_short": ["10 ms", "1.5 ms"], "verdict": "agrees",
              "published": "fast.", "sluice": "faster.", "difference": "none.",
              "notes": {"GPU": ["It is fast.", "It is new."], "Host": ["It is old."]},
              "tables": ["A, sizes", "B, sizes"], "rows": {"large": "31 ms"}},
             {"figure": "Fig. 4", "title": "none", "in_short": ["p", "s"], "verdict": "differs",
              "published": "p.", "sluice": "s.", "difference": "d.", "peers": "ran by turns.", "tables": ["absent"],
              "beside": [{"figure": "a walk", "sluice": "2 ms", "peer": "a peer", "value": "3 ms",
                          "device": "2 cores", "source": "one run"}]}]}]})";

  const std::string page =
      run_bench({"page", at("reports"), "--papers", at("papers.json"), "--output", "-"}).out;

  for (const char* part :
       {"\n| paper | experiment | published | Sluice | verdict |\n|---|---|---|---|---|\n"
        "| Somebody's | [Fig. 3: sizes, A-B](#fig-3-sizes-a-b) | 10 ms | 1.5 ms | agrees |\n"
        "| Somebody's | [Fig. 4: none](#fig-4-none) | p | s | differs |\n\n## Somebody's\n",
        "\n1. host, 2 threads, the machine's load 0 before it, 2026-01-02, commit abc: `sluice-bench papers "
        "--device host --threads 2 --repetitions 3 --graphs some`\n",
        "\n## Runs\n\nHow to measure.\n\n1. host",
        "\n## Somebody's\n\nSomebody, 2020.\n\n"
        "Where Sluice's figures contradict the paper's, or its program differs:\n\n- it is slower.\n- a "
        "bug.\n",
        "\n### Fig. 3: sizes, A-B\n\n- Published: fast.\n- Sluice: faster.\n- Difference: none.\n"
        "\n[Run 1](#runs): A, sizes (a ring, 4 vertices)\n\n"
        "| figure | published | Sluice | edges | times small |\n|---|---|---|---|---|\n"
        "| small |  | 1.5 ms | 12 |  |\n| large | 31 ms | 30.25 ms |  | 20.2 |\n"
        "\nNo figure, needs a GPU: none; other.\n"
        "\n[Run 1](#runs): B, sizes\n\nNo figure, too large: none.\n"
        "\n<details><summary>Notes</summary>\n\nGPU:\n\n- It is fast.\n- It is new.\n"
        "\nHost:\n\n- It is old.\n\n</details>\n\n### Fig. 4",
        "\n### Fig. 4: none\n\n- Published: p.\n- Sluice: s.\n- Difference: d.\n- Peers: ran by turns.\n"
        "\n| against a peer | Sluice | peer | device | run |\n|---|---|---|---|---|\n"
        "| a walk | 2 ms | a peer: 3 ms | 2 cores | one run |\n"})
    EXPECT_NE(page.find(part), std::string::npos) << part << "\nin\n" << page;
  EXPECT_EQ(page.find("another"), std::string::npos) << page;
  EXPECT_EQ(page.find("a GPU,"), std::string::npos) << page;
}

/// Tables of more than 25 rows, of figures or of peers, are collapsed.
TEST_F(Page, ClosesLongTablesOfExperiments) {
  std::filesystem::create_directory(at("reports"));
  nlohmann::json report = {{"command", "papers"}, {"options", nlohmann::json::object()},
                           {"device", "a GPU"},   {"date", "2026-01-02"},
                           {"commit", "abc"},     {"long: graph []", "a ring"}};
  nlohmann::json experiment = {
      {"figure", "Fig. 1"}, {"title", "t"},   {"in_short", {"p", "s"}}, {"verdict", "agrees"},
      {"published", "p."},  {"sluice", "s."}, {"difference", "d."},     {"tables", {"long", "short"}}};
  for (int row = 0; row < 26; ++row) {
    report[fmt::format("long: row {} [ms]", row)] = row;
    if (row < 25) report[fmt::format("short: row {} [ms]", row)] = row;
    experiment["beside"].push_back(
        {{"figure", "f"}, {"sluice", "s"}, {"peer", "p"}, {"value", "v"}, {"device", "d"}, {"source", "r"}});
  }
  std::ofstream(at("reports/a.json")) << report;
  std::ofstream(at("papers.json")) << nlohmann::json{
      {"runs", {"How."}}, {"papers", {{{"paper", "P"}, {"cited", "c."}, {"experiments", {experiment}}}}}};

  const std::string page =
      run_bench({"page", at("reports"), "--papers", at("papers.json"), "--output", "-"}).out;

  for (const char* part : {"\n<details><summary>Against peers, 26 rows</summary>\n\n| against a peer |",
                           "| r |\n\n</details>\n\n<details><summary><a href=\"#runs\">Run 1</a>: long (a "
                           "ring), 26 rows</summary>\n"
                           "\n| figure | Sluice |\n|---|---|\n| row 0 | 0 ms |\n",
                           " ms |\n\n</details>\n\n[Run 1](#runs): short\n\n| figure | Sluice |\n"})
    EXPECT_NE(page.find(part), std::string::npos) << part << "\nin\n" << page;
}

std::ptrdiff_t words_of(const std::string& text) {
  std::istringstream words(text);
  return std::distance(std::istream_iterator<std::string>(words), {});
}

/// The summary of an experiment has two parts of at most 12 words, and the difference at most 45 words.
TEST_F(Page, EveryExperimentIsSaidInShort) {
  const auto list = nlohmann::json::parse(read_file(papers_));
  for (const auto& paper : list.at("papers")) {
    for (const auto& experiment : paper.at("experiments")) {
      SCOPED_TRACE(experiment.at("figure").get<std::string>() + ": " +
                   experiment.at("title").get<std::string>());
      EXPECT_EQ(experiment.at("in_short").size(), 2u);
      for (const std::string figures : experiment.at("in_short"))
        EXPECT_TRUE(!figures.empty() && words_of(figures) <= 12) << figures;
      EXPECT_EQ(std::set<std::string>({"agrees", "partly", "contradicts", "differs"})
                    .count(experiment.at("verdict")),
                1u);
      EXPECT_LE(words_of(experiment.at("difference")), 45);
      for (const char* const text : {"sluice", "peers"})
        EXPECT_LE(experiment.value(text, "").size(), 250u) << text;
      const auto notes = experiment.value("notes", nlohmann::json::object());
      for (const auto& [subject, statements] : notes.items())
        for (const std::string note : statements) EXPECT_LE(words_of(note), 40) << subject << ": " << note;
    }
  }
}

TEST_F(Page, EveryLinkWithinThePapersLeadsToAHeading) {
  const std::string page = read_file(source_ + "/docs/papers.md");
  const auto found = [&](const char* pattern) {
    const std::regex regex(pattern);
    return std::vector<std::smatch>(std::sregex_iterator(page.begin(), page.end(), regex), {});
  };
  std::multiset<std::string> anchors;
  for (const auto& heading : found("\n##+ ([^\n]*)")) {
    std::string anchor = std::regex_replace(heading[1].str(), std::regex("[^A-Za-z0-9 _-]"), "");
    std::ranges::transform(anchor, anchor.begin(), [](char c) { return c == ' ' ? '-' : std::tolower(c); });
    anchors.insert(anchor);
  }
  for (const auto& link : found("(\\]\\(|href=\")#([^)\"]*)[)\"]"))
    EXPECT_EQ(anchors.count(link[2]), 1u) << link[2];
  EXPECT_EQ(found("\n\\| [^|\n]* \\| \\[[^|\n]*\\]\\(#").size(), found("\n### ").size());
}

/// For each device, number of ranks and graph, a table shows the newest run, and of one day the last.
TEST_F(Page, ShowsTheNewestRunOfATable) {
  std::filesystem::create_directory(at("reports"));
  const auto report = [&](const std::string& file, const std::string& device, const std::string& date,
                          const std::string& figures) {
    std::ofstream(at("reports/" + file + ".json")) << fmt::format(
        R"({{"command": "papers", "options": {{}}, "device": "{}", "date": "{}", "commit": "{}", {}}})",
        device, date, file, figures);
  };
  report("a", "one GPU", "2026-01-03", R"("A: graph []": "a ring", "A: x [ms]": 11, "B: x [ms]": 12)");
  report("b", "a GPU", "2026-01-02", R"("A: graph []": "a ring", "A: x [ms]": 21, "B: x [ms]": 22)");
  report("c", "a GPU", "2026-01-03", R"("A: graph []": "a ring", "A: x [ms]": 31)");
  report("d", "a GPU", "2026-01-01", R"("A: graph []": "a grid", "A: x [ms]": 41)");
  report("e", "host", "2026-01-01", R"("A: graph []": "a ring", "A: x [ms]": 51)");
  report("f", "host", "2026-01-04", R"("A: graph []": "a tree", "A: x []": "needs a GPU")");
  report("g", "a GPU", "2026-01-01", R"("ranks": 2, "A: graph []": "a ring", "A: x [ms]": 61)");
  std::ofstream(at("papers.json"))
      << R"({"runs": [], "papers": [{"paper": "P", "cited": "c.", "experiments": [
             {"figure": "Fig. 1", "title": "t", "in_short": ["p", "s"], "verdict": "agrees", "published": "p.", "sluice": "s.", "difference": "d.",
              "tables": ["A", "B"]}]}]})";

  const std::string page =
      run_bench({"page", at("reports"), "--papers", at("papers.json"), "--output", "-"}).out;

  for (const char* shown : {"[Run 1](#runs): B\n\n| figure | Sluice |\n|---|---|\n| x | 12 ms |\n",
                            "| x | 31 ms |", "| x | 41 ms |", "| x | 51 ms |", "| x | 61 ms |", "\n5. a GPU"})
    EXPECT_NE(page.find(shown), std::string::npos) << shown << "\nin\n" << page;
  for (const char* old : {"11 ms", "21 ms", "22 ms", "\n6. ", "commit b", "a tree"})
    EXPECT_EQ(page.find(old), std::string::npos) << old << "\nin\n" << page;
}

TEST_F(Page, ShowsGoalsBesideTheNewestReport) {
  std::filesystem::create_directory(at("reports"));
  const auto report = [&](const char* name, const char* date, const char* more) {
    std::ofstream(at(std::string("reports/") + name))
        << R"({"command": "files", "options": {"scale": 4}, "device": "a GPU, the second", "commit": ")"
        << name << R"(", "date": ")" << date << R"(", )" << more << "}";
  };
  report("a.json", "2026-01-03", R"("bfs [ms]": 30, "bfs: disk s": 20)");
  report("b.json", "2026-01-02", R"("bfs [ms]": 10, "walk [GB/s]": 3)");
  report("c.json", "2026-01-04", R"("ranks": 2, "bfs [ms]": 1)");
  std::ofstream(at("goals.json"))
      << R"([{"title": "Jobs", "suite": "files", "device": "a GPU", "scales": [4, 5],
      "goals": [{"figure": "bfs", "most": 20, "binds": "the disk", "tried": "another"},
                {"figure": "bfs", "name": "search", "most": 20, "minus": "bfs: disk s"},
                {"figure": "bfs", "name": "often", "most": 20, "runs": {"4": [30, 12, 15, 31], "5": [1]}},
                {"figure": "walk", "least": 3},
                {"figure": "walk", "suite": "acc", "least": 3, "unit": "s"}]}])";

  const std::string page =
      run_bench({"page", at("reports"), "--goals", at("goals.json"), "--output", "-"}).out;

  for (const char* part :
       {"\n## Jobs\n\n| figure | asked | scale 4 | scale 5 | what binds | tried |\n",
        "\n| bfs | at most 20 ms | 30, not met (a.json) | no report | the disk | another |\n",
        "\n| search | at most 20 ms | 10 (a.json) | no report |  |  |\n",
        "\n| often | at most 20 ms | 22.5, not met (of 4 runs, 12 to 31; 30 in the report of a.json) | no "
        "report "
        "|  |  |\n",
        "\n| walk | at least 3 GB/s | 3 (b.json) | no report |  |  |\n",
        "\n| walk | at least 3 s | no report | no report |  |  |\n"})
    EXPECT_NE(page.find(part), std::string::npos) << part << "\nin\n" << page;
}

TEST_F(Page, RefusesTwoPagesAtOnceAndListsThatLackMembers) {
  refuse_bench(2, "give one", {"page", reports_, "--output", at("page.md")});
  refuse_bench(2, "give one",
               {"page", reports_, "--peers", peers_, "--papers", papers_, "--output", at("page.md")});
  std::ofstream(at("papers.json")) << R"({"runs": [], "papers": [{"paper": "Somebody's"}]})";
  std::ofstream(at("goals.json")) << R"([{"title": "Jobs"}])";
  refuse_bench(3, "--goals: ", {"page", reports_, "--goals", at("goals.json"), "--output", at("page.md")});
  refuse_bench(3, "--papers: ", {"page", reports_, "--papers", at("papers.json"), "--output", at("page.md")});
}

TEST_F(Page, RefusesWhatIsNoReport) {
  std::filesystem::create_directory(at("reports"));
  const auto refused = [&](const std::string& words) {
    refuse_bench(3, words, {"page", at("reports"), "--peers", peers_, "--output", at("page.md")});
  };
  refused("no folder with reports");
  std::ofstream(at("reports/a.json")) << "{";
  refused("a.json: ");
  std::ofstream(at("reports/a.json")) << R"({"command": "acc", "options": {}, "device": "host"})";
  refused("a.json: has no date");
}

}  // namespace
}  // namespace sluice::test
