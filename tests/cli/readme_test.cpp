// The README and the pages of docs/. The blocks `sh` and `python` of a page run in order in one folder. A
// block `text` directly below shows their output. Blocks `bash` do not run, since they build Sluice or need a
// cluster. Blocks `cpp` are parts of apps/examples. (tests/package builds and runs the first program of
// docs/library.md.)
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "paths.hpp"

namespace sluice::test {
namespace {

const std::string kSource = paths::kSource;
/// Pages of measurements, mostly on GPUs.
const std::string kFigures[] = {"docs/performance.md", "docs/papers.md", "docs/goals.md"};

struct Block {
  std::string language, text;
  bool adjoins = false;  ///< it follows the block above directly
};

std::vector<std::string> pages() {
  std::vector<std::string> all;
  for (const auto& file : std::filesystem::directory_iterator(kSource + "/docs")) {
    const std::string name = "docs/" + file.path().filename().string();
    if (name.ends_with(".md") && std::ranges::find(kFigures, name) == std::end(kFigures)) all.push_back(name);
  }
  std::sort(all.begin(), all.end());
  all.insert(all.begin(), "README.md");
  return all;
}

std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream lines(read_file(kSource + '/' + page));
  bool inside = false, adjoins = false;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_FALSE(!inside && line.starts_with("    ")) << "a block without a language: " << line;
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), "", adjoins});
      adjoins = true;
    } else if (inside) {
      blocks.back().text += line + '\n';
    } else if (!line.empty()) {
      adjoins = false;
    }
  }
  return blocks;
}

std::vector<std::string> pages_with(const std::string& language) {
  std::vector<std::string> all = pages();
  std::erase_if(all, [&](const std::string& page) {
    const auto blocks = blocks_of(page);
    return std::none_of(blocks.begin(), blocks.end(),
                        [&](auto& block) { return block.language == language; });
  });
  return all;
}

/// The code without comments and white space.
std::string bare(const std::string& code) {
  return std::regex_replace(std::regex_replace(code, std::regex("//[^\n]*"), ""), std::regex("\\s+"), "");
}

/// The text without times, rates and the name of the machine.
std::string without_times(const std::string& text) {
  const std::regex time(" in [0-9.e+-]+ s( \\([^)]*/s\\))?"), host(" on host[^;\n]*;");
  return std::regex_replace(std::regex_replace(text, time, " in T"), host, " on host;");
}

/// The lines of `text` must be lines of `printed`, in the same order; `...` stands for omitted lines.
void expect_printed(const std::string& text, const std::string& printed) {
  if (printed.find(" on NVIDIA") != printed.npos) return;  // pages show the output of a host
  std::istringstream wanted(without_times(text)), lines(without_times(printed));
  for (std::string line, found; std::getline(wanted, line);) {
    if (line == "...") continue;
    while (std::getline(lines, found) && found != line) {
    }
    EXPECT_TRUE(lines) << "not printed: " << line << "\nbut:\n" << printed;
    if (!lines) return;
  }
}

/// A page, and a folder in which its blocks run.
class Docs : public testing::TestWithParam<std::string> {
 protected:
  /// Runs lines of bash, which must succeed; returns their output.
  std::string shell(const std::string& text) const {
    const std::string program = paths::kProgram;
    const std::string before =
        "exec 2>&1; set -euo pipefail; cd " + folder_.path().string() +
        "; PATH=" + program.substr(0, program.rfind('/')) +
        ":$PATH; export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
        "OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe "
        "ASAN_OPTIONS=detect_leaks=0\n"
        "if ! command -v mpirun >/dev/null || sluice --version | grep -q '^MPI not'; then\n"
        "  mpirun() { shift 2; \"$@\"; }\nfi\n";
    const Finished done = Process({"/bin/bash", "-c", before + text}).wait();
    EXPECT_EQ(done.status, 0) << text << done.out;
    return done.out;
  }

  Finished python(const std::string& text) const {
    const char* const given = std::getenv("SLUICE_PYTHON");
    const std::string script = "import os; os.chdir('" + folder_.path().string() + "')\n" + text;
    return Process({given ? given : "/usr/bin/python3", "-c", script}).wait();
  }

  bool has_modules(const std::string& text) const {
    std::string imports;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("import ") || line.starts_with("from ")) imports += line + '\n';
    return python(imports).status == 0;
  }

  /// Expects the datasets of every file in the folder to be in the table.
  void expect_documented_datasets() const;

  TemporaryFolder folder_;
};

using DocsWithPython = Docs;

