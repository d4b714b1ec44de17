// Runs the jobs of jobs.txt and compares the checksums of their results, which are the same in every version.
//
//   test_golden --gtest_filter='Golden.*/bfs'       runs one family
//   SLUICE_GOLDEN_OPTIONS="--device cuda"           options appended to each job
//   SLUICE_GOLDEN_LAUNCHER="mpirun -n 2"            words before the program
//   SLUICE_GOLDEN_FILE_OPTIONS="--threads 1"        options appended to jobs of generate and convert
//   SLUICE_GOLDEN_PROGRAM=/usr/bin/sluice           the absolute path of another build or version
//
// With a launcher or options of the environment, jobs may be refused with status 2 (no use for an option) or
// 4 (not enough memory). Such jobs are printed and counted, and are no failures.
//
// To add a job, write its line with `?` as the checksum, and paste the line that the failing test prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "golden/content.hpp"
#include "golden/ways.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

constexpr int kUsage = 2, kBudget = 4;

/// Counts of all tests of this process.
struct Count {
  std::size_t run = 0, refused = 0;
};
Count golden_count;

class PrintsCount : public testing::Environment {
 public:
  void TearDown() override {
    fmt::print("golden: {} jobs run, {} refused\n", golden_count.run, golden_count.refused);
  }
};
[[maybe_unused]] const auto* const kPrintsCount = testing::AddGlobalTestEnvironment(new PrintsCount);

/// A folder in which jobs run, so that their lines contain file names without folders.
class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  GoldenTest() {
    std::filesystem::create_directory_symlink(std::string(paths::kGolden) + "/inputs", folder_ / "inputs");
    std::filesystem::current_path(folder_.path());
  }
  ~GoldenTest() override { std::filesystem::current_path(before_); }

  /// Runs all jobs of the family, or those of a pass.
  void run_family(const GoldenWay& way, char pass = 0) {
    Count count;
    for (const GoldenJob& job : golden_table()) {
      if (job.family() != GetParam() || (pass != 0 && !job.takes(pass))) continue;
      if (job.family() == kFileFamily) {
        make_file(job), ++count.run;
      } else {
        compare(job, way, count);
      }
    }
    golden_count.run += count.run, golden_count.refused += count.refused;
    fmt::print("{}: {} jobs run, {} refused\n", GetParam(), count.run, count.refused);
    if (count.run == 0) GTEST_SKIP() << "all jobs were refused";
  }

 private:
  /// The words of a job. convert takes its output by position; a job may give the name to another output.
  static Words words_of_job(const GoldenJob& job, const GoldenWay& way, const std::string& output) {
    Words words = started_by(job.builds() ? Words{} : way.launcher);
    words.insert(words.end(), job.command.begin(), job.command.end());
    if (job.command[0] != "convert") words.push_back("--output");
    const bool taken = std::find(job.command.begin(), job.command.end(), output) != job.command.end();
    words.insert(words.end(), {taken ? "beside" : output, "--quiet"});
    const Words more = job.builds() ? words_of(environment("SLUICE_GOLDEN_FILE_OPTIONS")) : way.options;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  void compare(const GoldenJob& job, const GoldenWay& way, Count& count) {
    const std::string output = "result";
    for (const char* const old : {"result", "beside"}) std::filesystem::remove_all(old);
    make_files_of(job);
    const Words words = words_of_job(job, way, output);
    const Finished finished = Process(words).wait();
    if (way.may_refuse && (finished.status == kUsage || finished.status == kBudget)) {
      ++count.refused;
      fmt::print("refused: {}: {}", job.name, finished.err);
      return;
    }
    ++count.run;
    check(job, words, finished, output);
  }

  void check(const GoldenJob& job, const Words& words, const Finished& finished, const std::string& output) {
    const std::string shown = fmt::format("{}", fmt::join(words, " "));
    if (finished.status != 0) {
      ADD_FAILURE() << job.name << ": status " << finished.status << "\n  " << shown << "\n" << finished.err;
      return;
    }
    const std::string actual = checksum_of_result(output);
    if (job.checksum == kNoChecksum) {
      ADD_FAILURE() << job.name << " has no checksum. Its line:\n" << job.line(actual);
    } else if (job.checksum != actual) {
      ADD_FAILURE() << job.name << ": another result\n  expected " << job.checksum << "\n  actual   "
                    << actual << "\n  " << shown;
    }
  }

  /// Makes the files that a job names, if the table says how.
  void make_files_of(const GoldenJob& job) {
    for (const std::string& word : job.command) {
      if (!word.ends_with(".h5") || std::filesystem::exists(word)) continue;
      const std::string name = fmt::format("{}/{}", kFileFamily, word.substr(0, word.size() - 3));
      const auto& table = golden_table();
      const auto made =
          std::find_if(table.begin(), table.end(), [&](const auto& j) { return j.name == name; });
      if (made == table.end()) throw std::runtime_error(job.name + ": the table has no line " + name);
      make_file(*made);
    }
  }

  /// One process makes files on the host, whatever the options of the jobs that read them.
  void make_file(const GoldenJob& job) {
    const std::string output = job.rest() + ".h5";
    if (std::filesystem::exists(output)) return;
    make_files_of(job);
    const Words words = words_of_job(job, {{}, {"--device", "host"}}, output);
    check(job, words, Process(words).wait(), output);
  }

  std::filesystem::path before_ = std::filesystem::current_path();
  TemporaryFolder folder_;
};

class Golden : public GoldenTest {};
class GoldenInPartitions : public GoldenTest {};
class GoldenOnTwoRanks : public GoldenTest {};

/// A family's name in the form that GoogleTest accepts.
std::string test_name(const testing::TestParamInfo<std::string>& family) {
  std::string name = family.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

TEST_P(Golden, KeepsItsBytes) {
  run_family(with_environment({}));
}
INSTANTIATE_TEST_SUITE_P(, Golden, testing::ValuesIn(golden_families()), test_name);

TEST_P(GoldenInPartitions, KeepsItsBytes) {
  run_family(with_environment({{}, {"--partitions", "5"}}), 'p');
}
INSTANTIATE_TEST_SUITE_P(, GoldenInPartitions, testing::ValuesIn(golden_families('p')), test_name);

TEST_P(GoldenOnTwoRanks, KeepsItsBytes) {
  if (std::string(SLUICE_MPIRUN).empty()) GTEST_SKIP() << "this build has no MPI";
  run_family(with_environment({{SLUICE_MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", "2"}, {}}),
             'r');
}
INSTANTIATE_TEST_SUITE_P(, GoldenOnTwoRanks, testing::ValuesIn(golden_families('r')), test_name);

// Among some hundred jobs, a duplicate or lost line is easily overlooked.
TEST(GoldenTable, HasAChecksumAndANameOfItsOwnOnEveryLine) {
  std::map<std::string, int> names;
  for (const GoldenJob& job : golden_table()) {
    EXPECT_EQ(job.checksum.size(), 16u) << job.name;
    EXPECT_EQ(job.checksum.find_first_not_of("0123456789abcdef"), std::string::npos) << job.name;
    EXPECT_EQ(++names[job.name], 1) << job.name;
  }
  EXPECT_GE(names.size(), 300u);
}

}  // namespace
}  // namespace sluice::test
