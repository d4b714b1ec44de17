// The suites of `sluice-bench`: the machine's own limits, and Sluice beside them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/program.hpp"
#include "engine/exec/device.hpp"
#include "partition/graph.hpp"

namespace sluice::bench {

/// One measured figure.
struct Figure {
  std::string name;  ///< `uniform walk, degree 16, csr`
  double value = 0;  ///< median over the repetitions
  std::string unit;  ///< `G steps/s`
  double low = 0;    ///< smallest and largest repetition
  double high = 0;
  std::string note;                                          ///< what it should be compared with, or empty
  std::vector<std::pair<std::string, double>> columns = {};  ///< what else was counted: `transfers`
  std::string words = {};                                    ///< instead of a value: `needs a GPU`
};

struct Options {
  unsigned repetitions = 5;
  unsigned scale = 20;  ///< graphs have 2^scale vertices; 0, of papers: by experiment and device
  unsigned edge_factor = 16;
  std::uint64_t seed = 1;
  std::string graph;                ///< a graph file to measure instead of generated ones, or empty
  std::vector<std::string> graphs;  ///< of papers: graph files to measure beside them
  std::function<void(const std::string& name)> progress;  ///< called before each measurement
  /// Is this figure to be measured? Empty: all are. Ablation, files, outofcore, pagerank, acc and ppr ask,
  /// papers for each table, and scaling for `walks`, for each figure of PageRank, and for each program.
  std::function<bool(const std::string& name)> wanted;
  std::string folder = ".";  ///< where files are made

  bool wants(const std::string& name) const { return !wanted || wanted(name); }
};

/// A command a suite.
apps::Commands make_suites();

/// `batch`: random changes of a graph.
std::unique_ptr<apps::Command> make_batch();

/// Copies, random reads, transfers: what no program on this device can beat.
std::vector<Figure> run_limits(Device& device, const Options& options);

/// Walks and samples of every kind on standard workloads.
std::vector<Figure> run_sampling(Device& device, const Options& options);

/// Walks on a graph of which the device holds a quarter.
std::vector<Figure> run_outofcore(Device& device, const Options& options);

/// What `auto` chooses for graphs that exceed the device, beside every forced transport and layout.
std::vector<Figure> run_automatic(Device& device, const Options& options);

/// Walks on a graph of which slots hold a quarter and the rest comes from the disk, beside the disk's own
/// rate.
std::vector<Figure> run_disk(Device& device, const Options& options);

/// Jobs of the program from file to file, beside what the disk needs for the same bytes.
std::vector<Figure> run_files(Device& device, const Options& options);

/// Walks, PageRank, searches, paths, cores and components on all ranks of the job, which call it together,
/// beside one of them.
std::vector<Figure> run_scaling(Device& device, const Options& options);

/// C-SAW's techniques for graphs in partitions, switched on one after the other.
std::vector<Figure> run_ablation(Device& device, const Options& options);

/// Static PageRank: an iteration, and the time to a tolerance; then dynamic methods beside it.
std::vector<Figure> run_pagerank(Device& device, const Options& options);

/// Dynamic PageRank on a graph that keeps its in-edges, in batches of 1e-7 to 1e-4 of its edges, and with a
/// quarter of the in-edges on the device. Times are medians; what becomes of them beside static is said in
/// the notes.
std::vector<Figure> run_dynamic_pagerank(Device& device, const Options& options, const std::string& name,
                                         Graph graph);

/// Personalized PageRank: many queries at once, one alone, and how good their lists are.
std::vector<Figure> run_ppr_suite(Device& device, const Options& options);

/// The experiments of the four papers, a table each: `TABLE: ROW`. docs/papers.md shows them beside what was
/// published. On several ranks, which call it together, those of ranks alone.
std::vector<Figure> run_papers(Device& device, const Options& options);

/// Searches, paths, cores and components.
std::vector<Figure> run_acc(Device& device, const Options& options);

}  // namespace sluice::bench
