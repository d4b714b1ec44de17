// What sharded ranks take to load a graph from its file, by family of jobs.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "partition/graph.hpp"

namespace sluice::bench {

/// A graph's file that all ranks read: the one asked for, or one that rank 0 writes where files are made when
/// it is first needed, and that goes with this.
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

/// As a job that shares the graph out has it: but for offsets, it stays in its file.
Graph open_shared(const std::string& path, bool weights);

/// A figure `load, FAMILY` for each that is wanted: seconds until the slowest rank has the graph's part and
/// its connections. The system's cache may hold the file. All ranks call it.
void measure_loads(Device& device, const Options& options, GraphFile& file, std::vector<Figure>& figures);

}  // namespace sluice::bench
