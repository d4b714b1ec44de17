// The suites of `sluice-bench`: the limits of the machine, and Sluice's figures next to them.
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
  double low = 0;    ///< minimum of the repetitions; high: maximum
  double high = 0;
  std::string note;                                          ///< what to compare it with, or empty
  std::vector<std::pair<std::string, double>> columns = {};  ///< further counts, as `transfers`
  std::string words = {};                                    ///< text instead of a value: `needs a GPU`
};

struct Options {
  unsigned repetitions = 5;
  unsigned scale = 20;  ///< graphs have 2^scale vertices; 0 (papers): by experiment and device
  unsigned edge_factor = 16;
  std::uint64_t seed = 1;
  std::string graph;                ///< a graph file to measure instead of a generated graph, or empty
  std::vector<std::string> graphs;  ///< papers: graph files to measure as well
  std::function<void(const std::string& name)> progress;  ///< called before each measurement
  /// Should this figure be measured? Empty: all are. Ablation, files, outofcore, pagerank, acc and ppr ask
  /// for figures, papers for each table, and scaling for `walks`, each figure of PageRank, and each program.
  std::function<bool(const std::string& name)> wanted;
  std::string folder = ".";  ///< for files that a suite creates

  bool wants(const std::string& name) const { return !wanted || wanted(name); }
};

/// Creates one command per suite.
apps::Commands make_suites();

/// Creates `batch`: random changes of a graph.
std::unique_ptr<apps::Command> make_batch();

/// Rates of copies, random reads and transfers: upper bounds for any program on this device.
std::vector<Figure> run_limits(Device& device, const Options& options);

/// Walks and samples of every kind on standard workloads.
std::vector<Figure> run_sampling(Device& device, const Options& options);

/// Walks, samples and programs on a graph of which the device holds a quarter.
std::vector<Figure> run_outofcore(Device& device, const Options& options);

/// The automatic choices for graphs that exceed the device, compared with every forced transport and layout.
std::vector<Figure> run_automatic(Device& device, const Options& options);

/// Walks on a graph in its file, of which slots hold a quarter, compared with the disk's own rate.
std::vector<Figure> run_disk(Device& device, const Options& options);

/// Jobs of the program from file to file, compared with the time that the disk needs for the same bytes.
std::vector<Figure> run_files(Device& device, const Options& options);

/// Walks, PageRank, searches, paths, cores and components on all ranks of the job, compared with those on one
/// rank. All ranks call it together.
std::vector<Figure> run_scaling(Device& device, const Options& options);

/// C-SAW's techniques for graphs in partitions, switched on one after the other.
std::vector<Figure> run_ablation(Device& device, const Options& options);

/// Static PageRank: the time of an iteration, and to a tolerance; then dynamic methods compared with it.
std::vector<Figure> run_pagerank(Device& device, const Options& options);

/// Dynamic PageRank on a graph with stored in-edges, for batches of 1e-7 to 1e-4 of its edges, and with a
/// quarter of the in-edges on the device. Times are medians; the notes compare them with static PageRank.
std::vector<Figure> run_dynamic_pagerank(Device& device, const Options& options, const std::string& name,
                                         Graph graph);

/// Personalized PageRank: many queries at once, one query alone, and the precision of their lists.
std::vector<Figure> run_ppr_suite(Device& device, const Options& options);

/// The experiments of the four papers, one table each: `TABLE: ROW`. docs/papers.md shows them next to the
/// published figures. On several ranks, which call it together, only the experiments for ranks.
std::vector<Figure> run_papers(Device& device, const Options& options);

/// Searches, paths, cores and components.
std::vector<Figure> run_acc(Device& device, const Options& options);

}  // namespace sluice::bench
