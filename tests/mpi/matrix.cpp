// Every kind x {replicate, shard} x {in memory, 2, 7, 64 partitions} x transports x numbers of slots, on any
// number of ranks. Transports are copied, mapped and file; with shard they are auto and file. Kinds that can
// read coded lists run with them, too. Each cell must give the file of one process with the graph in memory.
// A launch takes half a second or more, so one launch runs all cells, through the program's own commands.
//
//   matrix prepare FOLDER VERTICES
//     writes graphs to FOLDER, and each kind's file of one process
//   mpirun -n RANKS matrix run FOLDER [--only NAME] [OPTION...]
//     runs the cells; each job has these options, too
//   matrix kinds
//     prints the names of kinds
//
// NAME is walk, sample or the name of a kind. `run` prints each cell that differs and the number of cells,
// and ends with the program's exit status. matrix_test.cpp runs it on the host, scripts/gpu-ranks on GPUs.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/console.hpp"
#include "apps/cli/names.hpp"
#include "apps/commands/commands.hpp"
#include "apps/job/ranks.hpp"
#include "engine/core/error.hpp"
#include "io/graph_file/graph_file.hpp"
#include "mpi/kinds.hpp"
#include "sampling/jobs.hpp"
#include "temporary_folder.hpp"

namespace sluice::test {
namespace {

using Words = std::vector<std::string>;

/// A kind, and the graph that it runs on.
struct OnGraph {
  Kind kind;
  std::string graph = "directed.h5";

  /// True if the kind can read coded lists. A bias needs plain lists, except in walks. Kinds that read all
  /// lists of a pool or a frontier, or edges by position, need them too.
  bool may_be_coded() const {
    const std::string& name = kind.arguments[2];
    return kind.arguments[0] == "walk"
               ? name != "multidimensional"
               : name != "layer" && name != "node" && name != "edge" &&
                     std::ranges::find(kind.arguments, "--bias") == kind.arguments.end();
  }
};

/// Each kind on a directed graph, and again if weights or an undirected graph use other code.
std::vector<OnGraph> matrix_kinds() {
  std::vector<OnGraph> kinds;
  for (const Kind& kind : all_kinds()) kinds.push_back({kind});
  kinds.push_back(
      {{"neighbor-by-weight", {"sample", "--kind", "neighbor", "--fanout", "4,3", "--bias", "weight"}}});
  kinds.push_back(
      {{"layer-by-weight", {"sample", "--kind", "layer", "--layer-size", "5,9", "--bias", "weight"}}});
  kinds.push_back({{"node2vec-undirected", {"walk", "--kind", "node2vec", "--p", "0.5", "--length", "9"}},
                   "undirected.h5"});
  return kinds;
}

/// A new kind of the program needs a row here.
template <class E, std::size_t N>
void require_all(const std::array<apps::Name<E>, N>& names, const std::vector<OnGraph>& kinds) {
  for (const auto& name : names) {
    const bool has_row = std::any_of(kinds.begin(), kinds.end(), [&](const OnGraph& k) {
      return std::count(k.kind.arguments.begin(), k.kind.arguments.end(), name.name) != 0;
    });
    if (!has_row) throw RunError(fmt::format("the matrix has no row for --kind {}", name.name));
  }
}

/// A way to run a job that must not change any bit of its result.
struct Cell {
  std::string distribution;
  int partitions = 0;  ///< 0: in memory
  std::string transport = "auto";
  int slots = 0;  ///< 0: as many as fit
  std::string layout = "auto";

