// Scripts, with test programs in place of `cmake` and of a virtual environment.
#include <gtest/gtest.h>

#include <string>

#include "cli/process.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

class Build : public testing::Test {
 protected:
  /// Runs build() of scripts/lib.sh, with standard error in the file `err` of the folder. The folder's
  /// `cmake` runs `steps` for --build, and does nothing otherwise.
  int build(const std::string& steps) {
    write_file(folder_ / "cmake", "#!/bin/bash\n[ \"$1\" = --build ] || exit 0\n" + steps);
    std::filesystem::permissions(folder_ / "cmake", std::filesystem::perms::owner_all);
    const std::string script = "set -euo pipefail; cd " + folder_.path().string() +
                               "; export PATH=\"$PWD:$PATH\" FOLDER=\"$PWD\"; . " + paths::kSource +
                               "/scripts/lib.sh; build host program 2>err";
    return Process({"/bin/bash", "-c", script}).wait().status;
  }

  std::string err() const { return read_file(folder_ / "err"); }

  TemporaryFolder folder_;
};

TEST_F(Build, ShowsHowFarItIsWhileItRuns) {
  // The build continues after the line of step 10 was printed, and fails if it was not.
  const int status = build(
      "echo '[0/2] Re-checking globbed directories...'\n"
      "for step in {1..20}; do\n"
      "  echo \"[$step/20] Building CXX object part$step.cpp.o\"\n"
      "  [ $step -ne 10 ] || timeout 20 bash -c 'until grep -q \"10 of 20\" $FOLDER/err; do sleep 0.01; done'"
      " || exit 1\n"
      "done\n");
  EXPECT_EQ(status, 0) << err();
  std::string expected = "building (preset host)\n";
  for (int step = 2; step <= 20; step += 2) expected += "  " + std::to_string(step) + " of 20 steps\n";
  EXPECT_EQ(err(), expected);
}

TEST_F(Build, ShowsAllOfABuildThatFails) {
  const int status =
      build("echo '[1/9] Building CXX object part.cpp.o'\necho 'part.cpp:3: error: no'\nexit 1\n");
  EXPECT_EQ(status, 1);
  EXPECT_EQ(err(),
            "building (preset host)\n  1 of 9 steps\n[1/9] Building CXX object part.cpp.o\n"
            "part.cpp:3: error: no\nbash: the build failed (preset host)\n");
}

/// Runs scripts/layers on a tree of two folders, in which only `engine/b` may use `engine/a`.
class Layers : public testing::Test {
 protected:
  Layers() {
    std::filesystem::create_directories(folder_ / "scripts");
    std::filesystem::copy(std::string(paths::kSource) + "/scripts/layers", folder_ / "scripts/layers");
    for (const char* other : {"apps", "io", "partition", "tests"})
      std::filesystem::create_directories(folder_ / other);
    write_file(folder_ / "CONTRIBUTING.md",
               "| folder | holds | may use |\n|---|---|---|\n"
               "| `engine/a` | the lower one | |\n| `engine/b` | the upper one | `engine/a` |\n");
    add("engine/a/low.hpp", "#include \"engine/core/types.hpp\"\n");
    add("engine/b/high.hpp", "#include \"engine/a/low.hpp\"\n");
  }

  void add(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_ / path).parent_path());
    write_file(folder_ / path, text);
  }
  /// The output; empty if the tree obeys the table.
  std::string found() const { return Process({"/bin/bash", folder_ / "scripts/layers"}).wait().out; }

  TemporaryFolder folder_;
};

TEST_F(Layers, PassWhatTheTableAllows) {
  EXPECT_EQ(found(), "");
}

TEST_F(Layers, SeeAnIncludeAgainstTheArrows) {
  add("engine/a/low.hpp", "#pragma once\n#include \"engine/b/high.hpp\"\n");
  EXPECT_EQ(found(), "engine/a/low.hpp:2: engine/a may not use engine/b (engine/b/high.hpp)\n");
}

TEST_F(Layers, SeeAFolderThatTheTableDoesNotName) {
  add("engine/c/new.cu", "#include \"engine/a/low.hpp\"\n");
  EXPECT_EQ(found(), "engine/c/new.cu: its folder is not in the table of CONTRIBUTING.md\n");
}

TEST_F(Layers, SeeAFamilyInAnotherNamespace) {
  write_file(folder_ / "CONTRIBUTING.md", "| `engine/acc` | a family | |\n| `engine/walks` | another | |\n");
  std::filesystem::remove_all(std::filesystem::path(folder_ / "engine/b"));
  std::filesystem::remove_all(std::filesystem::path(folder_ / "engine/a"));
  add("engine/acc/right.hpp",
      "namespace sluice::cuda {\nclass Stream;\n}\nnamespace sluice::acc::host {\n}\n");
  EXPECT_EQ(found(), "");
  add("engine/acc/wrong.hpp", "namespace sluice {\nclass Mine {};\n}\n");
  add("engine/walks/wrong.cpp", "namespace sluice::walk {\nclass Mine {};\n}\n");
  EXPECT_EQ(found(),
            "engine/acc/wrong.hpp:1: sluice is not the folder's namespace, sluice::acc\n"
            "engine/walks/wrong.cpp:1: sluice::walk is not the folder's namespace, sluice::walks\n");
}

TEST_F(Layers, SeeAFolderThatHoldsTooMuch) {
  for (int i = 0; i < 26; ++i) add("engine/a/part" + std::to_string(i) + ".cpp", "");
  EXPECT_EQ(found(), "engine/a: 27 sources, of 25 at most\n");
}

/// Without site packages, Python has no third-party modules.
TEST(CheckSolvers, GoesOnInItsEnvironmentWhereModulesAreMissing) {
  if (!std::filesystem::exists("/usr/bin/python3")) GTEST_SKIP() << "no /usr/bin/python3";
  const TemporaryFolder folder;
  const std::string script = folder / "scripts/check-solvers", python = folder / "build/venv/bin/python";
  std::filesystem::create_directories(folder / "scripts");
  std::filesystem::create_directories(folder / "build/venv/bin");
  std::filesystem::copy(std::string(paths::kSource) + "/scripts/check-solvers", script);
  write_file(python, "#!/bin/sh\necho \"$@\"\n");
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);

  const Finished help = Process({"/usr/bin/python3", "-I", "-S", script, "--help"}).wait();
  EXPECT_EQ(help.status, 0) << help.err;
  EXPECT_TRUE(help.out.starts_with("usage: check-solvers")) << help.out;
  const Finished done =
      Process({"/usr/bin/python3", "-I", "-S", script, "--sluice", paths::kProgram, "graph.h5"}).wait();
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, script + " --sluice " + paths::kProgram + " graph.h5\n");
}

}  // namespace
}  // namespace sluice::test
