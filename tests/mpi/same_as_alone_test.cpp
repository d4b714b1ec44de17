// Any number of ranks gives the bytes of one process, for every kind and every form. Each launch takes half a
// second, so numbers of ranks alternate: every kind runs on several, and every form on all.
#include "mpi/ranks.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

class SameAsAlone : public MpiTest {
 protected:
  /// The bytes of a result: one file, or all files of a folder with their names.
  std::string content(const std::string& name) {
    if (!std::filesystem::is_directory(at(name))) return read_file(at(name));
    std::string all;
    for (const auto& entry : sorted_files(at(name))) all += entry.filename().string() + read_file(entry);
    return all;
  }

  static std::vector<std::filesystem::path> sorted_files(const std::string& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  /// Runs all kinds with `more`, on 1 to 4 ranks by turns.
  void compare_all(const std::string& ending, const std::vector<std::string>& more, int first_ranks) {
    int ranks = first_ranks;
    for (const Kind& kind : all_kinds()) {
      const std::string alone = kind.name + ending, together = std::string("ranks-") + kind.name + ending;
      run(arguments_of(kind, alone, more));
      run_on(ranks, arguments_of(kind, together, more));
      EXPECT_EQ(content(alone), content(together)) << kind.name << " on " << ranks << " ranks";
      ranks = ranks % 4 + 1;
    }
    for (const auto& name : folder_.names()) EXPECT_EQ(name.find("partial"), name.npos) << name;
  }
};

TEST_F(SameAsAlone, Hdf5) {
  compare_all(".h5", {}, 1);
}

TEST_F(SameAsAlone, Npy) {
  compare_all("", {"--format", "npy"}, 2);
}

TEST_F(SameAsAlone, Text) {
  compare_all(".txt", {"--format", "text"}, 3);
}

TEST_F(SameAsAlone, OneKindOnEveryNumberOfRanks) {
  const Kind& kind = all_kinds()[7];
  run(arguments_of(kind, "alone.h5", {}));
  for (const int ranks : {1, 2, 3, 4}) {
    run_on(ranks, arguments_of(kind, "ranks.h5", {"--force", "--verify"}));
    EXPECT_EQ(content("alone.h5"), content("ranks.h5")) << ranks;
  }
}

TEST_F(SameAsAlone, StandardOutputInOrder) {
  const std::vector<std::string> arguments{"sample",   graph(), "--kind",   "snowball",
                                           "--output", "-",     "--format", "text"};

  EXPECT_EQ(run_on(3, arguments).out, run(arguments).out);
}

/// The ranks' shares wait in --scratch, since the default folder does not exist here.
TEST_F(SameAsAlone, StandardOutputByWayOfScratch) {
  const std::vector<std::string> arguments{"sample",   graph(), "--kind",   "snowball",
                                           "--output", "-",     "--format", "text"};
  std::vector<std::string> words{"/usr/bin/env", "TMPDIR=" + at("absent"), paths::kProgram};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--scratch", folder_.path().string()});

  const auto before = folder_.names().size();
  const auto finished = Process(on_ranks(3, words)).wait();

  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, run(arguments).out);
  EXPECT_EQ(folder_.names().size(), before);
}

TEST_F(SameAsAlone, InstanceRangesAreSharedToo) {
  const Kind& kind = all_kinds()[9];
  run(arguments_of(kind, "alone.h5", {"--instance-range", "3:20"}));
  run_on(4, arguments_of(kind, "ranks.h5", {"--instance-range", "3:20"}));

  EXPECT_EQ(content("alone.h5"), content("ranks.h5"));
}

TEST_F(SameAsAlone, MoreRanksThanInstances) {
  const Kind kind{"node", {"sample", "--kind", "node", "--count", "20", "--instances", "2"}};
  run(arguments_of(kind, "alone.h5", {}));
  run_on(4, arguments_of(kind, "ranks.h5", {}));

  EXPECT_EQ(content("alone.h5"), content("ranks.h5"));
}

}  // namespace
}  // namespace sluice::test
