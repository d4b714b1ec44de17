// Every code block of the README, as it is written there: shell and Python run one after the other in one
// folder, and C++ is what apps/examples is compiled from. (The block of CMake builds the consumer of
// tests/package.)
#include <gtest/gtest.h>
#include <hdf5.h>
#include <zlib.h>

#include <regex>
#include <string>
#include <vector>

#include "cli/process.hpp"

namespace sluice::test {
namespace {

struct Block {
  std::string language, text;
};

/// Without comments and white space.
std::string bare(const std::string& code) {
  return std::regex_replace(std::regex_replace(code, std::regex("//[^\n]*"), ""), std::regex("\\s+"), "");
}

class Readme : public testing::Test {
 protected:
  Readme() : text_(read_bytes(SLUICE_SOURCE "/README.md")) {
    std::istringstream lines(text_);
    std::string line;
    bool inside = false;
    while (std::getline(lines, line)) {
      EXPECT_FALSE(!inside && line.starts_with("    ")) << "a block without a language: " << line;
      if (line.starts_with("```")) {
        inside = !inside;
        if (inside) blocks_.push_back({line.substr(3), ""});
      } else if (inside) {
        blocks_.back().text += line + '\n';
      }
    }
  }

  std::vector<std::string> of(const std::string& language) const {
    std::vector<std::string> texts;
    for (const auto& block : blocks_)
      if (block.language == language) texts.push_back(block.text);
    return texts;
  }

  /// What a reader of the README has: small graphs under its names. Vertex 3 has no in-edge.
  void set_up_folder() {
    const std::string edges = "# a graph\n0 1\n1 2\n2 0\n3 1\n";
    const gzFile packed = gzopen((folder_ / "soc-Epinions1.txt.gz").c_str(), "wb");
    ASSERT_EQ(gzwrite(packed, edges.data(), static_cast<unsigned>(edges.size())),
              static_cast<int>(edges.size()));
    gzclose(packed);
    shell(
        "sluice generate kronecker --scale 8 --undirected --output graph.h5\n"
        "sluice generate grid --scale 8 --weights uniform --output roads.h5\n");
    write_bytes(folder_ / "new.txt", "0 200\n3 250\n");
    write_bytes(folder_ / "gone.txt", "0 1\n");
    write_bytes(folder_ / "seeds.txt", "17\n17:2 99:0.5\n");
    write_bytes(folder_ / "coupling.txt", "2 1\n1 2\n");
    std::string priors, timed;
    for (int v = 0; v < 256; ++v) priors += v % 2 == 0 ? "1 2\n" : "3 1\n";
    for (int e = 0; e < 20000; ++e)
      timed += std::to_string(e % 101) + ' ' + std::to_string(e * 7 % 103) + ' ' + std::to_string(e) + '\n';
    write_bytes(folder_ / "priors.txt", priors);
    write_bytes(folder_ / "edges-with-times.txt", timed);
  }

  /// Runs lines of bash in the folder; they must succeed.
  void shell(const std::string& text) {
    const std::string program = SLUICE_PROGRAM;
    const std::string before =
        "set -euo pipefail; cd " + folder_.path().string() +
        "; PATH=" + program.substr(0, program.rfind('/')) +
        ":$PATH; export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
        "OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe "
        "ASAN_OPTIONS=detect_leaks=0\n"
        "if ! command -v mpirun >/dev/null || sluice --version | grep -q '^MPI not'; then\n"
        "  mpirun() { shift 2; \"$@\"; }\nfi\n";
    const Finished done = Process({"/bin/bash", "-c", before + text}).wait();
    EXPECT_EQ(done.status, 0) << text << done.out << done.err;
  }

  /// Runs Python, and checks what the block calls `graph`. Returns whether its modules are there.
  bool python(const std::string& text) {
    const char* const given = std::getenv("SLUICE_PYTHON");
    const std::string interpreter = given ? given : "/usr/bin/python3";
    const auto run = [&](const std::string& code) {
      const std::string script = "import os; os.chdir('" + folder_.path().string() + "')\n" + code;
      return Process({interpreter, "-c", script}).wait();
    };
    std::string imports;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("import ") || line.starts_with("from ")) imports += line + '\n';
    if (run(imports).status != 0) return false;
    const Finished done = run(text + "assert graph.shape == (4, 4), graph.shape\nassert graph.nnz == 4\n");
    EXPECT_EQ(done.status, 0) << text << done.err;
    return true;
  }

  const std::string text_;
  std::vector<Block> blocks_;
  Folder folder_;
};

TEST_F(Readme, EveryBlockSaysWhatItIs) {
  EXPECT_GE(blocks_.size(), 12u);
  for (const auto& [language, text] : blocks_)
    EXPECT_TRUE(std::regex_match(language, std::regex("sh|python|cmake|cpp|text"))) << language << '\n'
                                                                                    << text;
}

herr_t add_name(hid_t, const char* name, const H5O_info_t* info, void* to) {
  if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(to)->push_back(name);
  return 0;
}

/// And the datasets of whatever was written are in the table.
TEST_F(Readme, ShellRuns) {
  set_up_folder();
  for (const auto& block : of("sh")) shell(block);
  shell(
      "sluice walk graph.h5 --kind multidimensional --frontier-size 3 --output pools.h5\n"
      "sluice sample graph.h5 --kind node --count 5 --output nodes.h5\n"
      "sluice kcore graph.h5 --output cores.h5\n"
      "sluice kcore graph.h5 --k 3 --output members.h5\n"
      "sluice wcc graph.h5 --output components.h5\n");
  for (const std::string& file : folder_.names()) {
    if (!file.ends_with(".h5")) continue;
    std::vector<std::string> names;
    const hid_t id = H5Fopen((folder_ / file).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Ovisit(id, H5_INDEX_NAME, H5_ITER_INC, add_name, &names);
    H5Fclose(id);
    EXPECT_FALSE(names.empty()) << file;
    for (const auto& name : names) {
      if (name.starts_with("checksums/")) continue;
      EXPECT_NE(text_.find("`/" + name + "`"), std::string::npos) << file << " has an undocumented /" << name;
    }
  }
}

TEST_F(Readme, PythonRuns) {
  set_up_folder();
  shell(of("sh").front());
  int left_out = 0;
  for (const auto& block : of("python")) left_out += python(block) ? 0 : 1;
  if (left_out > 0)
    GTEST_SKIP() << left_out
                 << " blocks: no h5py, SciPy or AnnData (SLUICE_PYTHON names an interpreter that has them)";
}

TEST_F(Readme, CppIsWhatTheExamplesAreMadeOf) {
  std::string examples;
  for (const auto& file : std::filesystem::directory_iterator(SLUICE_SOURCE "/apps/examples"))
    examples += bare(read_bytes(file.path()));
  for (const auto& block : of("cpp")) {
    const std::regex blank("\n\n");
    for (std::sregex_token_iterator part(block.begin(), block.end(), blank, -1), end; part != end; ++part)
      EXPECT_NE(examples.find(bare(*part)), std::string::npos) << *part;
  }
}

}  // namespace
}  // namespace sluice::test