  Words options() const {
    return {"--distribution", distribution, "--partitions", std::to_string(partitions),
            "--transport",    transport,    "--slots",      std::to_string(slots),
            "--layout",       layout};
  }
  std::string text() const {
    return fmt::format("{}, {} partitions, {}, {} slots, layout {}", distribution, partitions, transport,
                       slots, layout);
  }
};

/// The cells of a kind. There are few slots or, if ranks share the graph out, also enough for all partitions.
/// Coded lists are copied from host memory.
std::vector<Cell> cells_of(const OnGraph& row) {
  std::vector<Cell> cells{{"replicate"}};
  const auto add = [&](const char* distribution, int partitions, const std::vector<std::string>& transports,
                       int slots, int other) {
    for (const std::string& transport : transports) {
      for (const int many : {slots, other}) cells.push_back({distribution, partitions, transport, many});
    }
  };
  for (const int partitions : {2, 7, 64}) add("replicate", partitions, {"copied", "mapped", "file"}, 2, 3);
  // Ranks read their parts of the file, and keep them unless the transport is `file`.
  for (const int partitions : {0, 2, 7, 64}) add("shard", partitions, {"auto", "file"}, 0, 3);
  if (row.may_be_coded())
    for (const int partitions : {2, 7, 64}) cells.push_back({"replicate", partitions, "copied", 3, "coded"});
  return cells;
}

void run_command(const Words& words) {
  const auto command = words[0] == "walk" ? apps::make_walk() : apps::make_sample();
  apps::parse_command_line(*command, {words.begin() + 1, words.end()});
  command->run(*command);
}

Words words_of(const OnGraph& row, const std::string& folder, const std::string& output) {
  Words words = row.kind.arguments;
  words.insert(words.begin() + 1, folder + "/" + row.graph);
  words.insert(words.end(), {"--quiet", "--force", "--output", output});
  return words;
}

/// Dead ends, hubs, weights of zero, lists of zeros alone, duplicate neighbours; then vertices without edges.
Graph hard_graph(std::uint64_t vertices) {
  Graph graph = scattered(vertices);
  HostArray<EdgeIndex> offsets(vertices + vertices / 10 + 1);
  std::copy(graph.out.offsets.data(), graph.out.offsets.data() + vertices + 1, offsets.data());
  std::fill(offsets.data() + vertices + 1, offsets.data() + offsets.size(), graph.edges());
  graph.out.offsets = std::move(offsets);
  return graph;
}

/// An R-MAT graph of at most `vertices` vertices.
Graph undirected_graph(std::uint64_t vertices) {
  io::GenerateOptions options;
  options.kind = io::GraphKind::rmat, options.scale = 1, options.edge_factor = 8;
  while ((std::uint64_t{2} << options.scale) <= vertices) ++options.scale;
  io::ConvertOptions rules;
  rules.undirected = true, rules.weights = io::WeightRule::uniform;
  return bench::generate_graph(options, rules);
}

void prepare(const std::string& folder, std::uint64_t vertices) {
  if (apps::world().size() > 1) throw UsageError("prepare is the work of one process");
  io::write_graph(folder + "/directed.h5", hard_graph(vertices), true);
  io::write_graph(folder + "/undirected.h5", undirected_graph(vertices), true);
  for (const OnGraph& row : matrix_kinds()) {
    Words words = words_of(row, folder, folder + "/" + row.kind.name + ".h5");
    words.insert(words.end(), {"--device", "host", "--partitions", "1"});
    run_command(words);
  }
}

/// The fault of a cell, by its file and its report; empty without fault. Called on rank 0.
std::string fault_of(const OnGraph& row, const Cell& cell, const std::string& expected,
                     const std::string& output) {
  if (test::read_file(output + ".h5") != expected) return "another file";
  const auto report = nlohmann::json::parse(test::read_file(output + ".json"));
  const int ranks = apps::world().size(), cut = report["partitions"].get<int>();
  if (cell.layout != "auto" && report["layout"] != cell.layout) return "another layout";
  if (report["ranks"] != ranks) return "a report of other ranks";
  const auto sent = report["entries_sent"].get<std::uint64_t>();
  if (report["entries_received"] != sent) return "entries that were lost";
  const bool travels = cell.distribution == "shard" && ranks > 1;
  // GPUs of one machine read each other's lists for traversal samples, so no entry is sent.
  const std::string& kind = row.kind.arguments[2];
  const bool reads = !report["device"].get<std::string>().starts_with("host") && cell.partitions == 0 &&
                     cell.slots == 0 && (kind == "neighbor" || kind == "forest-fire" || kind == "snowball");
  if (travels && sent == 0 && reads) return "";
  if (travels != (sent > 0)) return fmt::format("{} entries sent", sent);
  // Edges are drawn by position, so no rank brings a partition. Samples of sharded layers cut at least one
  // partition a rank. Long lists leave a few of many partitions empty.
  if (std::string(row.kind.name) == "edge") return "";
  const int asked = cell.partitions, most = travels ? std::max(asked, ranks) : asked;
  if (asked > 0 && (cut > most || cut < asked - asked / 8)) return fmt::format("{} partitions", cut);
  return "";
}

/// Runs all cells of a kind. Returns the number of cells that differ, on rank 0.
std::size_t differing(const OnGraph& row, const std::vector<Cell>& cells, const std::string& folder,
                      const Words& more) {
  const std::string expected = test::read_file(folder + "/" + row.kind.name + ".h5");
  const std::string output = fmt::format("{}/{}-{}", folder, row.kind.name, apps::world().size());
  std::size_t different = 0;
  for (const Cell& cell : cells) {
    const auto say = [&](const char* what, const std::string& why) {
      apps::print(fmt::format("{}: {}, {} ranks, {}: {}\n", what, row.kind.name, apps::world().size(),
                              cell.text(), why));
    };
    if (apps::world().is_root()) std::filesystem::remove(output + ".h5");
    Words words = words_of(row, folder, output + ".h5");
    const Words options = cell.options();
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--report", output + ".json"});
    words.insert(words.end(), more.begin(), more.end());
    try {
      run_command(words);
    } catch (const Error& error) {
      say("FAILED", error.what());
      throw;
    }
    if (!apps::world().is_root()) continue;
    const std::string fault = fault_of(row, cell, expected, output);
    if (fault.empty()) continue;
    say("DIFFERENT", fault);
    ++different;
  }
  return different;
}

void run_cells(const std::string& folder, const std::string& only, const Words& more) {
  const std::vector<OnGraph> kinds = matrix_kinds();
  require_all(apps::kWalkKinds, kinds);
  require_all(apps::kSampleKinds, kinds);
  const int ranks = apps::world().size();
  std::size_t count = 0, different = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const Kind& called = kinds[kind].kind;
    if (!only.empty() && only != called.name && only != called.arguments[0]) continue;
    const std::vector<Cell> cells = cells_of(kinds[kind]);
    count += cells.size();
    different += differing(kinds[kind], cells, folder, more);
  }
  if (count == 0) throw UsageError(fmt::format("the matrix has nothing called '{}'", only));
  apps::print(fmt::format("{} cells on {} ranks, {} different\n", count, ranks, different));
  if (different > 0) throw RunError(fmt::format("{} of {} cells differ", different, count));
}

void run_matrix(Words words) {
  if (words == Words{"kinds"}) {
    for (const OnGraph& row : matrix_kinds()) apps::print(fmt::format("{}\n", row.kind.name));
    return;
  }
  if (words.size() == 3 && words[0] == "prepare") return prepare(words[1], std::stoull(words[2]));
  if (words.size() < 2 || words[0] != "run") {
    throw UsageError(
        "matrix kinds, matrix prepare FOLDER VERTICES, or matrix run FOLDER [--only NAME] [OPTION...]");
  }
  const bool one = words.size() > 3 && words[2] == "--only";
  run_cells(words[1], one ? words[3] : "", {words.begin() + (one ? 4 : 2), words.end()});
}

}  // namespace
}  // namespace sluice::test

int main(int argc, char** argv) {
  return sluice::apps::run_on_ranks([&] { sluice::test::run_matrix({argv + 1, argv + argc}); });
}
