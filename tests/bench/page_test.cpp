// docs/performance.md is what sluice-bench writes from the reports.
#include <algorithm>
#include <fstream>

#include "bench/bench.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

class Page : public BenchTest {
 protected:
  const std::string source_ = paths::kSource, reports_ = source_ + "/tests/bench/reports",
                    peers_ = source_ + "/tests/bench/peers.json";
};

TEST_F(Page, IsWrittenFromTheReports) {
  run_bench({"page", reports_, "--peers", peers_, "--output", at("page.md")});

  const std::string page = read_bytes(at("page.md"));
  EXPECT_EQ(page, read_bytes(source_ + "/docs/performance.md"))
      << "write it anew: sluice-bench page tests/bench/reports --peers tests/bench/peers.json "
         "--output docs/performance.md --force";
  EXPECT_LE(std::count(page.begin(), page.end(), '\n'), 150);
}

TEST_F(Page, ShowsFiguresBesideLimitsAndPeers) {
  std::filesystem::create_directory(at("reports"));
  std::ofstream(at("reports/a.json"))
      << R"({"command": "pagerank", "options": {"device": "cuda", "scale": 22}, "device": "a GPU",
             "date": "2026-01-02", "commit": "abc", "limit: host to device [GB/s]": 55.5,
             "one iteration, f64 [G edges/s]": 164.82, "one iteration, f64: % of host to device": 88.2,
             "a figure of no family []": 1})";
  std::ofstream(at("reports/b.json"))
      << R"({"command": "scaling", "options": {"device": "cuda"}, "device": "a GPU", "ranks": 2,
             "date": "2026-01-02", "commit": "abc", "bfs, one rank [ms]": 3.0, "bfs [ms]": 2.0,
             "bfs: times one rank": 1.5})";
  std::ofstream(at("peers.json"))
      << R"([{"family": "pagerank", "figure": "an iteration", "sluice": "2 ms", "peer": "another",
              "value": "3 ms", "device": "a GPU", "source": "one run"}])";

  const std::string page =
      run_bench({"page", at("reports"), "--peers", at("peers.json"), "--output", "-"}).out;

  for (const char* part :
       {"1. a GPU, 2026-01-02, commit abc: `sluice-bench pagerank --device cuda --scale 22`. Limits: host to "
        "device 55.5 GB/s\n",
        "| one iteration, f64 | 164.8 G edges/s, 88% of host to device |\n",
        "commit abc: `mpirun -n 2 sluice-bench scaling --device cuda`\n",
        "| bfs | 2 ms, 1.5 times one rank |\n", "| an iteration | 2 ms | another: 3 ms | a GPU | one run |\n",
        "No report yet.\n"})
    EXPECT_NE(page.find(part), std::string::npos) << part << "\nin\n" << page;
  EXPECT_EQ(page.find("no family"), std::string::npos) << page;
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