std::string name_of(const testing::TestParamInfo<std::string>& page) {
  std::string name = std::filesystem::path(page.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Pages, Docs, testing::ValuesIn(pages()), name_of);
INSTANTIATE_TEST_SUITE_P(Pages, DocsWithPython, testing::ValuesIn(pages_with("python")), name_of);

TEST_P(Docs, EveryBlockSaysWhatItIs) {
  for (const auto& block : blocks_of(GetParam()))
    EXPECT_TRUE(std::regex_match(block.language, std::regex("sh|bash|python|cmake|cpp|text")))
        << block.language << '\n'
        << block.text;
}

TEST_P(Docs, ShellRuns) {
  std::string printed, above;
  for (const auto& block : blocks_of(GetParam())) {
    if (block.language == "sh") printed = shell(block.text);
    if (block.language == "text" && block.adjoins && above == "sh") expect_printed(block.text, printed);
    above = block.language;
  }
  expect_documented_datasets();
}

TEST_P(DocsWithPython, PythonRuns) {
  const auto blocks = blocks_of(GetParam());
  int left_out = 0;
  std::string printed, above;
  for (const auto& block : blocks) {
    if (block.language == "sh") shell(block.text);
    if (block.language == "text" && block.adjoins && above == "python") expect_printed(block.text, printed);
    above = block.language;
    if (block.language != "python") continue;
    if (!has_modules(block.text)) {
      ++left_out, above.clear();
      continue;
    }
    const Finished done = python(block.text);
    EXPECT_EQ(done.status, 0) << block.text << done.err;
    printed = done.out;
  }
  if (left_out > 0)
    GTEST_SKIP() << left_out
                 << " blocks: no h5py, SciPy or AnnData (SLUICE_PYTHON names an interpreter that has them)";
}

/// The anchor of a heading in links.
std::string anchor_of(std::string heading) {
  heading = std::regex_replace(heading, std::regex("^#+ "), "");
  std::string anchor;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_') anchor += std::tolower(c);
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

bool has_anchor(const std::string& file, const std::string& anchor) {
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#") && anchor_of(line) == anchor) return true;
  return false;
}

TEST_P(Docs, LinksLeadSomewhere) {
  const std::string text = read_file(kSource + '/' + GetParam());
  const auto folder = std::filesystem::path(kSource + '/' + GetParam()).parent_path();
  const std::regex link("\\]\\(([^):#]*)(#([^)]*))?\\)");
  for (std::sregex_iterator found(text.begin(), text.end(), link), end; found != end; ++found) {
    const std::string file = (*found)[1], anchor = (*found)[3];
    const auto path = file.empty() ? std::filesystem::path(kSource + '/' + GetParam()) : folder / file;
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
    EXPECT_TRUE(anchor.empty() || has_anchor(path, anchor)) << path << '#' << anchor;
  }
}

herr_t add_name(hid_t, const char* name, const H5O_info_t* info, void* to) {
  if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(to)->push_back(name);
  return 0;
}

void Docs::expect_documented_datasets() const {
  const std::string table = read_file(kSource + "/docs/graphs.md");
  for (const std::string& file : folder_.names()) {
    if (!file.ends_with(".h5")) continue;
    std::vector<std::string> names;
    const hid_t id = H5Fopen((folder_ / file).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Ovisit(id, H5_INDEX_NAME, H5_ITER_INC, add_name, &names);
    H5Fclose(id);
    EXPECT_FALSE(names.empty()) << file;
    for (const auto& name : names) {
      if (name.starts_with("checksums/")) continue;
      EXPECT_NE(table.find("`/" + name + "`"), std::string::npos) << file << " has an undocumented /" << name;
    }
  }
}

/// One file of each kind, whatever the pages show.
class DatasetTable : public Docs {};
INSTANTIATE_TEST_SUITE_P(Docs, DatasetTable, testing::Values("docs/graphs.md"), name_of);

TEST_P(DatasetTable, HasAllDatasets) {
  shell(
      "for v in {0..9}; do echo $v $(( (v + 1) % 10 )) 0.5 $v; done > edges.txt\n"
      "for v in {0..9}; do echo 1 2; done > priors.txt\n"
      "printf '1 1\\n1 2\\n' > coupling.txt\n"
      "printf '1 2:3\\n' > seeds.txt\n"
      "sluice convert edges.txt graph.h5 --undirected --reverse --compact --weights column --timestamps\n"
      "sluice walk graph.h5 --output walks.h5\n"
      "sluice walk graph.h5 --kind multidimensional --frontier-size 3 --output pools.h5\n"
      "sluice sample graph.h5 --kind snowball --depth 2 --output samples.h5\n"
      "sluice sample graph.h5 --kind node --count 5 --output nodes.h5\n"
      "sluice pagerank graph.h5 --original-ids --output ranks.h5\n"
      "sluice ppr graph.h5 --starts seeds.txt --output scores.h5\n"
      "sluice bfs graph.h5 --source 1 --output depths.h5\n"
      "sluice sssp graph.h5 --source 1 --output distances.h5\n"
      "sluice kcore graph.h5 --output cores.h5\n"
      "sluice kcore graph.h5 --k 2 --output members.h5\n"
      "sluice wcc graph.h5 --output components.h5\n"
      "sluice bp graph.h5 --priors priors.txt --coupling coupling.txt --output beliefs.h5\n");
  expect_documented_datasets();
}

TEST(DocsExamples, CppIsWhatTheExamplesAreMadeOf) {
  std::string examples;
  for (const auto& file : std::filesystem::directory_iterator(kSource + "/apps/examples"))
    examples += bare(read_file(file.path()));
  int parts = 0;
  for (const std::string& page : pages_with("cpp")) {
    for (const auto& [language, text, adjoins] : blocks_of(page)) {
      if (language != "cpp") continue;
      const std::regex blank("\n\n");
      for (std::sregex_token_iterator part(text.begin(), text.end(), blank, -1), end; part != end; ++part) {
        EXPECT_NE(examples.find(bare(*part)), std::string::npos) << page << *part;
        ++parts;
      }
    }
  }
  EXPECT_GT(parts, 0);
}

}  // namespace
}  // namespace sluice::test
