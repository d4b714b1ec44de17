// The time in which sharded ranks load a graph from its file, by family of jobs.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "partition/graph.hpp"

namespace sluice::bench {

/// A graph file that all ranks read: the one of the options, or one that rank 0 writes to the options' folder
/// on first use. The destructor removes the latter.
class GraphFile {
 public:
  /// Keeps references.
  GraphFile(const Options& options, const Graph& graph) : options_(options), graph_(graph) {}
  GraphFile(const GraphFile&) = delete;
  GraphFile& operator=(const GraphFile&) = delete;
  ~GraphFile();
  /// All ranks call it.
  const std::string& path();

 private:
  const Options& options_;
  const Graph& graph_;
  std::string path_;
  bool written_ = false;  ///< by this rank
};

/// Opens a graph as a sharded job does: its edges stay in the file.
Graph open_shared(const std::string& path, bool weights);

/// Adds a figure `load, FAMILY` for each family that is wanted: seconds until the slowest rank has its part
/// of the graph and its connections. The system's cache may hold the file. All ranks call it.
void measure_loads(Device& device, const Options& options, GraphFile& file, std::vector<Figure>& figures);

}  // namespace sluice::bench
