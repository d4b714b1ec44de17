// Every format gives the same graph with any sufficient budget; a refusal names the least one.
#include <zlib.h>

#include <random>

#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "sanitized.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t kEdges = 800'000, kVertices = 50'000;

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Pairs random_pairs() {
  std::mt19937 random(7);
  Pairs pairs(kEdges);
  for (auto& [source, target] : pairs) source = random() % kVertices, target = random() % kVertices;
  return pairs;
}

std::string lines(const char* before, unsigned base, const char* after) {
  std::string text;
  for (const auto& [source, target] : random_pairs()) {
    text.append(before).append(std::to_string(source + base)).append(" ");
    text.append(std::to_string(target + base)).append(after);
  }
  return text;
}

std::string dimacs() {
  return "p sp 50000 800000\n" + lines("a ", 1, " 3\n");
}

std::string matrix_market() {
  return "%%MatrixMarket matrix coordinate real general\n50000 50000 800000\n" + lines("", 1, " 0.5\n");
}

/// METIS lists each edge at both ends.
std::string metis() {
  std::vector<std::string> lists(kVertices);
  for (const auto& [source, target] : random_pairs()) {
    lists[source].append(std::to_string(target + 1)).append(" ");
    lists[target].append(std::to_string(source + 1)).append(" ");
  }
  std::string text = "50000 800000\n";
  for (const std::string& list : lists) text.append(list).append("\n");
  return text;
}

/// A list longer than any block; each of its edges is listed again, with its weight, at its other end.
std::string metis_star() {
  constexpr std::uint64_t kLeaves = 500'000;
  std::string text = std::to_string(kLeaves + 1) + " " + std::to_string(kLeaves) + " 011\n7";
  for (std::uint64_t leaf = 0; leaf < kLeaves; ++leaf)
    text.append(" ").append(std::to_string(leaf + 2)).append(" ").append(std::to_string(leaf % 10));
  text.append("\n");
  for (std::uint64_t leaf = 0; leaf < kLeaves; ++leaf)
    text.append("7 1 ").append(std::to_string(leaf % 10)).append("\n");
  return text;
}

std::string binary() {
  const Pairs pairs = random_pairs();
  return {reinterpret_cast<const char*>(pairs.data()), pairs.size() * sizeof(pairs[0])};
}

std::string packed(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream z{};
  deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

struct Input {
  std::string name;  ///< of the file; its extension shows the format
  std::string (*bytes)();
  std::vector<std::string> options;
};

class ConvertInput : public CliTest, public testing::WithParamInterface<Input> {
 protected:
  /// Returns the number of sorted runs that were written to scratch.
  std::uint64_t convert(const std::string& to, const std::string& budget, const std::string& threads) {
    std::vector<std::string> arguments{"convert", at(GetParam().name), at(to),           "--host-memory",
                                       budget,    "--threads",         threads,          "--force",
                                       "--quiet", "--report",          at("report.json")};
    arguments.insert(arguments.end(), GetParam().options.begin(), GetParam().options.end());
    run(std::move(arguments));
    const auto report = nlohmann::json::parse(read_file(at("report.json")));
    EXPECT_LE(report["peak_host_bytes"], report["options"]["host-memory"]);
    return report["sort_runs"];
  }
};

TEST_P(ConvertInput, BecomesTheSameGraphWithinAnyBudget) {
  write_file(at(GetParam().name), GetParam().bytes());
  EXPECT_EQ(convert("memory.h5", "2GiB", "2"), 0u);
  const std::string expected = read_file(at("memory.h5"));
  std::uint64_t runs = 0;

  std::vector<std::pair<const char*, const char*>> ways{{"32MiB", "2"}, {"33MiB", "40"}, {"64MiB", "1"}};
  if (kSanitized) ways.resize(1);
  for (const auto& [budget, threads] : ways) {
    SCOPED_TRACE(budget);
    runs += convert("budget.h5", budget, threads);
    ASSERT_TRUE(read_file(at("budget.h5")) == expected);
  }

  EXPECT_GT(runs, 0u) << "nothing was spilled";
}

INSTANTIATE_TEST_SUITE_P(
    Formats, ConvertInput,
    testing::Values(
        Input{"list.txt", [] { return lines("", 0, "\n"); }, {"--undirected"}},
        Input{"packed.txt.gz", [] { return packed(lines("", 0, "\n")); }, {"--undirected", "--reverse"}},
        Input{"times.txt",
              [] { return lines("", 0, " 0.25 12345\n"); },
              {"--timestamps", "--weights", "column"}},
        Input{"sparse.txt",
              [] { return lines("7654321", 0, " 1.5\n"); },
              {"--undirected", "--weights", "column"}},
        Input{"arcs.gr", dimacs, {"--weights", "column", "--undirected"}},
        Input{"matrix.mtx", matrix_market, {"--weights", "column", "--undirected"}},
        Input{"lists.graph", metis, {"--keep-duplicates"}},
        Input{"star.graph", metis_star, {"--weights", "column", "--reverse"}},
        Input{"pairs.bin", binary, {"--undirected", "--weights", "uniform"}}),
    [](const auto& test) { return test.param.name.substr(0, test.param.name.find('.')); });

class ConvertBudget : public CliTest {};

TEST_F(ConvertBudget, NamesTheLeastBudgetBeforeItBegins) {
  write_file(at("list.txt"), "0 1\n1 2\n");
  write_file(at("pairs.bin"), std::string(16, '\1'));
  const std::string words = "needs at least 32.00 MiB, 31.00 MiB are allowed (raise --host-memory)";

  refuse(4, words, {"convert", at("list.txt"), at("out.h5"), "--host-memory", "31MiB"});
  refuse(4, words, {"convert", at("pairs.bin"), at("out.h5"), "--host-memory", "31MiB"});
  refuse(4, words, {"generate", "ring", "--scale", "4", "--output", at("out.h5"), "--host-memory", "31MiB"});
  for (const char* const threads : {"1", "64"}) {
    run({"convert", at("list.txt"), at("out.h5"), "--host-memory", "32MiB", "--threads", threads, "--force"});
    run({"generate", "rmat", "--scale", "14", "--output", at("out.h5"), "--host-memory", "32MiB", "--threads",
         threads, "--undirected", "--reverse", "--weights", "uniform", "--force"});
  }
}

}  // namespace
}  // namespace sluice::test
